"""A placeholder must be replaced before the experiment starts.

`<LMOPS_COMMIT>` in a spec says that a value is still to be decided, which is what a draft is for. With `--ready` the
experiment is to start now: what is left open then reaches a launcher as the text `<LMOPS_COMMIT>`, or stops the plan.
The same holds for `<…>` among the words of a command in a launcher.

Without `--ready` each placeholder of a spec is one to verify, and commands are left alone. All places of one name are
one finding. Placeholders of documents are for their readers and are never reported.

With `--ready` what can be chosen only when an earlier stage is done, such as the seed whose experience scored best, is
one to verify.

Fix: decide the value and write it at each place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from verlint.experiment.stage import Experiment, called_file
from verlint.families import FAMILIES
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.lazy import pattern
from verlint.record import FIELDS, names
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint.value import Literal, Text, Value

_SPEC = "verlint.experiment.spec"
_PLACEHOLDER = pattern(r"<[A-Z][A-Z0-9_.-]*>")


@rule("VL005", "unresolved-placeholder", on=Experiment, severity=ERROR, since="0.1", words=("<",))
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    ready = ctx.project.settings.ready
    found: dict[str, dict[tuple[str, int, int], Span]] = {}
    if experiment.spec is not None:
        if experiment.spec.spec is not None:
            for name, span in _of_record(experiment.spec.spec, set()):
                found.setdefault(name, {})[span.order()] = span
    elif ready and experiment.script is not None and not experiment.script.document:
        for path in experiment.script.resolution.paths:
            for command in path.commands:
                for name, span in _of_command(command, ctx):
                    found.setdefault(name, {})[span.order()] = span
    later = _chosen_later(experiment) if ready and found else {}
    for name, places in found.items():
        first, *others = sorted(places.values(), key=Span.order)
        message = f"{name} is not replaced" if ready else f"still open: {name}"
        if ready and name in later:
            message = f"{name} is known only after stage {later[name]}"
            finding = ctx.unsure(first, message, value=name, verify=f"verlint plan {experiment.source.path}")
        elif ready:
            finding = ctx.fail(first, message, value=name, help="write the value here")
        else:
            finding = ctx.unsure(first, message, value=name, verify=f"verlint check --ready {experiment.source.path}")
        for other in others[:5]:
            finding = finding.with_related(other, "used here too")
        yield finding


def _chosen_later(experiment: Experiment) -> Mapping[str, str]:
    """The placeholders that somebody replaces when a stage of the spec is done, with that stage."""
    if experiment.spec is None or experiment.family not in FAMILIES:
        return {}
    from verlint.families.recipes import COOKBOOKS

    book = COOKBOOKS[experiment.family]
    by_hand = {recipe.kind: recipe.by_hand for recipe in book.recipes if recipe.by_hand is not None}
    stages = [(by_hand.get(stage.kind), stage.id) for stage in experiment.stages]
    return {f"<{step.asks}>": stage for step, stage in stages if step is not None and step.after}


def _of_record(node: object, seen: set[int]) -> Iterator[tuple[str, Span]]:
    """The placeholders of everything that a spec holds."""
    if isinstance(node, Value):
        yield from _of_text(node.text, node.span)
    elif isinstance(node, Text):
        yield from _of_text(node, node.span)
    elif isinstance(node, Mapping):
        for each in node.values():
            yield from _of_record(each, seen)
    elif isinstance(node, (list, tuple)):
        for each in node:
            yield from _of_record(each, seen)
    elif hasattr(node, FIELDS) and type(node).__module__ == _SPEC and id(node) not in seen:
        seen.add(id(node))
        if "ranges" in names(node):
            span, text = node.span, node.text  # type: ignore[attr-defined]
            yield from ((match.group(), span) for match in _PLACEHOLDER.finditer(text))
        for name in names(node):
            yield from _of_record(getattr(node, name), seen)


def _of_text(text: Text | None, span: Span | None) -> Iterator[tuple[str, Span]]:
    for hole in text.holes if text is not None else ():
        place = hole.span or span
        if isinstance(hole.key, tuple) and hole.key[0] == "placeholder" and place is not None:
            yield hole.name, place


def _of_command(command: Command, ctx: Context) -> Iterator[tuple[str, Span]]:
    if command.builtin or command.function:
        return
    if called_file(command) is None and ctx.project.launch(command) is None:
        return
    for word in command.argv[1:]:
        for part in word.parts:
            if isinstance(part, Literal) and "<" in part.text and (place := part.span or word.span) is not None:
                yield from ((match.group(), place) for match in _PLACEHOLDER.finditer(part.text))
