"""What `awk`, `sed`, `expr`, `paste` and `xargs` print in the few ways in which launchers compute values with them.

Each takes the arguments and the known text that is read, and gives (output, status); None for all other ways."""

from __future__ import annotations

import re

from verlint.languages.bash.arithmetic import decimal, wrap
from verlint.lazy import pattern

_PRINTS = pattern(r"\s*\{\s*print\s*\(?\s*(NF|\$\s*(?:NF|\d+))\s*\)?\s*;?\s*\}\s*")
_SUBSTITUTION = pattern(
    r"s(?P<by>[/|,#:@])(?P<old>(?:\\.|(?!(?P=by))[^\\])+)(?P=by)(?P<new>(?:\\.|(?!(?P=by))[^\\])*)(?P=by)(?P<all>g?)"
)
_ACTIVE = pattern(r"[.*\[\]^$+?(){}|]|\\[^/|,#:@.]")
_ACTIVE_NEW = pattern(r"&|\\[^/|,#:@]")
_NUMBER = pattern(r"-?\d+")

Printed = tuple[str, int] | None


def run_line_tool(name: str, words: list[str], text: str | None) -> Printed:
    """Output and status of one of these programs; `text` is None where what it reads is not known."""
    if name == "expr":
        return _expr(words)
    if text is None:
        return None
    if name in ("awk", "gawk", "mawk"):
        return _awk(words, text)
    if name == "sed":
        return _sed(words, text)
    return _paste(words, text) if name == "paste" else _xargs(words, text)


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _awk(words: list[str], text: str) -> Printed:
    """`awk -F X '{print NF}'`, `{print $2}`, `{print $NF}`."""
    separator, *program = [words[0][2:], *words[1:]] if words and words[0][:2] == "-F" else ["", *words]
    if words[:1] == ["-F"] and program:
        separator, *program = program
    found = _PRINTS.fullmatch(program[0]) if len(program) == 1 else None
    if found is None or len(separator) > 1 or separator in ("\\", "t"):
        return None
    out: list[str] = []
    for line in _lines(text):
        fields = line.split(separator) if separator.strip() else line.split()
        fields = fields if line else []
        wanted = found[1].removeprefix("$").strip()
        place = len(fields) if wanted == "NF" else decimal(wanted)
        if place is None:
            return None
        if found[1] == "NF":
            out.append(str(place))
        elif place == 0:
            out.append(line)
        else:
            out.append(fields[place - 1] if place <= len(fields) else "")
    return "".join(line + "\n" for line in out), 0


def _sed(words: list[str], text: str) -> Printed:
    """`sed 's/a/b/g'` of characters that stand for themselves."""
    words = words[1:] if words[:1] == ["-e"] else words
    found = _SUBSTITUTION.fullmatch(words[0]) if len(words) == 1 else None
    if found is None or _ACTIVE.search(re.sub(r"\\\.", "", found["old"])) or _ACTIVE_NEW.search(found["new"]):
        return None
    old, new = (re.sub(r"\\(.)", r"\1", found[each]) for each in ("old", "new"))
    ended = text.endswith("\n")
    out = "\n".join(line.replace(old, new, -1 if found["all"] else 1) for line in _lines(text))
    return out + ("\n" if ended else ""), 0


def _expr(words: list[str]) -> Printed:
    """`expr A + B` of two numbers."""
    if len(words) != 3 or words[1] not in ("+", "-", "*", "/", "%"):
        return None
    if not (_NUMBER.fullmatch(words[0]) and _NUMBER.fullmatch(words[2])) or max(map(len, words)) > 15:
        return None
    left, right = int(words[0]), int(words[2])
    if words[1] in ("/", "%") and right == 0:
        return None
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1) if right else 0
    value = {
        "+": left + right,
        "-": left - right,
        "*": left * right,
        "/": quotient,
        "%": left - quotient * right,
    }[words[1]]
    return (f"{value}\n", 0 if value else 1) if wrap(value) == value else None


def _paste(words: list[str], text: str) -> Printed:
    """`paste -sd,`: the lines in one."""
    rest = [word for word in words if word != "-"]
    joined = " ".join(rest)
    found = re.fullmatch(r"(?:-s -d ?|-d ?(?=\S(?: -s)$)|-sd ?)([^\\])(?: -s)?", joined)
    return (found[1].join(_lines(text)) + "\n", 0) if found else None


def _xargs(words: list[str], text: str) -> Printed:
    """`xargs` alone, which takes superfluous blanks away."""
    if words or re.search(r"[\\'\"]", text) or text.lstrip().startswith("-") or len(text) > 1_000:
        return None
    return " ".join(text.split()) + "\n", 0
