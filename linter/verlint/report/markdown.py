"""A page for a job summary or a comment: a table of what was found, and each finding with its details folded."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.finding import Finding
from verlint.report.details import LEVELS, by_level, level, parts
from verlint.report.redaction import Redactor
from verlint.report.repository import repository_path
from verlint.report.summary import checked_line, found_line
from verlint.report.units import code_points, region
from verlint.result import Report

_TITLES = {"error": "Errors", "warning": "Warnings", "info": "Notes", "unsure": "Needs verification"}
LIMIT = 900_000
"""Bytes of the page: GitHub refuses a summary of more than 1 MiB."""


def render(report: Report, *, color: bool = False, width: int = 100) -> str:
    """The report as GitHub Flavored Markdown; it has no colours and no width. Past `LIMIT` the rest is counted."""
    redactor = Redactor(report.findings)
    lines = ["## verlint", "", f"**{_text(found_line(report))}** {_text(checked_line(report.summary))}", ""]
    used = sum(map(_size, lines))
    findings = sorted(report.findings, key=by_level)
    for name in LEVELS:
        own = [finding for finding in findings if level(finding) == name]
        if not own:
            continue
        lines += [f"### {_TITLES[name]} ({len(own)})", ""]
        for number, finding in enumerate(own):
            entry = [*_entry(finding, redactor), ""]
            used += sum(map(_size, entry))
            if used > LIMIT:
                lines += [f"… and {len(own) - number} more", ""]
                break
            lines += entry
    return "\n".join(lines).rstrip("\n") + "\n"


def _entry(finding: Finding, redactor: Redactor) -> Iterator[str]:
    where = region(finding.span, code_points)
    place = f"{redactor.path(repository_path(finding.file))}:{where.start_line}:{where.start_column}"
    message, value = redactor.text(finding.message), redactor.text(finding.value)
    shown = f" ({_code(value)})" if value and value not in message else ""
    yield f"- **{finding.code}** {_text(message)}{shown}\\"
    yield f"  {_code(place)}"
    details = list(parts(finding, redactor))
    if details:
        yield "  <details><summary>details</summary>"
        yield ""
        for label, text in details:
            shown = " ".join(map(_code, text.splitlines())) if label in ("value", "from", "verify") else _text(text)
            yield f"  - {label}: {shown}"
        yield ""
        yield "  </details>"


def _size(line: str) -> int:
    return len(line.encode("utf-8", "backslashreplace")) + 1


_SPECIAL = frozenset("\\`*_[]<>#|~$@&")


def _text(text: str) -> str:
    """A text that Markdown shows as it is: no emphasis, link, mention, formula or HTML; `code` stays code."""
    out: list[str] = []
    for number, piece in enumerate(text.split("`")):
        if number % 2 and text.count("`") % 2 == 0:
            out.append(_code(piece) if piece.strip() else piece)
        else:
            out.append("".join(f"\\{each}" if each in _SPECIAL else each for each in piece))
    return "".join(out)


def _code(text: str) -> str:
    """A text as code, fenced by more backticks than it holds in a row."""
    run = longest = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"
