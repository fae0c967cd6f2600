"""The report for people: the findings, then what was looked at, what was found, and what helps next."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.report.ansi import Style
from verlint.report.summary import checked_line, found_line, next_lines
from verlint.result import Report


def render(report: Report, *, color: bool = False, width: int = 100) -> str:
    """The report in at most `width` columns where that is possible without cutting what people copy."""
    style = Style(color)
    lines = list(_summary(report, style, width))
    if report.findings:
        from verlint.report.full_findings import finding_lines

        lines[:0] = finding_lines(report, style, width)
    return "\n".join(lines) + "\n"


def _summary(report: Report, style: Style, width: int) -> Iterator[str]:
    yield checked_line(report.summary)
    found = found_line(report)
    yield style.paint("bold", found) if report.findings else style.paint("good", found)
    if report.crashed:
        yield style.paint("error", "verlint failed on some of the input, see above; the rest was checked.")
    helpful = next_lines(report)
    room = max((len(command) for command, _ in helpful), default=0)
    if any(room + len(purpose) + 4 > width for _, purpose in helpful):
        room = 0
    for command, purpose in helpful:
        gap = " " * (max(room - len(command), 0) + 2)
        yield f"  {style.paint('bold', command)}{gap}{style.paint('dim', purpose)}"
