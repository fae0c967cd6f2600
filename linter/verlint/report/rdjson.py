"""Diagnostics for reviewdog (rdjson): columns count bytes of UTF-8, ends are exclusive."""

from __future__ import annotations

import json
from typing import Any

from verlint.finding import Finding, Fix
from verlint.report.details import level, parts, statement
from verlint.report.redaction import Redactor
from verlint.report.repository import repository_path
from verlint.report.units import region, utf8
from verlint.result import Report
from verlint.source import Span

_SEVERITIES = {"error": "ERROR", "warning": "WARNING", "info": "INFO", "unsure": "INFO"}
_IN_MESSAGE = ("near", "help", "verify")


def render(report: Report, *, color: bool = False, width: int = 100) -> str:
    """The report as JSON; it has no colours and no width."""
    redactor = Redactor(report.findings)
    diagnostics = [_diagnostic(finding, redactor) for finding in sorted(report.findings, key=Finding.order)]
    return json.dumps({"source": {"name": "verlint"}, "diagnostics": diagnostics}, indent=2) + "\n"


def _diagnostic(finding: Finding, redactor: Redactor) -> dict[str, Any]:
    more = [f"{label}: {text}" for label, text in parts(finding, redactor) if label in _IN_MESSAGE]
    unsure = "needs verification: " if level(finding) == "unsure" else ""
    out: dict[str, Any] = {
        "message": "\n".join([unsure + statement(finding, redactor), *more]),
        "location": _location(finding.span, finding.path, redactor),
        "severity": _SEVERITIES[level(finding)],
        "code": {"value": finding.code},
    }
    if finding.related:
        out["related_locations"] = [
            {"message": redactor.text(related.label), "location": _location(related.span, "", redactor)}
            for related in finding.related
        ]
    if finding.fix is not None and (suggestions := _suggestions(finding, finding.fix, redactor)):
        out["suggestions"] = suggestions
    return out


def _location(span: Span | None, path: str, redactor: Redactor) -> dict[str, Any]:
    file = span.in_file().source.path if span is not None else path
    return {"path": redactor.path(repository_path(file)), "range": _range(span)}


def _range(span: Span | None) -> dict[str, Any]:
    where = region(span, utf8)
    return {
        "start": {"line": where.start_line, "column": where.start_column},
        "end": {"line": where.end_line, "column": where.end_column},
    }


def _suggestions(finding: Finding, fix: Fix, redactor: Redactor) -> list[dict[str, Any]]:
    """The edits, when all are in the file of the finding (a suggestion has no path) and show no secret."""
    if any(
        edit.span.in_file().source.path != finding.file or redactor.raw(edit.text) != edit.text for edit in fix.edits
    ):
        return []
    return [{"range": _range(edit.span), "text": edit.text} for edit in fix.edits]
