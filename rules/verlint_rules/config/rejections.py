"""Findings for what VeRL rejects: the rows of `verlint.verl.constraints` asked of a launch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import WARNING, Context
from verlint.source import Span
from verlint.value import Text, Value
from verlint.verl.constraints import Row, Violation, violations
from verlint.verl.facts import short
from verlint_rules.config.excerpts import is_excerpt
from verlint_rules.config.rewriting import without_word
from verlint_rules.config.view import on_unnamed_fork
from verlint_rules.on_policy.rewriting import with_value

_ASK_FORK = "pip show -f verl  # a VeRL that was changed for this launch: does its code still demand it?"


def rejections(launch: Launch, ctx: Context, rows: Iterable[Row], alike: Iterable[Row] = ()) -> Iterator[Finding]:
    """A finding for each row that the launch violates for certain; of an excerpt by what it sets itself. `alike`: see
    `violations`."""
    excerpt = is_excerpt(launch, ctx)
    asked = [row for row in rows if launch.entry in row.entries]
    if excerpt:
        asked = [row for row in asked if all(key in launch for key in row.keys)]
    if not asked:
        return
    for violation in violations(launch.facts, asked, alike):
        if not (excerpt and violation.on_defaults):
            yield _finding(launch, ctx, violation)


def _finding(launch: Launch, ctx: Context, violation: Violation) -> Finding:
    row = violation.row
    given = [value for key in row.keys if (value := launch[key]).given]
    at: Value | Span = given[0] if given else launch.head
    severity = WARNING if row.silent else None
    message, help = violation.message, violation.help
    passed = _unknown_words(launch) if violation.on_defaults else []
    if on_unnamed_fork(launch):
        finding = ctx.unsure(at, message, help=help, severity=severity, verify=_ASK_FORK)
    elif row.verify:
        finding = ctx.unsure(at, message, help=help, severity=severity, verify=row.verify)
    elif passed:
        left = ", ".join(violation.on_defaults)
        verify = f'echo "{" ".join(word.shown for word in passed)}"  # does it set {left}?'
        finding = ctx.unsure(at, message, help=help, severity=severity, verify=verify)
    else:
        finding = ctx.fail(at, message, help=help, severity=severity)
    if violation.fix is not None:
        finding = _mended(finding, launch, row, *violation.fix)
    for value in given[1:]:
        finding = finding.with_related(value.span, f"{short(value.key)} = {value}")
        finding = finding.with_related(_of_another_file(value), f"{value} is given here")
    return finding


def _of_another_file(value: Value) -> Span | None:
    """Where a value comes from when that is not the file that it is used in: the call to change may be there."""
    here = value.span.in_file().source.path if value.span is not None else ""
    steps = [hop.span.in_file() for hop in value.hops if hop.span is not None]
    return next((step for step in steps if step.source.path != here), None)


def _mended(finding: Finding, launch: Launch, row: Row, key: str, text: str) -> Finding:
    """The finding with the row's fix, where the launch gives the key."""
    value = launch[key]
    if text or not value.given:
        return with_value(finding, value, text, safe=row.safe) if value.given else finding
    return without_word(finding, launch.by_key[key], safe=False)


def _unknown_words(launch: Launch) -> list[Text]:
    """Words that may be any overrides; those of the caller (`"$@"`) are none when nothing is passed."""
    return [word for word in launch.options if word.elastic and not _of_caller(word)]


def _of_caller(word: Text) -> bool:
    return all(hole.name.lstrip("${").startswith(("@", "*")) for hole in word.holes)
