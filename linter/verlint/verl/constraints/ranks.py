"""Mini-batches on one data parallel rank: not empty, and whole micro-batches.

Sources: the normalisation in `workers/fsdp_workers.py` (to 0.7.1), `workers/engine/utils.py` and
`utils/tensordict_utils.py` (from 0.7.0 with the engine)."""

from __future__ import annotations

from verlint.verl.constraints import AT_STEP, AT_WORKERS, STOCK, Row
from verlint.verl.constraints.batch import prompts, said_mini, said_ranks, said_samples
from verlint.verl.constraints.mini import (
    CRITIC_MICRO,
    CRITIC_MICRO_PER_GPU,
    CRITIC_MINI,
    CRITIC_PARALLEL,
    MICRO,
    MICRO_PER_GPU,
    above,
    critic_above,
    fixed,
)
from verlint.verl.divisors import divisors
from verlint.verl.facts import (
    ACTOR,
    DYNAMIC,
    GPUS,
    MINI_BATCH,
    NODES,
    REF,
    ROLLOUT,
    SAMPLES_OF_PROMPT,
    TRAIN_BATCH,
    Facts,
)

CRITIC_ENGINE_PARALLEL = "critic.fsdp.ulysses_sequence_parallel_size"
_LEGACY = "fsdp_workers.py, normalize config"

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
    if not _legacy(facts) or above(facts):
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
    fitting = [each for each in divisors(value) if each <= below] or [1]
    return " or ".join(map(str, fitting[-2:][::-1]))


def _broken_up_help(facts: Facts) -> str:
    return f"set {MICRO_PER_GPU} to {_divisors(facts.mini_per_rank, _micro_of(facts) or facts.mini_per_rank)}"


def _critic_dp(facts: Facts) -> int:
    return facts.n_gpus // max(facts.count(CRITIC_PARALLEL, 1), 1)


def _critic_broken_up(facts: Facts) -> bool:
    if facts.implementation != "legacy" or facts.text("critic.strategy", "fsdp") not in ("fsdp", "fsdp2"):
        return False
    if facts.count_or_none(CRITIC_MICRO) is not None or critic_above(facts):
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
    return facts.implementation == "engine" and fixed(facts)


def _engine_broken_up(facts: Facts) -> bool:
    if not _engine_fixed(facts) or above(facts) or not facts.trains:
        return False
    micro, mini, dp = facts.count_or_none(MICRO_PER_GPU), facts.mini_samples, facts.dp
    return micro is not None and micro > 0 and mini % dp == 0 and mini // dp % micro != 0


def _critic_uneven(facts: Facts) -> bool:
    if facts.implementation != "engine" or facts.text("critic.strategy", "fsdp") not in ("fsdp", "fsdp2"):
        return False
    shared = facts.count(CRITIC_ENGINE_PARALLEL, 1)
    if (
        shared <= 0
        or facts.n_gpus <= 0
        or facts.n_gpus % shared
        or not facts.critic_used
        or not facts.trains
        or critic_above(facts)
    ):
        return False
    return facts.count(CRITIC_MINI) * facts.count(SAMPLES_OF_PROMPT, 1) % (facts.n_gpus // shared) != 0


def _critic_uneven_message(facts: Facts) -> str:
    n, shared = facts.count(SAMPLES_OF_PROMPT, 1), facts.count(CRITIC_ENGINE_PARALLEL, 1)
    product = f"{facts.said(CRITIC_MINI)} x {facts.said(SAMPLES_OF_PROMPT)} = {facts.count(CRITIC_MINI) * n}"
    return f"{product} samples of an update are not a multiple of the critic's {facts.n_gpus // shared} ranks"


def _critic_uneven_help(facts: Facts) -> str:
    ranks = facts.n_gpus // facts.count(CRITIC_ENGINE_PARALLEL, 1)
    legal = prompts(facts.count(CRITIC_MINI), facts.count(SAMPLES_OF_PROMPT, 1), ranks)
    return f"set {CRITIC_MINI} to {legal}"


def _log_probs(key: str, of_ref: bool) -> Row:
    def rejects(facts: Facts) -> bool:
        if not _engine_fixed(facts) or above(facts) or not facts.trains or facts.caps_mini_batch:
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
        same="" if of_ref else "W6r",
    )


ROWS: tuple[Row, ...] = (
    _less_than_one("W28l", f"{ROLLOUT}.log_prob_micro_batch_size", f"{ROLLOUT}.log_prob_use_dynamic_bsz", of_ref=False),
    _less_than_one("W28f", f"{REF}.log_prob_micro_batch_size", f"{REF}.log_prob_use_dynamic_bsz", of_ref=True),
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
    Row(
        "W3c",
        "0.8.0",
        (CRITIC_MINI, SAMPLES_OF_PROMPT, GPUS, NODES),
        _critic_uneven,
        _critic_uneven_message,
        _critic_uneven_help,
        "engine_workers.train_mini_batch",
        AT_STEP,
    ),
    _log_probs(f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu", of_ref=False),
    _log_probs(f"{REF}.log_prob_micro_batch_size_per_gpu", of_ref=True),
)
