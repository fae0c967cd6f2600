"""An exact on-policy run has no entropy bonus in its loss.

`entropy_coeff` adds a reward for random answers to the loss, so the result is regularised training, not exact on-policy
training. Up to VeRL 0.3 the key has to be set: it is 0.001 where it is left out, and 0 only since 0.4.

The claim is the spec's intent `exact`, the OPO family, `algorithm.adv_estimator=opo`, or a directive
(`# verlint: on-policy=exact`). The estimator `opo` exists since VeRL 0.4, so there the key may be left out. Where the
version is not known the finding needs verification; `# verlint: verl=0.7.1` names it.

Fix: set `actor_rollout_ref.actor.entropy_coeff=0`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint_rules.on_policy.claim import (
    ENTROPY,
    claims_exact,
    has_opo_estimator,
    in_config,
    look_up,
    open_holes,
    stock_config,
)
from verlint_rules.on_policy.rewriting import with_value

_HELP = f"set {ENTROPY}=0"


@rule(
    "VL605",
    "entropy-bonus",
    on=Launch,
    severity=ERROR,
    since="0.1",
    fixable="safe",
    words=("opo", "exact", "single-update"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if not claims_exact(launch):
        return
    if ENTROPY not in launch:
        yield from _absent(launch, ctx)
        return
    weight = launch[ENTROPY]
    number = weight.number()
    if number is not None and number != 0:
        message = f"entropy_coeff {weight} adds an entropy bonus to the loss, so this is no exact on-policy training"
        yield with_value(ctx.fail(weight, message, help=_HELP), weight, "0", safe=True)
    elif number is None and open_holes(weight):
        message = "the loss has an entropy bonus unless entropy_coeff is 0"
        yield ctx.unsure(weight, message, help=_HELP, verify=look_up(weight))


def _absent(launch: Launch, ctx: Context) -> Iterator[Finding]:
    """The key is left out: what counts is the default of the version, as long as it is VeRL's own config."""
    if not stock_config(launch):
        return
    weight = launch[ENTROPY]
    if weight.decided:
        if weight.equals(0) is False:
            message = (
                f"entropy_coeff is not given, and the default of VeRL {launch.version} is {weight}: "
                "the loss has an entropy bonus"
            )
            yield ctx.fail(weight, message, help=_HELP)
    elif not has_opo_estimator(launch):
        message = "entropy_coeff is not given: VeRL up to 0.3 then adds an entropy bonus of 0.001, newer ones none"
        yield ctx.unsure(weight, message, help=_HELP, verify=in_config(launch, ENTROPY))
