"""A key should be set once in a call.

When a call gives a key two values Hydra takes the last one and says nothing. In a long launcher that is how an edit has
no effect: the line that was changed is the first of two.

A value that overrides one of a shared array, of a variable or of the caller's `"$@"` is meant to: only two lines of the
same command, or of the same array, are reported. The same value twice is told as info. Two commands of one launcher may
set what they like.

Fix: remove the line that does not count. The unsafe fix removes the earlier one.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.languages.hydra.override import Form, Override
from verlint.rule import INFO, WARNING, Context, rule
from verlint.source import Span
from verlint_rules.config.reporting import report
from verlint_rules.config.rewriting import without_word
from verlint_rules.config.view import pictures


@rule("VL709", "duplicate-override", on=Launch, severity=WARNING, since="0.1", fixable="unsafe")
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    first: dict[str, Override] = {}
    for override in launch.overrides:
        if not override.key or override.error is not None or override.form is Form.DELETE:
            continue
        before = first.get(override.key)
        first[override.key] = override
        if before is None or not _is_one_list(launch, before, override) or pictures(launch):
            continue
        same = before.value.same_as(override.value)
        if override.form is Form.ADD and before.form is Form.ADD:
            continue  # Hydra refuses the second one
        if same:
            message = f"{override.key} is set twice to the same value in one call"
            severity, help_ = INFO, "remove one of the two"
        else:
            message = (
                f"{override.key} is set twice in one call: the {_said(override)} behind it counts, not {_said(before)}"
            )
            severity, help_ = WARNING, "remove the one that is not meant"
        finding = report(ctx, before, message, help=help_, severity=severity)
        finding = finding.with_related(override.key_span or override.word.span, "this one counts")
        yield without_word(finding, before, safe=False)


def _is_one_list(launch: Launch, before: Override, after: Override) -> bool:
    """Whether both are lines of the command itself, or of the same array."""
    one, other = before.key_span, after.key_span
    if one is None or other is None or one.source is not other.source or one == other:
        return False
    command = launch.command.span
    inside = [_inside(each, command) for each in (one, other)]
    if all(inside):
        return before.word.span != after.word.span
    if any(inside):
        return False
    return (
        before.word.span == after.word.span and _array_of(before) is not None and _array_of(before) == _array_of(after)
    )


def _said(override: Override) -> str:
    return str(override.value) or "empty text"


def _inside(span: Span, command: Span) -> bool:
    return span.source is command.source and command.start <= span.start and span.end <= command.end


def _array_of(override: Override) -> Span | None:
    """The assignment of the array that holds the word."""
    part = override.word.parts[0] if override.word.parts else None
    return part.hops[0].span if part is not None and part.hops else None
