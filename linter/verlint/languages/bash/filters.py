"""Small programs whose output follows from their arguments and input: `dirname`, `basename`, `seq`, `cat`, …

Each takes the arguments (strings in pieces) and the input, and gives (output, status), or None when the output is not
known."""

from __future__ import annotations

from collections.abc import Callable

from verlint.languages.bash.arithmetic import decimal
from verlint.languages.bash.escapes import unescape
from verlint.languages.bash.pieces import EMPTY, MARK, Parts, cut, flat, has_hole, join, known, plain
from verlint.source import lines_of
from verlint.value import whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.languages.bash.builtins import Builtins

Result = tuple[Parts, int | None] | None
Filter = Callable[["Builtins", list[Parts], Parts | None], Result]

NEWLINE = plain("\n")


MAKERS = frozenset(
    ["rsync", "scp", "tar", "unzip", "gunzip", "git", "wget", "curl", "split", "install", "gsutil", "aws", "hf", "hdfs",
     "huggingface-cli"]
)  # fmt: skip
"""Programs that make files in the folders they are given."""

FAILED: Result = (EMPTY, 1)


class _Unmodelled(Exception):
    """What the program prints with these options is not known."""


class _Refused(Exception):
    """The program does not know the option: it prints nothing and fails."""


def _operands(arguments: list[Parts], flags: str = "", values: str = "") -> tuple[list[Parts], dict[str, Parts]]:
    """The operands of a GNU program, and its options: `flags` are letters without an argument, `values` with one. Long
    options are the business of the caller: `_Unmodelled` is raised for them."""
    rest = list(arguments)
    operands: list[Parts] = []
    options: dict[str, Parts] = {}
    while rest:
        word = rest.pop(0)
        text = flat(word)
        if text == "--":
            return [*operands, *rest], options
        if not text.startswith("-") or text == "-" or MARK in text[:2]:
            operands.append(word)
            continue
        if text.startswith("--"):
            raise _Unmodelled if text.partition("=")[0] in _LONG else _Refused
        for at, letter in enumerate(text[1:], 1):
            if letter in values:
                options[letter] = cut(word, at + 1, len(text)) if at + 1 < len(text) else rest.pop(0) if rest else EMPTY
                break
            if letter not in flags:
                raise _Refused
            options[letter] = EMPTY
    return operands, options


_LONG = frozenset(
    ["--help", "--version", "--zero", "--multiple", "--suffix", "--canonicalize", "--canonicalize-existing",
     "--canonicalize-missing", "--relative-to", "--relative-base", "--no-symlinks", "--strip", "--quiet", "--physical",
     "--logical", "--no-newline", "--silent", "--verbose", "--format", "--separator", "--equal-width", "--lines",
     "--bytes", "--words", "--chars", "--max-line-length", "--parents", "--mode", "--no-create", "--date",
     "--reference",
     "--append", "--ignore-interrupts", "--delete", "--complement", "--squeeze-repeats", "--truncate-set1", "--fields",
     "--delimiter", "--characters", "--only-delimited", "--output-delimiter", "--show-all", "--number"]
)  # fmt: skip
"""Options of the programs here whose effect is not computed."""


def _dirname(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    paths, options = _operands(arguments, "z")
    if options:
        return None
    out: list[Parts] = []
    for path in paths:
        text = flat(path)
        trimmed = text.rstrip("/") or ("/" if text else "")
        at = trimmed.rfind("/")
        if at < 0 and MARK in trimmed:
            return None
        folder = cut(path, 0, len(trimmed[:at].rstrip("/"))) if at > 0 else EMPTY
        out.append((*(folder or plain("/" if at >= 0 else ".")), *NEWLINE))
    return (join(out, ""), 0) if out else FAILED


def _basename(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    paths, options = _operands(_first_operand_last(arguments), "az", "s")
    if "z" in options:
        return None
    suffix = options.get("s", EMPTY)
    if not options:
        if not 1 <= len(paths) <= 2:
            return FAILED
        suffix = paths[1] if len(paths) > 1 else EMPTY
        paths = paths[:1]
    ending = known(suffix)
    if ending is None:
        return None
    out: list[Parts] = []
    for path in paths:
        name = _last_name(path, ending)
        if name is None:
            return None
        out.append((*name, *NEWLINE))
    return (join(out, ""), 0) if out else FAILED


def _first_operand_last(arguments: list[Parts]) -> list[Parts]:
    """The words with `--` before the first operand: behind it `basename` looks for no options."""
    for at, word in enumerate(arguments):
        text = flat(word)
        if text == "--":
            return arguments
        if not text.startswith("-") and not (at and flat(arguments[at - 1]) == "-s"):
            return [*arguments[:at], plain("--"), *arguments[at:]]
    return arguments


def _last_name(path: Parts, suffix: str) -> Parts | None:
    text = flat(path)
    end = len(text.rstrip("/")) or len(text[:1])
    start = text[:end].rstrip("/").rfind("/") + 1 if text.strip("/") else 0
    name = cut(path, start, end)
    plain_name = flat(name)
    if MARK in text and not plain_name.strip(MARK) and start == 0:
        return None
    if suffix and plain_name.endswith(suffix) and plain_name != suffix:
        name = cut(name, 0, len(plain_name) - len(suffix))
    return name


def _realpath(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    paths, options = _operands(arguments, "emLPqsz")
    if "z" in options:
        return None
    return _resolved(shell, paths, "e" in options, "m" in options)


def _resolved(shell: Builtins, paths: list[Parts], existing: bool, missing: bool) -> Result:
    """Absolute paths; where the world is known, they fail for a folder on the way (or a file) that is not there."""
    out: list[Parts] = []
    status = 0 if paths else 1
    for path in paths:
        full = shell.absolute(path)
        folder = plain(".") if existing else cut(full, 0, max(flat(full).rfind("/"), 1))
        target = full if existing else folder
        if shell.run.closed and not missing and (located := shell.locate(target)) and not shell.is_there(located):
            status = 1
        else:
            out.append((*full, *NEWLINE))
    return join(out, ""), status


def _readlink(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    paths, options = _operands(arguments, "femnqsvz")
    if "z" in options or "n" in options or not any(each in options for each in "fem"):
        return None
    return _resolved(shell, paths, "e" in options, "m" in options)


def _seq(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    words: list[Parts] = []
    rest = list(arguments)
    options: dict[str, Parts] = {}
    while rest and flat(rest[0])[:2] in ("-s", "-w", "-f", "--"):
        count = 2 if flat(rest[0]) in ("-s", "-f") else 1
        options |= _operands(rest[:count], "w", "sf")[1]
        rest = rest[count:]
    words = rest
    texts = [known(each) for each in words]
    separator = known(options.get("s", NEWLINE))
    if "f" in options or separator is None or None in texts:
        return None
    read = [decimal(text or "") for text in texts]
    numbers = [number for number in read if number is not None]
    if len(numbers) < len(read):
        return None
    if not 1 <= len(numbers) <= 3:
        return FAILED
    first, step, last = {1: (1, 1, numbers[0]), 2: (numbers[0], 1, numbers[-1])}.get(len(numbers)) or tuple(numbers)
    if step == 0:
        return FAILED
    if (last - first) // step > 10_000:
        return None
    values = range(first, last + (1 if step > 0 else -1), step)
    width = max((len(text or "") for text in texts), default=0) if "w" in options else 0
    return plain(separator.join(f"{value:0{width}d}" for value in values) + "\n" if values else ""), 0


def _cat(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    if not arguments or [known(each) for each in arguments] == ["-"]:
        return (stdin, 0) if stdin is not None else None
    out: list[Parts] = []
    status = 0
    for path in arguments:
        content = shell.read_file(path)
        if content is None:
            located = shell.locate(path) if shell.run.closed else None
            if not located or shell.is_there(located) or shell.may_be_made(located.rpartition("/")[2]):
                return None
            status = 1
            continue
        out.append(content)
    return join(out, ""), status


def _tee(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    paths, options = _operands(arguments, "aip")
    status = 0
    for path in paths:
        at = flat(path).rfind("/")
        if not path or (at > 0 and shell.lacks_folder(cut(path, 0, at))):
            status = 1
            continue
        located = shell.locate(path)
        if located:
            old = shell.run.written.get(located, EMPTY) if "a" in options else EMPTY
            shell.run.written[located] = (*old, *(stdin or EMPTY))
        elif located is None and stdin is not None:
            shell.write_outside(path, stdin, append="a" in options)
    return (stdin or EMPTY, status) if stdin is not None or status else None


def _mkdir(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    paths, options = _operands(arguments, "pvZ", "m")
    status = 0 if paths else 1
    for path in paths:
        located = shell.locate(path)
        if located is None or not _may_be_made(shell, located, parents="p" in options):
            status = status if located is None else 1
            continue
        while located:
            shell.run.made.add(located)
            located = located.rpartition("/")[0]
    return EMPTY, status if shell.run.closed else 0


def _may_be_made(shell: Builtins, located: str, *, parents: bool) -> bool:
    if not shell.run.closed:
        return True
    if parents:
        return not shell.is_there(located) or shell.is_folder(located)
    folder = located.rpartition("/")[0]
    return not shell.is_there(located) and (not folder or shell.is_folder(folder))


def _touch(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    paths, options = _operands(arguments, "acfhm", "drt")
    status = 0 if paths else 1
    for path in paths:
        located = shell.locate(path)
        if not located or shell.is_there(located) or "c" in options:
            continue
        folder = located.rpartition("/")[0]
        if folder and shell.run.closed and not shell.is_folder(folder):
            status = 1
        else:
            shell.run.written.setdefault(located, EMPTY)
    return EMPTY, status if shell.run.closed else 0


def _tr(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    operands, options = _operands(arguments, "cCdst")
    texts = [_set(known(each)) for each in operands]
    if stdin is None or has_hole(stdin) or None in texts or not 1 <= len(texts) <= 2 or "t" in options:
        return None
    text, first, second = flat(stdin), texts[0] or "", (texts[1:] or [""])[0] or ""
    outside = "c" in options or "C" in options

    def chosen(char: str) -> bool:
        return (char not in first) if outside else char in first

    if "d" in options:
        text = "".join(char for char in text if not chosen(char))
        squeezed = second
    elif not second:
        return (plain(_squeeze(text, chosen)), 0) if "s" in options else None
    else:
        padded = second + second[-1] * max(len(first) - len(second), 0)
        text = "".join(
            (second[-1] if outside else padded[first.rfind(char)]) if chosen(char) else char for char in text
        )
        squeezed = second
    return plain(_squeeze(text, lambda char: char in squeezed) if "s" in options else text), 0


def _squeeze(text: str, chosen: Callable[[str], bool]) -> str:
    return "".join(char for at, char in enumerate(text) if not (at and text[at - 1] == char and chosen(char)))


_SETS = {
    "lower": "abcdefghijklmnopqrstuvwxyz", "upper": "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "digit": "0123456789",
    "space": " \t\n\r\f\v", "blank": " \t",
}  # fmt: skip
_SETS["alpha"] = _SETS["upper"] + _SETS["lower"]
_SETS["alnum"] = _SETS["digit"] + _SETS["alpha"]
_SETS["punct"] = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


def _set(text: str | None) -> str | None:
    """The characters that a set of `tr` stands for."""
    if text is None:
        return None
    out: list[str] = []
    at = 0
    while at < len(text):
        close = text.find(":]", at) if text.startswith("[:", at) else -1
        if close > 0:
            if text[at + 2 : close] not in _SETS:
                return None
            out.append(_SETS[text[at + 2 : close]])
            at = close + 2
        elif text[at] == "\\" and at + 1 < len(text):
            end = at + 1
            while end < len(text) and end < at + 4 and text[end] in "01234567":
                end += 1
            end = max(end, at + 2)
            made = unescape(text[at:end])
            out.append(made if len(made) == 1 else text[end - 1])
            at = end
        elif text[at + 1 : at + 2] == "-" and at + 2 < len(text):
            if text[at] > text[at + 2]:
                return None
            out.append("".join(map(chr, range(ord(text[at]), ord(text[at + 2]) + 1))))
            at += 3
        else:
            out.append(text[at])
            at += 1
    return "".join(out)


def _lines(shell: Builtins, paths: list[Parts], stdin: Parts | None) -> str | None:
    """The known text that a program reads."""
    if len(paths) > 1:
        return None
    content = shell.read_file(paths[0]) if paths and flat(paths[0]) != "-" else stdin
    return None if content is None or has_hole(content) else flat(content)


def _wc(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    paths, options = _operands(arguments, "lwcm")
    text = _lines(shell, paths, stdin)
    if text is None or len(options) != 1:
        return None
    counted = {"l": text.count("\n"), "w": len(text.split()), "m": len(text), "c": len(text.encode("utf-8", "replace"))}
    return (*plain(str(counted[next(iter(options))])), *((*plain(" "), *paths[0]) if paths else EMPTY), *NEWLINE), 0


def _head(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    return _end_of(shell, arguments, stdin, last=False)


def _tail(shell: Builtins, arguments: list[Parts], stdin: Parts | None) -> Result:
    return _end_of(shell, arguments, stdin, last=True)


def _end_of(shell: Builtins, arguments: list[Parts], stdin: Parts | None, *, last: bool) -> Result:
    """`head` and `tail` with `-n N` or `-N`."""
    first = known(arguments[0]) if arguments else None
    if first is not None and first[:1] == "-" and first[1:].isdigit():
        arguments = [plain("-n" + first[1:]), *arguments[1:]]
    paths, options = _operands(arguments, "q", "n")
    count = known(options.get("n", plain("10")))
    text = _lines(shell, paths, stdin)
    number = None if count is None else whole(count.removeprefix("+"))
    if text is None or count is None or number is None or (count[0] == "+" and not last):
        return None
    lines = lines_of(text) if "\r" not in text else None
    if lines is None:
        return None
    if count[0] == "+":
        lines = lines[max(number - 1, 0) :]
    else:
        lines = (lines[-number:] if number else []) if last else lines[:number]
    return plain("".join(lines)), 0


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
        else:
            field = whole(value) or 0
            if not field:
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
    "tail": _tail,
    "cut": _cut,
}


LINE_TOOLS = frozenset(["awk", "gawk", "mawk", "sed", "expr", "paste", "xargs"])
"""Programs whose output is computed in `line_tools`."""


def _line_tool(name: str, arguments: list[Parts], stdin: Parts | None) -> Result:
    from verlint.languages.bash.line_tools import run_line_tool

    if any(has_hole(each) for each in arguments):
        return None
    text = None if stdin is None or has_hole(stdin) else flat(stdin)
    found = run_line_tool(name, [flat(each) for each in arguments], text)
    return None if found is None else (plain(found[0]), found[1])


def run_filter(shell: Builtins, name: str, arguments: list[Parts], stdin: Parts | None) -> Result:
    """Output and status of a small program, or None."""
    if name in LINE_TOOLS:
        return _line_tool(name, arguments, stdin)
    program = FILTERS.get(name)
    try:
        return None if program is None else program(shell, arguments, stdin)
    except _Unmodelled:
        return None
    except _Refused:
        return FAILED
