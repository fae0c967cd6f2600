"""Findings about inputs, which may have no text to point at."""

from __future__ import annotations

from verlint.finding import Finding, Severity, Verdict
from verlint.inputs import Input
from verlint.rule import Context


def about(given: Input, ctx: Context, message: str, *, help: str = "", severity: Severity | None = None) -> Finding:
    """A finding about a whole input."""
    span = given.source.span(0, 0) if given.source is not None else None
    level = severity or ctx.rule.severity
    return Finding(ctx.rule.code, ctx.rule.slug, level, Verdict.FAIL, message, span, path=given.shown, help=help)


def in_file(name: str, ctx: Context, message: str, *, help: str = "") -> Finding:
    """A finding about a data file."""
    return Finding(ctx.rule.code, ctx.rule.slug, ctx.rule.severity, Verdict.FAIL, message, None, path=name, help=help)
