"""JUnit XML, which most CI systems show as a test report: a suite a file, a failing case a finding."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from verlint.finding import Finding
from verlint.report.details import level, parts, statement
from verlint.report.redaction import Redactor
from verlint.report.repository import repository_path
from verlint.report.units import code_points, region
from verlint.result import Report


def render(report: Report, *, color: bool = False, width: int = 100) -> str:
    """The report as XML. What needs verification is a skipped case: it does not fail the run by itself."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    redactor = Redactor(report.findings)
    findings = sorted(report.findings, key=Finding.order)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f"<testsuites {_counts(findings)}>"
    if not findings:
        yield '  <testsuite name="verlint" tests="1" failures="0" errors="0" skipped="0">'
        yield '    <testcase name="no findings" classname="verlint"/>'
        yield "  </testsuite>"
    for path, group in groupby(findings, key=lambda finding: finding.file):
        inside = list(group)
        shown = redactor.path(repository_path(path))
        yield f"  <testsuite name={quoteattr(shown)} {_counts(inside)}>"
        for finding in inside:
            yield from _case(finding, shown, redactor)
        yield "  </testsuite>"
    yield "</testsuites>"


def _counts(findings: list[Finding]) -> str:
    unsure = sum(level(finding) == "unsure" for finding in findings)
    failures = len(findings) - unsure
    return f'tests="{len(findings) or 1}" failures="{failures}" errors="0" skipped="{unsure}"'


def _case(finding: Finding, path: str, redactor: Redactor) -> Iterator[str]:
    where = region(finding.span, code_points)
    name = quoteattr(f"{finding.code} {finding.slug} (line {where.start_line})")
    said = quoteattr(statement(finding, redactor))
    yield f'    <testcase name={name} classname={quoteattr(path)} file={quoteattr(path)} line="{where.start_line}">'
    if level(finding) == "unsure":
        yield f"      <skipped message={said}/>"
    else:
        text = "\n".join(
            [
                f"{path}:{where.start_line}:{where.start_column}: {finding.code} {statement(finding, redactor)}",
                *(f"{label}: {text}" for label, text in parts(finding, redactor)),
            ]
        )
        yield f'      <failure type="{level(finding)}" message={said}>{escape(text)}</failure>'
    yield "    </testcase>"
