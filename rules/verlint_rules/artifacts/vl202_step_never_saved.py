"""A step that is used must be one that its run saves.

A run saves every step that `trainer.save_freq` divides, and its last one; nothing in between. An evaluation, a next
round or a hand-over that asks for another step finds no folder: the model load fails after the queue and the start of
the cluster, and launchers that merge shards first go on with a folder they have made themselves. The same holds for a
step behind the end of the run, and for one that `trainer.max_actor_ckpt_to_keep` (or that of the critic) has removed:
the run then deletes its oldest checkpoint at each save.

Certain when the step count of the run is known, and also when several such steps of one run are used, since only one
of them can be its last. A single one of a run that counts epochs may be the last step, and is one to verify. In a spec
the step is held against the `outs` of its stage, or against what the stage's launcher saves when it is called with the
stage's arguments. Silent for folders that a copy, a download or a program of unknown effect may have filled.

Fix: use a step that is saved, or give the run a `trainer.save_freq` that divides the step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from verlint.experiment.checkpoints import Ledger, Place, Save, Use, ledger_of_script, saved_by
from verlint.experiment.paths import last_component, shown
from verlint.experiment.stage import Experiment, Stage
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.record import dataclass
from verlint.rule import ERROR, Context, rule
from verlint.source import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import Spec, SpecDep, SpecOut

_NOWHERE = Place(0, 0, 0)
_MOST_SHOWN = 4
_MOST_LOOKED_AT = 10_000


@rule(
    "VL202",
    "step-never-saved",
    on=Experiment,
    severity=ERROR,
    since="0.1",
    words=("global_step_", "schema", "stages:", "taught launchers"),
)
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    if experiment.spec is not None:
        if experiment.spec.spec is not None:
            yield from _of_spec(experiment, experiment.spec.spec, ctx)
        return
    script = experiment.script
    if script is None or not experiment.root:
        return
    ledger = ledger_of_script(script, ctx.project.launch)
    if ledger.cut_short:
        return
    groups: dict[object, list[Use]] = {}
    for use in ledger.uses:
        groups.setdefault((use.key, _driver_span(use.command).order()), []).append(use)
    found: dict[object, list[_Lost]] = {}
    for uses in groups.values():
        lost = _of_uses(uses, ledger)
        if lost is not None:
            found.setdefault(lost.key, []).append(lost)
    for each in found.values():
        yield _finding(ctx, each)


@dataclass(frozen=True, slots=True)
class _Rhythm:
    """What a run saves: every so many steps, up to the last one where that is known."""

    every: int
    last: int | None
    keep: int | None = None
    start: int = 0

    def lacks(self, step: int) -> bool | None:
        """Whether a step is not there when the run has ended; None for one that may be the last."""
        if step <= self.start:
            return True
        if self.last is None:
            return None if step % self.every else False
        if not 0 < step < self.last or step % self.every:
            return step != self.last
        return self.keep is not None and len(range(step, self.last, self.every)) >= self.keep

    def words_for(self, runs: int) -> str:
        """The words for several runs."""
        return self.words if runs == 1 else self.words.replace(" keeps ", " keep ").replace(", its last", ", the last")

    @property
    def words(self) -> str:
        """`every 50 steps up to 400, its last, and keeps only the newest 2`."""
        if self.keep is None:
            return self._saved
        return f"{self._saved}, and keeps only the newest{'' if self.keep == 1 else f' {self.keep}'}"

    @property
    def _saved(self) -> str:
        every = "every step" if self.every == 1 else f"every {self.every} steps"
        if self.start:
            every += f" after step {self.start}, which it starts from"
        if self.last is None:
            return every
        if self.every > self.last:
            return f"only its last step, {self.last}"
        return f"{every} up to {self.last}, its last"

    def around(self, step: int) -> list[int]:
        """The saved steps just below and just above."""
        below = step - step % self.every
        last = self.last
        if self.keep is not None:
            if last is None:
                return []
            before = range(self.every, last, self.every)
            left = [*before[max(len(before) + 1 - self.keep, 0) :], last]
            return sorted(left, key=lambda each: (abs(each - step), each))[:2]
        found = {below, below + self.every} if last is None else {min(below, last), min(below + self.every, last)}
        return sorted(each for each in found if each > self.start and each != step)


# ---- drivers and documents


@dataclass(frozen=True, eq=False)
class _Lost:
    """Uses of steps of one run that it does not save, each step once, with what it saves."""

    uses: Sequence[Use]
    rhythm: _Rhythm
    save: Save
    certain: bool

    @property
    def at(self) -> Span:
        """Where to point."""
        return self.uses[0].step_span or self.uses[0].at

    @property
    def key(self) -> object:
        """What the runs of a loop have in common that lack the same steps at the same place."""
        return self.at.order(), tuple(use.step for use in self.uses), self.rhythm.words, self.certain


def _of_uses(uses: Sequence[Use], ledger: Ledger) -> _Lost | None:
    first = uses[0]
    made = [save for save in ledger.saves if save.key == first.key and save.place.before(first.place)]
    saves = [save for save in made if not save.never and save.command is not first.command]
    runs = [save for save in saves if not save.steps]
    if not runs or any(save.every is None for save in runs) or ledger.made_otherwise(first):
        return None
    rhythms = [_Rhythm(save.every or 1, save.last, save.keep(first.role), _start(save, saves)) for save in runs]
    copied = {step for save in saves for step in save.steps}
    wanted = sorted({use.step for use in uses if use.step})
    lacking = [(step, _lacks(rhythms, step)) for step in wanted if step not in copied]
    missing = [step for step, lacks in lacking if lacks is not False]
    if not missing and len(rhythms) == 1:
        missing = _too_many(wanted, rhythms[0], copied)
        lacking = [(step, True) for step in missing]
    if not missing:
        return None
    certain = any(lacks for _, lacks in lacking) or len(missing) > 1
    conditional = all(use.conditional for use in uses)
    lost = [next(use for use in uses if use.step == step) for step in missing]
    return _Lost(lost, rhythms[0], runs[0], certain and not conditional)


def _start(run: Save, saves: Sequence[Save]) -> int:
    """The newest of the steps that were copied into the folder of a run before it began, 0 without such."""
    copied = [step for save in saves if save.steps and save.place.before(run.place) for step in save.steps]
    return max(copied, default=0)


def _too_many(wanted: Sequence[int], rhythm: _Rhythm, copied: Collection[int]) -> list[int]:
    """Of a run of unknown length that keeps some checkpoints only: the oldest of more used steps than it can have."""
    steps = [step for step in wanted if step not in copied]
    if rhythm.keep is None or rhythm.last is not None or len(steps) <= rhythm.keep:
        return []
    return steps[: -rhythm.keep]


def _driver_span(command: Command) -> Span:
    """The command of the driver that a command belongs to."""
    stack = command.around.stack
    return stack[0].span if stack else command.span


def _lacks(rhythms: Sequence[_Rhythm], step: int) -> bool | None:
    answers = [each.lacks(step) for each in rhythms]
    if False in answers:
        return False
    return None if None in answers else True


def _finding(ctx: Context, found_: Sequence[_Lost]) -> Finding:
    """One finding for the runs of a loop that lack the same steps."""
    first = found_[0]
    lost, rhythm, save, certain, span = first.uses, first.rhythm, first.save, first.certain, first.at
    use, missing = lost[0], [each.step or 0 for each in lost]
    names = list(dict.fromkeys(f"`{last_component(each.uses[0].folder).shown}`" for each in found_))
    shown_ = names[:3] if len(names) < 4 else [*names[:2], f"{len(names) - 2} more runs"]
    name = " and ".join([", ".join(shown_[:-1]), shown_[-1]]) if len(shown_) > 1 else shown_[0]
    verb = "is" if len(missing) == len(names) == 1 else "are"
    of = "that run saves" if len(names) == 1 else "these runs save"
    message = f"{_listed(missing)} of {name} {verb} used, but {of} {rhythm.words_for(len(names))}"
    value, hops = f"{shown(use.folder)}/global_step_{missing[0]}", use.word.trail()
    near, help_ = ", ".join(map(str, rhythm.around(missing[0]))), _help(rhythm, missing)
    if certain:
        found = ctx.fail(span, message, value=value, hops=hops, near=near, help=help_)
    else:
        verify = f'ls "{shown(use.folder)}"  # is {missing[0]} its last step?'
        found = ctx.unsure(span, message, value=value, hops=hops, near=near, help=help_, verify=verify)
    for other in lost[1:_MOST_SHOWN]:
        if other.step_span is not None and other.step_span.order() != span.order():
            found = found.with_related(other.step_span, f"step {other.step}, not saved either")
    found = found.with_related(_driver_span(save.command), "the run that saves")
    keeping = save.newest if save.newest is not None and save.newest.truthy() else save.kept.get(use.role or "actor")
    if rhythm.keep is not None and keeping is not None and keeping.given:
        found = found.with_related(keeping.span, f"{keeping.key} = {keeping}")
    return found.with_related(save.every_span, f"saves every {rhythm.every} steps")


def _listed(steps: Sequence[int]) -> str:
    if len(steps) == 1:
        return f"step {steps[0]}"
    if len(steps) <= _MOST_SHOWN:
        return f"steps {', '.join(map(str, steps[:-1]))} and {steps[-1]}"
    return f"{len(steps)} steps ({', '.join(map(str, steps[:2]))}, … {steps[-1]})"


def _help(rhythm: _Rhythm, missing: Sequence[int]) -> str:
    if rhythm.keep is not None:
        oldest = missing[0]
        return f"use a step that is kept, or keep enough to reach back to step {oldest}"
    around = " or ".join(map(str, rhythm.around(missing[0])))
    use = f"use step {around}" if len(missing) == 1 and around else "use steps that the run saves"
    if missing[0] <= rhythm.start:
        return f"use steps after {rhythm.start}, or the run that step {rhythm.start} was copied from"
    if rhythm.last is not None and missing[-1] > rhythm.last:
        return f"{use}, or train up to {missing[-1]}"
    from math import gcd

    common = gcd(rhythm.every, *missing)
    return f"{use}, or save every {common} steps" if common > 1 else use


# ---- specs


def _of_spec(experiment: Experiment, spec: Spec, ctx: Context) -> Iterator[Finding]:
    stages = {stage.id: stage for stage in experiment.stages}
    for each in experiment.stages:
        yield from _of_outs(each, ctx)
    for stage in spec.stages.values():
        found: dict[tuple[str, str], Finding] = {}
        for dep in stage.deps.values():
            source = stages.get(str(dep.from_stage)) if dep.from_stage.decided else None
            if source is None or source.id == stage.id:
                continue
            for finding in _of_dep(source, dep, ctx):
                key = (source.id, finding.message)
                known = found.get(key)
                found[key] = known.with_related(finding.span, "the same step") if known is not None else finding
        yield from found.values()


def _of_dep(source: Stage, dep: SpecDep, ctx: Context) -> Iterator[Finding]:
    wanted = dep.wanted
    if wanted is None or not wanted.known or source.spec is None:
        return
    outs = [out for out in source.spec.outs.values() if out.is_checkpoint and _has_role(out, dep)]
    said = [each for each in (_declared(out) for out in outs) if each is not None]
    if len(said) != len(outs):
        return
    found = _of_launches(source)
    if outs and (found is None or not any(_unsaved(each, found[0]) for each in said)):
        ends = found[0].last if found is not None else None
        missing = [step for step in wanted if not any(each.has(step, ends) for each in said)]
        words, span, where = (
            " and ".join(each.words_to(ends) for each in said),
            outs[0].span,
            f"what `{source.id}` saves",
        )
        certain = len(missing) > 1 or all(each.closed or ends is not None for each in said)
    else:
        if found is None:
            return
        rhythm, span = found
        missing = [step for step in wanted if rhythm.lacks(step) is not False]
        certain = len(missing) > 1 or any(rhythm.lacks(step) for step in missing)
        words, where = rhythm.words, f"what the launcher of `{source.id}` saves"
    if not missing:
        return
    message = f"{_listed(missing)} of stage `{source.id}` {'is' if len(missing) == 1 else 'are'} used, "
    message += f"but that stage saves {words}"
    help_ = f"use a step that `{source.id}` saves, or let it save this one"
    value, hops = f"step = {wanted.text}", wanted.hops
    if certain:
        finding = ctx.fail(wanted.span, message, value=value, hops=hops, help=help_)
    else:
        verify = f"ls  # in the run's folder: is {missing[0]} its last step?"
        finding = ctx.unsure(wanted.span, message, value=value, hops=hops, help=help_, verify=verify)
    yield finding.with_related(span, where)


@dataclass(frozen=True, slots=True)
class _Declared:
    """Steps that a stage's `outs` declare: `ranges`, or every so many from the first on. `closed` says that no other
    step can be the last."""

    words: str
    ranges: tuple[range, ...] = ()
    every: int = 0
    first: int = 0

    @property
    def closed(self) -> bool:
        return not self.every

    def has(self, step: int, ends: int | None) -> bool:
        """Whether a step is declared, of a run that ends with step `ends` where that is known."""
        if self.every:
            return step == ends or (step >= self.first and step % self.every == 0 and (ends is None or step < ends))
        return any(step in each for each in self.ranges)

    def words_to(self, ends: int | None) -> str:
        """What is declared, with the last step of the run where that is known."""
        return f"{self.words} up to {ends}, its last" if self.every and ends is not None else self.words


def _of_outs(stage: Stage, ctx: Context) -> Iterator[Finding]:
    """Checkpoints that the `outs` of a stage declare, and its launcher does not save."""
    outs = [out for out in stage.spec.outs.values() if out.is_checkpoint] if stage.spec is not None else []
    if not outs:
        return
    found = _of_launches(stage)
    if found is None:
        yield from _saves_none(stage, outs, ctx)
        return
    rhythm, place = found
    for out in outs:
        declared = _declared(out)
        unsaved = _unsaved(declared, rhythm) if declared is not None else []
        if declared is None or not unsaved:
            continue
        what = declared.words if declared.every else _listed(unsaved)
        message = f"stage `{stage.id}` declares {what}, but its launcher saves {rhythm.words}"
        help_ = f"declare steps that are saved, or give the launcher a save_freq that divides {unsaved[0]}"
        if rhythm.last is not None and unsaved[0] > rhythm.last:
            help_ = f"declare steps up to {rhythm.last}, or train up to {unsaved[-1]}"
        at = out.steps.span if out.steps is not None else out.every.span
        yield ctx.fail(at or out.span, message, help=help_).with_related(place, "how often it saves")


def _saves_none(stage: Stage, outs: Sequence[SpecOut], ctx: Context) -> Iterator[Finding]:
    saved = [save for launch in stage.launches if (save := saved_by(launch, _NOWHERE)) is not None]
    if saved and all(save.never for save in saved):
        message = (
            f"stage `{stage.id}` declares checkpoints, but its launcher saves none: trainer.save_freq is not above 0"
        )
        found = ctx.fail(
            outs[0].span, message, help="give the launcher a trainer.save_freq above 0, or drop the output"
        )
        yield found.with_related(saved[0].every_span, "told so here")


def _unsaved(declared: _Declared, rhythm: _Rhythm) -> list[int]:
    """Of the declared steps, those that a run of this rhythm surely never saves; whether it keeps them is left out."""
    whole = _Rhythm(rhythm.every, rhythm.last)
    if not declared.every:
        return [step for each in declared.ranges for step in each[:_MOST_LOOKED_AT] if whole.lacks(step)]
    if declared.every % rhythm.every == 0 or (rhythm.last is not None and declared.every >= rhythm.last):
        return []
    return [declared.every]


def _declared(out: SpecOut) -> _Declared | None:
    if out.steps is not None:
        return _Declared(f"steps {out.steps.text}", out.steps.ranges) if out.steps.known else None
    every, first = out.every.number(), out.from_step.number()
    if not out.every.given or every is None or every <= 0 or (out.from_step.given and first is None):
        return None
    begins = int(first or 0)
    return _Declared(
        f"every {int(every)} steps" + (f" from {begins} on" if begins else ""), every=int(every), first=begins
    )


def _has_role(out: SpecOut, dep: SpecDep) -> bool:
    return not dep.role.given or not out.roles or any(role.equals(dep.role.data) is not False for role in out.roles)


def _of_launches(source: Stage) -> tuple[_Rhythm, Span] | None:
    """What the launches of a stage save, where all say the same."""
    saved = [save for launch in source.launches if (save := saved_by(launch, _NOWHERE)) is not None]
    rhythms = {(save.every, save.last, save.keep("actor")) for save in saved}
    if len(rhythms) != 1 or saved[0].every is None:
        return None
    return _Rhythm(saved[0].every, saved[0].last, saved[0].keep("actor")), saved[0].every_span or saved[0].span
