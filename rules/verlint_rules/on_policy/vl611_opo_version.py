"""OPO was made for VeRL 0.2; on another version its results hold only after a look at the source.

What OPO's recipe sets by hand has other defaults, other names or other code in later versions: the KL in the reward
got a switch of its own, the entropy bonus is off by default since 0.4, the actor divides losses in another way, and a
group of one gets the raw reward as its advantage, not 0. VeRL 0.4 and newer have the baseline themselves, as the
estimator `opo`. No key shows whether a port kept the mathematics, so this always needs verification.

A launch is asked only when a directive, a spec or its folder says that it is OPO. One that merely uses the estimator
`opo` claims no such port. Neither is asked where VL606 says already that the optimal baseline is missing.

Fix: check out VeRL 0.2.0, or compare the functions named in the finding with OPO's, then say
`# verlint: ignore[VL611]` with what was compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import WARNING, Context, rule
from verlint_rules.on_policy.baseline import FUNCTION, STOCK, TOKEN_BASELINES, is_declared, is_said_to_be_opo
from verlint_rules.on_policy.claim import ESTIMATOR, has_opo_estimator, trains, undecided
from verlint_rules.on_policy.in_versions import in_versions

_HELP = "check out VeRL 0.2.0, or compare the advantage, the KL and the loss with OPO's"


@rule("VL611", "opo-version", on=Launch, severity=WARNING, since="0.1", words=("opo",))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if launch.family != "opo" or not trains(launch):
        return
    is_base = in_versions(launch, since="0.2", before="0.3")
    if is_base or (is_base is None and not has_opo_estimator(launch)):
        return
    if not is_said_to_be_opo(launch, ctx) or _lacks_baseline(launch, ctx):
        return
    estimator = launch[ESTIMATOR]
    place = estimator if estimator.given else launch.head
    version = launch.verl.label if launch.verl is not None and launch.version else "a VeRL of 0.4 or newer"
    message = f"OPO was made for VeRL 0.2.0 and this runs on {version}: whether the port kept its mathematics is open"
    verify = f"grep -n -A40 'def {FUNCTION}' verl/trainer/ppo/core_algos.py"
    yield ctx.unsure(place, message, help=_HELP, verify=verify)


def _lacks_baseline(launch: Launch, ctx: Context) -> bool:
    """Whether VL606 has the word."""
    estimator = launch[ESTIMATOR]
    known = estimator.decided and not undecided(launch, ESTIMATOR)
    if not known or str(estimator) in TOKEN_BASELINES:
        return True
    return str(estimator) in STOCK and in_versions(launch, since="0.4") is True and not is_declared(launch, ctx)
