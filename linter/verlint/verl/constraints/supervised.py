"""Supervised training, one process on each GPU.

Source: `trainer/fsdp_sft_trainer.py:_normalize_config_bsz` and `_build_model_optimizer` (0.2 to 0.7.0)."""

from __future__ import annotations

from verlint.verl.constraints import AT_WORKERS, SUPERVISED, Row, above, nearest
from verlint.verl.divisors import divisors
from verlint.verl.facts import TRAIN_BATCH, Facts

MICRO = "data.micro_batch_size_per_gpu"
PARALLEL = "ulysses_sequence_parallel_size"
REMOVE_PADDING = "use_remove_padding"

_UNTIL = "0.7.0"
_SIZES = "FSDPSFTTrainer._normalize_config_bsz"


def _ranks(facts: Facts) -> int:
    shared = max(facts.count(PARALLEL, 1), 1)
    return facts.processes // shared


def _ranks_said(facts: Facts) -> str:
    shared = facts.count(PARALLEL, 1)
    processes = f"{facts.processes} processes"
    return f"{_ranks(facts)} ranks ({processes}, {shared} to a rank)" if shared > 1 else processes


def _uneven(facts: Facts) -> bool:
    return _ranks(facts) > 0 and facts.count(TRAIN_BATCH) % _ranks(facts) != 0


def _broken_up(facts: Facts) -> bool:
    micro = facts.count(MICRO)
    if micro <= 0 or _ranks(facts) <= 0 or _uneven(facts):
        return False
    return facts.count(TRAIN_BATCH) // _ranks(facts) % micro != 0


def _broken_up_message(facts: Facts) -> str:
    each = facts.count(TRAIN_BATCH) // _ranks(facts)
    return f"{facts.said(TRAIN_BATCH)} is {each} on each of {_ranks_said(facts)}, no multiple of {facts.said(MICRO)}"


def _broken_up_help(facts: Facts) -> str:
    each = facts.count(TRAIN_BATCH) // _ranks(facts)
    fitting = [size for size in divisors(each) if size <= facts.count(MICRO)]
    return f"set {MICRO}={fitting[-1]}" if fitting else f"set {TRAIN_BATCH} to at least {_ranks(facts)}"


BATCHES: tuple[Row, ...] = (
    Row(
        "T24",
        "0.2.0",
        (TRAIN_BATCH, PARALLEL),
        _uneven,
        lambda facts: f"{facts.said(TRAIN_BATCH)} is not a multiple of {_ranks_said(facts)}",
        lambda facts: f"set {TRAIN_BATCH} to {nearest(facts.count(TRAIN_BATCH), _ranks(facts))}",
        _SIZES,
        AT_WORKERS,
        until=_UNTIL,
        entries=SUPERVISED,
        fix=lambda facts: (TRAIN_BATCH, str(above(facts.count(TRAIN_BATCH), _ranks(facts)))),
    ),
)
"""Batches divide over the processes."""

PARTS: tuple[Row, ...] = (
    Row(
        "T24m",
        "0.2.0",
        (MICRO, TRAIN_BATCH),
        _broken_up,
        _broken_up_message,
        _broken_up_help,
        _SIZES,
        AT_WORKERS,
        until=_UNTIL,
        entries=SUPERVISED,
    ),
)
"""Batches of a process are whole micro-batches."""

SEQUENCES: tuple[Row, ...] = (
    Row(
        "T24p",
        "0.2.0",
        (REMOVE_PADDING, PARALLEL),
        lambda facts: facts.count(PARALLEL, 1) > 1 and not facts.flag(REMOVE_PADDING),
        lambda facts: f"{facts.said(PARALLEL)} needs {facts.said(REMOVE_PADDING)} to be True",
        lambda facts: f"set {REMOVE_PADDING}=True",
        "FSDPSFTTrainer: Sequence parallel is only supported when remove_padding is enabled",
        AT_WORKERS,
        until=_UNTIL,
        entries=SUPERVISED,
        fix=lambda facts: (REMOVE_PADDING, "True"),
        safe=True,
    ),
)
"""Sequences that several processes share have no padding."""
