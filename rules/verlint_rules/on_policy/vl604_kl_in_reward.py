"""An exact on-policy run has no KL term in its reward.

A KL penalty in the reward pulls the policy towards the reference model just as a KL loss does, so the result is
regularised training, not exact on-policy training. How it is switched on depends on the version:

- VeRL up to 0.3 puts the KL into the reward whenever `use_kl_loss` is off, with `algorithm.kl_ctrl.kl_coef` as its
  weight: 0.001 where the key is left out. There the key has to be 0.
- VeRL 0.4 and newer do it only with `algorithm.use_kl_in_reward=True`; `kl_ctrl.kl_coef` alone does nothing.

The claim is the spec's intent `exact`, the OPO family, `algorithm.adv_estimator=opo`, or a directive
(`# verlint: on-policy=exact`). A run with a KL loss is the business of VL603. The estimator `opo` exists since VeRL
0.4. Where the version is not known the finding needs verification; `# verlint: verl=0.7.1` names it.

Fix: set `algorithm.kl_ctrl.kl_coef=0` up to VeRL 0.3, and `algorithm.use_kl_in_reward=False` from 0.4 on.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint_rules.on_policy.claim import (
    REWARD_KL,
    USE_KL,
    claims_exact,
    default_of,
    has_opo_estimator,
    in_config,
    look_up,
    open_holes,
    stock_config,
    undecided,
)
from verlint_rules.on_policy.in_versions import in_versions
from verlint_rules.on_policy.rewriting import spelled_like, with_value

SWITCH = "algorithm.use_kl_in_reward"
_ZERO = f"set {REWARD_KL}=0"
_OFF = f"set {SWITCH}=False"


@rule(
    "VL604",
    "kl-in-reward",
    on=Launch,
    severity=ERROR,
    since="0.1",
    fixable="safe",
    words=("opo", "exact", "single-update"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if not claims_exact(launch) or launch[REWARD_KL].equals(0):
        return
    if launch[SWITCH].given:
        yield from _switched(launch, ctx)
    elif launch[USE_KL].truthy() is not True and not has_opo_estimator(launch):
        old = in_versions(launch, before="0.4")
        if old:
            yield from _implied(launch, ctx)
        elif old is None and stock_config(launch) and launch[USE_KL].truthy() is False:
            yield _of_unknown_version(launch, ctx)


def _switched(launch: Launch, ctx: Context) -> Iterator[Finding]:
    """The switch of 0.4 and newer is given."""
    switch, weight = launch[SWITCH], launch[REWARD_KL]
    if switch.truthy() is None:
        if open_holes(switch):
            message = "the reward has a KL term unless use_kl_in_reward is False"
            yield ctx.unsure(switch, message, help=_OFF, verify=look_up(switch))
        return
    if not switch.truthy():
        return
    if weight.decided and not undecided(launch, REWARD_KL):
        term = f"use_kl_in_reward takes a KL with kl_ctrl.kl_coef {weight}{default_of(weight)} off every reward"
        finding = ctx.fail(switch, f"{term}, so this is no exact on-policy training", help=_OFF)
        if weight.given:
            finding = finding.with_related(weight.span, f"its weight: kl_ctrl.kl_coef = {weight}")
        yield with_value(finding, switch, spelled_like(switch, on=False), safe=True)
    elif open_holes(weight) or not weight.given:
        short = "kl_ctrl.kl_coef" if weight.given else "the default of kl_ctrl.kl_coef"
        verify = look_up(weight) if weight.given else in_config(launch, "kl_coef")
        message = f"use_kl_in_reward takes a KL off every reward unless {short} is 0"
        yield ctx.unsure(switch, message, help=_OFF, verify=verify)


def _implied(launch: Launch, ctx: Context) -> Iterator[Finding]:
    """Up to 0.3: a run without a KL loss has one in the reward."""
    switch, weight = launch[USE_KL], launch[REWARD_KL]
    if switch.truthy() is None:
        if open_holes(switch):
            message = f"VeRL up to 0.3 puts a KL with kl_ctrl.kl_coef {weight} into the reward if use_kl_loss is off"
            yield ctx.unsure(switch, message, help=_ZERO, verify=look_up(switch))
        return
    number = weight.number()
    if number is None or undecided(launch, REWARD_KL):
        if open_holes(weight):
            message = "VeRL up to 0.3 puts a KL into the reward unless kl_ctrl.kl_coef is 0"
            yield ctx.unsure(weight, message, help=_ZERO, verify=look_up(weight))
        return
    off = "use_kl_loss is off" + ("" if switch.given else " by default")
    weighed = f"kl_ctrl.kl_coef {weight}" if weight.given else f"kl_ctrl.kl_coef {weight}{default_of(weight)}"
    version = f"VeRL {launch.version}" if launch.version else "VeRL up to 0.3"
    message = f"{off}, so {version} takes a KL with {weighed} off every reward: this is no exact on-policy training"
    yield with_value(ctx.fail(weight, message, help=_ZERO), weight, "0", safe=True)


def _of_unknown_version(launch: Launch, ctx: Context) -> Finding:
    weight = launch[REWARD_KL]
    given = f"kl_ctrl.kl_coef is {weight}" if weight.given else "kl_ctrl.kl_coef is not given"
    message = f"{given}: VeRL up to 0.3 then takes a KL off every reward, newer ones do not"
    return ctx.unsure(weight, message, help=_ZERO, verify="pip show verl  # up to 0.3?")
