"""Sequence parallelism (Ulysses) needs inputs without padding.

Sources: `_validate_config` of `trainer/ppo/ray_trainer.py` (to 0.5.0), `FSDPActorConfig.validate` and
`FSDPCriticConfig.__post_init__` (from 0.6.0)."""

from __future__ import annotations

from verlint.verl.constraints import Row
from verlint.verl.facts import MODEL, REF, SEQUENCE_PARALLEL, Facts

REMOVE_PADDING = f"{MODEL}.use_remove_padding"
REF_PARALLEL = f"{REF}.ulysses_sequence_parallel_size"
CRITIC_PARALLEL = "critic.ulysses_sequence_parallel_size"
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
)
