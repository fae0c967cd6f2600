"""Version 1 of the JSON output; `docs/json.md` describes it."""

from __future__ import annotations

from typing import Any

from verlint import __version__
from verlint.finding import Finding, Fix, Related
from verlint.report.display import json_text
from verlint.report.redaction import Redactor
from verlint.result import Report
from verlint.source import Position, Span
from verlint.value import Hop

VERSION = 1


def render(report: Report, *, color: bool = False, width: int = 100) -> str:
    """The report as JSON text; it has no colours and no width."""
    return json_text(document(report))


def document(report: Report) -> dict[str, Any]:
    """The report as plain data."""
    redactor = Redactor(report.findings)
    summary = report.summary
    return {
        "version": VERSION,
        "tool": {"name": "verlint", "version": __version__},
        "findings": [finding_json(finding, redactor) for finding in sorted(report.findings, key=Finding.order)],
        "summary": {
            "files": summary.files,
            "launchers": summary.launchers,
            "experiments": summary.experiments,
            "stages": summary.stages,
            "skipped": summary.skipped,
        },
    }


def finding_json(finding: Finding, redactor: Redactor) -> dict[str, Any]:
    """One finding as plain data."""
    raw = redactor.raw
    return {
        "code": finding.code,
        "slug": finding.slug,
        "severity": finding.severity.label,
        "verdict": finding.verdict.value,
        "message": raw(finding.message),
        **_place(finding.span, finding.path, redactor),
        "value": raw(finding.value),
        "hops": [_hop(hop, redactor) for hop in finding.hops],
        "related": [_related(related, redactor) for related in finding.related],
        "help": raw(finding.help),
        "verify": raw(finding.verify),
        "fix": _fix(finding.fix, redactor) if finding.fix is not None else None,
        "contexts": [raw(context) for context in finding.contexts],
    }


def _place(span: Span | None, path: str, redactor: Redactor) -> dict[str, Any]:
    """Path, start and end; a finding without a text is at the start of its file."""
    if span is None:
        start = _position(Position(1, 1))
        return {"path": redactor.raw(path), "start": start, "end": start}
    return {
        "path": redactor.raw(span.in_file().source.path),
        "start": _position(span.begin),
        "end": _position(span.finish),
    }


def _position(position: Position) -> dict[str, int]:
    return {"line": position.line, "column": position.column}


def _hop(hop: Hop, redactor: Redactor) -> dict[str, Any]:
    if hop.span is None:
        return {"path": None, "start": None, "end": None, "text": redactor.hop(hop)}
    return {**_place(hop.span, "", redactor), "text": redactor.hop(hop)}


def _related(related: Related, redactor: Redactor) -> dict[str, Any]:
    return {**_place(related.span, "", redactor), "label": redactor.raw(related.label)}


def _fix(fix: Fix, redactor: Redactor) -> dict[str, Any]:
    return {
        "title": redactor.raw(fix.title),
        "safety": fix.safety.value,
        "edits": [{**_place(edit.span, "", redactor), "text": redactor.raw(edit.text)} for edit in fix.edits],
    }
