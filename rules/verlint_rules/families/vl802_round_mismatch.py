"""The stages of one round of OEL say the same round, and start from the policy of the round before.

`oel_round` chooses the seeds of the games: a stage that names another round plays and trains on levels of that one. And
a round builds on the last: extraction, deployment and consolidation of round 2 start from the policy that round 1
consolidated. A driver for several rounds is mostly copied lines, and one number that was not changed trains the policy
on trajectories of another policy and other levels. The fork compares none of these, and the run ends well.

Stages are joined by the run names in the paths and options they are given (`--deploy_save_dir`, `--exp_path`,
`--resume_policy_name`), or by `deps` of a spec, where also `round:` and the argument must agree. When a stage stands
against all others it is joined with, its round is reported; when another stage of the right round is there, the path or
name that leads to the wrong one.

Fix: write the round of the other stages, or the run name of the right round.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.handovers import Link
from verlint.experiment.stage import Experiment, Stage
from verlint.experiment.stage_settings import Setting, setting
from verlint.finding import Finding
from verlint.record import dataclass
from verlint.rule import ERROR, Context, rule
from verlint_rules.families.agreement import called, links_to_judge

_WORKED_ON = "the run plays the levels of one round with what another one made"


@rule("VL802", "round-mismatch", on=Experiment, severity=ERROR, since="0.1", words=("round",))
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    declared: dict[int, Finding] = {}
    if experiment.is_spec:
        declared = {id(stage): found for stage in experiment.stages if (found := _declared(stage, ctx)) is not None}
    yield from declared.values()
    links = [link for link in links_to_judge(experiment) if _has_rounds(link)]
    wrong = {id(stage): votes for stage in experiment.stages if (votes := _outvoted(stage, links))}
    for stage in experiment.stages:
        if id(stage) in wrong and id(stage) not in declared:
            yield _of_stage(stage, wrong[id(stage)], ctx)
    explained = declared.keys() | wrong.keys()
    seen: set[object] = set()
    for link in links:
        if _fits(link) or id(link.producer) in explained or id(link.consumer) in explained:
            continue
        found = _of_link(link, experiment, ctx)
        if found.span is not None and found.span.order() not in seen:
            seen.add(found.span.order())
            yield found


def _has_rounds(link: Link) -> bool:
    """Whether both ends say their round; a policy that goes on to another game starts its rounds anew."""
    if _round(link.producer) is None or _round(link.consumer) is None:
        return False
    mine, theirs = setting(link.consumer, "textgame_name"), setting(link.producer, "textgame_name")
    return not link.kind.checkpoint or mine is None or theirs is None or mine.same_as(theirs) is not False


def _round(stage: Stage) -> int | None:
    found = setting(stage, "oel_round")
    return None if found is None else found.number


def _fits(link: Link) -> bool:
    return _round(link.consumer) == _wanted(link)


def _wanted(link: Link) -> int:
    """The round that the producer of a link asks its consumer to be of: the next one when it makes the policy."""
    return (_round(link.producer) or 0) + (1 if link.kind.checkpoint else 0)


def _needed(link: Link) -> int:
    """The round that the consumer of a link asks its producer to be of."""
    return (_round(link.consumer) or 0) - (1 if link.kind.checkpoint else 0)


@dataclass(frozen=True, slots=True)
class _Vote:
    """The round that a link asks a stage to be of, and the stage at its other end."""

    round: int
    other: Stage


def _votes(stage: Stage, links: list[Link]) -> list[_Vote]:
    made = [_Vote(_wanted(link), link.producer) for link in links if link.consumer is stage]
    read = [_Vote(_needed(link), link.consumer) for link in links if link.producer is stage]
    return made + read


def _outvoted(stage: Stage, links: list[Link]) -> list[_Vote]:
    """The votes of all stages that one is joined with, when they agree on another round than its own."""
    votes = _votes(stage, links)
    rounds = {vote.round for vote in votes}
    return votes if len(votes) > 1 and len(rounds) == 1 and _round(stage) not in rounds else []


def _of_stage(stage: Stage, votes: list[_Vote], ctx: Context) -> Finding:
    own = setting(stage, "oel_round")
    assert own is not None
    right = votes[0].round
    message = (
        f"{called(stage)} says round {own.shown}, all stages it is joined with belong to round {right}: {_WORKED_ON}"
    )
    found = ctx.fail(
        own.span, message, value=f"{own.label} = {own.shown}", hops=own.hops, help=f"write {own.label} {right}"
    )
    for vote in votes:
        found = _with_round(found, vote.other)
    return found


def _of_link(link: Link, experiment: Experiment, ctx: Context) -> Finding:
    """At what leads the consumer to the producer when there is a right one; else at the round of the producer, or of
    the consumer when the producer makes its policy."""
    mine, theirs = setting(link.consumer, "oel_round"), setting(link.producer, "oel_round")
    assert mine is not None
    assert theirs is not None
    wanted = _needed(link)
    need = f"needs {link.kind.what} of round {wanted}"
    message = f"{called(link.consumer)} of round {mine.shown} {need}, it takes {link.kind.what} of round {theirs.shown}"
    right = [each for each in experiment.stages if each.kind == link.producer.kind and _round(each) == wanted]
    if right and (link.by is not None or link.consumer.spec is not None):
        name = setting(right[0], "exp_name")
        by = link.by or _dep(link)
        instead = right[0].id if link.consumer.spec is not None or name is None else name.shown
        found = ctx.fail(
            by.span, f"{message}: {_WORKED_ON}", value=f"{by.label} = {by.shown}", hops=by.hops,
            help=f"name {instead}", near=instead,
        )  # fmt: skip
        return _with_round(_with_round(found, link.producer), link.consumer)
    at, other = (mine, link.producer) if link.kind.checkpoint else (theirs, link.consumer)
    found = ctx.fail(
        at.span, f"{message}: {_WORKED_ON}", value=f"{at.label} = {at.shown}", hops=at.hops,
        help="write the round that the stage belongs to",
    )  # fmt: skip
    return _with_round(found, other)


def _dep(link: Link) -> Setting:
    """The `from` of a spec that leads to the producer."""
    assert link.consumer.spec is not None
    for name, dep in link.consumer.spec.deps.items():
        if str(dep.from_stage) == link.producer.id and dep.from_stage.text is not None:
            text = dep.from_stage.text
            return Setting(f"deps.{name}.from", text, dep.from_stage.span or dep.span, dep.from_stage.hops)
    own = setting(link.consumer, "oel_round")
    assert own is not None
    return own


def _with_round(found: Finding, stage: Stage) -> Finding:
    own = setting(stage, "oel_round")
    return found if own is None else found.with_related(own.span, f"{called(stage)}: round {own.shown}")


def _declared(stage: Stage, ctx: Context) -> Finding | None:
    """A stage of a spec whose `round:` is not the round of its call."""
    assert stage.spec is not None
    declared, own = stage.spec.round, setting(stage, "oel_round")
    if not declared.given or own is None or own.number is None or declared.number() in (None, own.number):
        return None
    message = f"stage `{stage.id}` is declared for round {declared}, its call says round {own.shown}"
    found = ctx.fail(
        own.span, message, value=f"{own.label} = {own.shown}", hops=own.hops, help=f"write the same round, {declared}"
    )
    return found.with_related(declared.span, f"stages.{stage.id}.round = {declared}")
