"""Code frames: the lines of a span with numbers, a gutter and carets under the very characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.record import dataclass
from verlint.report.ansi import Style
from verlint.report.display import ELLIPSIS, columns, visible
from verlint.secret import Masked
from verlint.source import Span

MOST_LINES = 3
_TAB = 4


@dataclass(frozen=True, slots=True)
class Cell:
    """What is shown for code points `start`..`end` of a line: a character, an escape, spaces for a tab, or a mask."""

    start: int
    end: int
    text: str

    @property
    def width(self) -> int:
        """Width in columns."""
        return columns(self.text)


def frame(span: Span, masks: Sequence[Masked], style: Style, mark: str, width: int) -> list[str]:
    """The lines of the frame of a span of a file, `width` columns at most. `mark` names the style of the carets."""
    source = span.source
    first, last = span.begin.line, _last_line(span)
    shown = min(last, first + MOST_LINES - 1)
    digits = len(str(shown))
    gutter = style.paint("place", " " * (digits + 1) + " |")
    lines = [gutter]
    for number in range(first, shown + 1):
        start = source.offset(number)
        cells = list(_cells(source.line(number), [_shift(each, -start) for each in masks]))
        begin, end = span.start - start, span.end - start
        code, carets = _draw(cells, begin, end, max(width - digits - 4, 20))
        lines.append(style.paint("place", f" {number:>{digits}} |") + (f" {code}" if code else ""))
        if carets:
            lines.append(f"{gutter} " + " " * (len(carets) - len(carets.lstrip())) + style.paint(mark, carets.lstrip()))
    if shown < last:
        lines.append(gutter + f" {ELLIPSIS} {last - shown} more line{'s' if last - shown > 1 else ''}")
    return lines


def _last_line(span: Span) -> int:
    end = span.end
    while end > span.start and span.source.text[end - 1] in "\r\n":
        end -= 1
    return span.source.position(max(end - 1, span.start) if end > span.start else span.start).line


def _shift(masked: Masked, by: int) -> Masked:
    return Masked(masked.start + by, masked.end + by, masked.text)


def _cells(line: str, masks: Sequence[Masked]) -> Iterator[Cell]:
    column = at = 0
    pending = [each for each in masks if each.end > 0 and each.start < len(line)]
    while at < len(line):
        if pending and pending[0].start <= at:
            masked = pending.pop(0)
            cell = Cell(at, min(masked.end, len(line)), masked.text)
        elif line[at] == "\t":
            cell = Cell(at, at + 1, " " * (_TAB - column % _TAB))
        else:
            cell = Cell(at, at + 1, visible(line[at]))
        yield cell
        column += cell.width
        at = cell.end


def _draw(cells: list[Cell], begin: int, end: int, room: int) -> tuple[str, str]:
    """The shown part of a line, and the carets under the cells of `begin`..`end` without blanks at either end."""
    marked = [index for index, cell in enumerate(cells) if cell.start < end and cell.end > begin]
    while marked and not cells[marked[0]].text.strip():
        marked.pop(0)
    while marked and not cells[marked[-1]].text.strip():
        marked.pop()
    low, high = _window(cells, marked, room)
    code = (
        (ELLIPSIS if low else "")
        + "".join(cell.text for cell in cells[low:high])
        + (ELLIPSIS if high < len(cells) else "")
    )
    offset = (1 if low else 0) - sum(cell.width for cell in cells[:low])
    if not marked:
        if begin < end:
            return code.rstrip(), ""
        before = sum(cell.width for cell in cells if cell.end <= begin)
        return code.rstrip(), " " * max(before + offset, 0) + "^"
    start = sum(cell.width for cell in cells[: max(marked[0], low)])
    stop = sum(cell.width for cell in cells[: min(marked[-1] + 1, high)])
    return code.rstrip(), " " * (start + offset) + "^" * max(stop - start, 1)


def _window(cells: list[Cell], marked: list[int], room: int) -> tuple[int, int]:
    """Which cells are shown when the line is too wide: the marked ones with something before them."""
    if sum(cell.width for cell in cells) <= room:
        return 0, len(cells)
    low = 0
    if marked and sum(cell.width for cell in cells[: marked[-1] + 1]) > room - 1:
        low = marked[0]
        before = room // 4
        while low > 0 and before >= cells[low - 1].width:
            low -= 1
            before -= cells[low].width
    left = room - 1 - (1 if low else 0)
    high = low
    while high < len(cells) and left >= cells[high].width:
        left -= cells[high].width
        high += 1
    if high == len(cells):
        left += 1
    while low > 0 and left >= cells[low - 1].width:
        low -= 1
        left -= cells[low].width
    return low, high
