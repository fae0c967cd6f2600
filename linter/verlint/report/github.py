"""Annotations of GitHub Actions: one workflow command a finding, errors first, as GitHub shows about ten of a kind."""

from __future__ import annotations

from verlint.finding import Finding
from verlint.report.details import by_level, level, statement
from verlint.report.redaction import Redactor
from verlint.report.repository import repository_path
from verlint.report.summary import checked_line, found_line
from verlint.report.units import code_points, region
from verlint.result import Report

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice", "unsure": "notice"}


def render(report: Report, *, color: bool = False, width: int = 100) -> str:
    """The report as workflow commands, and the summary as plain lines of the log. No colours, no width."""
    redactor = Redactor(report.findings)
    lines = [_command(finding, redactor) for finding in sorted(report.findings, key=by_level)]
    lines.append(f"verlint: {found_line(report)} ({checked_line(report.summary, files_left_out=False)})")
    return "\n".join(lines) + "\n"


def _command(finding: Finding, redactor: Redactor) -> str:
    where = region(finding.span, code_points)
    properties = {"file": redactor.path(repository_path(finding.file)), "line": str(where.start_line)}
    if where.end_line != where.start_line:
        properties["endLine"] = str(where.end_line)
    else:  # columns are only meant for a range on one line
        properties |= {"col": str(where.start_column), "endColumn": str(where.end_column)}
    unsure = level(finding) == "unsure"
    properties["title"] = f"{finding.code} {finding.slug}" + (" (needs verification)" if unsure else "")
    told = ",".join(f"{name}={_property(text)}" for name, text in properties.items())
    return f"::{_COMMANDS[level(finding)]} {told}::{_data(_message(finding, redactor))}"


def _message(finding: Finding, redactor: Redactor) -> str:
    lines = [statement(finding, redactor)]
    if finding.help:
        lines.append(f"help: {redactor.text(finding.help)}")
    if finding.verify:
        lines.append("verify: " + "\n".join(redactor.lines(finding.verify)))
    return "\n".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
