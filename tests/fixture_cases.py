"""The fixtures as test cases: what is said about each, in a form that people can review.

    scripts/run.sh:2:6-2:22 VL101 fail warning: the data root is a path of one machine
        value: /mnt/x/data
        from: scripts/run.sh:2:6-2:22 ROOT=/mnt/x/data
        related: scripts/run.sh:9:3-9:8 used here
        help: take it from the environment

Places are `path:line:column-line:column`, columns from 1, the end exclusive. Only the slug of a finding is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from verlint.example import Example, check_example, find_examples
from verlint.finding import Finding
from verlint.report import FORMATS, render
from verlint.report.redaction import Redactor
from verlint.result import Report
from verlint.source import Span

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
EXAMPLES = find_examples(FIXTURES)
INDENT = "    "


def transcript(report: Report) -> str:
    """All findings of a report, by place, each with everything it says; "" when there are none."""
    redactor = Redactor(report.findings)
    findings = sorted(report.findings, key=Finding.order)
    return "".join(line + "\n" for finding in findings for line in _finding(finding, redactor))


def outputs_of_rules() -> str:
    """What each rule says about the first of its bad and of its unsure examples, as transcript and in every output
    format."""
    out: list[str] = []
    for example in {(each.code, each.kind): each for each in reversed(EXAMPLES) if each.kind != "good"}.values():
        report = check_example(example)
        texts = [transcript(report), *(render(report, name, color=False, width=100) for name in FORMATS)]
        out.append(f"=== {example.name}\n" + "\n".join(texts))
    return "".join(out)


def expected_text(example: Example) -> str:
    """What the fixture expects; "" without a file."""
    return example.expected.read_text("utf-8") if example.expected.is_file() else ""


def _finding(finding: Finding, redactor: Redactor) -> Iterator[str]:
    place = _place(finding.span, redactor) if finding.span is not None else redactor.path(finding.path)
    yield f"{place} {finding.code} {finding.verdict.value} {finding.severity.label}: {redactor.text(finding.message)}"
    for name, text in (("about", finding.about), ("value", finding.value)):
        if text:
            yield f"{INDENT}{name}: {redactor.text(text)}"
    for hop in finding.hops:
        where = f"{_place(hop.span, redactor)} " if hop.span is not None else ""
        yield f"{INDENT}from: {where}{redactor.hop(hop)}".rstrip()
    for related in finding.related:
        yield f"{INDENT}related: {_place(related.span, redactor)} {redactor.text(related.label)}".rstrip()
    for name, text in (("near", finding.near), ("help", finding.help)):
        if text:
            yield f"{INDENT}{name}: {redactor.text(text)}"
    for line in redactor.lines(finding.verify):
        yield f"{INDENT}verify: {line}"
    if finding.fix is not None:
        yield f"{INDENT}fix: {finding.fix.safety.value}: {redactor.text(finding.fix.title)}"
        for edit in finding.fix.edits:
            yield f"{INDENT}edit: {_place(edit.span, redactor)} -> {redactor.raw(edit.text)!r}"
    for context in finding.contexts:
        yield f"{INDENT}when: {redactor.text(context)}"


def _place(span: Span, redactor: Redactor) -> str:
    begin, end = span.begin, span.finish
    path = redactor.path(span.in_file().source.path)
    return f"{path}:{begin.line}:{begin.column}-{end.line}:{end.column}"


if __name__ == "__main__":
    sys.stdout.buffer.write(outputs_of_rules().encode())
