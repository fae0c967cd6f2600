"""Runs at the same time, and stages of one spec, must not write the same place.

Two training runs in the background that save in one folder overwrite each other's checkpoints and tracker file, and
each resumes from what the other has left. Two jobs that send their output to one file with `>` truncate it and mix
their lines. Two stages of a spec with the same output leave only what the later one wrote, and whoever reads it gets
the other's data; two training stages of one run name that start anew (`resume_mode=disable`) mix their checkpoints.

Reported where both commands are started with `&` on the same path of a script, without a `wait` between them. Silent
for `>>`, for `/dev/null`, for runs one after the other (VL206 says what becomes of those), and for places that only the
host knows.

Fix: give each run and each stage a place of its own, for example with its number or name in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from verlint.experiment.launch import Launch
from verlint.experiment.paths import Components, absolute, components, shown
from verlint.experiment.script import Script
from verlint.experiment.stage import Experiment, Stage
from verlint.experiment.stage_settings import setting
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.languages.bash.replay import Path
from verlint.record import dataclass
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.source import Span
from verlint.value import Text
from verlint_rules.artifacts.training import FOLDER, is_training, saves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import Spec

_ANSWERS = "trainer.validation_data_dir"


@dataclass(frozen=True, eq=False)
class _Clash:
    """Two commands in the background with the place that both write, where that is said, and whether it is a run's
    folder."""

    first: Command
    second: Command
    place: str
    at: Span
    is_folder: bool


@rule("VL106", "shared-output", on=Experiment, severity=ERROR, since="0.1")
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    if experiment.spec is not None:
        if experiment.spec.spec is not None:
            yield from _of_spec(experiment.spec.spec, ctx)
            yield from _of_runs(experiment, ctx)
    elif experiment.script is not None and experiment.root:
        yield from _of_script(experiment.script, ctx)


def _of_script(script: Script, ctx: Context) -> Iterator[Finding]:
    groups: dict[object, list[_Clash]] = {}
    for path in script.resolution.paths:
        for each in _clashes(path, ctx):
            jobs = _started(each.first).order(), _started(each.second).order()
            key = (each.at.order(), each.is_folder, jobs if not each.is_folder else each.place)
            known = groups.setdefault(key, [])
            if all(other.place != each.place for other in known):
                known.append(each)
    for found in groups.values():
        yield _finding(found, ctx)


def _finding(found: Sequence[_Clash], ctx: Context) -> Finding:
    """One for all places that two jobs share by one word."""
    first = found[0]
    place = first.place if len(found) == 1 else f"{first.place} and {len(found) - 1} more"
    if first.is_folder:
        message = f"this run and another one beside it save in {place}: each overwrites the other's checkpoints"
    else:
        message = f"this job and another one beside it write {place}: each truncates what the other wrote"
    severity = None if first.is_folder else WARNING
    finding = ctx.fail(first.at, message, value=first.place, help="give each a place of its own", severity=severity)
    one, other = _started(first.first), _started(first.second)
    finding = finding.with_related(one, "started first")
    return finding.with_related(other if other != one else None, "started beside it")


def _clashes(path: Path, ctx: Context) -> Iterator[_Clash]:
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
            if other is not command and not _same_job(other, command) and not _other_answers(other, command, ctx):
                yield _Clash(other, command, shown(place), at, is_folder)


def _other_answers(one: Command, other: Command, ctx: Context) -> bool:
    """Whether two runs answer different questions: forks put the name of the data into that of the file."""
    first, second = ctx.project.launch(one), ctx.project.launch(other)
    if first is None or second is None:
        return False
    return first["data.val_files"].same_as(second["data.val_files"]) is not True


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
    elif launch is not None:
        value = launch[_ANSWERS]
        if value.given and value.text is not None and not value.text.elastic:
            yield False, value.text, value.span or launch.head
    for redirect in command.redirects:
        target = redirect.target
        if redirect.operator in (">", "&>", ">|") and not (target.known or "").startswith("/dev/"):
            yield False, target, redirect.span


def _started(command: Command) -> Span:
    stack = command.around.stack
    return stack[0].span if stack else command.span


# ---- specs


def _of_runs(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    """Stages that save in the folder of another, and do not go on from it."""
    saved: dict[Components, tuple[Stage, Launch]] = {}
    for stage in experiment.stages:
        for launch in stage.launches:
            value = launch[FOLDER]
            if not is_training(launch) or not saves(launch) or not value.given or value.text is None:
                continue
            folder = components(absolute(value.text, launch.command.around.cwd))
            first, run = saved.setdefault(folder, (stage, launch))
            if first is stage or value.text.elastic or _goes_on(run, launch):
                continue
            name = setting(stage, "exp_name")
            place = shown(absolute(value.text, launch.command.around.cwd))
            message = f"stage `{stage.id}` saves in {place}, as stage `{first.id}` does, and starts anew there: "
            message += "the checkpoints of both are mixed"
            help_ = "give each stage a run of its own name"
            if name is not None and name.written:
                held = f"{name.label} = {name.shown}"
                found = ctx.fail(name.span, message, value=held, hops=name.hops, help=help_)
            else:
                found = ctx.fail(value, message, help=help_)
            other = setting(first, "exp_name")
            yield found.with_related(other.span if other is not None else first.span, f"stage `{first.id}`")


def _goes_on(first: Launch, second: Launch) -> bool:
    """Whether the second of two runs in one folder may go on from the first."""
    mode, start = second["trainer.resume_mode"], second["trainer.resume_from_path"]
    if mode.equals("resume_path") is not False and start.given and start.text is not None:
        held = first[FOLDER].text
        return held is None or start.text.shown.startswith(held.shown)
    return mode.equals("disable") is not True


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
