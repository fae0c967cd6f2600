"""A run that claims to be on-policy passes over every rollout batch once.

With `ppo_epochs` above 1 VeRL updates the policy again on the same samples. From the second pass on they are samples of
an older policy, however large the update batch is.

The FSDP actor of VeRL 0.2 makes one pass whatever the key says; there the finding is a warning, because the same
launcher is off-policy on every newer VeRL.

The claim is the spec's intent (`exact` or `single-update`), the OPO family, `algorithm.adv_estimator=opo`, or a
directive (`# verlint: on-policy=exact`).

Fix: set `actor_rollout_ref.actor.ppo_epochs=1`, or leave the key out: 1 is the default of every VeRL version.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, WARNING, Context, rule
from verlint_rules.on_policy.claim import EPOCHS, STRATEGY, claims_one_update, look_up, older_than, open_holes
from verlint_rules.on_policy.rewriting import with_value

_HELP = f"set {EPOCHS}=1 (the default)"


@rule(
    "VL602",
    "several-epochs",
    on=Launch,
    severity=ERROR,
    since="0.1",
    fixable="safe",
    words=("opo", "exact", "single-update"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    epochs = launch[EPOCHS]
    if not epochs.given or not claims_one_update(launch):
        return
    passes = epochs.number()
    if passes is not None and passes > 1:
        again = f"{passes} passes over every rollout batch: all but the first train on samples of an older policy"
        if _ignored(launch):
            message = f"{again}; only the FSDP actor of VeRL before 0.3 ignores the key"
            finding = ctx.fail(epochs, message, help=_HELP, severity=WARNING)
        else:
            finding = ctx.fail(epochs, again, help=_HELP)
        yield with_value(finding, epochs, "1", safe=True)
    elif passes is None and open_holes(epochs):
        message = "every rollout batch is trained on more than once unless ppo_epochs is 1"
        yield ctx.unsure(epochs, message, help=_HELP, verify=look_up(epochs))


def _ignored(launch: Launch) -> bool:
    """Whether the actor of this version makes a single pass whatever the key says."""
    return older_than(launch, "0.3") and launch[STRATEGY].equals("megatron") is not True
