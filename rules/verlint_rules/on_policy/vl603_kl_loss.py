"""An exact on-policy run has no KL term in its loss.

With `use_kl_loss=True` the policy is pulled towards the reference model while it learns from the reward, so the result
is regularised training, not exact on-policy training. It also starts a reference worker that nothing else needs.

The claim is the spec's intent `exact`, the OPO family, `algorithm.adv_estimator=opo`, or a directive
(`# verlint: on-policy=exact`). Distillation minimises a KL on purpose: its intent is `single-update`, which allows one.
A term with `kl_loss_coef=0` changes no gradient and is not reported.

Fix: set `actor_rollout_ref.actor.use_kl_loss=False`. VeRL before 0.4 then adds a KL to the reward instead, unless
`algorithm.kl_ctrl.kl_coef=0` is set as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint.value import Value
from verlint_rules.config.rewriting import one_more
from verlint_rules.on_policy.claim import (
    KL_COEFFICIENT,
    REWARD_KL,
    USE_KL,
    claims_exact,
    default_of,
    distils,
    in_config,
    look_up,
    older_than,
    open_holes,
    undecided,
)
from verlint_rules.on_policy.rewriting import also, spelled_like, value_edit, with_value


@rule(
    "VL603", "kl-loss", on=Launch, severity=ERROR, since="0.1", fixable="safe", words=("opo", "exact", "single-update")
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    switch, weight = launch[USE_KL], launch[KL_COEFFICIENT]
    if not switch.given or switch.truthy() is False or not claims_exact(launch) or weight.equals(0):
        return
    help_ = _help(launch)
    if switch.truthy() is None:
        if open_holes(switch):
            message = "the loss has a KL term unless use_kl_loss is False"
            yield ctx.unsure(switch, message, help=help_, verify=look_up(switch))
        return
    if weight.decided and not undecided(launch, KL_COEFFICIENT):
        term = f"use_kl_loss adds a KL term with kl_loss_coef {weight}{default_of(weight)} to the loss"
        message = f"{term}, so this is no exact on-policy training"
        finding = _with_weight(ctx.fail(switch, message, help=help_), weight)
        yield finding if distils(launch) else _mended(finding, launch)
    elif open_holes(weight) or not weight.given:
        short = "kl_loss_coef" if weight.given else "the default of kl_loss_coef"
        message = f"use_kl_loss adds a KL term to the loss unless {short} is 0"
        verify = look_up(weight) if weight.given else in_config(launch, KL_COEFFICIENT)
        yield _with_weight(ctx.unsure(switch, message, help=help_, verify=verify), weight)


def _mended(finding: Finding, launch: Launch) -> Finding:
    """The finding with its fix, which keeps the KL out of the reward too."""
    switch, weight = launch[USE_KL], launch[REWARD_KL]
    finding = with_value(finding, switch, spelled_like(switch, on=False), safe=True)
    if not _moves(launch):
        return finding
    zero = value_edit(weight, "0") if weight.given else one_more(launch, switch, REWARD_KL, "0")
    return also(finding, "and kl_ctrl.kl_coef=0", zero)


def _moves(launch: Launch) -> bool:
    """Whether VeRL puts the KL into the reward once it is out of the loss."""
    return older_than(launch, "0.4") and launch[REWARD_KL].equals(0) is not True


def _with_weight(finding: Finding, weight: Value) -> Finding:
    return finding.with_related(weight.span, f"its weight: kl_loss_coef = {weight}") if weight.given else finding


def _help(launch: Launch) -> str:
    if distils(launch):
        return "the KL is what this trainer minimises: declare the intent single-update"
    if _moves(launch):
        return f"set {USE_KL}=False and {REWARD_KL}=0: VeRL {launch.version} puts the KL into the reward otherwise"
    return f"set {USE_KL}=False"
