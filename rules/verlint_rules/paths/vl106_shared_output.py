"""Runs at the same time, and stages of one spec, must not write the same place.

Two training runs in the background that save in one folder overwrite each other's checkpoints and tracker file, and
each resumes from what the other has left. Two jobs that send their output to one file with `>` truncate it and mix
their lines. Two stages of a spec with the same output leave only what the later one wrote, and whoever reads it gets
the other's data.

Reported where both commands are started with `&` on the same path of a script, without a `wait` between them. Silent
for `>>`, for `/dev/null`, for runs one after the other (VL206 says what becomes of those), and for places that only the
host knows.

Fix: give each run and each stage a place of its own, for example with its number or name in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from verlint.experiment.paths import Components, absolute, components, shown
from verlint.experiment.script import Script
from verlint.experiment.stage import Experiment
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.languages.bash.replay import Path
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.source import Span
from verlint.value import Text
from verlint_rules.artifacts.training import FOLDER, is_training, saves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import Spec


@rule("VL106", "shared-output", on=Experiment, severity=ERROR, since="0.1")
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    if experiment.spec is not None:
        if experiment.spec.spec is not None:
            yield from _of_spec(experiment.spec.spec, ctx)
    elif experiment.script is not None and experiment.root:
        yield from _of_script(experiment.script, ctx)


def _of_script(script: Script, ctx: Context) -> Iterator[Finding]:
    seen: set[object] = set()
    for path in script.resolution.paths:
        for first, second, place, at, is_folder in _clashes(path, ctx):
            key = (at.order(), place)
            if key in seen:
                continue
            seen.add(key)
            if is_folder:
                message = f"this run and another one beside it save in {place}: each overwrites the other's checkpoints"
            else:
                message = f"this job and another one beside it write {place}: each truncates what the other wrote"
            found = ctx.fail(
                at, message, value=place, help="give each a place of its own", severity=None if is_folder else WARNING
            )
            yield found.with_related(_started(first), "started first").with_related(
                _started(second) if _started(second) != _started(first) else None, "started beside it"
            )


def _clashes(path: Path, ctx: Context) -> Iterator[tuple[Command, Command, str, Span, bool]]:
    """Two commands in the background with the place that both write, where that is said, and whether it is a run's
    folder."""
    running: dict[tuple[bool, Components], Command] = {}
    for command in path.commands:
        if command.builtin and command.name == "wait":
            running.clear()
        if not command.around.background:
            continue
        for is_folder, text, at in _outputs(command, ctx):
            place = absolute(text, command.around.cwd)
            key = (is_folder, components(place))
            other = running.setdefault(key, command)
            if other is not command and not _same_job(other, command):
                yield other, command, shown(place), at, is_folder


def _same_job(one: Command, other: Command) -> bool:
    """Whether two commands belong to one job: the same call of the script, or one pipeline or group."""
    if one.around.stack and other.around.stack and one.around.stack[0] is other.around.stack[0]:
        return True
    mine, theirs = _started(one), _started(other)
    if mine.source is not theirs.source or mine == theirs:
        return mine.source is not theirs.source
    low, high = sorted((mine, theirs), key=lambda span: span.start)
    return "&" not in low.source.text[low.end : high.start].replace("&&", "").replace(">&", "").replace("&>", "")


def _outputs(command: Command, ctx: Context) -> Iterator[tuple[bool, Text, Span]]:
    launch = None if command.builtin or command.function else ctx.project.launch(command)
    if launch is not None and is_training(launch) and saves(launch):
        value = launch[FOLDER]
        if value.given and value.text is not None and not value.text.elastic:
            yield True, value.text, value.span or launch.head
    for redirect in command.redirects:
        target = redirect.target
        if redirect.operator in (">", "&>", ">|") and not (target.known or "").startswith("/dev/"):
            yield False, target, redirect.span


def _started(command: Command) -> Span:
    stack = command.around.stack
    return stack[0].span if stack else command.span


# ---- specs


def _of_spec(spec: Spec, ctx: Context) -> Iterator[Finding]:
    outs = [(stage, out) for stage in spec.stages.values() for out in stage.outs.values() if out.path.given]
    seen: set[str] = set()
    for (first, one), (second, other) in combinations(outs, 2):
        if first is second or one.path.same_as(other.path) is not True or str(other.path) in seen:
            continue
        seen.add(str(other.path))
        message = f"stage `{second.id}` writes {other.path}, as stage `{first.id}` does: one of the two is lost"
        found = ctx.fail(other.path, message, help="give each stage a place of its own")
        yield found.with_related(one.path.span, f"what `{first.id}` writes")
