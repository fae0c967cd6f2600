"""SARIF 2.1.0, with the fields that GitHub's code scanning shows.

The way of a value becomes a code flow, other places become related locations, columns count UTF-16 units (the default
of the format). Fixes are left out where they would show a secret.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from verlint import __version__
from verlint.finding import Finding, Fix
from verlint.header import UnknownRule
from verlint.report.details import LEVELS, level, parts, statement
from verlint.report.fingerprints import fingerprints, line_hash
from verlint.report.redaction import Redactor
from verlint.report.repository import repository_path
from verlint.report.units import region, utf16
from verlint.result import Report
from verlint.rule import THEMES, Rule, find_rule
from verlint.source import Span

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_SARIF_LEVELS = {"error": "error", "warning": "warning", "info": "note", "unsure": "note"}
_PROBLEMS = {"error": "error", "warning": "warning", "note": "recommendation"}
_SECURITY = {
    THEMES["4"]: {"error": "8.0", "warning": "5.0", "note": "2.0"},
    THEMES["5"]: {"error": "7.0", "warning": "5.0", "note": "2.0"},
}
"""`security-severity` of the rules about credentials and about unsafe evaluation; other rules have none."""
_IN_MESSAGE = ("near", "help", "verify")
_LONGEST = 1024
"""Characters that GitHub takes of a description."""


def render(report: Report, *, color: bool = False, width: int = 100) -> str:
    """The report as a SARIF log with one run; it has no colours and no width."""
    return json.dumps(_log(report), indent=2) + "\n"


def _log(report: Report) -> dict[str, Any]:
    findings = sorted(report.findings, key=Finding.order)
    codes = sorted({finding.code for finding in findings})
    redactor = Redactor(findings)
    names = fingerprints(findings)
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "verlint",
                        "semanticVersion": __version__,
                        "rules": [_rule(code, findings) for code in codes],
                    }
                },
                "automationDetails": {"id": "verlint/"},
                "columnKind": "utf16CodeUnits",
                "invocations": [{"executionSuccessful": not report.crashed}],
                "results": [
                    _Result(finding, codes.index(finding.code), name, redactor).document()
                    for finding, name in zip(findings, names, strict=True)
                ],
            }
        ],
    }


# Rules ---------------------------------------------------------------------------------------------------------------


def _rule(code: str, findings: Sequence[Finding]) -> dict[str, Any]:
    own = [finding for finding in findings if finding.code == code]
    slug = own[0].slug
    worst = _SARIF_LEVELS[min((level(finding) for finding in own), key=LEVELS.index)]
    try:
        rule: Rule | None = find_rule(code)
    except UnknownRule:
        rule = None
    summary = rule.summary if rule is not None else slug
    page = " ".join(rule.doc.split()) if rule is not None else slug
    properties: dict[str, Any] = {
        "tags": _tags(rule),
        "precision": "high",
        "problem.severity": _PROBLEMS[worst],
    }
    if rule is not None and (security := _SECURITY.get(rule.theme)):
        properties["security-severity"] = security[worst]
    return {
        "id": code,
        "name": slug,
        "shortDescription": {"text": summary[:_LONGEST]},
        "fullDescription": {"text": page[:_LONGEST]},
        "help": {
            "text": f"{rule.doc.strip() if rule is not None else slug}\n\nverlint rule {code}",
            "markdown": f"{rule.doc.strip() if rule is not None else slug}\n\n`verlint rule {code}` shows an example.",
        },
        "defaultConfiguration": {"level": worst},
        "properties": properties,
    }


def _tags(rule: Rule | None) -> list[str]:
    if rule is None:
        return []
    return [rule.theme, *(["security"] if rule.theme in _SECURITY else []), *sorted(rule.families)]


# Results -------------------------------------------------------------------------------------------------------------


class _Result:
    """One finding as a result of the run."""

    def __init__(self, finding: Finding, index: int, name: str, redactor: Redactor) -> None:
        self.finding = finding
        self.index = index
        self.name = name
        self.redactor = redactor

    def document(self) -> dict[str, Any]:
        finding = self.finding
        out: dict[str, Any] = {
            "ruleId": finding.code,
            "ruleIndex": self.index,
            "level": _SARIF_LEVELS[level(finding)],
            "message": {"text": self._message()},
            "locations": [self._location(finding.span)],
            "partialFingerprints": self._fingerprints(),
            "properties": {"verdict": finding.verdict.value, "slug": finding.slug},
        }
        if finding.related:
            out["relatedLocations"] = [
                {"id": number, **self._location(related.span, self.redactor.text(related.label))}
                for number, related in enumerate(finding.related, 1)
            ]
        if flow := self._flow():
            out["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
        if finding.fix is not None and (fix := self._fix(finding.fix)):
            out["fixes"] = [fix]
        return out

    def _message(self) -> str:
        """The statement, what helps, and a link to each related place, which GitHub shows only if it is linked."""
        lines = ["needs verification: " * (level(self.finding) == "unsure") + statement(self.finding, self.redactor)]
        lines += [f"{label}: {text}" for label, text in parts(self.finding, self.redactor) if label in _IN_MESSAGE]
        text = "\n".join(lines).replace("](", "] (")  # brackets before parentheses would be a link
        labels = [self.redactor.text(related.label) for related in self.finding.related]
        links = [f"see [{_linked(label or 'this place')}]({number})" for number, label in enumerate(labels, 1)]
        return "\n".join([text, *links])

    def _fingerprints(self) -> dict[str, str]:
        own = {"verlint/v1": self.name}
        at_line = line_hash(self.finding)
        return {"primaryLocationLineHash": at_line, **own} if at_line else own

    def _flow(self) -> list[dict[str, Any]]:
        """The steps of the value that have a place; a step without one is told with the place before."""
        steps: list[tuple[Span, list[str]]] = []
        for hop in self.finding.hops:
            text = self.redactor.text(self.redactor.hop(hop))
            if hop.span is not None:
                steps.append((hop.span, [text] if text else []))
            elif steps and text:
                steps[-1][1].append(text)
        return [{"location": self._location(span, "; ".join(texts))} for span, texts in steps]

    def _location(self, span: Span | None, message: str = "") -> dict[str, Any]:
        out: dict[str, Any] = {"physicalLocation": {"artifactLocation": self._artifact(span), "region": _region(span)}}
        return {**out, "message": {"text": message}} if message else out

    def _artifact(self, span: Span | None) -> dict[str, Any]:
        path = repository_path(span.in_file().source.path if span is not None else self.finding.path)
        return {"uri": quote(self.redactor.raw(path).encode("utf-8", "surrogatepass"))}

    def _fix(self, fix: Fix) -> dict[str, Any] | None:
        """The fix, if it shows no secret."""
        if any(self.redactor.raw(edit.text) != edit.text for edit in fix.edits):
            return None
        changes: dict[str, dict[str, Any]] = {}
        for edit in fix.edits:
            artifact = self._artifact(edit.span)
            change = changes.setdefault(artifact["uri"], {"artifactLocation": artifact, "replacements": []})
            change["replacements"].append({"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}})
        return {"description": {"text": self.redactor.text(fix.title)}, "artifactChanges": list(changes.values())}


def _region(span: Span | None) -> dict[str, int]:
    where = region(span, utf16)
    return {
        "startLine": where.start_line,
        "startColumn": where.start_column,
        "endLine": where.end_line,
        "endColumn": where.end_column,
    }


def _linked(label: str) -> str:
    """A text inside the brackets of a link."""
    return label.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
