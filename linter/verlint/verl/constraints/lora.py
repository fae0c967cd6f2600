"""Limits of LoRA: what the engine loads, and what a checkpoint holds.

Source: `utils/config.py:validate_config` (from 0.6.1), `workers/rollout/vllm_rollout/utils.py` (from 0.7.1),
`utils/checkpoint/fsdp_checkpoint_manager.py:save_checkpoint` (from 0.4.1), `collect_lora_params` in
`workers/sharding_manager/fsdp_vllm.py` and `utils/fsdp_utils.py` (from 0.4.0)."""

from __future__ import annotations

from verlint.verl.constraints import Ask, Row
from verlint.verl.facts import MODEL, ROLLOUT, Facts

RANK = f"{MODEL}.lora_rank"
NEW_RANK = f"{MODEL}.lora.rank"
MERGE = f"{MODEL}.lora.merge"
NAME = f"{ROLLOUT}.name"
LAYERED = f"{ROLLOUT}.layered_summon"
LOAD_FORMAT = f"{ROLLOUT}.load_format"
LARGEST = 512
"""The largest rank that vLLM loads. Source: `MaxLoRARanks` of `vllm/config/lora.py`, and VeRL's own copy of it."""


SERVED = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""The ranks that vLLM reserves room for; 1 from 0.12 on. Source: `vllm/config/lora.py` (before 0.10
`LoRAConfig.__post_init__` of `vllm/config.py`)."""
_RANKS = ", ".join(map(str, SERVED[1:]))


def _odd(facts: Facts) -> bool:
    rank = facts.count(RANK, 0)
    return facts.sharded and facts.text(NAME) == "vllm" and rank > 0 and rank not in SERVED


def _least(facts: Facts) -> bool:
    return facts.sharded and facts.text(NAME) == "vllm" and facts.count(RANK, 0) == 1


def _next_rank(facts: Facts) -> int:
    return next((each for each in SERVED[1:] if each >= facts.count(RANK, 0)), LARGEST)


def _odd_row(asks: Ask, verify: str = "") -> Row:
    return Row(
        "S36o" if verify else "S36",
        "0.4.0",
        (RANK, NAME),
        asks,
        lambda facts: f"{facts.said(RANK)} reaches vLLM as max_lora_rank as it is, and that takes {_RANKS} only",
        lambda facts: f"set {RANK} to one of {_RANKS}",
        "fsdp_workers.py, vllm_rollout_spmd.py: max_lora_rank",
        "vLLM stops when its workers start",
        until="0.6.0",
        fix=lambda facts: (RANK, str(_next_rank(facts))),
        verify=verify,
    )


def _rank_key(facts: Facts) -> str:
    return NEW_RANK if facts.count(NEW_RANK, 0) > 0 else RANK


def _large(facts: Facts) -> bool:
    return facts.count(RANK, 0) > LARGEST and facts.text(NAME) == "vllm"


def _large_unmerged(facts: Facts) -> bool:
    if facts.count(_rank_key(facts), 0) <= LARGEST or facts.text(NAME) != "vllm":
        return False
    return not facts.flag(MERGE)


def _help(facts: Facts) -> str:
    return f"set {_rank_key(facts)} to {LARGEST} or less"


def _never_sent(facts: Facts) -> bool:
    """Layer by layer only adapters are sent, and the engine has made up the model itself."""
    if not facts.sharded or facts.text(NAME) != "vllm" or "dummy" not in facts.text(LOAD_FORMAT):
        return False
    return facts.count(RANK, 0) > 0 and facts.flag(LAYERED) and not facts.flag(MERGE)


ROWS: tuple[Row, ...] = (
    _odd_row(_odd),
    _odd_row(_least, "python3 -c 'import vllm; print(vllm.__version__)'  # 0.12 and newer serve rank 1"),
    Row(
        "V17",
        "0.6.1",
        (RANK, NAME),
        _large,
        lambda facts: f"{facts.said(RANK)} is above {LARGEST}, the largest that vLLM serves",
        lambda facts: f"set {RANK} to {LARGEST} or less",
        "validate_config",
        until="0.7.0",
        validated=True,
    ),
    Row(
        "V17",
        "0.7.1",
        (NEW_RANK, RANK, NAME),
        _large_unmerged,
        lambda facts: f"{facts.said(_rank_key(facts))} is above {LARGEST}, the largest that vLLM serves",
        _help,
        "validate_config: get_vllm_max_lora_rank",
        validated=True,
    ),
    Row(
        "S32",
        "0.4.0",
        (LAYERED, LOAD_FORMAT, RANK),
        _never_sent,
        lambda facts: (
            f"{facts.said(LAYERED)} sends the adapters of {facts.said(RANK)} alone, "
            f"but {facts.said(LOAD_FORMAT)} loads no model"
        ),
        lambda facts: f"set {LOAD_FORMAT}=safetensors, so that the engine loads the model itself",
        "collect_lora_params: base-model is preloaded in vllm",
        "VeRL stops when it first sends weights",
        fix=lambda facts: (LOAD_FORMAT, "safetensors"),
    ),
)
