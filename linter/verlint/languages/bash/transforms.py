"""What the operators of `${x…}` make of a value: trimming, replacing, slicing, changing case."""

from __future__ import annotations

import re
from itertools import pairwise

from verlint.languages.bash.escapes import quoted_text, unescape
from verlint.languages.bash.patterns import (
    MAX_REPEATED,
    Pattern,
    compile_pattern,
    is_pattern,
    repeats,
    stars,
    translate,
)
from verlint.languages.bash.pieces import EMPTY, MARK, MAX_PIECES, Parts, collapse, cut, flat, has_hole, plain
from verlint.languages.bash.run import DiscardLine
from verlint.languages.bash.syntax import Param
from verlint.record import replace
from verlint.value import Hole, Literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.languages.bash.segments import Segments

MAX_SEARCHED = 4_096
"""So long a text is not searched for patterns with wildcards."""


def transform(shell: Segments, value: Parts, param: Param) -> Parts:
    """The value after the operator of `param`; a hole with a reason where that depends on unknown characters."""
    op = param.op
    if op in ("^^", ",,", "^", ","):
        return _change_case(shell, value, param)
    if op == ":":
        return _substring(shell, value, param)
    if op == "@":
        return _quoted_form(shell, value, param)
    pattern = shell.pattern(param.arg) if param.arg is not None else ()
    if any(MARK in text for text, _ in pattern):
        return _unknown(shell, param, "pattern with an unknown")
    if op[0] == "/":
        return _replace(shell, value, param, pattern)
    return _trim(shell, value, param, pattern)


def _unknown(shell: Segments, param: Param, reason: str) -> Parts:
    return (shell.hole(shell.span(param).text, reason, param),)


def _change_case(shell: Segments, value: Parts, param: Param) -> Parts:
    change = str.upper if param.op[0] == "^" else str.lower
    pattern = shell.pattern(param.arg) if param.arg is not None and param.arg.parts else ()
    regex = compile_pattern(pattern) if pattern else None

    def one(char: str) -> str:
        return change(char) if regex is None or regex.fullmatch(char) else char

    out: list[Literal | Hole] = []
    first = True
    for part in value:
        if isinstance(part, Hole):
            if len(param.op) == 1 and first and len(value) > 1:
                return _unknown(shell, param, "an unknown that may be empty")
            out.append(replace(part, key=("case", param.op, part.key), name=part.name))
            first = False
            continue
        text = part.text
        if len(param.op) == 2:
            text = "".join(one(char) for char in text)
        elif first and text:
            text = one(text[0]) + text[1:]
        first = first and not text
        out.append(replace(part, text=text))
    return tuple(out)


def _substring(shell: Segments, value: Parts, param: Param) -> Parts:
    offset = shell.arithmetic(shell.string(param.arg), param) if param.arg is not None else 0
    length = shell.arithmetic(shell.string(param.arg2), param) if param.arg2 is not None else None
    if has_hole(value) or isinstance(offset, Hole) or isinstance(length, Hole):
        return _unknown(shell, param, "part of an unknown")
    size = len(flat(value))
    start = offset if offset >= 0 else size + offset
    if start < 0 or start > size:
        return EMPTY
    end = size if length is None else (start + length if length >= 0 else size + length)
    if end < start:
        raise substring_error(shell, param)
    return cut(value, start, end)


def substring_error(shell: Segments, param: Param) -> DiscardLine:
    """What bash does with `${x:2:-9}`."""
    shell.note("arithmetic", "substring expression < 0", param)
    return DiscardLine()


def _quoted_form(shell: Segments, value: Parts, param: Param) -> Parts:
    kind = flat(shell.string(param.arg)) if param.arg is not None else ""
    if kind == "a" and has_hole(value) and shell.lookup(param.name) is None:
        return _unknown(shell, param, "attributes of an unknown")
    if kind == "a":
        return plain(shell.attributes_of(param.name))
    if has_hole(value):
        return _unknown(shell, param, "transformed unknown")
    text = flat(value)
    if kind == "P" and not set(text) & set("\\$`!"):
        return value
    quoted = quoted_text(text)
    made = {
        "Q": quoted,
        "U": text.upper(),
        "L": text.lower(),
        "u": text[:1].upper() + text[1:],
        "E": unescape(text),
        "A": f"{param.name}={quoted}",
    }.get(kind)
    if (kind == "A" and not shell.is_plain(param.name)) or kind in ("P", "K", "k"):
        return _unknown(shell, param, "transformed value")
    return value if made is None else plain(made)


def _replace(shell: Segments, value: Parts, param: Param, pattern: Pattern) -> Parts:
    replacement = shell.string(param.arg2) if param.arg2 is not None else EMPTY
    text = flat(value)
    versions_differ = "&" in flat(replacement) and _has_bare_ampersand(shell, param)
    if param.op in ("/#", "/%") and not pattern:
        if versions_differ:
            return _unknown(shell, param, _AMPERSAND)
        return (*replacement, *value) if param.op == "/#" else (*value, *replacement)
    if not pattern or not "".join(run for run, _ in pattern):
        return value
    if has_hole(value) and is_pattern(pattern):
        return _unknown(shell, param, "replacement in an unknown")
    longest = MAX_REPEATED if repeats(pattern) or stars(pattern) > 2 else MAX_SEARCHED
    if len(text) > longest and is_pattern(pattern):
        return _unknown(shell, param, "replacement in a long text")
    anchored = {"/#": r"\A(?:%s)", "/%": r"(?:%s)\Z"}.get(param.op, "%s")
    regex = re.compile(anchored % translate(pattern), re.S)
    stands_for_all = not "".join(run for run, _ in pattern).strip("*")
    found = [
        match.span()
        for match in regex.finditer(text)
        if match.end() > match.start() or match.start() < len(text) or param.op == "/%" or (not text and stands_for_all)
    ]
    if param.op != "//":
        found = found[:1]
    if found and versions_differ:
        return _unknown(shell, param, _AMPERSAND)
    for _ in found:
        shell.run.spend(replacement)
    if len(found) > MAX_PIECES and not has_hole(value) and not has_hole(replacement):
        pieces = [text[end:start] for (_, end), (start, _) in pairwise([(0, 0), *found, (len(text), 0)])]
        return plain(flat(replacement).join(pieces), value[0].span)
    out: list[Literal | Hole] = []
    at = 0
    for start, end in found:
        out.extend(cut(value, at, start))
        out.extend(replacement)
        at = end
    out.extend(cut(value, at, len(text)))
    return collapse(tuple(out))


_AMPERSAND = "a replacement with &, which versions of bash read differently"


def _has_bare_ampersand(shell: Segments, param: Param) -> bool:
    return param.arg2 is not None and any("&" in run and not quoted for run, quoted in shell.pattern(param.arg2))


def _trim(shell: Segments, value: Parts, param: Param, pattern: Pattern) -> Parts:
    if has_hole(value):
        return _trim_unknown(shell, value, param, pattern)
    text = flat(value)
    front = param.op[0] == "#"
    longest = len(param.op) == 2
    size = len(text)
    mark = _up_to(pattern, front)
    if mark:
        at = text.find(mark) if front != longest else text.rfind(mark)
        return value if at < 0 else cut(value, at + len(mark), size) if front else cut(value, 0, at)
    if size > (MAX_REPEATED if repeats(pattern) else MAX_SEARCHED):
        return _unknown(shell, param, "trimmed long text")
    regex = compile_pattern(pattern)
    for length in range(size, -1, -1) if longest else range(size + 1):
        if front and regex.fullmatch(text, 0, length):
            return cut(value, length, size)
        if not front and regex.fullmatch(text, size - length):
            return cut(value, 0, size - length)
    return value


def _trim_unknown(shell: Segments, value: Parts, param: Param, pattern: Pattern) -> Parts:
    """Trim a string with holes: sure where the trimmed side is known and either the pattern has no wildcard or its
    wildcard ends at characters that are found there."""
    whole = "".join(run for run, _ in pattern)
    text = flat(value)
    front = param.op[0] == "#"
    if not is_pattern(pattern):
        if front and text.startswith(whole):
            return cut(value, len(whole), len(text))
        if not front and text.endswith(whole):
            return cut(value, 0, len(text) - len(whole))
        edge = text.split(MARK, 1)[0] if front else text.rsplit(MARK, 1)[-1]
        if len(edge) >= len(whole):
            return value
    mark = _up_to(pattern, front)
    if mark:
        first = front == (len(param.op) == 1)  # `#*x` and `%%x*` look for the first x, the others for the last
        at = text.find(mark) if first else text.rfind(mark)
        known_side = MARK not in (text[:at] if first else text[at:])
        if at >= 0 and known_side:
            return cut(value, at + len(mark), len(text)) if front else cut(value, 0, at)
    return _unknown(shell, param, "trimmed unknown")


def _up_to(pattern: Pattern, front: bool) -> str:
    """The characters x of the pattern `*x` (`x*` when the end is trimmed), "" for any other pattern."""
    runs = [run for run in pattern if run[0]]
    if len(runs) == 1 and not runs[0][1]:
        text = runs[0][0]
        rest = text[1:] if front else text[:-1]
        star = text[0] if front else text[-1]
        return rest if star == "*" and rest and not is_pattern(((rest, False),)) and "\\" not in rest else ""
    if len(runs) == 2 and runs[0 if front else 1] == ("*", False):
        rest, quoted = runs[1 if front else 0]
        return rest if quoted or not is_pattern(((rest, False),)) else ""
    return ""
