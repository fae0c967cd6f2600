"""Batches that must divide: over GPUs, data parallel ranks and workers of the rollout.

Sources: `_validate_config` of `trainer/ppo/ray_trainer.py` (to 0.5.0), `utils/config.py` (from 0.6.0),
`protocol.py:chunk`, `workers/engine_workers.py:train_mini_batch`, `experimental/agent_loop/agent_loop.py`."""

from __future__ import annotations

from collections.abc import Callable

from verlint.verl.constraints import AT_STEP, AT_WORKERS, STOCK, Change, Row, above, nearest
from verlint.verl.divisors import divisors
from verlint.verl.facts import (
    ACTOR,
    DYNAMIC,
    GPUS,
    LAYERS,
    MINI_BATCH,
    MODEL_PATH,
    NODES,
    ROLLOUT,
    SAMPLES_OF_PROMPT,
    TRAIN_BATCH,
    Facts,
    gpus_are,
    short,
)

_KEYS = (TRAIN_BATCH, SAMPLES_OF_PROMPT, GPUS, NODES)
_OWN_BATCH = "data.gen_batch_size"
_MEGATRON = f"{ACTOR}.megatron"
_MICRO = f"{ACTOR}.ppo_micro_batch_size_per_gpu"
_PARALLEL = tuple(f"{_MEGATRON}.{each}_size" for each in ("tensor_model_parallel", "pipeline_model_parallel"))
_EXPERTS = (f"{_MEGATRON}.expert_model_parallel_size", f"{_MEGATRON}.expert_tensor_parallel_size")
_INITIALIZED = "Megatron's initialize_model_parallel: world_size is not divisible"
_WORKERS = f"{ROLLOUT}.agent.num_workers"
_FEW_MORE = 1.25
"""By how much a fix may raise a batch to make whole updates of it."""
PREFIX_GROUPER = f"{ACTOR}.use_prefix_grouper"
BALANCE = "trainer.balance_batch"

_OLD = "RayPPOTrainer._validate_config"
_NEW = "validate_config"


def _divides(value: int, by: int) -> bool:
    return value <= 0 or by <= 0 or value % by == 0


def _samples_over_gpus(facts: Facts) -> bool:
    return not _divides(facts.samples, facts.n_gpus)


def _sharded_over_gpus(facts: Facts) -> bool:
    return facts.strategy != "megatron" and _samples_over_gpus(facts)


def _fixed(facts: Facts) -> bool:
    return not facts.flag(DYNAMIC)


def said_samples(facts: Facts) -> str:
    """The samples of a rollout batch with their arithmetic."""
    return f"{facts.said(TRAIN_BATCH)} x {facts.said(SAMPLES_OF_PROMPT)} = {facts.samples}"


def said_mini(facts: Facts) -> str:
    """The samples of an update with their arithmetic."""
    return f"{facts.said(MINI_BATCH)} x {facts.said(SAMPLES_OF_PROMPT)} = {facts.mini_samples}"


def said_ranks(facts: Facts) -> str:
    """The data parallel ranks with their arithmetic."""
    shared = facts.model_parallel
    if shared == 1:
        return f"{facts.dp} data parallel ranks, one on each of {facts.gpus_said()}"
    return f"{facts.dp} data parallel ranks ({facts.gpus_said()}, {shared} to a rank)"


def _gcd(one: int, other: int) -> int:
    from math import gcd

    return gcd(one, other)


def prompts(value: int, n: int, by: int) -> str:
    """The counts of prompts next to a value whose samples divide."""
    return nearest(value, by // _gcd(by, n))


def _more_prompts(by: Callable[[Facts], int]) -> Change:
    """More prompts to a batch, so that its samples are a multiple; whole updates too, where that takes few more."""

    def change(facts: Facts) -> tuple[str, str]:
        batch, step = facts.count(TRAIN_BATCH), by(facts) // _gcd(by(facts), facts.count(SAMPLES_OF_PROMPT, 1))
        update = facts.count(MINI_BATCH)
        whole = above(batch, update) if update > 0 and update % step == 0 else 0
        return TRAIN_BATCH, str(whole if batch < whole <= batch * _FEW_MORE else above(batch, step))

    return change


def _gpus_message(facts: Facts) -> str:
    return f"{said_samples(facts)} is not a multiple of {facts.gpus_said()}"


def _gpus_help(facts: Facts) -> str:
    legal = prompts(facts.count(TRAIN_BATCH), facts.count(SAMPLES_OF_PROMPT, 1), facts.n_gpus)
    return f"set {TRAIN_BATCH} to {legal}, or change rollout.n or the number of GPUs"


def _model_parallel(facts: Facts) -> bool:
    if facts.strategy != "megatron":
        return False
    shared = facts.model_parallel
    return facts.n_gpus > 0 and shared > 0 and facts.n_gpus % shared != 0


def _model_parallel_message(facts: Facts) -> str:
    tensor, pipeline = (facts.said(key) for key in _PARALLEL)
    context = facts.said(f"{_MEGATRON}.context_parallel_size")
    return f"{gpus_are(facts)} not a multiple of {facts.model_parallel} = {tensor} x {pipeline} x {context}"


def _expert_size(facts: Facts) -> tuple[int, int, int]:
    """Tensor parallel size of the experts (that of the rest where it is null), their own, and the pipeline's."""
    own, tensor = facts.count_or_none(_EXPERTS[1]), facts.count(_PARALLEL[0])
    return tensor if own is None else own, facts.count(_EXPERTS[0], 1), facts.count(_PARALLEL[1])


def _expert_parallel(facts: Facts) -> bool:
    if facts.strategy != "megatron" or facts.count(_EXPERTS[0], 1) <= 1:
        return False
    tensor, experts, pipeline = _expert_size(facts)
    shared = tensor * experts * pipeline
    return facts.n_gpus > 0 and shared > 0 and facts.n_gpus % shared != 0


def _expert_parallel_message(facts: Facts) -> str:
    tensor, experts, pipeline = _expert_size(facts)
    sizes = f"expert tensor {tensor} x {facts.said(_EXPERTS[0])} x {facts.said(_PARALLEL[1])}"
    return f"{gpus_are(facts)} not a multiple of {tensor * experts * pipeline} = {sizes}"


_EVEN = ("LlamaForCausalLM", "MixtralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM", "Qwen3MoeForCausalLM")
"""Classes whose layers Megatron lays out by their number alone: no layers beside, as for the prediction of more tokens.
"""


def _uneven_stages(facts: Facts) -> bool:
    """Whether layers are left over when the stages of a pipeline take the same number each, and nothing says that they
    do not."""
    if facts.strategy != "megatron" or (stages := facts.count(_PARALLEL[1])) <= 1:
        return False
    if facts.of_model(LAYERS) % stages == 0 or facts.model is None or facts.model.architectures[:1] not in _ONES:
        return False
    layout = facts.plain(f"{_MEGATRON}.override_transformer_config")
    return isinstance(layout, dict) and not any("pipeline" in str(key) for key in layout)


_ONES = tuple((each,) for each in _EVEN)


def _stages_help(facts: Facts) -> str:
    fitting = [each for each in divisors(facts.of_model(LAYERS)) if each < facts.count(_PARALLEL[1])]
    more = f"+{_MEGATRON}.override_transformer_config.num_layers_in_last_pipeline_stage"
    return f"set {_PARALLEL[1]}={fitting[-1]}, or give the last stage its own number with {more}"


def _balanced_over_gpus(facts: Facts) -> bool:
    """To 0.6.1 the batch is balanced over all GPUs, whatever they share."""
    return facts.flag(BALANCE) and facts.trains and _samples_over_gpus(facts)


def _minimal(facts: Facts) -> int:
    return facts.dp * facts.count(_MICRO)


def _micro_over_ranks(facts: Facts) -> bool:
    return facts.strategy == "megatron" and not _divides(facts.samples, _minimal(facts))


def _micro_message(facts: Facts) -> str:
    ranks = f"{_minimal(facts)} = {facts.dp} data parallel ranks x {facts.said(_MICRO)}"
    return f"{said_samples(facts)} is not a multiple of {ranks}"


def _micro_help(facts: Facts) -> str:
    legal = prompts(facts.count(TRAIN_BATCH), facts.count(SAMPLES_OF_PROMPT, 1), _minimal(facts))
    return f"set {TRAIN_BATCH} to {legal}, or lower actor.ppo_micro_batch_size_per_gpu"


def mini_above_batch(facts: Facts) -> bool:
    """Whether an update wants more prompts than a rollout batch has."""
    return facts.count(MINI_BATCH) > facts.count(TRAIN_BATCH)


def _update_over_ranks(facts: Facts) -> bool:
    if facts.implementation != "engine" or not facts.trains:
        return False
    return not _divides(facts.mini_samples, facts.dp) and not (mini_above_batch(facts) and _fixed(facts))


def _update_message(facts: Facts) -> str:
    return f"{said_mini(facts)} samples of an update are not a multiple of {said_ranks(facts)}"


def _whole_updates(facts: Facts) -> list[int]:
    """The legal sizes of an update next to the present one, of those that a batch is a multiple of: below it and above;
    none where the batch itself does not fit."""
    step = facts.dp // _gcd(facts.dp, facts.count(SAMPLES_OF_PROMPT, 1))
    batch, update = facts.count(TRAIN_BATCH), facts.count(MINI_BATCH)
    if batch <= 0 or step <= 0 or batch % step or update > batch:
        return []
    legal = [step * each for each in divisors(batch // step)]
    return [each for each in legal if each < update][-1:] + [each for each in legal if each > update][:1]


def _update_help(facts: Facts) -> str:
    whole = _whole_updates(facts)
    legal = prompts(facts.count(MINI_BATCH), facts.count(SAMPLES_OF_PROMPT, 1), facts.dp)
    return f"set actor.ppo_mini_batch_size to {' or '.join(map(str, whole)) or legal}"


def _own_batch(facts: Facts) -> bool:
    """Whether the data loader gives batches of `data.train_batch_size`, not of `data.gen_batch_size`."""
    return not facts.has(_OWN_BATCH) or facts.get(_OWN_BATCH) is None


def _prompts_over_gpus(facts: Facts) -> bool:
    if not facts.sharded or facts.rollout_path != "spmd" or facts.caps_mini_batch or not _own_batch(facts):
        return False
    return not _divides(facts.count(TRAIN_BATCH), facts.n_gpus) and not _samples_over_gpus(facts) and facts.trains


def _prompts_message(facts: Facts) -> str:
    at = "prompts are dealt to the GPUs before they are repeated rollout.n times"
    return f"{facts.said(TRAIN_BATCH)} is not a multiple of {facts.gpus_said()}, and {at}"


def _prompts_help(facts: Facts) -> str:
    return f"set {TRAIN_BATCH} to {nearest(facts.count(TRAIN_BATCH), facts.n_gpus)}"


def _samples_over_ranks(facts: Facts) -> bool:
    if not facts.flag(DYNAMIC) or facts.trainer != "v0" or facts.caps_mini_batch or not _own_batch(facts):
        return False
    return not _divides(facts.samples, facts.dp) and facts.trains


def _ranks_message(facts: Facts) -> str:
    return f"{said_samples(facts)} is not a multiple of {said_ranks(facts)}"


def _ranks_help(facts: Facts) -> str:
    legal = prompts(facts.count(TRAIN_BATCH), facts.count(SAMPLES_OF_PROMPT, 1), facts.dp)
    return f"set {TRAIN_BATCH} to {legal}; dynamic batching drops the check at start-up, not the demand"


def _samples_over_workers(facts: Facts) -> bool:
    if facts.rollout_path != "agent_loop" or facts.trainer != "v0" or not _own_batch(facts):
        return False
    return not _divides(facts.samples, facts.count(_WORKERS)) and facts.trains


def _workers_message(facts: Facts) -> str:
    return f"{said_samples(facts)} is not a multiple of {facts.said(_WORKERS)}"


def _workers_help(facts: Facts) -> str:
    workers = facts.count(_WORKERS)
    fitting = max(each for each in divisors(facts.samples) if each <= workers)
    legal = prompts(facts.count(TRAIN_BATCH), facts.count(SAMPLES_OF_PROMPT, 1), workers)
    return f"set {_WORKERS}={fitting}, or {TRAIN_BATCH} to {legal}"


def _more_of_update(facts: Facts) -> tuple[str, str]:
    step = facts.dp // _gcd(facts.dp, facts.count(SAMPLES_OF_PROMPT, 1))
    update = facts.count(MINI_BATCH)
    nearest_ones = sorted(_whole_updates(facts), key=lambda each: (max(each, update) / min(each, update), -each))
    return MINI_BATCH, str((nearest_ones or [above(update, step)])[0])


_FIX_GPUS = _more_prompts(lambda facts: facts.n_gpus)


def _groups_over_ranks(facts: Facts) -> bool:
    if facts.trainer != "v0" or not facts.flag(PREFIX_GROUPER) or not facts.flag(BALANCE):
        return False
    return facts.count(TRAIN_BATCH) % facts.dp != 0


ROWS: tuple[Row, ...] = (
    Row(
        "V1",
        "0.2.0",
        _KEYS,
        _samples_over_gpus,
        _gpus_message,
        _gpus_help,
        _OLD,
        until="0.3.0",
        validated=True,
        fix=_FIX_GPUS,
    ),
    Row(
        "V1",
        "0.4.0",
        _KEYS,
        _sharded_over_gpus,
        _gpus_message,
        _gpus_help,
        _OLD,
        until="0.5.0",
        validated=True,
        fix=_FIX_GPUS,
    ),
    Row(
        "V1",
        "0.6.0",
        _KEYS,
        lambda facts: _fixed(facts) and _sharded_over_gpus(facts),
        _gpus_message,
        _gpus_help,
        _NEW,
        validated=True,
        fix=_FIX_GPUS,
    ),
    Row(
        "V2",
        "0.4.0",
        (*_PARALLEL, GPUS, NODES),
        _model_parallel,
        _model_parallel_message,
        lambda facts: "give the run a multiple of that many GPUs, or lower one of the parallel sizes",
        _OLD,
        until="0.5.0",
        validated=True,
    ),
    Row(
        "V2",
        "0.6.0",
        (*_PARALLEL, GPUS, NODES),
        lambda facts: _fixed(facts) and _model_parallel(facts),
        _model_parallel_message,
        lambda facts: "give the run a multiple of that many GPUs, or lower one of the parallel sizes",
        _NEW,
        validated=True,
    ),
    Row(
        "V2m",
        "0.6.0",
        (*_PARALLEL, GPUS, NODES),
        lambda facts: not _fixed(facts) and _model_parallel(facts),
        _model_parallel_message,
        lambda facts: "give the run a multiple of that many GPUs, or lower one of the parallel sizes",
        _INITIALIZED,
        AT_WORKERS,
        same="V2",
    ),
    Row(
        "V2e",
        "0.4.0",
        (*_EXPERTS, *_PARALLEL, GPUS, NODES),
        lambda facts: facts.count_or_none(_EXPERTS[1]) is not None and _expert_parallel(facts),
        _expert_parallel_message,
        lambda facts: "give the run a multiple of that many GPUs, or lower one of the parallel sizes",
        _INITIALIZED,
        AT_WORKERS,
        unless=("V2", "V2m"),
    ),
    Row(
        "V2f",
        "0.4.0",
        (*_EXPERTS, *_PARALLEL, GPUS, NODES),
        lambda facts: facts.count_or_none(_EXPERTS[1]) is None and _expert_parallel(facts),
        _expert_parallel_message,
        lambda facts: f"set {_EXPERTS[1]}=1, or give the run a multiple of that many GPUs",
        _INITIALIZED,
        AT_WORKERS,
        unless=("V2", "V2m"),
        verify="python3 -c 'import megatron.core as m; print(m.__version__)'  # 0.9 and newer: null is the size of TP",
    ),
    Row(
        "W32",
        "0.4.0",
        (_PARALLEL[1], MODEL_PATH),
        _uneven_stages,
        lambda facts: f"{facts.of_model_said(LAYERS)} is not a multiple of {facts.said(_PARALLEL[1])}",
        _stages_help,
        "Megatron: num_layers must be divisible by pipeline_model_parallel_size",
        AT_WORKERS,
    ),
    Row(
        "V3",
        "0.4.0",
        (TRAIN_BATCH, SAMPLES_OF_PROMPT, _MICRO, GPUS),
        _micro_over_ranks,
        _micro_message,
        _micro_help,
        _OLD,
        until="0.5.0",
        validated=True,
        fix=_more_prompts(_minimal),
    ),
    Row(
        "V3",
        "0.6.0",
        (TRAIN_BATCH, SAMPLES_OF_PROMPT, _MICRO, GPUS),
        lambda facts: _fixed(facts) and _micro_over_ranks(facts),
        _micro_message,
        _micro_help,
        _NEW,
        validated=True,
        fix=_more_prompts(_minimal),
    ),
    Row(
        "W3",
        "0.7.0",
        (MINI_BATCH, SAMPLES_OF_PROMPT, GPUS, NODES),
        _update_over_ranks,
        _update_message,
        _update_help,
        "engine_workers.train_mini_batch",
        AT_STEP,
        unless=("V1", "V2"),
        fix=_more_of_update,
    ),
    Row(
        "W18",
        "0.2.0",
        (TRAIN_BATCH, GPUS, NODES),
        _prompts_over_gpus,
        _prompts_message,
        _prompts_help,
        "DataProto.chunk: only support equal chunk",
        AT_STEP,
        until="0.4.1",
        entries=STOCK,
        fix=lambda facts: (TRAIN_BATCH, str(above(facts.count(TRAIN_BATCH), facts.n_gpus))),
    ),
    Row(
        "W18d",
        "0.6.0",
        _KEYS,
        _samples_over_ranks,
        _ranks_message,
        _ranks_help,
        "RayPPOTrainer._balance_batch and DataProto.chunk",
        AT_STEP,
        entries=STOCK,
        fix=_more_prompts(lambda facts: facts.dp),
        same="V1",
    ),
    Row(
        "W19",
        "0.5.0",
        (TRAIN_BATCH, SAMPLES_OF_PROMPT, _WORKERS),
        _samples_over_workers,
        _workers_message,
        _workers_help,
        "AgentLoopManager.generate_sequences: only support equal chunk",
        AT_STEP,
        entries=STOCK,
        unless=("V1", "W18d"),
        fix=_more_prompts(lambda facts: facts.count(_WORKERS)),
    ),
    Row(
        "W26",
        "0.7.1",
        (TRAIN_BATCH, GPUS, NODES, PREFIX_GROUPER),
        _groups_over_ranks,
        lambda facts: (
            f"{facts.said(TRAIN_BATCH)} is not a multiple of {facts.dp} data parallel ranks, "
            f"and {short(PREFIX_GROUPER)} keeps the samples of a prompt on one"
        ),
        lambda facts: f"set {TRAIN_BATCH} to {nearest(facts.count(TRAIN_BATCH), facts.dp)}, or {BALANCE}=False",
        "RayPPOTrainer._balance_batch: PrefixGrouper with balance_batch",
        AT_STEP,
        entries=STOCK,
        unless=("V1", "W18d"),
        fix=lambda facts: (TRAIN_BATCH, str(above(facts.count(TRAIN_BATCH), facts.dp))),
    ),
    Row(
        "T30",
        "0.4.0",
        (BALANCE, *_KEYS),
        _balanced_over_gpus,
        lambda facts: f"{facts.said(BALANCE)} parts {said_samples(facts)} samples among {facts.gpus_said()}",
        lambda facts: f"set {BALANCE}=False, or {_gpus_help(facts).removeprefix('set ')}",
        "get_seqlen_balanced_partitions: assert",
        AT_STEP,
        until="0.6.1",
        entries=STOCK,
        unless=("V1", "V2", "V3", "W3", "W18", "W18d", "W19"),
    ),
)
