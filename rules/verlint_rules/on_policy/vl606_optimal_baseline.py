"""A run that means to be OPO computes its advantages with the optimal reward baseline.

OPO is two things: exact on-policy training, and a baseline that weights the rewards of a group by the length of their
answers. The second is easy to lose, because no key is wrong and training looks healthy:

- VeRL 0.4 and newer have the estimator `opo`. With `grpo` the advantages are those of GRPO: the plain mean of the
  group, divided by its standard deviation (with `norm_adv_by_std_in_grpo=False` only the mean, which is Dr. GRPO).
- VeRL up to 0.3 has no such estimator. OPO's recipe keeps `adv_estimator=grpo` there and changes the code: the
  trainer's `ray_trainer.py` has to call `compute_opo_outcome_advantage`. Where the checkout is on disk, that is looked
  up in it without running anything; where it is not, the finding needs verification.
- `optimal_token_baseline` and `tir_optimal_token_baseline` are another method: a baseline for each token.

A launch means to be OPO by its family, or by the claim `exact` and a run that has "opo" in its name. A spec whose
checkout `provides: [optimal-reward-baseline]` has declared the baseline and is believed unless its code says otherwise.

Fix: set `algorithm.adv_estimator=opo` on VeRL 0.4 and newer. On older ones let the branch of the estimator in
`verl/trainer/ppo/ray_trainer.py` call `compute_opo_outcome_advantage`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint.value import Value
from verlint_rules.config.rewriting import without_word_edit
from verlint_rules.on_policy.baseline import FUNCTION, STOCK, TOKEN_BASELINES, Carried, carried, is_declared, means_opo
from verlint_rules.on_policy.claim import ESTIMATOR, default_of, look_up, open_holes, trains, undecided
from verlint_rules.on_policy.in_versions import in_versions
from verlint_rules.on_policy.rewriting import also, with_value

_NEW = f"set {ESTIMATOR}=opo"
_OLD = f"let the branch of the estimator in verl/trainer/ppo/ray_trainer.py call {FUNCTION}"
_NORMALISED = "algorithm.norm_adv_by_std_in_grpo"


@rule("VL606", "optimal-baseline", on=Launch, severity=ERROR, since="0.1", fixable="unsafe", words=("opo",))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    estimator = launch[ESTIMATOR]
    if estimator.equals("opo") or not means_opo(launch) or not trains(launch):
        return
    if open_holes(estimator):
        message = "the run is OPO only if adv_estimator is opo (VeRL 0.4 and newer)"
        yield ctx.unsure(estimator, message, help=_NEW, verify=look_up(estimator))
    elif estimator.decided and not undecided(launch, ESTIMATOR):
        name = str(estimator)
        if name in TOKEN_BASELINES:
            message = f"{name} is another method, a baseline for each token: the run is not OPO"
            yield _mended(ctx.fail(estimator, message, help=_NEW), launch)
        elif name in STOCK:
            yield from _of_stock(launch, ctx, estimator)


def _of_stock(launch: Launch, ctx: Context, estimator: Value) -> Iterator[Finding]:
    """One of VeRL's other estimators: OPO only where the code was changed."""
    new = in_versions(launch, since="0.4")
    if new is False:
        yield from _on_old(launch, ctx, estimator)
    elif not is_declared(launch, ctx) and carried(launch, ctx, str(estimator)) is not Carried.YES:
        message = f"{_said(launch, estimator)}: the run is not OPO"
        if new:
            yield _mended(ctx.fail(estimator, message, help=_NEW), launch)
        else:
            yield ctx.unsure(estimator, f"{message} unless the code was changed", help=_NEW, verify=_look_for())


def _mended(finding: Finding, launch: Launch) -> Finding:
    """The finding with its fix; a switch that only grpo reads goes with it."""
    finding = with_value(finding, launch[ESTIMATOR], "opo", safe=False)
    switch = launch.by_key.get(_NORMALISED)
    edit = without_word_edit(switch) if switch is not None else None
    return finding if edit is None else also(finding, "and take norm_adv_by_std_in_grpo away", edit)


def _on_old(launch: Launch, ctx: Context, estimator: Value) -> Iterator[Finding]:
    found = carried(launch, ctx, str(estimator))
    said = _said(launch, estimator)
    if found is Carried.NO:
        message = f"{said}, and ray_trainer.py of the checkout never calls {FUNCTION} for it: the run is not OPO"
        yield ctx.fail(estimator, message, help=_OLD)
    elif found is Carried.UNKNOWN and estimator.equals("gae"):
        yield ctx.fail(estimator, f"{said}: the run is not OPO", help=f"set {ESTIMATOR}=grpo, and {_OLD}")
    elif found is Carried.UNKNOWN and not is_declared(launch, ctx):
        message = f"{said} in VeRL {launch.version} as released: the run is OPO only if the checkout was changed"
        yield ctx.unsure(estimator, message, help=_OLD, verify=_look_for())


def _said(launch: Launch, estimator: Value) -> str:
    name = f"{estimator}{default_of(estimator)}"
    if estimator.equals("gae"):
        return f"adv_estimator {name} takes its baseline from a critic"
    if not name.startswith("grpo"):
        return f"adv_estimator {name} has another baseline than the optimal one"
    divided = launch[_NORMALISED].equals(False) is not True
    kind = "and divides by its standard deviation" if divided else "(Dr. GRPO)"
    return f"adv_estimator {name} takes the plain mean of each group {kind}"


def _look_for() -> str:
    return f"grep -n {FUNCTION} verl/trainer/ppo/ray_trainer.py"
