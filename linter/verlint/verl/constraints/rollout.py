"""GPUs that an engine of the rollout spans, and what the engines can do.

Sources: `workers/fsdp_workers.py:_build_rollout`, `workers/megatron_workers.py`, `workers/engine_workers.py` (all
versions), `RolloutConfig.__post_init__` of `workers/config/rollout.py` (from 0.6.0),
`ModelConfig.verify_with_parallel_config` of vLLM.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.verl.constraints import AT_WORKERS, Ask, Row
from verlint.verl.divisors import divisors
from verlint.verl.facts import GPUS, HEADS, MODEL_PATH, NODES, ROLLOUT, Facts, gpus_are, short

TENSOR = f"{ROLLOUT}.tensor_model_parallel_size"
DATA = f"{ROLLOUT}.data_parallel_size"
PIPELINE = f"{ROLLOUT}.pipeline_model_parallel_size"
EXPERT = f"{ROLLOUT}.expert_parallel_size"
MOE_TENSOR = f"{ROLLOUT}.moe_tensor_parallel_size"
NAME = f"{ROLLOUT}.name"
DISAGGREGATION = f"{ROLLOUT}.disaggregation.enabled"

_CLASS = "RolloutConfig"


def _span(facts: Facts) -> int:
    return facts.count(TENSOR) * facts.count(DATA, 1) * facts.count(PIPELINE, 1)


def _tensor_alone(facts: Facts) -> bool:
    size, gpus = facts.count(TENSOR), facts.n_gpus
    return size > 0 and gpus > 0 and gpus % size != 0


def _all(facts: Facts) -> bool:
    if facts.trainer == "v1" and facts.text("trainer.v1.trainer_mode", "sync") == "separate_async":
        return False
    size, gpus = _span(facts), facts.n_gpus
    return size > 0 and gpus > 0 and gpus % size != 0


def _tensor_message(facts: Facts) -> str:
    return f"{gpus_are(facts)} not a multiple of {facts.said(TENSOR)}"


def _all_message(facts: Facts) -> str:
    more = [key for key in (DATA, PIPELINE) if facts.count(key, 1) > 1]
    if not more:
        return _tensor_message(facts)
    sizes = " x ".join(facts.said(key) for key in (TENSOR, *more))
    return f"{gpus_are(facts)} not a multiple of {sizes} = {_span(facts)}"


def _tensor_help(facts: Facts) -> str:
    other = facts.count(DATA, 1) * facts.count(PIPELINE, 1)
    fitting = [
        each for each in divisors(facts.n_gpus) if each < facts.count(TENSOR) and facts.n_gpus % (each * other) == 0
    ]
    return f"set {TENSOR}={fitting[-1]}" if fitting else "give the run a multiple of that many GPUs"


def _across_nodes(facts: Facts) -> bool:
    if facts.rollout_path != "agent_loop" or _all(facts):
        return False
    size, on_node = _span(facts), facts.count(GPUS)
    return 0 < on_node < size and size % on_node != 0


def _expert(facts: Facts) -> bool:
    size = facts.count_or_none(EXPERT)
    return size is not None and size > 1 and size != facts.count(TENSOR) * facts.count(DATA, 1)


def _expert_but_for_trtllm(facts: Facts) -> bool:
    return facts.text(NAME) != "trtllm" and _expert(facts)


def _expert_message(facts: Facts) -> str:
    spanned = facts.count(TENSOR) * facts.count(DATA, 1)
    return f"{facts.said(EXPERT)} is not {facts.said(TENSOR)} x {facts.said(DATA)} = {spanned}"


def _expert_help(facts: Facts) -> str:
    return f"set {EXPERT} to {facts.count(TENSOR) * facts.count(DATA, 1)} or 1"


def _pipeline_vllm(facts: Facts) -> bool:
    return facts.count(PIPELINE) > 1 and facts.text(NAME) in ("vllm", "sglang")


def _pipeline_all(facts: Facts) -> bool:
    return facts.count(PIPELINE) > 1 and facts.text(NAME) in ("vllm", "sglang", "trtllm")


def _pipeline_message(facts: Facts) -> str:
    return f"{facts.said(PIPELINE)} is not implemented for {facts.said(NAME)}"


def _moe(facts: Facts) -> bool:
    size = facts.count_or_none(MOE_TENSOR)
    return size is not None and size > 1 and facts.text(NAME) != "trtllm"


def _moe_product(facts: Facts) -> bool:
    experts, size = facts.count_or_none(EXPERT), facts.count_or_none(MOE_TENSOR)
    if experts in (None, 1) or size in (None, 1) or facts.text(NAME) != "trtllm":
        return False
    return experts * size != facts.count(TENSOR)


def _heads_left_over(facts: Facts) -> bool:
    if facts.text(NAME) not in ("vllm", "sglang") or any("dp_attention" in key for key in facts.given_keys):
        return False
    size = facts.count(TENSOR)
    return size > 1 and facts.of_model(HEADS) % size != 0


def _heads_help(facts: Facts) -> str:
    heads, other = facts.of_model(HEADS), facts.count(DATA, 1) * facts.count(PIPELINE, 1)
    most = facts.count(TENSOR) - 1
    fitting = [each for each in divisors(heads) if each <= most and facts.n_gpus % (each * other) == 0]
    return f"set {TENSOR}={fitting[-1]}" if fitting else f"set {TENSOR} to a divisor of {heads}"


# ---- prefill and decode apart

_PD = f"{ROLLOUT}.disaggregation"
PREFILL, DECODE, DECODE_TENSOR = (
    f"{_PD}.prefill_replicas",
    f"{_PD}.decode_replicas",
    f"{_PD}.decode_tensor_model_parallel_size",
)
PORT = f"{_PD}.bootstrap_port"


def _split_span(facts: Facts) -> int:
    """GPUs of a replica whose prefill and decode are apart."""
    prefill = facts.count(TENSOR)
    decode = facts.count_or_none(DECODE_TENSOR)
    return prefill + facts.count(DECODE) * (prefill if decode is None else decode)


def _wide_split(facts: Facts) -> bool:
    return facts.flag(DISAGGREGATION) and facts.count(PREFILL) == 1 and _split_span(facts) > facts.count(GPUS)


def _wide_split_message(facts: Facts) -> str:
    decode = facts.said(DECODE_TENSOR if facts.count_or_none(DECODE_TENSOR) is not None else TENSOR)
    sum_said = f"{facts.said(TENSOR)} + {facts.said(DECODE)} x {decode} = {_split_span(facts)}"
    return f"{sum_said} GPUs of a replica are more than {facts.said(GPUS)}, and it cannot span nodes"


def _split_rows() -> Iterator[Row]:
    """What a replica with prefill and decode apart can be."""

    def row(id: str, key: str, wrong: Ask, why: str, help: str, source: str) -> Row:
        return Row(
            id,
            "0.8.0",
            (key, DISAGGREGATION),
            lambda facts: facts.flag(DISAGGREGATION) and wrong(facts),
            lambda facts: f"{facts.said(key)}: {why}",
            lambda facts: help,
            source,
            AT_WORKERS,
        )

    replica = "SGLangPDReplica and its like"
    yield row(
        "D7p",
        PREFILL,
        lambda facts: facts.count(PREFILL) != 1,
        "a replica has one engine for prefill",
        f"set {PREFILL}=1",
        replica,
    )
    yield row(
        "D7d",
        DECODE,
        lambda facts: facts.count(DECODE) < 1,
        "a replica has at least one engine for decode",
        f"set {DECODE}=1 or more",
        "DisaggregationConfig",
    )
    yield row(
        "D7o",
        PORT,
        lambda facts: (port := facts.count_or_none(PORT)) is not None and not 0 < port < 65536,
        "there is no such port",
        f"remove {PORT}, one is chosen then",
        "DisaggregationConfig",
    )
    yield row(
        "D7a",
        DATA,
        lambda facts: facts.count(DATA) != 1,
        "prefill and decode cannot be apart with it",
        f"set {DATA}=1",
        replica,
    )
    yield Row(
        "D7g",
        "0.8.0",
        (DECODE, TENSOR, DECODE_TENSOR, GPUS, DISAGGREGATION),
        _wide_split,
        _wide_split_message,
        lambda facts: f"lower {TENSOR} or {DECODE}",
        replica,
        AT_WORKERS,
    )


def _split(*names: str) -> Row:
    """Prefill and decode on GPUs of their own, for engines that can."""
    since, until = ("0.8.0", "0.8.0") if names == ("sglang",) else ("0.9.0", "")
    return Row(
        "D7",
        since,
        (DISAGGREGATION, NAME),
        lambda facts: facts.flag(DISAGGREGATION) and facts.text(NAME) not in names,
        lambda facts: f"{short(DISAGGREGATION)} works with {' and '.join(names)} only, not with {facts.said(NAME)}",
        lambda facts: f"set {NAME}={names[0]}, or turn it off",
        _CLASS,
        AT_WORKERS,
        until=until,
    )


_PARALLEL = (TENSOR, DATA, PIPELINE, GPUS, NODES)

ROWS: tuple[Row, ...] = (
    Row(
        "W7",
        "0.2.0",
        (TENSOR, GPUS, NODES),
        _tensor_alone,
        _tensor_message,
        _tensor_help,
        "_build_rollout: rollout world_size is not divisible by infer_tp",
        AT_WORKERS,
        until="0.5.0",
    ),
    Row(
        "W7",
        "0.6.0",
        _PARALLEL,
        _all,
        _all_message,
        _tensor_help,
        "_build_rollout: rollout world_size is not divisible by infer_world_size",
        AT_WORKERS,
    ),
    Row(
        "W8",
        "0.6.0",
        _PARALLEL,
        _across_nodes,
        lambda facts: f"an engine of {_span(facts)} GPUs is no whole number of nodes with {facts.said(GPUS)}",
        lambda facts: f"set {TENSOR} so that an engine has a multiple or a part of the GPUs of a node",
        "RolloutReplica: world_size must be divisible by gpus_per_node",
        AT_WORKERS,
        unless=("W7",),
    ),
    Row(
        "W17",
        "0.2.0",
        (TENSOR, MODEL_PATH),
        _heads_left_over,
        lambda facts: f"{facts.of_model_said(HEADS)} is not a multiple of {facts.said(TENSOR)}",
        _heads_help,
        "its engine: attention heads must be divisible by tensor parallel size",
        AT_WORKERS,
    ),
    Row(
        "D4", "0.6.0", (EXPERT, TENSOR, DATA), _expert, _expert_message, _expert_help, _CLASS, AT_WORKERS, until="0.7.0"
    ),
    Row(
        "D4", "0.7.1", (EXPERT, TENSOR, DATA), _expert_but_for_trtllm, _expert_message, _expert_help, _CLASS, AT_WORKERS
    ),
    Row(
        "D5",
        "0.6.0",
        (PIPELINE, NAME),
        _pipeline_vllm,
        _pipeline_message,
        lambda facts: f"set {PIPELINE}=1 and spread the model with {TENSOR}",
        _CLASS,
        AT_WORKERS,
        until="0.7.0",
    ),
    Row(
        "D5",
        "0.7.1",
        (PIPELINE, NAME),
        _pipeline_all,
        _pipeline_message,
        lambda facts: f"set {PIPELINE}=1 and spread the model with {TENSOR}",
        _CLASS,
        AT_WORKERS,
    ),
    Row(
        "D6",
        "0.7.1",
        (MOE_TENSOR, NAME),
        _moe,
        lambda facts: f"{facts.said(MOE_TENSOR)} works with trtllm only, not with {facts.said(NAME)}",
        lambda facts: f"take {MOE_TENSOR} out, or set {NAME}=trtllm",
        _CLASS,
        AT_WORKERS,
    ),
    Row(
        "D6p",
        "0.7.1",
        (MOE_TENSOR, EXPERT, TENSOR),
        _moe_product,
        lambda facts: f"{facts.said(MOE_TENSOR)} x {facts.said(EXPERT)} is not {facts.said(TENSOR)}",
        lambda facts: f"make the product {facts.count(TENSOR)}",
        _CLASS,
        AT_WORKERS,
    ),
    _split("sglang"),
    _split("sglang", "vllm"),
    *_split_rows(),
)
