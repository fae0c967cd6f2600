"""Mini-batches: not above the rollout batch, whole micro-batches on every rank.

Sources: `_validate_config` of `trainer/ppo/ray_trainer.py` (to 0.5.0), `ActorConfig.validate`, `CriticConfig.validate`
(from 0.6.0), the normalisation in `workers/fsdp_workers.py` (to 0.7.1), `workers/engine/utils.py` and
`utils/tensordict_utils.py` (from 0.7.0 with the engine)."""

from __future__ import annotations

from verlint.verl.constraints import AT_STEP, AT_WORKERS, STOCK, Row
from verlint.verl.constraints.batch import mini_above_batch, said_mini, said_ranks, said_samples
from verlint.verl.facts import (
    ACTOR,
    DYNAMIC,
    GPUS,
    MINI_BATCH,
    NODES,
    REF,
    ROLLOUT,
    SAMPLES_OF_PROMPT,
    SEQUENCE_PARALLEL,
    TRAIN_BATCH,
    Facts,
)

MICRO = f"{ACTOR}.ppo_micro_batch_size"
MICRO_PER_GPU = f"{MICRO}_per_gpu"
CRITIC_MINI = "critic.ppo_mini_batch_size"
CRITIC_MICRO = "critic.ppo_micro_batch_size"
CRITIC_MICRO_PER_GPU = f"{CRITIC_MICRO}_per_gpu"
CRITIC_PARALLEL = "critic.ulysses_sequence_parallel_size"

_OLD = "RayPPOTrainer._validate_config"
_LEGACY = "fsdp_workers.py, normalize config"


def _fixed(facts: Facts) -> bool:
    return not facts.flag(DYNAMIC)


def _critic_fixed(facts: Facts) -> bool:
    return facts.critic_used and not facts.flag("critic.use_dynamic_bsz")


# ---- against the rollout batch


def _above(facts: Facts) -> bool:
    return mini_above_batch(facts) and _fixed(facts)


def _above_meant(facts: Facts) -> bool:
    """The same where both sizes are meant: the mini-batch is given, or the launch is a whole one."""
    return _above(facts) and (facts.given(MINI_BATCH) or facts.whole)


def _above_message(facts: Facts) -> str:
    return f"{facts.said(MINI_BATCH)} is above {facts.said(TRAIN_BATCH)}"


def _above_help(facts: Facts) -> str:
    batch = facts.count(TRAIN_BATCH)
    if batch <= 0:
        return f"set {TRAIN_BATCH} to the prompts of a rollout batch"
    divisors = [each for each in range(1, batch + 1) if batch % each == 0][-3:]
    return f"set {MINI_BATCH} to a divisor of {batch}: {', '.join(map(str, divisors))} ({batch} is one update a batch)"


def _critic_above(facts: Facts) -> bool:
    return facts.count(CRITIC_MINI) > facts.count(TRAIN_BATCH) and _critic_fixed(facts)


def _critic_above_alone(facts: Facts) -> bool:
    """The critic's default is the actor's, so that one explains it."""
    follows = not facts.given(CRITIC_MINI) and mini_above_batch(facts) and _fixed(facts)
    return not follows and _critic_above(facts)


def _shrinks(facts: Facts) -> bool:
    """Dynamic batching drops the check, and the loss is divided by the mini-batch that is never full. One that is the
    batch times `rollout.n` counts samples, which another rule explains."""
    if facts.implementation != "legacy" or facts.caps_mini_batch or not facts.sharded:
        return False
    if not mini_above_batch(facts) or not facts.flag(DYNAMIC) or not facts.trains:
        return False
    return facts.count(MINI_BATCH) != facts.samples


def _shrinks_message(facts: Facts) -> str:
    return f"{_above_message(facts)}, so no update is ever full"


def _remainder(facts: Facts) -> bool:
    if facts.implementation != "engine" or facts.trainer != "v0" or not facts.trains:
        return False
    mini, batch = facts.count(MINI_BATCH), facts.count(TRAIN_BATCH)
    if mini <= 0 or batch <= 0:
        return False
    return batch % mini != 0 and not (mini > batch and _fixed(facts))


def _remainder_message(facts: Facts) -> str:
    return f"{facts.said(TRAIN_BATCH)} is not a multiple of {facts.said(MINI_BATCH)}"


# ---- against the deprecated micro-batch on all GPUs


def _parts(facts: Facts) -> bool:
    micro = facts.count_or_none(MICRO)
    return micro is not None and micro > 0 and facts.count(MINI_BATCH) % micro != 0 and _fixed(facts)


def _parts_message(facts: Facts) -> str:
    return f"{facts.said(MINI_BATCH)} is not a multiple of {facts.said(MICRO)}"


def _few(facts: Facts) -> bool:
    micro = facts.count_or_none(MICRO)
    return micro is not None and micro * facts.count(SEQUENCE_PARALLEL, 1) < facts.n_gpus and _fixed(facts)


def _few_message(facts: Facts) -> str:
    each = f"{facts.count(MICRO)} // {facts.n_gpus} = {facts.count(MICRO) // max(facts.n_gpus, 1)} samples a GPU"
    parallel = facts.count(SEQUENCE_PARALLEL, 1)
    times = f" x {facts.said(SEQUENCE_PARALLEL)}" if parallel > 1 else ""
    return f"{facts.said(MICRO)}{times} is below {facts.gpus_said()}: {each}"


def _few_help(facts: Facts) -> str:
    return f"remove {MICRO} and set {MICRO_PER_GPU} to the samples that fit one GPU"


def _critic_parts(facts: Facts) -> bool:
    micro = facts.count_or_none(CRITIC_MICRO)
    return micro is not None and micro > 0 and facts.count(CRITIC_MINI) % micro != 0 and _critic_fixed(facts)


def _critic_few(facts: Facts) -> bool:
    micro = facts.count_or_none(CRITIC_MICRO)
    return micro is not None and micro * facts.count(CRITIC_PARALLEL, 1) < facts.n_gpus and _critic_fixed(facts)


def _critic_few_sharded(facts: Facts) -> bool:
    return facts.text("critic.strategy", "fsdp") in ("fsdp", "fsdp2") and _critic_few(facts)


# ---- on one data parallel rank, legacy workers


def _legacy(facts: Facts) -> bool:
    return facts.implementation == "legacy" and facts.sharded


def _empty(facts: Facts) -> bool:
    return _legacy(facts) and 0 < facts.mini_samples < facts.dp


def _empty_message(facts: Facts) -> str:
    return f"{said_mini(facts)} samples of an update are fewer than {said_ranks(facts)}"


def _ranks_help(facts: Facts) -> str:
    n = facts.count(SAMPLES_OF_PROMPT, 1)
    return f"set {MINI_BATCH} to at least {-(-facts.dp // max(n, 1))}"


def _micro_of(facts: Facts) -> int | None:
    """Samples of a micro-batch on one rank, as the legacy workers take them."""
    total = facts.count_or_none(MICRO)
    return facts.count_or_none(MICRO_PER_GPU) if total is None else total // facts.dp


def _by_replicas(facts: Facts) -> bool:
    """Whether sizes are divided by the replicas of a hybrid shard alone, as 0.2 does."""
    return not facts.at_least("0.3.0") and facts.given(f"{ACTOR}.fsdp_config.fsdp_size")


def _broken_up(facts: Facts) -> bool:
    if not _legacy(facts) or _above(facts):
        return False
    micro, mini = _micro_of(facts), facts.mini_per_rank
    return micro is not None and mini > 0 and (micro <= 0 or mini % micro != 0)


def _broken_up_message(facts: Facts) -> str:
    per_rank = f"{said_mini(facts)} samples of an update are {facts.mini_per_rank} on each of {said_ranks(facts)}"
    key = MICRO if facts.count_or_none(MICRO) is not None else MICRO_PER_GPU
    micro = _micro_of(facts)
    worth = f"{facts.said(key)}, {micro} on a rank" if key == MICRO else facts.said(key)
    return f"{per_rank}, no multiple of {worth}"


def _divisors(value: int, below: int) -> str:
    fitting = [each for each in range(1, max(min(value, below), 1) + 1) if value % each == 0]
    return " or ".join(map(str, fitting[-2:][::-1]))


def _broken_up_help(facts: Facts) -> str:
    return f"set {MICRO_PER_GPU} to {_divisors(facts.mini_per_rank, _micro_of(facts) or facts.mini_per_rank)}"


def _critic_dp(facts: Facts) -> int:
    return facts.n_gpus // max(facts.count(CRITIC_PARALLEL, 1), 1)


def _critic_broken_up(facts: Facts) -> bool:
    if facts.implementation != "legacy" or facts.text("critic.strategy", "fsdp") not in ("fsdp", "fsdp2"):
        return False
    if facts.count_or_none(CRITIC_MICRO) is not None or _critic_above(facts):
        return False
    micro = facts.count_or_none(CRITIC_MICRO_PER_GPU)
    mini, dp = facts.count(CRITIC_MINI) * facts.count(SAMPLES_OF_PROMPT, 1), _critic_dp(facts)
    return (
        micro is not None and micro > 0 and dp > 0 and mini // dp > 0 and mini // dp % micro != 0 and facts.critic_used
    )


def _critic_broken_up_message(facts: Facts) -> str:
    n, dp = facts.count(SAMPLES_OF_PROMPT, 1), _critic_dp(facts)
    mini = facts.count(CRITIC_MINI) * n
    product = f"{facts.said(CRITIC_MINI)} x {facts.said(SAMPLES_OF_PROMPT)} = {mini}"
    per_rank = f"{product} samples of an update are {mini // dp} on each of {dp} ranks"
    return f"{per_rank}, no multiple of {facts.said(CRITIC_MICRO_PER_GPU)}"


# ---- on one data parallel rank, engine


def _engine_fixed(facts: Facts) -> bool:
    return facts.implementation == "engine" and _fixed(facts)


def _engine_broken_up(facts: Facts) -> bool:
    if not _engine_fixed(facts) or _above(facts) or not facts.trains:
        return False
    micro, mini, dp = facts.count_or_none(MICRO_PER_GPU), facts.mini_samples, facts.dp
    return micro is not None and micro > 0 and mini % dp == 0 and mini // dp % micro != 0


def _log_probs(key: str, of_ref: bool) -> Row:
    def rejects(facts: Facts) -> bool:
        if not _engine_fixed(facts) or _above(facts) or not facts.trains or facts.caps_mini_batch:
            return False
        if of_ref and not facts.ref_used:
            return False
        if not of_ref and facts.flag("algorithm.rollout_correction.bypass_mode"):
            return False
        micro = facts.count_or_none(key)
        return micro is not None and micro > 0 and facts.per_rank % micro != 0

    def message(facts: Facts) -> str:
        per_rank = f"{said_samples(facts)} samples are {facts.per_rank} on each of {said_ranks(facts)}"
        return f"{per_rank}, no multiple of {facts.said(key)}"

    return Row(
        "W4f" if of_ref else "W4l",
        "0.7.0",
        (key, TRAIN_BATCH, SAMPLES_OF_PROMPT),
        rejects,
        message,
        lambda facts: f"set {key} to {_divisors(facts.per_rank, facts.count(key))}",
        "engine/utils.py:prepare_micro_batches",
        AT_STEP,
        entries=STOCK,
        unless=() if not of_ref else ("W4l",),
    )


def _one_update(facts: Facts) -> tuple[str, str]:
    return MINI_BATCH, str(facts.count(TRAIN_BATCH))


def _whole_parts(facts: Facts) -> tuple[str, str]:
    """The largest micro-batch that goes into the update of a rank, and is not above the one that is given."""
    return MICRO_PER_GPU, _divisors(facts.mini_per_rank, _micro_of(facts) or facts.mini_per_rank).split(" ")[0]


def _less_than_one(id: str, key: str, dynamic: str, of_ref: bool) -> Row:
    """The deprecated size of log-probs on all GPUs, divided by the ranks and rounded down to nothing."""

    def rejects(facts: Facts) -> bool:
        total = facts.count_or_none(key)
        if total is None or not _legacy(facts) or not 0 < total < facts.dp or facts.caps_mini_batch:
            return False
        return (
            facts.trains and not facts.flag(dynamic, otherwise=facts.flag(DYNAMIC)) and (not of_ref or facts.ref_used)
        )

    return Row(
        id,
        "0.2.0",
        (key, GPUS, NODES),
        rejects,
        lambda facts: (
            f"{facts.said(key)} is below {said_ranks(facts)}: {facts.count(key)} // {facts.dp} = 0 samples each"
        ),
        lambda facts: f"remove {key} and set {key}_per_gpu to the samples that fit one GPU",
        "fsdp_workers.py, normalize config; torch splits by 0",
        AT_STEP,
    )


ROWS: tuple[Row, ...] = (
    _less_than_one("W28l", f"{ROLLOUT}.log_prob_micro_batch_size", f"{ROLLOUT}.log_prob_use_dynamic_bsz", of_ref=False),
    _less_than_one("W28f", f"{REF}.log_prob_micro_batch_size", f"{REF}.log_prob_use_dynamic_bsz", of_ref=True),
    Row(
        "V9",
        "0.3.0",
        (MINI_BATCH, TRAIN_BATCH),
        _above_meant,
        _above_message,
        _above_help,
        _OLD,
        until="0.5.0",
        validated=True,
        fix=_one_update,
    ),
    Row(
        "V9",
        "0.6.0",
        (MINI_BATCH, TRAIN_BATCH),
        _above_meant,
        _above_message,
        _above_help,
        "ActorConfig.validate",
        validated=True,
        fix=_one_update,
    ),
    Row(
        "V9",
        "0.2.0",
        (MINI_BATCH, TRAIN_BATCH),
        lambda facts: _above_meant(facts) and facts.trains,
        _shrinks_message,
        _above_help,
        "dp_actor.update_policy",
        "VeRL divides the loss by mini-batch / micro-batch all the same, so the gradients silently shrink",
        until="0.2.0",
        silent=True,
        fix=_one_update,
    ),
    Row(
        "S1",
        "0.2.0",
        (MINI_BATCH, TRAIN_BATCH),
        _shrinks,
        _shrinks_message,
        _above_help,
        "dp_actor.update_policy",
        "dynamic batching drops the check, and VeRL scales the loss by "
        "micro-batch / mini-batch, so the gradients silently shrink by that much",
        silent=True,
        fix=_one_update,
    ),
    Row(
        "W27",
        "0.7.0",
        (MINI_BATCH, TRAIN_BATCH),
        _remainder,
        _remainder_message,
        _above_help,
        "tensordict_utils.make_iterator",
        AT_STEP,
        entries=STOCK,
    ),
    Row(
        "V10a",
        "0.2.0",
        (MICRO, MINI_BATCH),
        _parts,
        _parts_message,
        _few_help,
        _OLD,
        until="0.5.0",
        validated=True,
    ),
    Row(
        "V10a",
        "0.6.0",
        (MICRO, MINI_BATCH),
        _parts,
        _parts_message,
        _few_help,
        "ActorConfig.validate",
        validated=True,
    ),
    Row("V10b", "0.2.0", (MICRO, GPUS, NODES), _few, _few_message, _few_help, _OLD, until="0.5.0", validated=True),
    Row(
        "V10b",
        "0.6.0",
        (MICRO, GPUS, NODES),
        _few,
        _few_message,
        _few_help,
        "ActorConfig.validate",
        validated=True,
    ),
    Row(
        "V11",
        "0.3.0",
        (CRITIC_MINI, TRAIN_BATCH),
        _critic_above_alone,
        lambda facts: f"{facts.said(CRITIC_MINI)} is above {facts.said(TRAIN_BATCH)}",
        lambda facts: f"set {CRITIC_MINI} to {TRAIN_BATCH} or a divisor of it",
        "the same check for the critic",
        validated=True,
    ),
    Row(
        "V11a",
        "0.2.0",
        (CRITIC_MICRO, CRITIC_MINI),
        _critic_parts,
        lambda facts: f"{facts.said(CRITIC_MINI)} is not a multiple of {facts.said(CRITIC_MICRO)}",
        lambda facts: f"remove {CRITIC_MICRO} and set {CRITIC_MICRO_PER_GPU} to the samples that fit one GPU",
        "the same check for the critic",
        validated=True,
    ),
    Row(
        "V11b",
        "0.2.0",
        (CRITIC_MICRO, GPUS, NODES),
        _critic_few,
        lambda facts: f"{facts.said(CRITIC_MICRO)} is below {facts.gpus_said()}: less than one sample a GPU",
        lambda facts: f"remove {CRITIC_MICRO} and set {CRITIC_MICRO_PER_GPU} to the samples that fit one GPU",
        _OLD,
        until="0.5.0",
        validated=True,
    ),
    Row(
        "V11b",
        "0.6.0",
        (CRITIC_MICRO, GPUS, NODES),
        _critic_few_sharded,
        lambda facts: f"{facts.said(CRITIC_MICRO)} is below {facts.gpus_said()}: less than one sample a GPU",
        lambda facts: f"remove {CRITIC_MICRO} and set {CRITIC_MICRO_PER_GPU} to the samples that fit one GPU",
        "FSDPCriticConfig.validate",
        validated=True,
    ),
    Row(
        "W1",
        "0.3.0",
        (MINI_BATCH, SAMPLES_OF_PROMPT, GPUS, NODES),
        _empty,
        _empty_message,
        _ranks_help,
        _LEGACY,
        AT_WORKERS,
    ),
    Row(
        "W2",
        "0.2.0",
        (MICRO, MINI_BATCH, SAMPLES_OF_PROMPT, GPUS),
        lambda facts: facts.count_or_none(MICRO) is not None and not _by_replicas(facts) and _broken_up(facts),
        _broken_up_message,
        _broken_up_help,
        _LEGACY,
        AT_WORKERS,
        until="0.3.0",
        unless=("V10a", "V10b"),
    ),
    Row(
        "W2",
        "0.4.0",
        (MICRO_PER_GPU, MICRO, MINI_BATCH, SAMPLES_OF_PROMPT, GPUS),
        _broken_up,
        _broken_up_message,
        _broken_up_help,
        _LEGACY,
        AT_WORKERS,
        unless=("V10a", "V10b"),
        fix=_whole_parts,
    ),
    Row(
        "W2c",
        "0.4.0",
        (CRITIC_MICRO_PER_GPU, CRITIC_MINI, SAMPLES_OF_PROMPT, GPUS),
        _critic_broken_up,
        _critic_broken_up_message,
        lambda facts: f"set {CRITIC_MICRO_PER_GPU} to a divisor of that",
        _LEGACY,
        AT_WORKERS,
    ),
    Row(
        "W4",
        "0.7.0",
        (MICRO_PER_GPU, MINI_BATCH, SAMPLES_OF_PROMPT, GPUS),
        _engine_broken_up,
        _broken_up_message,
        _broken_up_help,
        "engine/utils.py:prepare_micro_batches",
        AT_STEP,
        fix=_whole_parts,
        same="W2",
    ),
    _log_probs(f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu", of_ref=False),
    _log_probs(f"{REF}.log_prob_micro_batch_size_per_gpu", of_ref=True),
)
