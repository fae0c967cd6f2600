"""Stages that belong together: their links, and who is at fault when they disagree."""

from __future__ import annotations

from collections.abc import Sequence

from verlint.experiment.handovers import Link, links_of
from verlint.experiment.stage import Experiment, Stage
from verlint.experiment.stage_settings import Setting, setting
from verlint.finding import Finding
from verlint.record import dataclass
from verlint.rule import Context


def links_to_judge(experiment: Experiment) -> list[Link]:
    """The links of an experiment that nothing else calls; producers that come too late are left to their own rule."""
    if not experiment.root and not experiment.is_spec:
        return []
    return [link for link in links_of(experiment) if not link.late]


@dataclass(frozen=True)
class Side:
    """One stage with the setting that it shares with others."""

    stage: Stage
    setting: Setting


def side(stage: Stage, name: str) -> Side | None:
    """A stage with what it is told for a name."""
    found = setting(stage, name)
    return None if found is None else Side(stage, found)


def disagreeing(consumer: Side, producers: Sequence[Side]) -> list[tuple[Side, Side]]:
    """Who is at fault, each with one that it should agree with: the consumer when several producers agree with each
    other and none with it; a producer that stands alone; the consumer of one producer."""
    differ = [each for each in producers if each.setting.same_as(consumer.setting) is False]
    if not differ:
        return []
    if len(producers) == 1:
        return [(consumer, differ[0])]
    if len(differ) == len(producers) and all(each.setting.same_as(differ[0].setting) for each in differ):
        return [(consumer, differ[0])]
    return [(each, consumer) for each in differ]


def called(stage: Stage) -> str:
    """A stage as messages name it: the id of a spec, or its kind."""
    return f"stage `{stage.id}`" if stage.spec is not None else f"the {stage.kind} stage"


def of_side(wrong: Side, right: Side, message: str, help: str, ctx: Context) -> Finding:
    """A certain finding at the setting that is at fault, with the other one."""
    label = wrong.setting.label
    found = ctx.fail(
        wrong.setting.span, message, value=f"{label} = {wrong.setting.shown}", hops=wrong.setting.hops, help=help
    )
    return found.with_related(
        right.setting.span, f"{called(right.stage)}: {right.setting.label} = {right.setting.shown}"
    )


def rounds_differ(link: Link) -> bool:
    """Whether a link joins stages of different rounds, so that other differences follow from that one."""
    mine, theirs = setting(link.consumer, "oel_round"), setting(link.producer, "oel_round")
    return mine is not None and theirs is not None and mine.same_as(theirs) is False
