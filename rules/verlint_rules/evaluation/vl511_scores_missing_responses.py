"""A scoring stage comes after a stage that generates the answers it scores.

The scorers read the answers of a run from its folder of results, by name and step, and skip what is not there with
status 0. Scored before, or for another run or other steps than those that were evaluated, there is no error: only
fewer numbers, or the old ones. `--step` is 25 when it is left out, which fits no run that saves every tenth step.

Looked at are experiments that train or evaluate something and score it: a driver or document, with the calls that its
drivers make, or a spec, where the answers come through `deps` and `needs`. Silent where nothing but the scoring is
written down, for names and steps that are not known, and for stages that run a command of their own.

Fix: evaluate the run at these steps first, with the launcher that writes what this scorer reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from verlint.experiment.alike import alike
from verlint.experiment.stage import Experiment, Stage, called_file, options_of
from verlint.families.scoring import SCORERS, Scorer
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.record import dataclass
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint.value import Text, Value
from verlint_rules.evaluation.aliases import known_alias

SHOWN = 6


@dataclass(frozen=True, slots=True)
class _Answers:
    """Answers that are generated or scored: of a run (None: of any), at some steps (None: not known)."""

    name: Text | None
    steps: frozenset[int] | None
    order: int
    span: Span


@rule("VL511", "scores-missing-responses", on=Experiment, severity=ERROR, since="0.1", words=("eval_gpt4o",))
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    if experiment.is_spec:
        yield from _of_spec(experiment, ctx)
    elif experiment.script is not None and experiment.root:
        for scorer in SCORERS:
            yield from _of_script(experiment, scorer, ctx)


def _matches(path: str, expressions: Sequence[str]) -> bool:
    return any(re.search(rf"(?:^|/){each}$", path) for each in expressions)


# ---- drivers and documents


def _of_script(experiment: Experiment, scorer: Scorer, ctx: Context) -> Iterator[Finding]:
    assert experiment.script is not None
    scored: dict[object, _Answers] = {}
    made: list[_Answers] = []
    others = False
    for path in experiment.script.resolution.paths:
        for order, command in enumerate(path.commands):
            called = called_file(command)
            name = "" if called is None else called.path.shown
            if called is None or command.builtin:
                continue
            options = options_of(called.arguments)
            if _matches(name, (scorer.tool,)):
                scored.setdefault(command.span.order(), _scored(options, scorer, order, command))
            elif _matches(name, scorer.generators):
                if any(call.span == each.span for call in command.around.stack for each in made):
                    continue  # a part of the generation that is known already
                made.append(_Answers(options.get("--exp_name"), _steps(options.get("--ckpt")), order, command.span))
            elif not any(_matches(name, (each.tool,)) for each in SCORERS):
                others = others or name.endswith(".sh")
    if not others and not made:
        return
    for answers in scored.values():
        if answers.name is not None and answers.name.known is not None:
            alias = known_alias(ctx.project, answers.name.known, scorer.family)
            if alias is None:  # else the name itself is what is wrong
                yield from _lacking(answers, made, scorer, ctx)


def _scored(options: Mapping[str, Text | None], scorer: Scorer, order: int, command: Command) -> _Answers:
    start, end = (_number(options.get(name)) for name in ("--start_ckpt", "--end_ckpt"))
    step = _number(options["--step"]) if "--step" in options else scorer.step
    steps = None
    if start is not None and end is not None and (step or start == end) and (end - start) // (step or 1) < 10_000:
        steps = frozenset(range(start, end + 1, step or 1))
    return _Answers(options.get("--exp_name"), steps, order, command.span)


def _number(word: Text | None) -> int | None:
    known = None if word is None else word.known
    return int(known) if known is not None and re.fullmatch(r"\d{1,9}", known) else None


def _steps(word: Text | None) -> frozenset[int] | None:
    known = "" if word is None else word.known
    if not known or re.fullmatch(r"\d{1,9}(?: +\d{1,9})*", known) is None:
        return None
    return frozenset(map(int, known.split()))


def _lacking(scored: _Answers, made: Sequence[_Answers], scorer: Scorer, ctx: Context) -> Iterator[Finding]:
    """What is wrong with the answers that a call scores."""
    assert scored.name is not None
    run = scored.name.known
    possible = [each for each in made if each.name is None or each.name.same_as(scored.name) is not False]
    help_ = f"run {scorer.generator} for `{run}` first"
    if not possible:
        near = _near(run or "", made, scored)
        message = f"nothing generates the answers of `{run}` that are scored here: {scorer.missing}"
        yield ctx.fail(scored.name, message, value=f"exp_name = {run}", near=near, help=help_)
        return
    before = [each for each in possible if each.order < scored.order]
    if not before:
        message = f"the answers of `{run}` are generated only after they are scored: {scorer.missing}"
        finding = ctx.fail(scored.name, message, value=f"exp_name = {run}", help="score behind the evaluation")
        yield finding.with_related(possible[0].span, "generated here")
        return
    if scored.steps is None or any(each.steps is None for each in before):
        return
    there = frozenset[int]().union(*(each.steps or () for each in before))
    left = sorted(scored.steps - there)
    if left:
        shown = ", ".join(map(str, left[:SHOWN])) + (", …" if len(left) > SHOWN else "")
        message = f"no answers of `{run}` are generated at step {shown}: {scorer.missing}"
        known = ", ".join(map(str, sorted(there)[:SHOWN]))
        finding = ctx.fail(
            scored.name, message, value=f"exp_name = {run}", near=f"evaluated at step {known}", help=help_
        )
        yield finding.with_related(before[-1].span, "the evaluation")


def _near(run: str, made: Sequence[_Answers], scored: _Answers) -> str:
    order = sorted(made, key=lambda each: (each.order < scored.order, each.order))
    names = [each.name.known for each in order if each.name is not None and each.name.known is not None]
    return next(iter(alike(run, names, 1)), "")


# ---- specs


def _of_spec(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    stages = {stage.id: stage for stage in experiment.stages}
    if all(any(_matches(stage.launcher, (each.tool,)) for each in SCORERS) for stage in experiment.stages):
        return  # the answers are those of an earlier experiment
    for stage in experiment.stages:
        scorer = next((each for each in SCORERS if _matches(stage.launcher, (each.tool,))), None)
        if scorer is None or stage.spec is None:
            continue
        before = _before(stage, stages)
        direct = {str(each) for each in _named(stage)}
        if any(each.id in direct and each.spec is not None and each.spec.run is not None for each in before):
            continue
        makers = [each for each in before if _matches(each.launcher, scorer.generators)]
        run = _argument(stage, "exp_name")
        same = [each for each in makers if run is None or _argument(each, "exp_name") in (None, run)]
        at = stage.spec.launcher.span or stage.span
        if not makers:
            message = f"nothing that this stage waits for generates the answers it scores: {scorer.missing}"
            elsewhere = [each for each in stages.values() if _matches(each.launcher, scorer.generators)]
            near = ", ".join(each.id for each in elsewhere[:3])
            help_ = f"take the answers in: deps: {{samples: {{from: {near or 'EVALUATION'}}}}}"
            yield ctx.fail(at, message, near=near, help=help_)
        elif not same:
            value = stage.spec.args["exp_name"]
            other = _argument(makers[0], "exp_name")
            message = (
                f"the answers that this stage takes in are those of `{other}`, it scores `{run}`: {scorer.missing}"
            )
            finding = ctx.fail(value, message, near=other or "", help="take in the evaluation of this run")
            yield finding.with_related(makers[0].span, "the evaluation")


def _argument(stage: Stage, name: str) -> str | None:
    value = None if stage.spec is None else stage.spec.args.get(name)
    return None if value is None or not value.given or not value.decided else str(value)


def _before(stage: Stage, stages: Mapping[str, Stage]) -> list[Stage]:
    """All stages that a stage waits for."""
    found: dict[str, Stage] = {}
    waiting = [stage]
    while waiting:
        waiting_for = waiting.pop()
        for value in _named(waiting_for):
            each = stages.get(str(value)) if value.given and value.decided else None
            if each is not None and each.id not in found:
                found[each.id] = each
                waiting.append(each)
    return list(found.values())


def _named(stage: Stage) -> list[Value]:
    """The stages that a stage takes something from, or waits for, as they are written."""
    spec = stage.spec
    return [] if spec is None else [dep.from_stage for dep in spec.deps.values()] + list(spec.needs)
