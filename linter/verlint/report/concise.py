"""One line a finding: `path:line:column: CODE message (value)`.

`CODE[*]` has a fix, `CODE?` is unsure. The last line is the summary.
"""

from __future__ import annotations

from verlint.finding import Finding, Verdict
from verlint.report.ansi import Style
from verlint.report.redaction import Redactor
from verlint.report.summary import checked_line, found_line
from verlint.result import Report


def render(report: Report, *, color: bool = False, width: int = 100) -> str:
    """The report, a finding a line, by place. Lines are never cut, so `width` has no say."""
    style, redactor = Style(color), Redactor(report.findings)
    lines = [_line(finding, redactor, style) for finding in sorted(report.findings, key=Finding.order)]
    lines.append(f"{found_line(report)} ({checked_line(report.summary, files_left_out=False)})")
    return "\n".join(lines) + "\n"


def _line(finding: Finding, redactor: Redactor, style: Style) -> str:
    place = redactor.place(finding.span) if finding.span is not None else f"{redactor.path(finding.path)}:1:1"
    mark = "?" if finding.verdict is Verdict.UNSURE else "[*]" if finding.fix is not None else ""
    name = "unsure" if finding.verdict is Verdict.UNSURE else finding.severity.label
    value = redactor.text(finding.value)
    message = redactor.text(finding.message)
    shown = f" ({value})" if value and value not in message else ""
    return f"{style.paint('place', place)}: {style.paint(name, finding.code + mark)} {message}{shown}"
