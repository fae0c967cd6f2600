"""Limits of LoRA.

Source: `utils/config.py:validate_config` (from 0.6.1), `workers/rollout/vllm_rollout/utils.py` (from 0.7.1)."""

from __future__ import annotations

from verlint.verl.constraints import Row
from verlint.verl.facts import MODEL, ROLLOUT, Facts

RANK = f"{MODEL}.lora_rank"
NEW_RANK = f"{MODEL}.lora.rank"
MERGE = f"{MODEL}.lora.merge"
NAME = f"{ROLLOUT}.name"
LARGEST = 512
"""The largest rank that vLLM loads. Source: `MaxLoRARanks` of `vllm/config/lora.py`, and VeRL's own copy of it."""


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


ROWS: tuple[Row, ...] = (
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
)
