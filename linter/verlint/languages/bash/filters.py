"""Small programs whose output follows from their arguments and input: `dirname`, `basename`, `seq`, `cat`, …

Each takes the arguments (strings in pieces) and the input, and gives (output, status), or None when the output is not
known."""

from __future__ import annotations

from collections.abc import Callable

from verlint.languages.bash.escapes import unescape
from verlint.languages.bash.pieces import EMPTY, MARK, Parts, cut, flat, has_hole, join, known, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.languages.bash.builtins import Builtins

Result = tuple[Parts, int] | None
Filter = Callable[["Builtins", list[Parts], Parts | None], Result]

NEWLINE = plain("\n")


def _dirname(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    out: list[Parts] = []
    for path in arguments:
        text = flat(path)
        if text == "--":
            continue
        trimmed = text.rstrip("/") or ("/" if text else "")
        at = trimmed.rfind("/")
        if at < 0 and MARK in trimmed:
            return None
        folder = cut(path, 0, len(trimmed[:at].rstrip("/"))) if at > 0 else plain("/" if at == 0 else ".")
        out.append((*folder, *NEWLINE))
    return join(out, ""), 0


def _basename(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    if arguments and known(arguments[0]) == "--":
        arguments = arguments[1:]
    if not arguments or known(arguments[0]) in ("-a", "-s", "-z"):
        return None
    text = flat(arguments[0])
    end = len(text.rstrip("/")) or len(text)
    start = text[:end].rfind("/") + 1
    name = cut(arguments[0], start, end)
    if len(arguments) > 1:
        suffix = known(arguments[1])
        if suffix is None:
            return None
        plain_name = flat(name)
        if suffix and plain_name.endswith(suffix) and plain_name != suffix:
            name = cut(name, 0, len(plain_name) - len(suffix))
    if MARK in text and not flat(name).strip(MARK) and start == 0:
        return None
    return (*name, *NEWLINE), 0


def _realpath(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    paths = [each for each in arguments if not flat(each).startswith("-")]
    if len(paths) != 1:
        return None
    return (*shell.absolute(paths[0]), *NEWLINE), 0


def _readlink(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    if not any(known(each) in ("-f", "-m", "-e") for each in arguments):
        return None
    return _realpath(shell, arguments, stdin)


def _seq(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    texts = [known(each) for each in arguments]
    separator = "\n"
    numbers: list[int] = []
    at = 0
    while at < len(texts):
        text = texts[at]
        if text is None:
            return None
        if text == "-s" and at + 1 < len(texts):
            separator = texts[at + 1] or ""
            at += 1
        elif text.startswith("-s"):
            separator = text[2:]
        else:
            try:
                numbers.append(int(text))
            except ValueError:
                return None
        at += 1
    if not 1 <= len(numbers) <= 3:
        return None
    first, step, last = {1: (1, 1, numbers[0]), 2: (numbers[0], 1, numbers[-1])}.get(len(numbers)) or tuple(numbers)
    if step == 0:
        return None
    values = range(first, last + (1 if step > 0 else -1), step)
    if len(values) > 10_000:
        return None
    return plain(separator.join(map(str, values)) + "\n" if values else ""), 0


def _cat(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    if not arguments or [known(each) for each in arguments] == ["-"]:
        return (stdin, 0) if stdin is not None else None
    out: list[Parts] = []
    for path in arguments:
        content = shell.read_file(path)
        if content is None:
            return None
        out.append(content)
    return join(out, ""), 0


def _tee(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    return (stdin, 0) if stdin is not None else None


def _mkdir(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    for path in arguments:
        located = None if flat(path).startswith("-") else shell.locate(path)
        while located:
            shell.run.made.add(located)
            located = located.rpartition("/")[0]
    return EMPTY, 0


def _touch(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    for path in arguments:
        located = shell.locate(path)
        if located and not shell.run.files.exists(located):
            shell.run.written.setdefault(located, EMPTY)
    return EMPTY, 0


def _tr(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    texts = [known(each) for each in arguments]
    if stdin is None or has_hole(stdin) or None in texts or len(texts) != 2:
        return None
    text, first, second = flat(stdin), texts[0] or "", texts[1] or ""
    ranges = {("a-z", "A-Z"), ("[a-z]", "[A-Z]"), ("[:lower:]", "[:upper:]")}
    if first == "-d":
        gone = unescape(second)
        return plain("".join(char for char in text if char not in gone)), 0
    if (first, second) in ranges:
        return plain(text.upper()), 0
    if (second, first) in ranges:
        return plain(text.lower()), 0
    if len(unescape(first)) == 1 and len(unescape(second)) == 1:
        return plain(text.replace(unescape(first), unescape(second))), 0
    return None


def _wc(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    if [known(each) for each in arguments] != ["-l"] or stdin is None or has_hole(stdin):
        return None
    return plain(f"{flat(stdin).count(chr(10))}\n"), 0


def _head(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    texts = [known(each) for each in arguments]
    if texts not in (["-1"], ["-n1"], ["-n", "1"]) or stdin is None or has_hole(stdin):
        return None
    text = flat(stdin)
    return plain(text.split("\n")[0] + "\n" if text else ""), 0


def _cut(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    """`cut -d X -f N` of known lines."""
    if stdin is None or has_hole(stdin) or any(has_hole(each) for each in arguments):
        return None
    delimiter, field = "\t", 0
    words = [flat(each) for each in arguments]
    at = 0
    while at < len(words):
        word = words[at]
        if word[:2] not in ("-d", "-f"):
            return None
        value = word[2:]
        if not value and at + 1 < len(words):
            at += 1
            value = words[at]
        if word[1] == "d":
            delimiter = value
        elif value.isdigit():
            field = int(value)
        else:
            return None
        at += 1
    if not field or len(delimiter) != 1:
        return None
    lines = flat(stdin).removesuffix("\n").split("\n")
    out = [line.split(delimiter)[field - 1 : field] or [""] if delimiter in line else [line] for line in lines]
    return plain("".join(line[0] + "\n" for line in out)), 0


FILTERS: dict[str, Filter] = {
    "dirname": _dirname,
    "basename": _basename,
    "realpath": _realpath,
    "readlink": _readlink,
    "seq": _seq,
    "cat": _cat,
    "tee": _tee,
    "mkdir": _mkdir,
    "touch": _touch,
    "tr": _tr,
    "wc": _wc,
    "head": _head,
    "cut": _cut,
}


def run_filter(shell: Builtins, name: str, arguments: list[Parts], stdin: Parts | None) -> Result:
    """Output and status of a small program, or None."""
    program = FILTERS.get(name)
    return None if program is None else program(shell, arguments, stdin)
