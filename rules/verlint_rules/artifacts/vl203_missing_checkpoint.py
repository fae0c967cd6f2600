"""A checkpoint that is used must have been saved by an earlier stage of the experiment.

A stage that reads `FOLDER/global_step_N/actor` finds nothing there when no run saved into that folder, when the run
comes only later, or when it saves no such role. The model load fails after the queue and the start of the cluster; the
launchers that merge shards first create the empty folder and fail later still, with a message about a missing config.

Reported as certain: a folder that only a later command fills; a folder that no command fills, while a run of nearly
the same name fills its own; a role that the run does not save (a run without a critic has no `critic/`, a spec's `outs`
lists its roles); a run that is told to save nothing; a run that starts from its own folder while the copy went into
one of nearly the same name. A folder that nothing here explains is one to verify: it may come from an earlier session.
So is one that a document fills only further down, since its sections may be followed in another order. Silent for
experiments without a training run of their own, such as evaluation drivers; for folders that are downloaded, cloned,
copied or made by a program whose effect is not known; and for names that are not known before the run.

Fix: use the run's name as its stage writes it, train it before, or ask that stage to save the role.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from verlint.experiment.alike import alike
from verlint.experiment.checkpoints import Ledger, Place, Save, Use, ledger_of_script, saved_by
from verlint.experiment.paths import Components, components, last_component, parent, shown
from verlint.experiment.project import Project
from verlint.experiment.stage import Experiment
from verlint.families import FAMILIES
from verlint.finding import Finding
from verlint.lazy import pattern
from verlint.record import dataclass, replace
from verlint.rule import ERROR, Context, Pending, rule
from verlint.source import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import Spec, SpecDep, SpecStage

_ROUND = pattern(r"(?:^|[-_.])(?:r|rd|round|iter|it|loop|gen)[-_]?(\d{1,9})(?=$|[-_.])", re.IGNORECASE)
_ORIGINS = frozenset(
    ["base", "baseline", "init", "sft", "pretrain", "pretrained", "ref", "reference", "old", "prev", "previous", "best"]
)
"""Parts of names that say where a run started from; such a run is often an older one."""

_EARLIER = "train it before, or check that an earlier session left it there"


def _trained_folders(project: Project) -> frozenset[Components]:
    """The folders in which the launches of a part of the project save."""
    saves = (saved_by(launch, Place(0, 0, 0)) for launch, _ in project.launches)
    return frozenset(save.key for save in saves if save is not None)


@rule(
    "VL203",
    "missing-checkpoint",
    on=Experiment,
    severity=ERROR,
    since="0.1",
    words=("global_step_", "schema", "stages:", "taught launchers"),
    survey=_trained_folders,
)
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding | Pending]:
    if experiment.spec is not None:
        if experiment.spec.spec is not None:
            yield from _of_spec(experiment.spec.spec, ctx)
        return
    script = experiment.script
    if script is None or not experiment.root:
        return
    ledger = ledger_of_script(script, ctx.project.launch)
    if ledger.saves and not ledger.cut_short:
        judged = [found for uses in _grouped(ledger.uses) if (found := _judged(uses, ledger, ctx)) is not None]
        for each in _folded(judged):
            finding = _finding(each, ctx, script.document)
            if each.verdict.slip:
                earlier = replace(each.verdict, certain=False, help=_EARLIER)
                trained = _finding(replace(each, verdict=earlier), ctx, script.document)
                yield _Slip(_first(each.uses).key, finding, trained)
            else:
                yield finding


@dataclass(frozen=True, slots=True)
class _Slip(Pending):
    """A name that is surely wrong, unless some script of the project trains a run of this name."""

    folder: Components
    found: Finding
    trained: Finding

    def conclude(self, surveys: Sequence[frozenset[Components]], context: Context) -> Iterator[Finding]:
        yield self.trained if any(self.folder in each for each in surveys) else self.found


# ---- drivers and documents


def _grouped(uses: Sequence[Use]) -> list[list[Use]]:
    """Uses of one folder and role whose name is written at one place."""
    groups: dict[object, list[Use]] = {}
    for use in uses:
        groups.setdefault((use.key, use.role, use.span.order()), []).append(use)
    return list(groups.values())


@dataclass(frozen=True, slots=True)
class _Verdict:
    certain: bool
    reason: str
    help: str = ""
    near: str = ""
    related: Save | None = None
    label: str = ""
    own: bool = False
    order: bool = False
    slip: bool = False


@dataclass(frozen=True, slots=True)
class _Judged:
    """Uses of one folder with what is wrong with them. `lost` are uses of the folder that the run was meant to fill."""

    uses: tuple[Use, ...]
    verdict: _Verdict
    lost: tuple[Use, ...] = ()

    @property
    def name(self) -> str:
        return last_component(self.uses[0].folder).shown


def _judged(uses: Sequence[Use], ledger: Ledger, ctx: Context) -> _Judged | None:
    use = _first(uses)
    if last_component(use.folder).known is None or use.folder.elastic:
        return None
    verdict = _judge(use, ledger, ctx)
    if verdict is not None:
        return _Judged(tuple(uses), verdict)
    return _uncopied(uses, ledger)


def _first(uses: Sequence[Use]) -> Use:
    return min(uses, key=lambda each: (each.place.call, each.place.inner))


def _folded(judged: Sequence[_Judged]) -> list[_Judged]:
    """One for each cause: all roles of one word together, and uses of a folder that a run of a misspelt name was to
    fill with that name."""
    groups: dict[object, _Judged] = {}
    for each in judged:
        key = (each.uses[0].key, each.uses[0].span.order(), each.verdict.reason)
        known = groups.get(key)
        groups[key] = each if known is None else _Judged((*known.uses, *each.uses), known.verdict)
    out: list[_Judged] = []
    for each in groups.values():
        cause = next((n for n, other in enumerate(out) if _is_cause(other, each)), None)
        if cause is None:
            out.append(each)
        else:
            out[cause] = _Judged(out[cause].uses, out[cause].verdict, (*out[cause].lost, *each.uses))
    return out


def _is_cause(slip: _Judged, other: _Judged) -> bool:
    """Whether a run whose name is a slip was to fill the folder that the other lacks steps of."""
    return slip.verdict.own and slip.verdict.near == other.name and other.verdict.near == slip.name


def _finding(judged: _Judged, ctx: Context, document: bool) -> Finding:
    uses, verdict = judged.uses, judged.verdict
    use = _first(uses)
    roles = _roles(uses)
    role = f"/{roles[0]}" if len(roles) == 1 else f"/{{{','.join(roles)}}}" if roles else ""
    value = f"{shown(use.folder)}/global_step_{_steps(uses, short=True)}{role}"
    message = f"{_steps(uses)} of `{last_component(use.folder).shown}` {_verb(uses)} used{verdict.reason}"
    hops = use.word.trail()
    certain = verdict.certain and not (document and verdict.order)  # a document may be read in another order
    if certain and not all(each.conditional for each in uses):
        found = ctx.fail(use.at, message, value=value, hops=hops, near=verdict.near, help=verdict.help)
    else:
        verify = f"ls {_quoted(shown(use.folder))}"
        found = ctx.unsure(use.at, message, value=value, hops=hops, near=verdict.near, help=verdict.help, verify=verify)
    if verdict.related is not None:
        found = found.with_related(_driver_span(verdict.related), verdict.label)
    for span in {each.span.order(): each.span for each in judged.lost}.values():
        found = found.with_related(span, "for this reason nothing saves the steps that are used here")
    return found


def _judge(use: Use, ledger: Ledger, ctx: Context) -> _Verdict | None:
    if ledger.made_otherwise(use):
        return None
    same = [save for save in ledger.saves if save.key == use.key]
    if any(save.command is use.command for save in same):
        return None  # a run that goes on from its own folder
    here = [save for save in same if save.place.call == use.place.call and save.place.path == use.place.path]
    apart = same if not here else [*here, *(save for save in same if save.place.call != use.place.call)]
    earlier = [save for save in apart if save.place.before(use.place)]
    saving = [save for save in earlier if not save.never]
    if saving:
        return _missing_role(use, saving)
    if earlier:
        return _Verdict(
            True, ", but that run is told to save nothing", "give it a trainer.save_freq above 0",
            related=earlier[0], label="this run, with trainer.save_freq at 0 or below",
        )  # fmt: skip
    if same and all(save.place.call == use.place.call for save in same):
        return _unfilled(use, ledger)
    if same:
        return _Verdict(
            True, " before the run that saves it", "move the training before this use",
            related=same[0], label="trained only here, later", order=True,
        )  # fmt: skip
    return _unmade(use, ledger, last_component(use.folder).shown, ctx)


def _driver_span(save: Save) -> Span:
    """The command of the driver that saves."""
    stack = save.command.around.stack
    return stack[0].span if stack else save.span


def _missing_role(use: Use, saving: Sequence[Save]) -> _Verdict | None:
    roles: set[str] = set()
    for save in saving:
        if save.roles is None:
            return None
        roles |= save.roles
    if not use.role or use.role in roles:
        return None
    only = " and ".join(sorted(roles))
    return _Verdict(
        True, f", but that run saves only the {only}", "use a role that the run saves",
        related=saving[0], label=f"this run saves the {only}",
    )  # fmt: skip


def _unmade(use: Use, ledger: Ledger, name: str, ctx: Context) -> _Verdict | None:
    """A folder that nothing in the experiment fills."""
    if (other := _in_another_root(use, ledger, name)) is not None:
        reason = f", and the run of this name is trained in {shown(other.folder)}: is that the same folder?"
        return _Verdict(False, reason, "use one root for both", related=other, label="trains it there")
    names = _beside(use, ledger.saves)
    near = _close(name, names, use)
    reason = ", but no stage trains a run of this name"
    if not near:
        return _Verdict(False, reason, _EARLIER)
    save = names[near[0]]
    slip = _is_slip(name, near, names, use, ledger) and not _trained_by_stage(name, ctx)
    help = f"write {near[0]}, or train {name} before" if slip else _EARLIER
    return _Verdict(slip, reason, help, ", ".join(near), save, "trains the run of the similar name", slip=slip)


def _in_another_root(use: Use, ledger: Ledger, name: str) -> Save | None:
    """An earlier run of this very name below a root that may be the same one, as not both are known."""
    same = (save for save in ledger.saves if last_component(save.folder).known == name and save.place.before(use.place))
    return next((save for save in same if None in (parent(use.folder).known, parent(save.folder).known)), None)


def _unfilled(use: Use, ledger: Ledger) -> _Verdict:
    """A run that starts from its own folder, which nothing has filled before."""
    name = last_component(use.folder).shown
    names = _beside(use, [save for save in ledger.saves if save.key != use.key and save.place.before(use.place)])
    near = _close(name, names, use)[:1]
    reason = ", but nothing fills the folder before this run starts from it"
    if not near:
        return _Verdict(False, reason, "fill it before, or check that an earlier session left it there", own=True)
    save = names[near[0]]
    certain = bool(save.steps) and _is_slip(name, near, names, use, ledger)
    return _Verdict(
        certain, reason, f"write {near[0]}, or fill the folder of {name}", near[0], save,
        "fills the folder of the similar name", own=True,
    )  # fmt: skip


def _uncopied(uses: Sequence[Use], ledger: Ledger) -> _Judged | None:
    """Steps of a folder that only copies fill, with other steps, while a run of nearly the same name is trained."""
    use = _first(uses)
    saves = [save for save in ledger.saves if save.key == use.key]
    copied = {step for save in saves for step in save.steps}
    lacking = tuple(each for each in uses if each.step is not None and each.step not in copied)
    if not saves or not lacking or not all(save.steps for save in saves) or ledger.made_otherwise(use):
        return None
    name = last_component(use.folder).shown
    names = _beside(use, [save for save in ledger.saves if not save.steps and save.place.before(use.place)])
    near = _close(name, names, use)[:1]
    if not near:
        return None
    reason = (
        f", but only step {', '.join(map(str, sorted(copied)))} is copied there, and no run of this name is trained"
    )
    help_ = f"train {name}, or write {near[0]}"
    return _Judged(
        lacking, _Verdict(False, reason, help_, near[0], names[near[0]], "trains the run of the similar name")
    )


def _beside(use: Use, saves: Sequence[Save]) -> dict[str, Save]:
    """The saves into folders beside the one that is used, by the name of the folder."""
    folder = components(parent(use.folder))
    beside = [save for save in saves if save.key[:-1] == folder and last_component(save.folder).known]
    return {last_component(save.folder).shown: save for save in beside}


def _close(name: str, names: dict[str, Save], use: Use) -> list[str]:
    """The names like one; of the rounds of a run the last before the use comes first."""
    made = sorted(names, key=lambda each: (names[each].place.before(use.place), _when(names[each])))
    return alike(name, made)


def _when(save: Save) -> tuple[int, int]:
    return save.place.call, save.place.inner


def _is_slip(name: str, near: Sequence[str], names: dict[str, Save], use: Use, ledger: Ledger) -> bool:
    """Whether a name that nothing makes is surely wrong, and not that of a run from an earlier session."""
    if not all(names[each].place.before(use.place) for each in near[:1]):
        return False
    rounds = [other for other in names if _ROUND.sub("#", other) == _ROUND.sub("#", name)]
    if rounds and _ROUND.search(name):
        return all(_numbers(other) < _numbers(name) for other in rounds)
    if _ORIGINS & set(re.split(r"[-_.]", name.lower())) - set(re.split(r"[-_.]", near[0].lower())):
        return False
    if re.sub(r"\d+", "#", name) == re.sub(r"\d+", "#", near[0]):
        return all(each.key != names[near[0]].key for each in ledger.uses)
    return True


def _numbers(name: str) -> list[int]:
    return [int(number) for number in _ROUND.findall(name)]


def _trained_by_stage(name: str, ctx: Context) -> bool:
    """Whether a spec of the project trains this run."""
    stages = (stage for file in ctx.project.specs if file.spec is not None for stage in file.spec.stages.values())
    return any(str(stage.args["exp_name"]) == name and stage.outs for stage in stages if "exp_name" in stage.args)


def _steps(uses: Sequence[Use], *, short: bool = False) -> str:
    """`actor step 100`, `actor steps 10 to 100`, as in messages; only the numbers in the short form."""
    numbers = sorted({use.step for use in uses if use.step is not None})
    roles = " and ".join(_roles(uses))
    role = f"{roles} " if roles else ""
    if not numbers:
        return "N" if short else f"{role}a checkpoint"
    if short:
        return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}…{numbers[-1]}"
    return f"{role}step {numbers[0]}" if len(numbers) == 1 else f"{role}steps {numbers[0]} to {numbers[-1]}"


def _roles(uses: Sequence[Use]) -> list[str]:
    return list(dict.fromkeys(use.role for use in uses if use.role))


def _verb(uses: Sequence[Use]) -> str:
    return "are" if len({(use.step, use.role) for use in uses}) > 1 else "is"


def _quoted(path: str) -> str:
    import shlex

    return f'"{path}"' if "$" in path else shlex.quote(path)


# ---- specs


def _of_spec(spec: Spec, ctx: Context) -> Iterator[Finding]:
    for stage in spec.stages.values():
        for dep in stage.deps.values():
            source = spec.stages.get(str(dep.from_stage)) if dep.from_stage.decided else None
            if source is not None and source is not stage and dep.role.given and dep.role.decided:
                yield from _of_dep(spec, source, dep, ctx)


def _of_dep(spec: Spec, source: SpecStage, dep: SpecDep, ctx: Context) -> Iterator[Finding]:
    role = str(dep.role)
    saved = declared_roles(spec, source)
    if saved is None or role in saved:
        return
    what = f"only the {' and '.join(sorted(saved))}" if saved else "no checkpoint"
    found = ctx.fail(
        dep.role,
        f"the {role} of stage `{source.id}` is used, but that stage saves {what}",
        help=f"use a role that `{source.id}` saves, or add {role} to the roles of its outs",
    )
    outs = [out.span for out in source.outs.values() if out.is_checkpoint]
    yield found.with_related(outs[0] if outs else source.id_span, f"what `{source.id}` saves")


def declared_roles(spec: Spec, stage: SpecStage) -> frozenset[str] | None:
    """The roles a stage says it saves; where it says nothing, those of its kind; None when they are not known."""
    from verlint.experiment.spec_schema import ROLES

    outs = [out for out in stage.outs.values() if out.is_checkpoint]
    roles = [role for out in outs for role in out.roles]
    if not all(role.decided and str(role) in ROLES for role in roles):
        return None  # what no role is is a fault of its own
    if outs:
        return frozenset(str(role) for role in roles)
    family = FAMILIES.get(str(spec.family))
    kind = family.stage(str(stage.kind)) if family is not None else None
    if kind is None or not stage.outs:
        return frozenset(kind.saves) if kind is not None and kind.saves else None
    return frozenset()
