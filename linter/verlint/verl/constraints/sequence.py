"""Sequence parallelism (Ulysses) needs inputs without padding, and heads to share among its GPUs.

Sources: `_validate_config` of `trainer/ppo/ray_trainer.py` (to 0.5.0), `FSDPActorConfig.validate` and
`FSDPCriticConfig.__post_init__` (from 0.6.0), `apply_monkey_patch` of
`models/transformers/monkey_patch.py` (from 0.3.0).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from verlint.verl.constraints import AT_WORKERS, Row
from verlint.verl.divisors import divisors
from verlint.verl.facts import (
    ACTOR,
    CRITIC_PATH,
    GPUS,
    HEADS,
    KV_HEADS,
    MODEL,
    MODEL_PATH,
    NODES,
    REF,
    SEQUENCE_PARALLEL,
    Facts,
    gpus_are,
)
from verlint.verl.undecided import Undecided

REMOVE_PADDING = f"{MODEL}.use_remove_padding"
ENGINE_PARALLEL = f"{ACTOR}.fsdp_config.ulysses_sequence_parallel_size"
REF_PARALLEL = f"{REF}.ulysses_sequence_parallel_size"
CRITIC_PARALLEL = "critic.ulysses_sequence_parallel_size"
CRITIC_ENGINE_PARALLEL = "critic.fsdp.ulysses_sequence_parallel_size"
CRITIC_REMOVE_PADDING = "critic.model.use_remove_padding"

_OLD = "RayPPOTrainer._validate_config"


def _actor(facts: Facts) -> bool:
    return facts.count(SEQUENCE_PARALLEL, 1) > 1 and not facts.flag(REMOVE_PADDING)


def _actor_or_ref(facts: Facts) -> bool:
    widest = max(facts.count(SEQUENCE_PARALLEL, 1), facts.count(REF_PARALLEL, 1))
    return widest > 1 and not facts.flag(REMOVE_PADDING)


def _fsdp_one(facts: Facts) -> bool:
    return facts.strategy == "fsdp" and _actor_or_ref(facts)


def _fsdp_both(facts: Facts) -> bool:
    return facts.sharded and _actor_or_ref(facts)


def _critic(facts: Facts) -> bool:
    return facts.critic_used and facts.count(CRITIC_PARALLEL, 1) > 1 and not facts.flag(CRITIC_REMOVE_PADDING)


def _critic_one(facts: Facts) -> bool:
    return facts.text("critic.strategy", "fsdp") == "fsdp" and _critic(facts)


def _critic_both(facts: Facts) -> bool:
    return facts.text("critic.strategy", "fsdp") in ("fsdp", "fsdp2") and _critic(facts)


def _message(facts: Facts) -> str:
    of_actor = facts.count(SEQUENCE_PARALLEL, 1) > 1
    return (
        f"{facts.said(SEQUENCE_PARALLEL if of_actor else REF_PARALLEL)} needs {facts.said(REMOVE_PADDING)} to be True"
    )


def _critic_message(facts: Facts) -> str:
    return f"{facts.said(CRITIC_PARALLEL)} needs {facts.said(CRITIC_REMOVE_PADDING)} to be True"


def _help(facts: Facts) -> str:
    return f"set {REMOVE_PADDING}=True"


def _critic_help(facts: Facts) -> str:
    return f"set {CRITIC_REMOVE_PADDING}=True"


# ---- GPUs


def _gpus_left_over(facts: Facts) -> bool:
    size = facts.sequence_parallel if facts.sharded else 1
    return size > 1 and facts.n_gpus % size != 0


def _gpus_message(facts: Facts) -> str:
    return f"{gpus_are(facts)} not a multiple of {_size_said(facts)}"


def _gpus_help(facts: Facts) -> str:
    fitting = [size for size in divisors(facts.n_gpus) if size < facts.sequence_parallel]
    return f"set {_size_key(facts)}={fitting[-1]}"


# ---- heads


def _heads_left_over(facts: Facts) -> bool:
    if not facts.sharded or facts.sequence_parallel <= 1:
        return False
    return facts.of_model(HEADS) % facts.sequence_parallel != 0


def _fits(groups: int, size: int) -> bool:
    return groups % size == 0 or size % groups == 0


def _groups_split(facts: Facts) -> bool:
    if not facts.sharded or facts.sequence_parallel <= 1:
        return False
    return not _fits(facts.of_model(KV_HEADS), facts.sequence_parallel)


def _size_key(facts: Facts) -> str:
    """The key that gives the size."""
    own = facts.count(SEQUENCE_PARALLEL, 1) == facts.sequence_parallel
    return SEQUENCE_PARALLEL if own else ENGINE_PARALLEL


def _size_said(facts: Facts) -> str:
    return facts.said(_size_key(facts))


def _heads_message(facts: Facts) -> str:
    return f"{facts.of_model_said(HEADS)} is not a multiple of {_size_said(facts)}"


def _groups_message(facts: Facts) -> str:
    return f"{facts.of_model_said(KV_HEADS)} and {_size_said(facts)}: neither is a multiple of the other"


def _heads_help(facts: Facts) -> str:
    fitting = _sizes(facts, facts.of_model(HEADS), _number(facts.of_model, KV_HEADS), facts.sequence_parallel)
    return f"set {_size_key(facts)}={fitting[-1]}"


def _sizes(facts: Facts, heads: int, groups: int | None, below: int) -> list[int]:
    """The sizes below one that share the heads of a model."""
    return [
        size
        for size in divisors(heads)
        if size < below and (groups is None or _fits(groups, size)) and facts.n_gpus % size == 0
    ]


def _number(of_model: Callable[[str], int], name: str) -> int | None:
    try:
        return of_model(name)
    except Undecided:
        return None


def _critic_size_key(facts: Facts) -> str:
    return CRITIC_PARALLEL if facts.implementation == "legacy" else CRITIC_ENGINE_PARALLEL


def _critic_size(facts: Facts) -> int:
    """GPUs that share a sequence in the critic; 1 without an FSDP critic."""
    if facts.text("critic.strategy", "fsdp") not in ("fsdp", "fsdp2") or not facts.critic_used:
        return 1
    return facts.count(_critic_size_key(facts), 1)


def _critic_heads_left_over(facts: Facts) -> bool:
    size = _critic_size(facts)
    return size > 1 and facts.of_critic(HEADS) % size != 0


def _critic_groups_split(facts: Facts) -> bool:
    size = _critic_size(facts)
    return size > 1 and not _fits(facts.of_critic(KV_HEADS), size)


def _critic_heads_help(facts: Facts) -> str:
    fitting = _sizes(facts, facts.of_critic(HEADS), _number(facts.of_critic, KV_HEADS), _critic_size(facts))
    return f"set {_critic_size_key(facts)}={fitting[-1]}"


def _critic_heads_message(facts: Facts) -> str:
    return f"{facts.of_critic_said(HEADS)} of the critic is not a multiple of {facts.said(_critic_size_key(facts))}"


def _critic_groups_message(facts: Facts) -> str:
    size = facts.said(_critic_size_key(facts))
    return f"{facts.of_critic_said(KV_HEADS)} of the critic and {size}: neither is a multiple of the other"


def _critic_heads_rows() -> Iterator[Row]:
    """The heads of the critic's model, whose size has another key since 0.8."""
    for since, until, key in (("0.3.0", "0.7.1", CRITIC_PARALLEL), ("0.8.0", "", CRITIC_ENGINE_PARALLEL)):
        keys = (key, CRITIC_PATH)
        yield Row(
            "W16c",
            since,
            keys,
            _critic_heads_left_over,
            _critic_heads_message,
            _critic_heads_help,
            f"{_PATCH}: num_attention_heads must be divisible by ulysses_sp_size",
            AT_WORKERS,
            until=until,
        )
        yield Row(
            "W16d",
            since,
            keys,
            _critic_groups_split,
            _critic_groups_message,
            _critic_heads_help,
            f"{_PATCH}: num_key_value_heads must be divisible by ulysses_sp_size or vice versa",
            AT_WORKERS,
            until=until,
            unless=("W16c",),
        )


_PATCH = "apply_monkey_patch"
_HEAD_KEYS = (SEQUENCE_PARALLEL, ENGINE_PARALLEL, MODEL_PATH)

_KEYS = (REMOVE_PADDING, SEQUENCE_PARALLEL, REF_PARALLEL)
_CRITIC_KEYS = (CRITIC_REMOVE_PADDING, CRITIC_PARALLEL)


def _remove(facts: Facts) -> tuple[str, str]:
    return REMOVE_PADDING, "True"


def _remove_of_critic(facts: Facts) -> tuple[str, str]:
    return CRITIC_REMOVE_PADDING, "True"


_ACTOR_CLASS = "FSDPActorConfig.validate"

ROWS: tuple[Row, ...] = (
    Row("V12", "0.2.0", _KEYS, _fsdp_one, _message, _help, _OLD, until="0.4.1", validated=True, fix=_remove, safe=True),
    Row(
        "V12", "0.5.0", _KEYS, _fsdp_both, _message, _help, _OLD, until="0.5.0", validated=True, fix=_remove, safe=True
    ),
    Row(
        "V12",
        "0.6.0",
        _KEYS,
        lambda facts: facts.sharded and _actor(facts),
        _message,
        _help,
        _ACTOR_CLASS,
        validated=True,
        fix=_remove,
        safe=True,
    ),
    Row(
        "V13",
        "0.2.0",
        _CRITIC_KEYS,
        _critic_one,
        _critic_message,
        _critic_help,
        _OLD,
        until="0.4.1",
        validated=True,
        fix=_remove_of_critic,
        safe=True,
    ),
    Row(
        "V13",
        "0.5.0",
        _CRITIC_KEYS,
        _critic_both,
        _critic_message,
        _critic_help,
        _OLD,
        until="0.5.0",
        validated=True,
        fix=_remove_of_critic,
        safe=True,
    ),
    Row(
        "V13",
        "0.6.0",
        _CRITIC_KEYS,
        _critic_both,
        _critic_message,
        _critic_help,
        "FSDPCriticConfig",
        until="0.7.1",
        validated=True,
        fix=_remove_of_critic,
        safe=True,
    ),
    Row(
        "W16e",
        "0.3.0",
        (SEQUENCE_PARALLEL, ENGINE_PARALLEL, NODES, GPUS),
        _gpus_left_over,
        _gpus_message,
        _gpus_help,
        "ActorRolloutRefWorker: a mesh of world_size // ulysses_sequence_parallel_size rows leaves GPUs out",
        AT_WORKERS,
    ),
    Row(
        "W16",
        "0.3.0",
        _HEAD_KEYS,
        _heads_left_over,
        _heads_message,
        _heads_help,
        f"{_PATCH}: num_attention_heads must be divisible by ulysses_sp_size",
        AT_WORKERS,
    ),
    Row(
        "W16g",
        "0.3.0",
        _HEAD_KEYS,
        _groups_split,
        _groups_message,
        _heads_help,
        f"{_PATCH}: num_key_value_heads must be divisible by ulysses_sp_size or vice versa",
        AT_WORKERS,
        unless=("W16",),
    ),
    *_critic_heads_rows(),
)
