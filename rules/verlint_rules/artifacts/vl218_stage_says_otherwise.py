"""What a stage of a spec takes in and gives out is what its launcher reads and writes.

A spec says twice where things come from: `deps` and `outs` for whoever plans and checks the experiment, `args` for the
launcher. The run follows `args` alone. An evaluation whose `deps` name one training stage and whose `exp_name` is that
of another measures the other run, and the table says the wrong name; a step in `args` that `deps` do not have is not
waited for and may not be there; a stage that writes beside its declared output leaves the next one with nothing.

Compared are, for launchers that verlint can follow: the runs and steps whose checkpoints the stage reads, with its
`deps` and with the stages that save them; folders and files of the same name that it writes, with `outs`; the data
files it reads, with the outputs of the same name that `deps` take in. For all: the run that an experience list is made
of; the run and steps that an evaluation is told; stages that give checkpoints where answers, trajectories or
experience are taken; and the kind of a stage, with that of its launcher in the family. Silent for names and steps that
are not known before the run, for checkpoints that are copied first (`stage_into`), and for roots: only what stands
below them is compared.

Fix: make `args` and `deps` or `outs` say the same.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from verlint.experiment.checkpoints import Save, Use, ledger_of_stage
from verlint.experiment.handovers import links_of
from verlint.experiment.paths import last_component
from verlint.experiment.spec import step_range
from verlint.experiment.stage import Experiment, Stage
from verlint.experiment.stage_settings import setting
from verlint.families import stages_of_launcher
from verlint.families.flows import FLOWS
from verlint.families.sharing import HANDOVERS, Handover
from verlint.finding import Finding
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import ERROR, Context, rule
from verlint.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import SpecDep, SpecOut

_TRAIN = "data.train_files"
_DATA = {
    "train": _TRAIN,
    "val": "data.val_files",
    "validation": "data.val_files",
    "test": "data.val_files",
}
_READS = frozenset(["eval", "generation", "eval-fuzzy", "eval-endtask"])
"""Kinds of stages that read the checkpoints of the run that their `exp_name` is."""
_DEP = pattern(r"\$\{deps\.([\w-]+)\}")
_MOST_SHOWN = 4
_MOST_STEPS = 10_000


@dataclass(frozen=True, eq=False)
class _Made:
    """A stage with the checkpoints that its launcher saves and uses."""

    stage: Stage
    saves: Sequence[Save]
    uses: Sequence[Use]

    def saves_run(self, use: Use) -> bool:
        """Whether it trains the run that a checkpoint is used of."""
        return any(save.key == use.key for save in self.saves)


@rule("VL218", "stage-says-otherwise", on=Experiment, severity=ERROR, since="0.1", words=("verlint/exp", "stages:"))
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    if experiment.spec is None or experiment.spec.spec is None:
        return
    made = {}
    for stage in experiment.stages:
        ledger = ledger_of_stage(stage)
        made[stage.id] = _Made(stage, ledger.saves, ledger.uses)
    odd: set[str] = set()
    for each in made.values():
        for found in _of_kind(each.stage, ctx):
            odd.add(each.stage.id)
            yield found
    for each in made.values():
        yield from _of_sources(each.stage, made, odd, ctx)
        read = list(_of_runs(each, made, ctx) if each.uses else _of_names(each.stage, made, ctx))
        yield from read or _of_outputs(each.stage, ctx)
    yield from _of_data(experiment, made, ctx)
    yield from _of_lists(experiment, ctx)


# ---- the kind


def _of_kind(stage: Stage, ctx: Context) -> Iterator[Finding]:
    if stage.spec is None or not stage.spec.kind.decided or not stage.launcher:
        return
    said = str(stage.spec.kind)
    kinds = [kind for family, kind in stages_of_launcher(stage.launcher) if family.name == stage.family]
    if not kinds or any(said == kind.name or said in kind.aliases for kind in kinds):
        return
    name = stage.launcher.rsplit("/", 1)[-1]
    message = f"stage `{stage.id}` is declared as {said}, its launcher {name} is that of {kinds[0].name}"
    found = ctx.fail(
        stage.spec.kind, message, near=kinds[0].name, help=f"write kind: {kinds[0].name}, or name its launcher"
    )
    yield found.with_related(stage.spec.launcher.span, "the launcher")


# ---- what deps are put in for


def _of_sources(stage: Stage, made: dict[str, _Made], odd: Container[str], ctx: Context) -> Iterator[Finding]:
    """Arguments that take what one kind of stage makes, and are given the checkpoints of another."""
    if stage.spec is None:
        return
    for option, value in stage.spec.args.items():
        kinds = [each.producer for each in HANDOVERS.get(stage.family, ()) if _takes(each, stage.kind, option)]
        named = _DEP.search(value.span.text) if kinds and value.span is not None else None
        dep = stage.spec.deps.get(named[1]) if named is not None else None
        source = made.get(str(dep.from_stage)) if dep is not None and dep.from_stage.decided else None
        if dep is None or source is None or source.stage.kind in kinds or source.stage.id in odd:
            continue
        saves = source.stage.kind_data.saves if source.stage.kind_data is not None else ()
        if saves:
            message = f"`{option}` of stage `{stage.id}` takes what a stage of kind {' or '.join(kinds)} makes; "
            message += f"`{source.stage.id}` is {source.stage.kind}, and makes checkpoints"
            right = next((each.stage.id for each in made.values() if each.stage.kind in kinds), "")
            help_ = f"write from: {right}" if right else f"add a stage of kind {kinds[0]}"
            yield ctx.fail(dep.from_stage, message, near=right, help=help_).with_related(value.span, f"args.{option}")


def _takes(handover: Handover, kind: str, option: str) -> bool:
    return handover.consumer == kind and handover.option == option and not handover.checkpoint


# ---- runs and steps


def _of_runs(reader: _Made, made: dict[str, _Made], ctx: Context) -> Iterator[Finding]:
    spec = reader.stage.spec
    if spec is None:
        return
    deps = [dep for dep in spec.deps.values() if dep.from_stage.decided and not dep.stage_into.given]
    sources = {dep.name: made[str(dep.from_stage)] for dep in deps if str(dep.from_stage) in made}
    seen: set[object] = set()
    for use in reader.uses:
        savers = [each for each in made.values() if each is not reader and each.saves_run(use)]
        named = [dep for dep in deps if dep.name in sources and sources[dep.name] in savers]
        key = (use.key, use.step if named else None)
        if key in seen or last_component(use.folder).known is None:
            continue
        seen.add(key)
        if any(dep.stage_into.given for dep in spec.deps.values()) or reader.saves_run(use):
            continue
        if named:
            continue
        training = [dep for dep in deps if dep.name in sources and sources[dep.name].saves]
        if savers and training:
            yield _other_run(reader.stage, use, savers[0], training[0], ctx)
        elif (
            training and _saves_beside(sources[training[0].name], use) and not _shares(sources[training[0].name], made)
        ):
            yield _no_run(reader.stage, use, sources[training[0].name], training[0], ctx)
    yield from _of_steps(reader, sources, deps, ctx)


def _shares(source: _Made, made: dict[str, _Made]) -> bool:
    """Whether another stage trains a run of the same name, which is what is wrong then."""
    keys = {save.key for save in source.saves}
    return any(save.key in keys for other in made.values() if other is not source for save in other.saves)


def _saves_beside(source: _Made, use: Use) -> bool:
    """Whether the runs of a stage lie in the folder of the one that is used, and all have known names."""
    return all(save.key[:-1] == use.key[:-1] and last_component(save.folder).known for save in source.saves)


def _other_run(stage: Stage, use: Use, saver: _Made, dep: SpecDep, ctx: Context) -> Finding:
    name = last_component(use.folder).shown
    message = (
        f"stage `{stage.id}` reads checkpoints of `{name}`, which stage `{saver.stage.id}` trains; `deps` take them "
        f"from `{dep.from_stage}`"
    )
    found = ctx.fail(
        dep.from_stage,
        message,
        near=saver.stage.id,
        help=f"write from: {saver.stage.id}, or name the run of {dep.from_stage} in args",
    )
    return found.with_related(use.span, "the run that is read").with_related(saver.stage.span, "trains it")


def _no_run(stage: Stage, use: Use, source: _Made, dep: SpecDep, ctx: Context) -> Finding:
    name = last_component(use.folder).shown
    trained = ", ".join(sorted({last_component(save.folder).shown for save in source.saves}))
    message = (
        f"stage `{stage.id}` reads checkpoints of `{name}`, which no stage trains; `deps` take them from "
        f"`{dep.from_stage}`, which trains `{trained}`"
    )
    found = ctx.fail(
        use.span, message, near=trained, help=f"name {trained}", value=use.word.shown, hops=use.word.trail()
    )
    return found.with_related(dep.from_stage.span, "taken in from here")


def _of_steps(reader: _Made, sources: dict[str, _Made], deps: Sequence[SpecDep], ctx: Context) -> Iterator[Finding]:
    """Steps in the call that the `deps` on the stage that saves them do not have."""
    strange: dict[str, list[Use]] = {}
    wanted: dict[str, SpecDep] = {}
    for use in reader.uses:
        named = [dep for dep in deps if dep.name in sources and sources[dep.name].saves_run(use)]
        steps = [dep.wanted for dep in named]
        if use.step is None or not named or any(each is None or not each.known for each in steps):
            continue
        if not any(each is not None and use.step in each for each in steps):
            uses = strange.setdefault(named[0].name, [])
            wanted[named[0].name] = named[0]
            if all(each.step != use.step for each in uses):
                uses.append(use)
    for name, uses in strange.items():
        dep, first = wanted[name], uses[0]
        numbers = [each.step or 0 for each in uses]
        text = dep.wanted.text if dep.wanted is not None else ""
        message = f"stage `{reader.stage.id}` reads {_steps(numbers)} of `{dep.from_stage}`, its `deps` take in {text}"
        at = first.step_span or first.span
        found = ctx.fail(
            at, message, value=f"step = {numbers[0]}", hops=first.word.trail(), help="write the same steps"
        )
        yield found.with_related(dep.wanted.span if dep.wanted is not None else dep.span, f"deps.{dep.name}")


# ---- launchers that cannot be followed


def _of_names(stage: Stage, made: dict[str, _Made], ctx: Context) -> Iterator[Finding]:
    """The run and the steps that an evaluation is told by its arguments."""
    mine = setting(stage, "exp_name")
    if stage.spec is None or stage.kind not in _READS or mine is None or not mine.written:
        return
    deps = [dep for dep in stage.spec.deps.values() if dep.wanted is not None and dep.from_stage.decided]
    if len(deps) != 1 or deps[0].stage_into.given or str(deps[0].from_stage) not in made:
        return
    dep = deps[0]
    source = made[str(dep.from_stage)].stage
    theirs = setting(source, "exp_name")
    if _shares(made[source.id], made):
        return
    if theirs is not None and mine.same_as(theirs) is False:
        message = f"stage `{stage.id}` reads the run `{mine.shown}`, its `deps` take in `{source.id}`, "
        message += f"which is `{theirs.shown}`"
        found = ctx.fail(
            mine.span, message, near=theirs.shown, help=f"write {theirs.shown}, or take in the stage of {mine.shown}",
            value=f"{mine.label} = {mine.shown}",
        )  # fmt: skip
        yield found.with_related(dep.from_stage.span, f"deps.{dep.name}")
        return
    wanted = dep.wanted
    for name in ("ckpts", "ckpt"):
        value = stage.spec.args.get(name)
        steps = _steps_of(value) if value is not None and value.given else []
        strange = [step for step in steps if wanted is not None and wanted.known and step not in wanted]
        if value is not None and wanted is not None and strange:
            message = f"stage `{stage.id}` reads {_steps(strange)} of `{source.id}`, its `deps` take in {wanted.text}"
            found = ctx.fail(value, message, help="write the same steps")
            yield found.with_related(wanted.span, f"deps.{dep.name}")


def _steps_of(value: Value) -> list[int]:
    """The steps of an argument; none when they are not all known."""
    if not value.decided:
        return []
    found: list[int] = []
    for part in value.data if isinstance(value.data, list) else [value.data]:
        steps = step_range(part) if isinstance(part, str) else None
        if steps is not None:
            found += steps[:_MOST_STEPS]
        elif isinstance(part, int) and not isinstance(part, bool):
            found.append(part)
        else:
            return []
    return found


def _steps(steps: Sequence[int]) -> str:
    shown = ", ".join(map(str, steps[:_MOST_SHOWN])) + (" …" if len(steps) > _MOST_SHOWN else "")
    return f"step{'s' if len(steps) > 1 else ''} {shown}"


# ---- what is written


def _of_outputs(stage: Stage, ctx: Context) -> Iterator[Finding]:
    outs = [out for out in stage.spec.outs.values() if out.path.given] if stage.spec is not None else []
    if not outs or not stage.launches:
        return
    for flow in FLOWS:
        if not flow.written_by(stage.kind):
            continue
        values = [launch[flow.key] for launch in stage.launches]
        places = [_tail(value) for value in values if value.given]
        if not places or len(places) != len(values) or any(each is None for each in places):
            continue
        for out in outs:
            other = _elsewhere(out, [each for each in places if each is not None])
            if other is not None:
                message = f"stage `{stage.id}` declares {out.path}, and its launcher writes {values[0]}"
                found = ctx.fail(out.path, message, near=other, help=f"write …/{other}, or change args")
                yield found.with_related(values[0].span, f"{flow.key} = {values[0]}")
                return


def _elsewhere(out: SpecOut, places: Sequence[str]) -> str | None:
    """The end of the place that is written in place of a declared one of the same name."""
    declared = _tail(out.path)
    if declared is None:
        return None
    folder, _, name = declared.rpartition("/")
    same = [place for place in places if place.rpartition("/")[2] == name]
    if not folder or not same or any(place.endswith(f"/{declared}") or place == declared for place in same):
        return None
    return None if any("/" not in place for place in same) else same[0]


def _tail(value: Value) -> str | None:
    """The last two parts of a path, None when they are not known."""
    text = value.text.shown if value.text is not None else str(value) if value.decided else ""
    parts = text.rstrip("/").split("/")[-2:]
    return None if not text or any(set(part) & set("$<{*?") for part in parts) else "/".join(parts)


# ---- the data


@dataclass(frozen=True, eq=False)
class _Strange:
    """A dep on a data file, and the other one that the stage's launcher reads in its place."""

    stage: Stage
    dep: SpecDep
    out: SpecOut
    read: Value
    declared: str
    other: str


def _of_data(experiment: Experiment, made: dict[str, _Made], ctx: Context) -> Iterator[Finding]:
    groups: dict[object, list[_Strange]] = {}
    for stage in experiment.stages:
        for each in _strange_data(stage, made):
            groups.setdefault((id(each.out), each.other), []).append(each)
    for found in groups.values():
        first = found[0]
        names = [f"`{each.stage.id}`" for each in found]
        subject = f"stage {names[0]} takes" if len(found) == 1 else f"stages {', '.join(names)} take"
        reads = "its launcher reads" if len(found) == 1 else "their launchers read"
        message = f"{subject} in {first.declared} as `{first.dep.name}`, and {reads} {first.other}"
        help_ = f"write {first.other} here, or change what the launcher reads"
        finding = ctx.fail(first.out.path, message, near=first.other, help=help_)
        for each in found[:_MOST_SHOWN]:
            finding = finding.with_related(each.read.span, f"stage `{each.stage.id}`: {each.read.key} = {each.read}")
        yield finding


def _strange_data(stage: Stage, made: dict[str, _Made]) -> Iterator[_Strange]:
    if stage.spec is None or not stage.launches:
        return
    trained = {name for launch in stage.launches for name in _files(launch[_TRAIN])}
    for dep in stage.spec.deps.values():
        key = _DATA.get(dep.name)
        source = made.get(str(dep.from_stage)) if dep.from_stage.decided else None
        out = source.stage.spec.outs.get(dep.name) if source is not None and source.stage.spec is not None else None
        if key is None or out is None or not out.path.given:
            continue
        if any(other is not dep and _DATA.get(other.name) == key for other in stage.spec.deps.values()):
            continue
        declared = _files(out.path)
        values = [launch[key] for launch in stage.launches if launch[key].given]
        others = [name for value in values for name in _files(value)]
        if not declared or not others or "" in {*others, *declared} or not set(others).isdisjoint(declared):
            continue
        if key == _TRAIN or not set(others) <= trained:  # validation on training data is told by another rule
            yield _Strange(stage, dep, out, values[0], declared[0], others[0])


def _files(value: Value) -> list[str]:
    """The names of the files that a value names; [""] where they are not all known."""
    if value.decided and isinstance(value.data, (list, tuple)):
        texts = [str(each) for each in value.data]
    elif value.text is not None:
        texts = value.text.shown.strip("[]").split(",")
    else:
        texts = [str(value.data)] if value.decided and value.data else []
    names = [each.strip(" '\"").rsplit("/", 1)[-1] for each in texts]
    return [""] if any(not name or set(name) & set("$<{*?") for name in names) else names


# ---- lists of what another stage made


def _of_lists(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    for link in links_of(experiment):
        if link.by is not None or link.kind.option != "exp_name":
            continue
        mine, theirs = setting(link.consumer, "exp_name"), setting(link.producer, "exp_name")
        if mine is None or theirs is None or mine.same_as(theirs) is not False:
            continue
        message = (
            f"stage `{link.consumer.id}` takes in `{link.producer.id}`, the run `{theirs.shown}`, and reads "
            f"{link.kind.what} of `{mine.shown}`"
        )
        found = ctx.fail(
            mine.span, message, near=theirs.shown, help=f"write {theirs.shown}", value=f"{mine.label} = {mine.shown}"
        )
        yield found.with_related(theirs.span, f"stage `{link.producer.id}`: {theirs.label} = {theirs.shown}")
