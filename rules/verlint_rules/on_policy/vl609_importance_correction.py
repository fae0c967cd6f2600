"""A rollout correction that is asked for is made, and an exact on-policy run asks for none.

VeRL can correct for the difference between the engine that samples and the model that trains. Two ways of asking for it
do nothing, whatever the run claims:

- `rollout_correction.rollout_is` or `rollout_rs` without `rollout.calculate_log_probs=True`, which is off by default up
  to VeRL 0.8: without the engine's log-probabilities the correction is skipped, without a word.
- `rollout_is`, `rollout_rs` or `loss_type` beside `bypass_mode=True` in the trainer that is the default since VeRL 0.9:
  it trains plain PPO on the engine's log-probabilities and reads none of the three.

In a run that claims to be on-policy (the spec's intent `exact` or `single-update`, the OPO family,
`algorithm.adv_estimator=opo`, a directive) the correction itself is a departure:

- `bypass_mode=True` and `actor.use_rollout_log_probs=True` take the engine's log-probabilities for the old ones, so the
  ratio is not 1 even at the first update, and clipping sets in.
- `rollout_is`, `rollout_rs` and `tis_imp_ratio_cap` reweight or drop samples. That is right for off-policy training,
  but it is not OPO's update.

Fix: set `actor_rollout_ref.rollout.calculate_log_probs=True`, or remove the correction. For an exact run remove it.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import WARNING, Context, rule
from verlint.value import Value
from verlint_rules.on_policy.claim import claims_one_update, default_of, stock_config, trains
from verlint_rules.on_policy.in_versions import in_versions

_CORRECTION = "algorithm.rollout_correction"
_BYPASS = f"{_CORRECTION}.bypass_mode"
_WEIGHTS = (f"{_CORRECTION}.rollout_is", f"{_CORRECTION}.rollout_rs")
_OLD_WEIGHTS = "algorithm.rollout_is"
"""VeRL 0.6.0 only, with `algorithm.rollout_is_threshold`."""
_OLD_THRESHOLD = "algorithm.rollout_is_threshold"
_LOSS_TYPE = f"{_CORRECTION}.loss_type"
_LOG_PROBS = "actor_rollout_ref.rollout.calculate_log_probs"
_USE_V1 = "trainer.use_v1"
_OWN_RATIOS = (_BYPASS, "actor_rollout_ref.actor.use_rollout_log_probs")
_CAP = "actor_rollout_ref.actor.tis_imp_ratio_cap"
_NOTHING = (None, False, 0, "", "null", "None")


@rule(
    "VL609",
    "importance-correction",
    on=Launch,
    severity=WARNING,
    since="0.1",
    words=("rollout_correction", "rollout_is", "use_rollout_log_probs", "tis_imp_ratio_cap"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if not trains(launch):
        return
    weights = [launch[key] for key in _WEIGHTS if _asked(launch[key])]
    if _asked(launch[_OLD_WEIGHTS]) and launch[_OLD_THRESHOLD].number() is not None:
        weights.append(launch[_OLD_WEIGHTS])
    lost = list(_lost(launch, ctx, weights))
    yield from lost
    if claims_one_update(launch):
        yield from _departures(launch, ctx, [] if lost else weights)


def _asked(value: Value) -> bool:
    """Whether a correction is surely asked for."""
    return value.given and value.decided and value.data not in _NOTHING


def _lost(launch: Launch, ctx: Context, weights: list[Value]) -> Iterator[Finding]:
    """Corrections that do nothing."""
    bypass = launch[_BYPASS]
    if bypass.equals(True):
        if stock_config(launch) and in_versions(launch, since="0.9") and launch[_USE_V1].equals(True):
            kind = launch[_LOSS_TYPE]
            ignored = [*weights, *([kind] if _asked(kind) and kind.equals("ppo_clip") is False else [])]
            if ignored:
                yield _ignored(ctx, ignored, bypass)
        return
    if bypass.given and bypass.equals(False) is None:
        return
    log_probs = launch[_LOG_PROBS]
    if weights and log_probs.equals(False) and (log_probs.given or stock_config(launch)):
        value = weights[0]
        off = f"calculate_log_probs is {log_probs}{default_of(log_probs)}"
        message = (
            f"{_short(value)} {value} is skipped without a word: {off}, and it needs the engine's log-probabilities"
        )
        yield _beside(ctx.fail(value, message, help=f"set {_LOG_PROBS}=True"), log_probs)


def _ignored(ctx: Context, values: list[Value], bypass: Value) -> Finding:
    said = " and ".join(f"{_short(value)} {value}" for value in values)
    verb = "does" if len(values) == 1 else "do"
    message = (
        f"{said} {verb} nothing beside bypass_mode=True: since VeRL 0.9 the trainer then runs plain PPO "
        "on the engine's log-probabilities"
    )
    finding = _beside(ctx.fail(values[0], message, help=f"set {_BYPASS}=False, or {_USE_V1}=False"), bypass)
    for value in values[1:]:
        finding = finding.with_related(value.span, f"{_short(value)} = {value}")
    return finding


def _departures(launch: Launch, ctx: Context, weights: list[Value]) -> Iterator[Finding]:
    """What an exact on-policy run does without."""
    for key in _OWN_RATIOS:
        switch = launch[key]
        if switch.given and switch.equals(True):
            message = (
                f"{key.rsplit('.', 1)[-1]} takes the engine's log-probabilities for the old ones: "
                "the ratio is not 1 even with one update for a batch"
            )
            yield ctx.fail(switch, message, help=f"set {key}=False")
            return  # the weights of a bypassed correction are no second fault
    for value in weights:
        message = (
            f"{_short(value)} {value} reweights or drops samples: the update is not that of exact on-policy training"
        )
        yield ctx.fail(value, message, help=f"set {value.key}={'False' if value.data is True else 'null'}")
    cap = launch[_CAP]
    limit = cap.number()
    if cap.given and limit is not None and limit > 0:
        message = f"tis_imp_ratio_cap {cap} reweights samples: the update is not that of exact on-policy training"
        yield ctx.fail(cap, message, help=f"set {_CAP}=-1")


def _beside(finding: Finding, other: Value) -> Finding:
    return finding.with_related(other.span, f"{_short(other)} = {other}") if other.given else finding


def _short(value: Value) -> str:
    return value.key.rsplit(".", 1)[-1]
