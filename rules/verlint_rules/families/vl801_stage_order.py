"""A stage runs after the stages whose results it reads.

The launchers of a family look for what earlier stages left under a run's name, and mostly go on when it is not there:
consolidation with an empty experience, a driver without `set -e` through every failed stage. Nothing tells that the
order was wrong but results that are no better than before.

In drivers and documents, stages are taken in the order in which they are started: a stage that reads trajectories,
experience or a teacher's answers of a run that is only made later is reported, with that run; so is a stage that reads
those of a run that no stage is, while nobody reads those of a run of nearly that name; so is consolidation on an
experience list that no command makes from the extraction beside it, and training before the data is prepared. In
specs, where `deps` and `needs` give the order, stages that wait for each other in a circle are one finding with the
whole way. Checkpoints are the matter of VL203.

Fix: move the producer before the stage that reads it; take one of the dependencies out of a circle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from verlint.experiment.handovers import Link, links_of
from verlint.experiment.stage import Experiment
from verlint.experiment.stage_settings import setting
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint_rules.families.agreement import called
from verlint_rules.families.misnamed import misnamed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import Spec


@rule(
    "VL801", "stage-order", on=Experiment, severity=ERROR, families=("coach", "gad", "oel", "opcd", "opo"), since="0.1"
)
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    if experiment.spec is not None:
        if experiment.spec.spec is not None:
            yield from _circles(experiment.spec.spec, ctx)
        return
    if not experiment.root:
        return
    links = links_of(experiment)
    yield from (_late(link, ctx) for link in links if link.late and not link.kind.checkpoint)
    yield from _unlisted(experiment, links, ctx)
    yield from _unmade(experiment, ctx)
    yield from _before_data(experiment, ctx)


# ---- drivers and documents


def _late(link: Link, ctx: Context) -> Finding:
    assert link.by is not None
    pronoun = "them" if link.kind.what.endswith("s") else "it"
    message = (
        f"{called(link.consumer)} reads {link.kind.what} before {called(link.producer)} makes {pronoun}: "
        f"{link.kind.missing}"
    )
    help = f"move {called(link.producer)} before this one"
    found = ctx.fail(link.by.span, message, value=f"{link.by.label} = {link.by.shown}", hops=link.by.hops, help=help)
    return found.with_related(link.producer.span, f"makes {link.kind.what}, later")


def _unmade(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    """A path of a run that nothing makes, while what an earlier stage makes for such a one is read by nobody."""
    for each in misnamed(experiment):
        by, kind = each.by, each.kind
        pronoun = "them" if kind.what.endswith("s") else "it"
        message = (
            f"{called(each.consumer)} reads {kind.what} of `{each.name}`, and no stage makes {pronoun}: {kind.missing}"
        )
        value, help = f"{by.label} = {by.shown}", f"write {each.near}, or make {kind.what} of {each.name} before"
        if each.version:
            verify = f'ls "{by.shown}"'
            found = ctx.unsure(by.span, message, value=value, hops=by.hops, near=each.near, help=help, verify=verify)
        else:
            found = ctx.fail(by.span, message, value=value, hops=by.hops, near=each.near, help=help)
        yield found.with_related(each.producer.span, f"makes {kind.what} of `{each.near}`, which no stage reads")


def _unlisted(experiment: Experiment, links: list[Link], ctx: Context) -> Iterator[Finding]:
    """Consolidation on the list of an extraction that nothing lists."""
    if not links or re.search(r"(?:>|\btee\b|\bcp\b|\bmv\b|\brsync\b)[^\n]*experience_list", experiment.source.text):
        return
    for link in links:
        if link.late or (link.kind.producer, link.kind.consumer) != ("extract", "consolidate") or link.by is None:
            continue
        made = any(each.consumer is link.consumer and each.kind.producer == "experience-list" for each in links)
        if made or not link.by.text.suffix.endswith("experience_list.txt"):
            continue
        name = setting(link.producer, "exp_name")
        message = (
            f"no command makes the experience list of `{name.shown if name is not None else ''}` that "
            f"{called(link.consumer)} reads: the VeRL fork goes on with an empty experience, and nothing is learned "
            "from it"
        )
        help = "run tools/make_exp_list.py between the two stages"
        found = ctx.fail(
            link.by.span, message, value=f"{link.by.label} = {link.by.shown}", hops=link.by.hops, help=help
        )
        yield found.with_related(link.producer.span, "extracts the experience")


def _before_data(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    """The first stage of a family that reads data sets before they are made."""
    from verlint.families.sharing import DATA_LAUNCHERS

    for family, expression in DATA_LAUNCHERS.items():
        stages = [stage for stage in experiment.stages if stage.family == family]
        made = [stage for stage in stages if stage.kind == "data-prep"]
        read = [stage for stage in stages if re.search(expression, stage.launcher)]
        if not made or not read or made[0].order < read[0].order:
            continue
        found = ctx.fail(
            read[0].span,
            f"{called(read[0])} reads data sets before {called(made[0])} makes them: its job stops when it loads them",
            value=read[0].launcher,
            help=f"run {made[0].launcher} first",
        )
        yield found.with_related(made[0].span, "makes the data sets, later")


# ---- specs


def _circles(spec: Spec, ctx: Context) -> Iterator[Finding]:
    """Each circle of stages that wait for each other, once."""
    waits = {id: _waits_for(spec, id) for id in spec.stages}
    reported: set[frozenset[str]] = set()
    for start in spec.stages:
        way = _way_back(start, waits)
        if way and frozenset(way) not in reported:
            reported.add(frozenset(way))
            yield _of_circle(spec, way, waits, ctx)


def _waits_for(spec: Spec, id: str) -> dict[str, Span]:
    """The stages that a stage waits for, and where it says so."""
    stage = spec.stages[id]
    found: dict[str, Span] = {}
    for dep in stage.deps.values():
        if dep.from_stage.decided and str(dep.from_stage) in spec.stages:
            found.setdefault(str(dep.from_stage), dep.from_stage.span or dep.span)
    for need in stage.needs:
        if need.decided and str(need) in spec.stages:
            found.setdefault(str(need), need.span or stage.id_span)
    return found


def _way_back(start: str, waits: dict[str, dict[str, Span]]) -> list[str]:
    """The shortest way from a stage over what it waits for back to it; empty when there is none."""
    ways = [[start]]
    seen: set[str] = set()
    while ways:
        longer: list[list[str]] = []
        for way in ways:
            for following in waits[way[-1]]:
                if following == start:
                    return way
                if following not in seen:
                    seen.add(following)
                    longer.append([*way, following])
        ways = longer
    return []


def _of_circle(spec: Spec, way: list[str], waits: dict[str, dict[str, Span]], ctx: Context) -> Finding:
    following = [*way[1:], way[0]]
    shown = " -> ".join(f"`{id}`" for id in [*way, way[0]])
    what = f"stages wait for each other: {shown}" if len(way) > 1 else f"stage `{way[0]}` waits for itself"
    found = ctx.fail(
        waits[way[0]][following[0]],
        f"{what}; none of them can start",
        value=f"stages.{way[0]} waits for {following[0]}",
        help="take out the dependency that runs against the order of the experiment",
    )
    for id, after in list(zip(way, following, strict=True))[1:]:
        found = found.with_related(waits[id][after], f"`{id}` waits for `{after}`")
    return found
