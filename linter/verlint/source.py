"""Texts that were read, and places in them.

A `Span` is a half-open range of code-point offsets in a `Source`. Lines and columns exist only where something is
printed: `Source.position` turns an offset into them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from verlint.record import dataclass, field


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends. Only a line feed ends one, as for bash, git and `Source`; `str.splitlines`
    takes form feeds and other characters for line ends too."""
    *whole, last = text.split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])


@dataclass(frozen=True, slots=True)
class Position:
    """A place as people count: line and column from 1, columns in code points."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Piece:
    """One run of an embedded source that is copied unchanged from its parent.

    `inner` and `outer` are the offsets at which the run starts in the embedded and in the parent text; `length` is
    its length in code points.
    """

    inner: int
    outer: int
    length: int


def _inner(piece: Piece) -> int:
    return piece.inner


@dataclass(frozen=True, eq=False)
class Source:
    """One text: a file, or a piece of one (a README fence, a YAML block scalar) with its offset map.

    `path` is the path to show, relative to the directory verlint runs in, with "/" on every system. Sources compare by
    identity, so every file must be read once and handed around.
    """

    path: str
    text: str
    parent: Source | None = None
    pieces: Sequence[Piece] = field(default=())

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        find = self.text.find
        at = find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = find("\n", at + 1)
        return starts

    @cached_property
    def known_as(self) -> str:
        """What an unknown of this text is known by, the same in every process: the path; of a piece also where it
        begins, and its text, as one place may hold another text in each call."""
        if self.parent is None:
            return self.path
        from zlib import crc32

        begin = self.pieces[0].outer if self.pieces else 0
        return f"{self.parent.known_as}@{begin}:{crc32(self.text.encode('utf-8', 'surrogatepass')):08x}"

    @property
    def line_count(self) -> int:
        """Number of lines; a text without a final newline has its last line counted too."""
        return len(self._line_starts)

    def position(self, offset: int) -> Position:
        """Line and column (both from 1) of a code-point offset of this source."""
        from bisect import bisect_right

        line = bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1] + 1)

    def offset(self, line: int, column: int = 1) -> int:
        """Offset of a line and column (both from 1); clipped to the text."""
        starts = self._line_starts
        if line > len(starts):
            return len(self.text)
        return min(starts[line - 1] + column - 1, len(self.text))

    def line(self, number: int) -> str:
        """Text of a line (from 1) without its line end."""
        start = self._line_starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : len(self.text) if end < 0 else end].rstrip("\r")

    def span(self, start: int, end: int) -> Span:
        """The span from `start` to `end` (code-point offsets, half-open)."""
        return Span(self, start, end)

    def whole(self) -> Span:
        """The span of the whole text."""
        return Span(self, 0, len(self.text))

    def outer(self, offset: int) -> int:
        """The offset in the parent text that an offset of this embedded text stands for."""
        from bisect import bisect_right

        at = bisect_right(self.pieces, offset, key=_inner)
        best = self.pieces[max(at - 1, 0)] if self.pieces else Piece(0, 0, 0)
        return best.outer + min(max(offset - best.inner, 0), best.length)


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open code-point range `start`..`end` of a source."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters of the range, as written."""
        return self.source.text[self.start : self.end]

    @property
    def begin(self) -> Position:
        """Line and column (from 1) of the first character, in the file that holds the source."""
        span = self.in_file()
        return span.source.position(span.start)

    @property
    def finish(self) -> Position:
        """Line and column (from 1) just after the last character, in the file that holds the source."""
        span = self.in_file()
        return span.source.position(span.end)

    def in_file(self) -> Span:
        """The same range in the file itself, out of every embedding."""
        span = self
        while (parent := span.source.parent) is not None:
            last = span.source.outer(max(span.end - 1, span.start))
            start = span.source.outer(span.start)
            span = Span(parent, start, max(start, last + (1 if span.end > span.start else 0)))
        return span

    def join(self, other: Span) -> Span:
        """The range from the start of this span to the end of the other; both must be of one source."""
        return Span(self.source, min(self.start, other.start), max(self.end, other.end))

    def order(self) -> tuple[str, int, int]:
        """Sort key: path, then offsets in the file."""
        span = self.in_file()
        return (span.source.path, span.start, span.end)

    def __str__(self) -> str:
        begin = self.begin
        return f"{self.in_file().source.path}:{begin.line}:{begin.column}"
