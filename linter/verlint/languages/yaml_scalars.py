"""What a YAML scalar means, and where its characters stand in the file.

Plain scalars are typed by the core schema of YAML 1.2: `yes` is text, `010` is ten, `1e-6` is a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from verlint.lazy import pattern
from verlint.source import Piece
from verlint.value import Scalar

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = pattern(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = pattern(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL = pattern(r"([-+]?)\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_SURROGATE = pattern("[\ud800-\udfff]")

# Longer digit strings are no number that a run could use, and Python refuses to convert very long ones.
_MOST_DIGITS = 400

_CORE = "tag:yaml.org,2002:"
LINE_BREAK = pattern("\r\n|[\r\n\x85\u2028\u2029]")
_HEADER = pattern(r"[|>][^\r\n]*")
_FOLD = "[ \t]*(?:(?:\r\n|[\r\n\x85\u2028\u2029])[ \t]*)+"
_ESCAPE = r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\r\n[ \t]*|[\r\n\x85\u2028\u2029][ \t]*|.)"
_TOKENS = {
    "'": pattern(f"''|{_FOLD}|.", re.DOTALL),
    '"': pattern(f"{_ESCAPE}|{_FOLD}|.", re.DOTALL),
    "": pattern(f"{_FOLD}|.", re.DOTALL),
}
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip


def printable(text: str) -> str:
    """The text without lone surrogates, which an escape may make and no output can hold."""
    return _SURROGATE.sub("\ufffd", text)


def typed(text: str, style: str, tag: str) -> Scalar:
    """The value of a scalar: `text` after unquoting, `style` its quote or block sign ("" for plain), `tag` as given."""
    if tag.startswith(_CORE) and tag != _CORE + "str":
        return core_value(text)
    if tag or style:
        return text
    return core_value(text)


def core_value(text: str) -> Scalar:
    """The value of a plain scalar by the core schema of YAML 1.2."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if len(text) > _MOST_DIGITS:
        return text
    if _INT.fullmatch(text):
        return int(text, 0) if text[:2] in {"0x", "0o"} else int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if special := _SPECIAL.fullmatch(text):
        return float("nan") if text.lower() == ".nan" else float((special.group(1) or "") + "inf")
    return text


def pieces_of(raw: str, value: str, style: str, outer: int) -> list[Piece]:
    """Where the runs of a scalar's value stand. `raw` is the scalar as written and starts at `outer` in the file."""
    found = list(_block(raw, value, outer) if style in {"|", ">"} else _flow(raw, value, style, outer))
    if all(value[piece.inner : piece.inner + 1] for piece in found) and found:
        return found
    return [Piece(0, outer + len(style), min(len(value), max(len(raw) - 2 * len(style), 0)))]


def _block(raw: str, value: str, outer: int) -> Iterator[Piece]:
    """One piece a line that is not blank, with its line end; folding and chomping only change what lies between."""
    header = _HEADER.match(raw)
    if header is None:
        return
    lines = list(_lines(raw, header.end()))
    indent = _indent(lines, value)
    at = 0
    for start, line in lines:
        if not line.strip(" \t"):
            continue
        content = line[indent:]
        bare = content.lstrip(" \t")
        while at < len(value) and value[at] in " \t\n":
            at += 1
        inner = at - (len(content) - len(bare))
        if inner < 0 or not value.startswith(content, inner):
            return
        yield Piece(inner, outer + start + indent, len(content) + 1)
        at += len(bare)


def _lines(raw: str, start: int) -> Iterator[tuple[int, str]]:
    first = True
    for found in LINE_BREAK.finditer(raw, start):
        if not first:
            yield start, raw[start : found.start()]
        first = False
        start = found.end()
    if not first and start < len(raw):
        yield start, raw[start:]


def _indent(lines: list[tuple[int, str]], value: str) -> int:
    """Columns that were dropped from each line: what the first line that is not blank has more than its value."""
    written = next((line for _, line in lines if line.strip(" \t")), "")
    kept = next((line for line in value.split("\n") if line.strip(" \t")), "")
    return max(_lead(written) - _lead(kept), 0)


def _lead(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _flow(raw: str, value: str, style: str, outer: int) -> Iterator[Piece]:
    """Runs of a plain or quoted scalar between escapes and line breaks."""
    body = raw[1:-1] if style else raw
    outer += len(style)
    if body == value:
        yield Piece(0, outer, len(value))
        return
    inner = 0
    run: Piece | None = None
    for token in _TOKENS[style].finditer(body):
        written = token.group()
        made = _made(written, style)
        if not value.startswith(made, inner):
            return
        if made == written and run is not None:
            run = Piece(run.inner, run.outer, run.length + len(made))
        else:
            if run is not None:
                yield run
            run = Piece(inner, outer + token.start(), len(made)) if made == written else None
            if run is None and made:
                yield Piece(inner, outer + token.start(), 1)
        inner += len(made)
    if run is not None:
        yield run


def _made(written: str, style: str) -> str:
    """The characters that a token of a flow scalar stands for."""
    if style == "'" and written == "''":
        return "'"
    if style == '"' and written.startswith("\\"):
        code = written[1:]
        if code[0] in "xuU" and len(code) > 1:
            return printable(chr(int(code[1:], 16)))
        return "" if LINE_BREAK.match(code) else _ESCAPES.get(code, code)
    breaks = len(LINE_BREAK.findall(written))
    if not breaks:
        return written
    return " " if breaks == 1 else "\n" * (breaks - 1)
