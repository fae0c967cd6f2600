"""Old and new log-probabilities of an on-policy run should be computed alike.

With one update for a rollout batch the ratio of new to old log-probabilities is 1, and nothing is clipped. In numbers
it is 1 only if both come out of batches of the same shape. Where `rollout.log_prob_micro_batch_size_per_gpu` differs
from `actor.ppo_micro_batch_size_per_gpu`, or with dynamic batches the two token budgets do, kernels sum in another
order, and a run that is on-policy shows `pg_clipfrac` above 0. Up to VeRL 0.5 and from 0.8 on that is so; the FSDP
actors between take the new log-probabilities for the old ones in such a run. Quantised rollouts and speculative
decoding make a difference of their own, between the engine and the model that trains.

This is a remark for runs that claim to be on-policy (the spec's intent `exact` or `single-update`, the OPO family,
`algorithm.adv_estimator=opo`, a directive). It fails no check.

Fix: give both keys the same value or variable. Measure the rest with `rollout.calculate_log_probs=True`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import INFO, Context, rule
from verlint.value import Value
from verlint_rules.on_policy.claim import STRATEGY, claims_one_update, default_of, stock_config
from verlint_rules.on_policy.in_versions import in_versions

_ACTOR, _ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
_SIZES = (f"{_ROLLOUT}.log_prob_micro_batch_size_per_gpu", f"{_ACTOR}.ppo_micro_batch_size_per_gpu")
_BUDGETS = (f"{_ROLLOUT}.log_prob_max_token_len_per_gpu", f"{_ACTOR}.ppo_max_token_len_per_gpu")
_DYNAMIC = (f"{_ROLLOUT}.log_prob_use_dynamic_bsz", f"{_ACTOR}.use_dynamic_bsz")
_LEGACY = "trainer.use_legacy_worker_impl"
_QUANTISED = f"{_ROLLOUT}.quantization"
_SPECULATIVE = "actor_rollout_ref.model.mtp.enable_rollout"


@rule("VL614", "logprob-batching", on=Launch, severity=INFO, since="0.1", words=("opo", "exact", "single-update"))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if not claims_one_update(launch):
        return
    if _recomputes(launch):
        yield from _shapes(launch, ctx)
    yield from _engine(launch, ctx)


def _recomputes(launch: Launch) -> bool:
    """Whether the ratio is taken to old log-probabilities that were computed in a pass of their own."""
    between = in_versions(launch, since="0.6", before="0.8")
    if between:
        return launch[STRATEGY].equals("megatron") is True or launch[_LEGACY].equals("disable") is True
    return between is False


def _shapes(launch: Launch, ctx: Context) -> Iterator[Finding]:
    old_dynamic, new_dynamic = (launch[key].truthy() for key in _DYNAMIC)
    if old_dynamic is None or old_dynamic is not new_dynamic or not _trusted(launch, _DYNAMIC):
        return
    keys = _BUDGETS if new_dynamic else _SIZES
    old, new = (launch[key] for key in keys)
    if not _trusted(launch, keys) or old.number() is None or new.number() is None or old.equals(new.data):
        return
    place, other = (old, new) if old.given else (new, old)
    message = (
        f"{_said(old)} and {_said(new)} differ: old and new log-probabilities come from batches of another shape, "
        "so pg_clipfrac is above 0 in an on-policy run"
    )
    finding = ctx.fail(place, message, help=f"give {old.key} the value of {new.key}")
    yield finding.with_related(other.span, f"{other.key} = {other}") if other.given else finding


def _engine(launch: Launch, ctx: Context) -> Iterator[Finding]:
    quantised, speculative = launch[_QUANTISED], launch[_SPECULATIVE]
    measured = "measure the difference with actor_rollout_ref.rollout.calculate_log_probs=True"
    if quantised.given and quantised.decided and quantised.data not in (None, "", "null"):
        message = f"rollouts are sampled from weights quantised to {quantised}, and trained with others"
        yield ctx.fail(quantised, message, help=measured)
    if speculative.given and speculative.equals(True):
        message = "speculative decoding samples with other numbers than the model that trains"
        yield ctx.fail(speculative, message, help=measured)


def _trusted(launch: Launch, keys: tuple[str, ...]) -> bool:
    return all(launch[key].given or stock_config(launch) for key in keys)


def _said(value: Value) -> str:
    return f"{value.key.removeprefix('actor_rollout_ref.')} {value}{default_of(value)}"
