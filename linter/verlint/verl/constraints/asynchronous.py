"""The asynchronous trainers.

Sources: `trainer/ppo/v1/trainer_base.py`, `trainer_separate_async.py`, `replay_buffer.py` (from 0.9.0),
`experimental/fully_async_policy/fully_async_rollouter.py` (from 0.8.0; the configs from 0.7.1)."""

from __future__ import annotations

from verlint.value import Data
from verlint.verl.constraints import AT_STEP, AT_WORKERS, FULLY_ASYNC, STOCK, Ask, Row, Say, nearest
from verlint.verl.facts import MINI_BATCH, ROLLOUT, TRAIN_BATCH, Facts

MODE = "trainer.v1.trainer_mode"
GENERATED = "data.gen_batch_size"
SYNC_STEP = "trainer.v1.separate_async.parameter_sync_step"
THRESHOLD = "trainer.v1.sampler.max_off_policy_threshold"
STRATEGY = "trainer.v1.sampler.max_off_policy_strategy"
SAMPLER = "trainer.v1.sampler.custom_sampler.path"
POOL_NODES = f"{ROLLOUT}.nnodes"
POOL_GPUS = f"{ROLLOUT}.n_gpus_per_node"
BACKEND = f"{ROLLOUT}.checkpoint_engine.backend"


def _separate(facts: Facts) -> bool:
    return facts.trainer == "v1" and facts.text(MODE) == "separate_async"


def _in_chunks(facts: Facts) -> bool:
    if facts.trainer != "v1" or facts.flag("algorithm.filter_groups.enable"):
        return False
    if facts.flag("trainer.v1.sampler.sync_refill_failed_groups"):
        return False
    size = facts.count_or_none(GENERATED)
    return bool(size) and facts.count(TRAIN_BATCH) % (size or 1) != 0


def _updates(facts: Facts) -> bool:
    return _separate(facts) and facts.count(TRAIN_BATCH) != facts.count(SYNC_STEP) * facts.count(MINI_BATCH)


def _updates_message(facts: Facts) -> str:
    product = facts.count(SYNC_STEP) * facts.count(MINI_BATCH)
    return f"{facts.said(TRAIN_BATCH)} is not {facts.said(SYNC_STEP)} x {facts.said(MINI_BATCH)} = {product}"


def _updates_help(facts: Facts) -> str:
    batch, step = facts.count(TRAIN_BATCH), facts.count(SYNC_STEP)
    if step > 0 and batch % step == 0:
        return f"set {MINI_BATCH}={batch // step}, or {TRAIN_BATCH}={step * facts.count(MINI_BATCH)}"
    return f"set {TRAIN_BATCH}={step * facts.count(MINI_BATCH)}"


def _own_sampler(facts: Facts) -> bool:
    return facts.get(SAMPLER, None) is not None


def _bad_threshold(facts: Facts) -> bool:
    if facts.trainer != "v1" or _own_sampler(facts):
        return False
    found = facts.get(THRESHOLD)
    if found is None:  # VeRL 0.9.0 has no null yet
        return not facts.at_least("0.9.1")
    return isinstance(found, bool) or not isinstance(found, int) or found <= 0


def _needs(id: str, key: str, reject: Ask, message: Say, help: Say, source: str) -> Row:
    return Row(
        id,
        "0.9.0",
        (key, MODE),
        lambda facts: _separate(facts) and reject(facts),
        message,
        help,
        source,
        AT_WORKERS,
        entries=STOCK,
    )


def _fully(id: str, since: str, key: str, wanted: Data, why: str, reject: Ask) -> Row:
    return Row(
        id,
        since,
        (key,),
        reject,
        lambda facts: f"{facts.said(key)}: {why}",
        lambda facts: f"set {key}={wanted}",
        "FullyAsyncRollouter",
        AT_WORKERS,
        entries=FULLY_ASYNC,
    )


def _pool(key: str) -> Row:
    return _fully("T17g", "0.8.0", key, 1, "the rollout needs GPUs of its own", lambda facts: facts.count(key) <= 0)


def _unbounded(facts: Facts) -> bool:
    return facts.number("async_training.staleness_threshold") < 0


_SEPARATE = "PPOTrainerSeparateAsync"
_LOG_PROBS = f"{ROLLOUT}.calculate_log_probs"
_STALENESS = "async_training.staleness_threshold"
_TRIGGER = "async_training.trigger_parameter_sync_step"
_HYBRID = "actor_rollout_ref.hybrid_engine"

ROWS: tuple[Row, ...] = (
    Row(
        "T15g",
        "0.9.0",
        (GENERATED, TRAIN_BATCH),
        _in_chunks,
        lambda facts: f"{facts.said(TRAIN_BATCH)} is not a multiple of {facts.said(GENERATED)}",
        lambda facts: f"set {TRAIN_BATCH} to {nearest(facts.count(TRAIN_BATCH), facts.count(GENERATED))}",
        "PPOTrainer._next_train_batch",
        AT_STEP,
        entries=STOCK,
    ),
    Row(
        "T15t",
        "0.9.0",
        (THRESHOLD,),
        _bad_threshold,
        lambda facts: f"{facts.said(THRESHOLD)} is no whole number above 0",
        lambda facts: f"set {THRESHOLD}=8",
        "ReplayBuffer",
        AT_WORKERS,
        entries=STOCK,
    ),
    Row(
        "T15s",
        "0.9.0",
        (STRATEGY,),
        lambda facts: facts.trainer == "v1" and not _own_sampler(facts) and facts.get(STRATEGY) not in ("drop", "wait"),
        lambda facts: f"{facts.said(STRATEGY)} is neither drop nor wait",
        lambda facts: f"set {STRATEGY}=drop or {STRATEGY}=wait",
        "ReplayBuffer",
        AT_WORKERS,
        entries=STOCK,
    ),
    Row(
        "T16",
        "0.9.0",
        (TRAIN_BATCH, MINI_BATCH, SYNC_STEP, MODE),
        _updates,
        _updates_message,
        _updates_help,
        _SEPARATE,
        AT_WORKERS,
        entries=STOCK,
    ),
    _needs(
        "T16n",
        POOL_NODES,
        lambda facts: facts.count(POOL_NODES) <= 0,
        lambda facts: f"{facts.said(MODE)} needs GPUs for the rollout, but {facts.said(POOL_NODES)}",
        lambda facts: f"set {POOL_NODES} to the nodes of the rollout",
        _SEPARATE,
    ),
    _needs(
        "T16g",
        POOL_GPUS,
        lambda facts: facts.count(POOL_GPUS) <= 0,
        lambda facts: f"{facts.said(MODE)} needs GPUs for the rollout, but {facts.said(POOL_GPUS)}",
        lambda facts: f"set {POOL_GPUS} to the GPUs of each of its nodes",
        _SEPARATE,
    ),
    _needs(
        "T16b",
        BACKEND,
        lambda facts: facts.get(BACKEND) == "naive",
        lambda facts: f"{facts.said(MODE)} sends weights to other GPUs, which {facts.said(BACKEND)} cannot",
        lambda facts: f"set {BACKEND}=nccl",
        _SEPARATE,
    ),
    _fully("T17", "0.8.0", TRAIN_BATCH, 0, "samples are streamed", lambda facts: facts.count(TRAIN_BATCH) != 0),
    _fully("T17e", "0.8.0", GENERATED, 1, "prompts are streamed one by one", lambda facts: facts.count(GENERATED) != 1),
    _fully("T17s", "0.8.0", _STALENESS, 0.5, "no share of a batch", _unbounded),
    _fully("T17t", "0.8.0", _TRIGGER, 1, "weights would never be sent", lambda facts: facts.count(_TRIGGER) < 1),
    _fully("T17l", "0.8.0", _LOG_PROBS, True, "stale samples need them", lambda facts: not facts.flag(_LOG_PROBS)),
    _fully("T17h", "0.8.0", _HYBRID, False, "trainer and rollout are apart", lambda facts: facts.flag(_HYBRID)),
    _pool("rollout.nnodes"),
    _pool("rollout.n_gpus_per_node"),
)
