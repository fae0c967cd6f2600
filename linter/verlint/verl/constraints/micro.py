"""Micro-batches: one of the two keys of each role, and the right one.

Sources: `check_mutually_exclusive` in `trainer/ppo/ray_trainer.py` (to 0.5.0) and `utils/config.py` (from 0.6.0),
`ActorConfig` and `CriticConfig` in `workers/config/`, `workers/engine_workers.py:init_model`."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.verl.constraints import AT_WORKERS, Ask, Row
from verlint.verl.facts import ACTOR, DYNAMIC, MODEL, REF, ROLLOUT, STRATEGY, Facts, short

_OLD = "RayPPOTrainer._validate_config"
_NEW = "validate_config"
_ACTOR_CLASS = "ActorConfig"
_CRITIC_CLASS = "CriticConfig"


def _fixed(facts: Facts) -> bool:
    return not facts.flag(DYNAMIC)


def _with_ref(facts: Facts) -> bool:
    return not facts.flag(DYNAMIC) and facts.ref_used


def _with_critic(facts: Facts) -> bool:
    return facts.critic_used and not facts.flag("critic.use_dynamic_bsz")


def _with_reward_model(facts: Facts) -> bool:
    return facts.flag("reward_model.enable") and not facts.flag("reward_model.use_dynamic_bsz")


def _without_reward_loop(facts: Facts) -> bool:
    return _with_reward_model(facts) and not facts.flag("reward_model.use_reward_loop", otherwise=True)


def _is_whole(facts: Facts, *sizes: str) -> bool:
    """Whether a launch that leaves sizes out is more than an excerpt: it says null itself, or sets many keys."""
    return facts.whole or any(map(facts.given, sizes))


def _rows_of(id: str, key: str, needed: Ask, *spans: tuple[str, str, str]) -> Iterator[Row]:
    """The rows of a role for spans of versions: first, last, and the check that rejects."""
    new = f"{key}_per_gpu"

    def rejects(facts: Facts) -> bool:
        one, other = facts.count_or_none(key), facts.count_or_none(new)
        if (one is None) != (other is None):
            return False
        return needed(facts) and (one is not None or _is_whole(facts, key, new))

    def message(facts: Facts) -> str:
        if facts.count_or_none(new) is None:
            return f"neither {short(new)} nor {short(key)} is set, and dynamic batching is off"
        return f"both {facts.said(key)} and {facts.said(new)} are set"

    def help(facts: Facts) -> str:
        if facts.count_or_none(new) is None:
            return f"set {new} to the samples that fit one GPU, or use dynamic batching"
        return f"remove {key}, it is the deprecated one: samples on all GPUs together"

    for since, until, source in spans:
        yield Row(
            id,
            since,
            (key, new),
            rejects,
            message,
            help,
            source,
            until=until,
            validated=True,
            fix=lambda facts: (key, "") if facts.count_or_none(new) is not None else None,
        )


def _needs_per_gpu(id: str, key: str) -> Row:
    """Workers of the engine read the key per GPU only."""
    new = f"{key}_per_gpu"

    def rejects(facts: Facts) -> bool:
        given = facts.count_or_none(key) is not None and facts.count_or_none(new) is None
        return given and facts.implementation == "engine" and _fixed(facts)

    return Row(
        id,
        "0.7.0",
        (key, new),
        rejects,
        lambda facts: f"{facts.said(key)} counts samples on all GPUs, and the workers read {short(new)} only",
        lambda facts: f"set {new} instead: the samples that fit one GPU",
        "engine_workers.ActorRolloutRefWorker.init_model",
        AT_WORKERS,
        unless=("V3n",),
    )


def _megatron_without(facts: Facts) -> bool:
    new = f"{_ACTOR_MICRO}_per_gpu"
    return facts.strategy == "megatron" and facts.count_or_none(new) is None and _is_whole(facts, _ACTOR_MICRO, new)


def _megatron_row(since: str, until: str, rejects: Ask, source: str) -> Row:
    """Megatron's smallest batch is computed from the size per GPU, whether it is used or not."""
    new = f"{_ACTOR_MICRO}_per_gpu"
    return Row(
        "V3n",
        since,
        (new, STRATEGY),
        rejects,
        lambda facts: f"{facts.said(new)}, and the smallest batch of Megatron is computed from it",
        lambda facts: f"set {new} to the samples that fit one GPU",
        f"{source}: TypeError",
        until=until,
        unless=("V4",),
        validated=True,
    )


def _reference_without(facts: Facts) -> bool:
    """Workers of Megatron ask for a size of the reference policy with dynamic batching as well."""
    if facts.implementation != "legacy" or facts.strategy != "megatron" or not facts.ref_used:
        return False
    if facts.count(f"{MODEL}.lora.rank", 0) > 0 or facts.get(f"{MODEL}.lora_adapter_path", None) is not None:
        return False  # the policy without its adapters is the reference
    sizes = (_REF_MICRO, f"{_REF_MICRO}_per_gpu")
    return all(facts.count_or_none(key) is None for key in sizes) and _is_whole(facts, *sizes)


_ACTOR_MICRO = f"{ACTOR}.ppo_micro_batch_size"
_ROLLOUT_MICRO = f"{ROLLOUT}.log_prob_micro_batch_size"
_REF_MICRO = f"{REF}.log_prob_micro_batch_size"

ROWS: tuple[Row, ...] = (
    *_rows_of("V4", _ACTOR_MICRO, _fixed, ("0.2.0", "0.5.0", _OLD), ("0.6.0", "", _ACTOR_CLASS)),
    *_rows_of("V5", _ROLLOUT_MICRO, _fixed, ("0.2.0", "0.5.0", _OLD), ("0.6.0", "", _NEW)),
    *_rows_of("V6", _REF_MICRO, _with_ref, ("0.2.0", "0.5.0", _OLD), ("0.6.0", "", _NEW)),
    *_rows_of(
        "V7", "critic.ppo_micro_batch_size", _with_critic, ("0.2.0", "0.5.0", _OLD), ("0.6.0", "", _CRITIC_CLASS)
    ),
    *_rows_of(
        "V8", "reward_model.micro_batch_size", _with_reward_model, ("0.2.0", "0.5.0", _OLD), ("0.6.0", "0.6.1", _NEW)
    ),
    *_rows_of("V8", "reward_model.micro_batch_size", _without_reward_loop, ("0.7.0", "0.7.0", _NEW)),
    _megatron_row("0.4.0", "0.5.0", _megatron_without, _OLD),
    _megatron_row("0.6.0", "", lambda facts: _megatron_without(facts) and _fixed(facts), _NEW),
    Row(
        "W25",
        "0.4.0",
        (f"{_REF_MICRO}_per_gpu", _REF_MICRO, STRATEGY),
        _reference_without,
        lambda facts: (
            f"neither {short(_REF_MICRO)}_per_gpu nor {short(_REF_MICRO)} is set, and Megatron's reference asks for one"
        ),
        lambda facts: f"set {_REF_MICRO}_per_gpu to the samples that fit one GPU",
        "megatron_workers.ActorRolloutRefWorker: assert",
        AT_WORKERS,
        until="0.7.1",
        unless=("V6",),
    ),
    _needs_per_gpu("W6a", _ACTOR_MICRO),
    _needs_per_gpu("W6r", _ROLLOUT_MICRO),
)
