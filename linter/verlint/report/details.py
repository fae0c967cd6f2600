"""What a finding says besides its message, part by part, for the formats that have no code frame."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.finding import Finding, Safety, Verdict
from verlint.report.redaction import Redactor

LEVELS = ("error", "warning", "info", "unsure")
"""Names of what a finding can be, worst first."""


def level(finding: Finding) -> str:
    """The name of `LEVELS` that a finding has: its severity, or `unsure` whatever its severity."""
    return "unsure" if finding.verdict is Verdict.UNSURE else finding.severity.label


def by_level(finding: Finding) -> tuple[int, tuple[str, int, int, str, str]]:
    """Sort key: worst first, then by place."""
    return LEVELS.index(level(finding)), finding.order()


def statement(finding: Finding, redactor: Redactor) -> str:
    """The message, with the resolved value where the message does not hold it."""
    message, value = redactor.text(finding.message), redactor.text(finding.value)
    return f"{message} ({value})" if value and value not in message else message


def parts(finding: Finding, redactor: Redactor) -> Iterator[tuple[str, str]]:
    """(label, text) pairs in the order of the full report: value, from, near, help, verify, fix, when or also.

    A value's way is one pair a step; steps that say nothing are left out.
    """
    if finding.value:
        yield "value", redactor.text(finding.value)
    for hop in finding.hops:
        text = redactor.text(redactor.hop(hop))
        if text:
            yield "from", f"{redactor.place(hop.span)} {text}" if hop.span is not None else text
    for related in finding.related:
        yield "see", f"{redactor.place(related.span)} {redactor.text(related.label)}".rstrip()
    for label in ("near", "help"):
        if text := redactor.text(getattr(finding, label)):
            yield label, text
    if finding.verify:
        yield "verify", "\n".join(redactor.lines(finding.verify))
    if finding.fix is not None:
        option = "safe, --fix" if finding.fix.safety is Safety.SAFE else "unsafe, --unsafe-fixes"
        option = option if finding.verdict is Verdict.FAIL else "by hand, once it is verified"
        yield "fix", f"{redactor.text(finding.fix.title)} ({option})"
    for context in finding.contexts:
        yield ("when" if len(finding.contexts) == 1 else "also"), redactor.text(context)
