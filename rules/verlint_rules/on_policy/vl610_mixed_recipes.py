"""OPO is a recipe of its own; a part of it inside another family's recipe is neither.

OPO's estimator belongs to its own update: a reward for every answer, groups of answers, one update a batch and no KL.
The other families train something else. OEL, OPCD and LLM-as-a-Coach minimise a KL to a teacher, so an estimator there
changes nothing or, in their reward stages, replaces the one that their results were made with. GAD trains against a
discriminator. The reverse is just as wrong: a launch that is declared to be OPO but carries the stage keys of another
family runs that family's trainer.

Somebody who ported OPO on purpose says so: the spec's checkout `provides: [optimal-reward-baseline]`. Then the rule is
silent.

Fix: take `adv_estimator=opo` out of the other recipe, or declare the port in the spec. For OPO itself start a stock
VeRL with a launcher of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.families import FAMILIES
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint.value import Value
from verlint_rules.on_policy.baseline import is_declared
from verlint_rules.on_policy.claim import ESTIMATOR, trains

_OF_OPO = "value_baseline"
"""The parameter of OPO's advantage function, where somebody made it a key."""

_OF_OTHERS = {
    "trainer.stage": "OEL, OPCD or LLM-as-a-Coach",
    "trainer.train_oel": "OEL",
    "trainer.oel_round": "OEL",
    "trainer.on_policy_merge": "OEL or OPCD",
    "trainer.use_exp_model": "LLM-as-a-Coach",
}
"""Keys that only the trainers of other families know. Source: their configs in microsoft/LMOps."""


@rule("VL610", "mixed-recipes", on=Launch, severity=ERROR, since="0.1", words=("opo", "value_baseline"))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if not trains(launch) or is_declared(launch, ctx):
        return
    if launch.family == "opo":
        yield from _foreign_stage(launch, ctx)
    elif launch.family:
        for value in _own_parts(launch):
            title = FAMILIES[launch.family].title
            message = f"{value.key.rsplit('.', 1)[-1]} {value} is a part of OPO inside the recipe of {title}"
            yield ctx.fail(value, message, help="take it out, or declare the port in the spec")


def _foreign_stage(launch: Launch, ctx: Context) -> Iterator[Finding]:
    found = [key for key in _OF_OTHERS if key in launch]
    if found:
        value = launch[found[0]]
        message = (
            f"{value.key} {value} belongs to the trainer of {_OF_OTHERS[found[0]]}, and the launch is said to be OPO"
        )
        finding = ctx.fail(value, message, help="declare the family that it is, or start OPO with a stock VeRL")
        for key in found[1:]:
            finding = finding.with_related(launch[key].span, f"{key} = {launch[key]}")
        yield finding


def _own_parts(launch: Launch) -> Iterator[Value]:
    if launch[ESTIMATOR].given and launch[ESTIMATOR].equals("opo"):
        yield launch[ESTIMATOR]
    for override in launch.overrides:
        if override.key.rsplit(".", 1)[-1] == _OF_OPO and override.value.given:
            yield override.value
