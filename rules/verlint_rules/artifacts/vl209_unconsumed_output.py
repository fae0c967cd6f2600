"""What a stage makes for another one should be used by one.

Experience, trajectories, answers of a teacher and prepared data are means: when no stage reads them, the hours that
made them are lost, or the stage that was meant to read them reads something else. Often a name was changed on one side,
or a stage was copied and its input was not.

An information, for stages whose kind only serves others (extraction, experience lists, deployment, off-policy data,
preparation of data, warm-up), where the experiment has stages of the kind that reads such a thing. In a spec use is a
`deps` entry or `needs`; in drivers and documents an option of the reader that names the run. Silent where a reader's
input is not known before the run, where two stages read one output (a reader of the wrong one is VL802 or VL803),
where a reader names a run of nearly that name (VL801), and for trained models and scores, which are results.

Fix: let the stage that should read it name it, or drop the stage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from verlint.experiment.handovers import links_of
from verlint.experiment.stage import Experiment, Stage
from verlint.experiment.stage_settings import Setting, setting
from verlint.families.sharing import HANDOVERS
from verlint.finding import Finding
from verlint.rule import INFO, Context, rule
from verlint.value import Literal
from verlint_rules.families.misnamed import misnamed

_SERVING = frozenset(["data-prep", "warmup"])
"""Kinds beside the producers of hand-overs whose output is of no use by itself."""


@rule(
    "VL209",
    "unconsumed-output",
    on=Experiment,
    severity=INFO,
    since="0.1",
    words=("deploy", "extract", "offp", "verlint/exp"),
)
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    if experiment.spec is not None:
        yield from _of_spec(experiment, ctx)
    elif experiment.root and experiment.script is not None:
        yield from _of_driver(experiment, ctx)


# ---- specs


def _of_spec(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    used: Counter[str] = Counter()
    for stage in experiment.stages:
        if stage.spec is not None:
            named = {str(dep.from_stage) for dep in stage.spec.deps.values() if dep.from_stage.given}
            used.update(named.union(map(str, stage.spec.needs)))
    shared = {stage.kind for stage in experiment.stages if used[stage.id] > 1}
    for stage in experiment.stages:
        serves = stage.kind in _SERVING or any(
            each.producer == stage.kind and not each.checkpoint for each in HANDOVERS.get(stage.family, ())
        )
        reading = [each for each in experiment.stages if each.order > stage.order and each.spec and each.spec.deps]
        if not serves or used[stage.id] or stage.kind in shared or not reading:
            continue
        message = f"no stage uses what `{stage.id}` makes"
        found = ctx.fail(stage.span, message, value=f"stages.{stage.id}.kind = {stage.kind}", help=_HELP)
        outs = list(stage.spec.outs.values()) if stage.spec is not None else []
        yield found.with_related(outs[0].name_span if outs else None, "its output")


_HELP = "name it in the deps of the stage that should read it, or drop the stage"


# ---- drivers and documents


def _of_driver(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    links = links_of(experiment)
    used = {id(link.producer) for link in links}
    used |= {id(each.producer) for each in misnamed(experiment)}  # which VL801 says
    shared = {stage.kind for stage in experiment.stages if sum(link.producer is stage for link in links) > 1}
    for kind in HANDOVERS.get(experiment.family, ()):
        if kind.checkpoint or kind.producer in shared:
            continue
        readers = [stage for stage in experiment.stages if stage.kind == kind.consumer]
        inputs = [setting(stage, kind.option) for stage in readers]
        if not readers or not all(map(_is_known, inputs)):
            continue
        for stage in experiment.stages:
            name = setting(stage, "exp_name")
            if stage.kind != kind.producer or id(stage) in used or name is None or name.known is None:
                continue
            if not _is_listed(stage, experiment):
                used.add(id(stage))
                yield _unused(name, kind.what, readers, ctx)


def _is_listed(stage: Stage, experiment: Experiment) -> bool:
    """Whether another hand-over of the family takes the stage's output, by an input that is not known."""
    kinds = [
        each for each in HANDOVERS.get(experiment.family, ()) if each.producer == stage.kind and not each.checkpoint
    ]
    readers = [each for each in experiment.stages if any(each.kind == kind.consumer for kind in kinds)]
    inputs = [setting(each, kind.option) for kind in kinds for each in readers if each.kind == kind.consumer]
    return not all(map(_is_known, inputs))


def _is_known(given: Setting | None) -> bool:
    """Whether an input names anything: a single unknown may be any file."""
    return given is not None and any(isinstance(part, Literal) and part.text.strip("/") for part in given.text.parts)


def _unused(name: Setting, what: str, readers: list[Stage], ctx: Context) -> Finding:
    found = ctx.fail(
        name.span,
        f"no stage reads {what} of `{name.shown}`",
        value=f"exp_name = {name.shown}",
        hops=name.hops,
        help="let the stage that should read it name this run, or drop the stage",
    )
    for reader in readers[:3]:
        found = found.with_related(reader.span, "reads another one")
    return found
