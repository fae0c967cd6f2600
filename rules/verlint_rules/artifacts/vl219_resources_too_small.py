"""A stage of a spec does not start more nodes or GPUs than its `resources` ask the cluster for.

`resources` is what is asked for, `trainer.nnodes` and `trainer.n_gpus_per_node` are what VeRL reserves. When VeRL wants
more than there is, it waits for the missing GPUs or stops with "Total available GPUs … is less than total desired
GPUs", after the queue and the start of Ray. Both numbers are in one spec, so they can be compared before.

Reported for stages whose launcher verlint can follow or whose `entry` the spec holds, with `resources` of the stage, or
of the experiment where the stage has none. Silent for smaller numbers, since an evaluation may use one of several
nodes, and for numbers that are not known before the run.

Fix: ask for what the stage starts, or start what is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from verlint.experiment.spec import accelerators
from verlint.experiment.stage import Experiment, Stage
from verlint.finding import Finding
from verlint.record import dataclass
from verlint.rule import ERROR, Context, rule
from verlint.value import Value

_NODES = "trainer.nnodes"
_GPUS = "trainer.n_gpus_per_node"
_MOST_SHOWN = 3


@dataclass(frozen=True)
class _Excess:
    """A stage that starts more than is asked for: the number it starts, and the key of `resources`."""

    stage: Stage
    wanted: Value
    asked: Value
    number: int
    offered: int
    key: str


@rule("VL219", "resources-too-small", on=Experiment, severity=ERROR, since="0.1", words=("resources:",))
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    spec = experiment.spec.spec if experiment.spec is not None else None
    if spec is None:
        return
    groups: dict[object, list[_Excess]] = {}
    for stage in experiment.stages:
        own = stage.spec.resources if stage.spec is not None else {}
        for each in _of_stage(stage, {**spec.resources, **own}):
            place = each.asked.span.order() if each.asked.span is not None else None
            known = groups.setdefault((each.key, each.number, place), [])
            if all(other.stage is not stage for other in known):
                known.append(each)
    for found in groups.values():
        yield _finding(found, experiment, ctx)


def _of_stage(stage: Stage, asked: Mapping[str, Value]) -> Iterator[_Excess]:
    nodes, kind = asked.get("num_nodes"), asked.get("accelerators")
    count = nodes.number() if nodes is not None and nodes.given else None
    if nodes is not None and count is not None:
        for wanted in _wanted(stage, _NODES, "nnodes"):
            yield from _more(stage, wanted, nodes, int(count), "num_nodes")
    gpus = accelerators(kind) if kind is not None and kind.given else None
    if kind is not None and gpus is not None:
        for wanted in _wanted(stage, _GPUS, "ngpus"):
            yield from _more(stage, wanted, kind, gpus[1], "accelerators")


def _wanted(stage: Stage, key: str, argument: str) -> list[Value]:
    """What the launches of a stage hold for a key, or what a launcher that cannot be followed is told."""
    if stage.launches:
        return [launch[key] for launch in stage.launches]
    value = stage.spec.args.get(argument) if stage.spec is not None else None
    return [] if value is None else [value]


def _more(stage: Stage, wanted: Value, asked: Value, offered: int, key: str) -> Iterator[_Excess]:
    number = wanted.number()
    if number is not None and wanted.given and wanted.decided and number > offered:
        yield _Excess(stage, wanted, asked, int(number), offered, key)


def _finding(found: Sequence[_Excess], experiment: Experiment, ctx: Context) -> Finding:
    first = found[0]
    names = [f"`{each.stage.id}`" for each in found[:_MOST_SHOWN]]
    rest = f" and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
    subject = f"stage {names[0]} starts" if len(found) == 1 else f"stages {', '.join(names)}{rest} start"
    if first.key == "num_nodes":
        what, right = f"{first.number} nodes", f"num_nodes: {first.number}"
    else:
        what, right = f"{first.number} GPUs on each node", f"{first.number} accelerators"
    message = f"{subject} VeRL on {what}, and {first.offered} {_noun(first)} asked for under `resources`"
    in_spec = first.wanted.span is not None and first.wanted.span.in_file().source is experiment.source
    at, other = (first.wanted, first.asked) if in_spec else (first.asked, first.wanted)
    found_here = ctx.fail(
        at, message, near=str(first.offered), help=f"ask for {right}, or start VeRL on {first.offered}"
    )
    return found_here.with_related(other.span, f"{_label(other, first)} = {other}")


def _noun(excess: _Excess) -> str:
    noun = "node" if excess.key == "num_nodes" else "GPU"
    return f"{noun} is" if excess.offered == 1 else f"{noun}s are"


def _label(value: Value, excess: _Excess) -> str:
    return f"resources.{excess.key}" if value is excess.asked else value.key
