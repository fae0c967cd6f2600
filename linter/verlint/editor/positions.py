"""Places as editors count them: lines and characters from 0, characters in UTF-16 units."""

from __future__ import annotations

from lsprotocol import types as lsp

from verlint.report.units import utf16
from verlint.source import Source, Span


def to_position(source: Source, offset: int) -> lsp.Position:
    """The place of an offset of a file."""
    place = source.position(offset)
    return lsp.Position(place.line - 1, utf16(source.text[offset - place.column + 1 : offset]))


def to_range(span: Span | None) -> lsp.Range:
    """The place of a span in its file; the start of the file without one."""
    if span is None:
        return lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
    span = span.in_file()
    return lsp.Range(to_position(span.source, span.start), to_position(span.source, span.end))


def to_offset(source: Source, position: lsp.Position) -> int:
    """The offset of a place; a place behind the end of a line is the end of the line."""
    if position.line >= source.line_count:
        return len(source.text)
    start = source.offset(position.line + 1)
    line = source.line(position.line + 1)
    units = 0
    for at, character in enumerate(line):
        if units >= position.character:
            return start + at
        units += utf16(character)
    return start + len(line)
