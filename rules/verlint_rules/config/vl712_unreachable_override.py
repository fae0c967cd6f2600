"""What the caller passes should stand behind the overrides of the launcher.

Of two overrides of a key the last one counts. A launcher that passes its own arguments on (`"$@"`) before it sets keys
itself takes them back: `bash train.sh trainer.total_epochs=1` has no effect, without a word, when
`trainer.total_epochs=3` stands behind `"$@"`.

A warning at the override of a call that is lost so. Where no call at hand gives one of these keys nothing is lost yet:
an information, once for each command, with the keys that cannot be set from outside.

Fix: move `"$@"` to the end of the command, as the unsafe fix does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.experiment.launch import Launch
from verlint.experiment.places import within
from verlint.finding import Edit, Finding, Safety
from verlint.languages.hydra.override import Override
from verlint.rule import INFO, WARNING, Context, rule
from verlint.source import Span
from verlint.value import Text
from verlint_rules.config.view import pictures, starts_hydra

SHOWN = 3
_CALLER = frozenset(["$@", "$*", "${@}", "${*}", "${@:1}", "${*:1}"])


@rule(
    "VL712",
    "unreachable-override",
    on=Launch,
    severity=INFO,
    since="0.1",
    fixable="unsafe",
    words=("$@", "${@", "$*", "${*"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    passed = _passed(launch)
    if passed is None or pictures(launch) or not starts_hydra(launch):
        return
    behind = [each for each in launch.overrides if each.key and _is_behind(each, passed)]
    if not behind:
        return
    lost = [(each, winner) for each in launch.overrides if (winner := _winner(each, behind, launch)) is not None]
    for each, winner in lost:
        message = f"{each.word.shown} has no effect: {winner.word.shown} stands behind {passed.text} and wins"
        finding = ctx.fail(
            each.key_span or passed, message, help=f"put {passed.text} behind the last override", severity=WARNING
        )
        yield finding.with_related(winner.word.span, "this one wins")
    if lost:
        return
    names = list(dict.fromkeys(each.key for each in behind))
    listed = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    message = f"overrides behind {passed.text} win over those of the caller: {listed} cannot be set from outside"
    finding = ctx.fail(passed, message, help=f"put {passed.text} behind the last override")
    finding = finding.with_related(behind[0].key_span, "this one wins")
    yield _moved(finding, passed, behind)


def _winner(override: Override, behind: Sequence[Override], launch: Launch) -> Override | None:
    """The override behind the caller's words that takes one of these back."""
    span = override.key_span
    if span is None or not any(within(span, call.span) for call in launch.command.around.stack):
        return None
    return next((each for each in behind if each.key == override.key), None)


def _passed(launch: Launch) -> Span | None:
    """Where the command passes the caller's words on, also when a call has none left to pass."""
    words: list[Text] = [*launch.options, *(each.word for each in launch.overrides)]
    for span in (*(word.span for word in words), *launch.command.raw):
        if span is not None and span.text.strip("\"'") in _CALLER and _inside(span, launch.command.span):
            return span
    return None


def _inside(span: Span, command: Span) -> bool:
    return span.source is command.source and command.start <= span.start and span.end <= command.end


def _is_behind(override: Override, passed: Span) -> bool:
    """Whether an override is written behind the caller's words, in the command itself."""
    span = override.word.span
    return span is not None and span.source is passed.source and span.start >= passed.end and "=" in span.text


def _moved(finding: Finding, passed: Span, behind: list[Override]) -> Finding:
    here = passed.in_file()
    last = max((each.word.span.end for each in behind if each.word.span is not None), default=None)
    if last is None or here.text != passed.text:
        return finding
    text = here.source.text
    start = text.rfind("\n", 0, here.start) + 1
    end = text.find("\n", here.end)
    last = Span(passed.source, last - 1, last).in_file().end
    if end < 0 or text[start : here.start].strip() or text[here.end : end].strip() != "\\":
        return finding
    indent = text[start : here.start]
    edits = (
        Edit(Span(here.source, start, end + 1), ""),
        Edit(Span(here.source, last, last), f" \\\n{indent}{here.text}"),
    )
    return finding.with_fix(f"move {here.text} to the end", *edits, safety=Safety.UNSAFE)
