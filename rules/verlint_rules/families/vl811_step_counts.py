"""A stage trains no more steps than data was generated for.

Deployment in OEL and off-policy generation in OPCD write one file for each training step, and the run that trains on
them opens the file of its step. When it is asked for more steps than were generated, it runs up to the last file and
then stops with an AssertionError or FileNotFoundError, often a day in, and before the checkpoint of its last step is
saved.

Compared are the step counts of the two stages, as options or as what their launchers hold by default (OPCD's generators
are fixed at 50 steps). Fewer steps than generated are fine. Stages are joined as in VL802 and VL804.

Fix: generate as many steps as are trained, or train fewer.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.handovers import Link
from verlint.experiment.stage import Experiment, Stage
from verlint.experiment.stage_settings import Setting, setting
from verlint.families.sharing import FIXED_STEPS
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint_rules.families.agreement import called, links_to_judge

_PER_STEP = frozenset(["deploy", "off-policy-data"])


@rule("VL811", "step-counts", on=Experiment, severity=ERROR, since="0.1", words=("_steps",))
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    for link in links_to_judge(experiment):
        if link.kind.producer not in _PER_STEP:
            continue
        trained, (made, place) = setting(link.consumer, "total_training_steps"), _made(link.producer)
        if trained is None or trained.number is None or made is None or trained.number <= made:
            continue
        yield _finding(link, trained, made, place, ctx)


def _made(stage: Stage) -> tuple[int | None, Setting | None]:
    """The steps that are generated, and where that is written."""
    found = setting(stage, "total_training_steps")
    if found is not None:
        return found.number, found
    name = stage.launcher.rpartition("/")[2]
    return (None if stage.launches else FIXED_STEPS.get(name)), None


def _finding(link: Link, trained: Setting, made: int, place: Setting | None, ctx: Context) -> Finding:
    at = trained if trained.written or place is None or not place.written else place
    message = (
        f"{called(link.consumer)} trains {trained.shown} steps on {link.kind.what}, {called(link.producer)} makes "
        f"those of {made} steps: it stops at step {made + 1}, whose file is not there"
    )
    help = f"train {made} steps, or generate {trained.shown}"
    found = ctx.fail(at.span, message, value=f"{at.label} = {at.shown}", hops=at.hops, help=help)
    other = place if at is trained else trained
    span = link.producer.span if other is None else other.span
    return found.with_related(span, f"{called(link.producer)}: {made} steps")
