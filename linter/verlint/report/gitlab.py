"""GitLab's Code Quality report."""

from __future__ import annotations

import json
from typing import Any

from verlint.finding import Finding
from verlint.report.details import level, statement
from verlint.report.fingerprints import fingerprints
from verlint.report.redaction import Redactor
from verlint.report.repository import repository_path
from verlint.report.units import code_points, region
from verlint.result import Report

_SEVERITIES = {"error": "major", "warning": "minor", "info": "info", "unsure": "info"}


def render(report: Report, *, color: bool = False, width: int = 100) -> str:
    """The report as JSON; it has no colours and no width."""
    redactor = Redactor(report.findings)
    findings = sorted(report.findings, key=Finding.order)
    issues = [_issue(finding, name, redactor) for finding, name in zip(findings, fingerprints(findings), strict=True)]
    return json.dumps(issues, indent=2) + "\n"


def _issue(finding: Finding, fingerprint: str, redactor: Redactor) -> dict[str, Any]:
    where = region(finding.span, code_points)
    unsure = "needs verification: " if level(finding) == "unsure" else ""
    return {
        "description": f"{finding.code} {unsure}{statement(finding, redactor)}",
        "check_name": finding.slug,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[level(finding)],
        "location": {
            "path": redactor.path(repository_path(finding.file)),
            "positions": {
                "begin": {"line": where.start_line, "column": where.start_column},
                "end": {"line": where.end_line, "column": where.end_column},
            },
        },
    }
