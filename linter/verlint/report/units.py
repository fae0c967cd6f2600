"""Columns in the units that machine formats count in. verlint itself counts code points."""

from __future__ import annotations

from collections.abc import Callable

from verlint.record import dataclass
from verlint.source import Position, Span


@dataclass(frozen=True, slots=True)
class Region:
    """Lines and columns from 1; the end is the place just after the last character."""

    start_line: int
    start_column: int
    end_line: int
    end_column: int


def utf16(text: str) -> int:
    """Number of UTF-16 code units of a text: characters above U+FFFF count two."""
    return len(text) if text.isascii() else sum(2 if ord(character) > 0xFFFF else 1 for character in text)


def utf8(text: str) -> int:
    """Number of bytes of a text in UTF-8; a lone surrogate, which UTF-8 lacks, counts the three of its form."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def code_points(text: str) -> int:
    """Number of code points of a text."""
    return len(text)


def region(span: Span | None, measure: Callable[[str], int]) -> Region:
    """Where a span is in its file, with columns in the unit of `measure`; the first character without a span."""
    if span is None:
        return Region(1, 1, 1, 1)
    span = span.in_file()
    source, begin, finish = span.source, span.begin, span.finish

    def column(position: Position, offset: int) -> int:
        return measure(source.text[offset - position.column + 1 : offset]) + 1

    return Region(begin.line, column(begin, span.start), finish.line, column(finish, span.end))
