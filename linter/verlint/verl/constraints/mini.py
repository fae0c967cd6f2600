"""Mini-batches against the rollout batch, and against the deprecated micro-batch on all GPUs.

Sources: `_validate_config` of `trainer/ppo/ray_trainer.py` (to 0.5.0), `ActorConfig.validate`, `CriticConfig.validate`
(from 0.6.0), `utils/tensordict_utils.py` (from 0.7.0 with the engine), `trainer/ppo/v1/trainer_base.py` (0.9)."""

from __future__ import annotations

from verlint.verl.constraints import AT_STEP, STOCK, Row
from verlint.verl.constraints.batch import mini_above_batch
from verlint.verl.divisors import divisors
from verlint.verl.facts import (
    ACTOR,
    DYNAMIC,
    GPUS,
    MINI_BATCH,
    NODES,
    SEQUENCE_PARALLEL,
    TRAIN_BATCH,
    Facts,
)
from verlint.verl.undecided import Undecided

MICRO = f"{ACTOR}.ppo_micro_batch_size"
MICRO_PER_GPU = f"{MICRO}_per_gpu"
CRITIC_MINI = "critic.ppo_mini_batch_size"
CRITIC_MICRO = "critic.ppo_micro_batch_size"
CRITIC_MICRO_PER_GPU = f"{CRITIC_MICRO}_per_gpu"
CRITIC_PARALLEL = "critic.ulysses_sequence_parallel_size"

_OLD = "RayPPOTrainer._validate_config"


def fixed(facts: Facts) -> bool:
    """Whether micro-batches have a fixed size, as without dynamic batching."""
    return not facts.flag(DYNAMIC)


def _critic_fixed(facts: Facts) -> bool:
    return facts.critic_used and not facts.flag("critic.use_dynamic_bsz")


# ---- against the rollout batch


def above(facts: Facts) -> bool:
    """Whether the actor's mini-batch is above the rollout batch, which is a fault of its own."""
    return mini_above_batch(facts) and fixed(facts)


def _above_meant(facts: Facts) -> bool:
    """The same where both sizes are meant: the mini-batch is given, or the launch is a whole one."""
    return above(facts) and (facts.given(MINI_BATCH) or facts.whole)


def _above_message(facts: Facts) -> str:
    return f"{facts.said(MINI_BATCH)} is above {facts.said(TRAIN_BATCH)}"


def _above_help(facts: Facts) -> str:
    batch = facts.count(TRAIN_BATCH)
    if batch <= 0:
        return f"set {TRAIN_BATCH} to the prompts of a rollout batch"
    said = ", ".join(map(str, divisors(batch)[-3:]))
    legal = f"set {MINI_BATCH} to a divisor of {batch}: {said} ({batch} is one update a batch)"
    return f"{legal}; both count prompts, VeRL multiplies them by rollout.n" if _counts_samples(facts) else legal


def _counts_samples(facts: Facts) -> bool:
    """Whether a mini-batch is the samples of the rollout batch: its prompts, times `rollout.n`."""
    try:
        return facts.count(MINI_BATCH) == facts.samples != facts.count(TRAIN_BATCH)
    except Undecided:
        return False


def critic_above(facts: Facts) -> bool:
    """The same of the critic's."""
    return facts.count(CRITIC_MINI) > facts.count(TRAIN_BATCH) and _critic_fixed(facts)


def _critic_above_alone(facts: Facts) -> bool:
    """The critic's default is the actor's, so that one explains it."""
    follows = not facts.given(CRITIC_MINI) and mini_above_batch(facts) and fixed(facts)
    return not follows and critic_above(facts)


def _shrinks(facts: Facts) -> bool:
    """Dynamic batching drops the check, and the loss is divided by the mini-batch that is never full. One that is the
    batch times `rollout.n` counts samples, which another rule explains."""
    if facts.implementation != "legacy" or facts.caps_mini_batch or not facts.sharded:
        return False
    if not mini_above_batch(facts) or not facts.flag(DYNAMIC) or not facts.trains:
        return False
    return facts.count(MINI_BATCH) != facts.samples


def _filled_up(facts: Facts) -> bool:
    """The trainer of 0.9 makes whole mini-batches of empty samples, and hands the full size to the loss."""
    if facts.trainer != "v1" or facts.caps_mini_batch or not mini_above_batch(facts):
        return False
    return facts.flag(DYNAMIC) and facts.trains and facts.count(MINI_BATCH) != facts.samples


def _shrinks_message(facts: Facts) -> str:
    return f"{_above_message(facts)}, so no update is ever full"


def _remainder(facts: Facts) -> bool:
    if facts.implementation != "engine" or facts.trainer != "v0" or not facts.trains:
        return False
    mini, batch = facts.count(MINI_BATCH), facts.count(TRAIN_BATCH)
    if mini <= 0 or batch <= 0:
        return False
    return batch % mini != 0 and not (mini > batch and fixed(facts))


def _remainder_message(facts: Facts) -> str:
    return f"{facts.said(TRAIN_BATCH)} is not a multiple of {facts.said(MINI_BATCH)}"


# ---- against the deprecated micro-batch on all GPUs


def _parts(facts: Facts) -> bool:
    micro = facts.count_or_none(MICRO)
    return micro is not None and micro > 0 and facts.count(MINI_BATCH) % micro != 0 and fixed(facts)


def _parts_message(facts: Facts) -> str:
    return f"{facts.said(MINI_BATCH)} is not a multiple of {facts.said(MICRO)}"


def _few(facts: Facts) -> bool:
    micro = facts.count_or_none(MICRO)
    return micro is not None and micro * facts.count(SEQUENCE_PARALLEL, 1) < facts.n_gpus and fixed(facts)


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


def _one_update(facts: Facts) -> tuple[str, str]:
    return MINI_BATCH, str(facts.count(TRAIN_BATCH))


ROWS: tuple[Row, ...] = (
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
        "S1",
        "0.9.0",
        (MINI_BATCH, TRAIN_BATCH),
        _filled_up,
        _shrinks_message,
        _above_help,
        "PPOTrainer._balance_batch",
        "dynamic batching drops the check, and VeRL fills each batch up with empty samples (before 0.9 it shrinks the "
        "loss, or stops)",
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
        same="S1",
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
)
