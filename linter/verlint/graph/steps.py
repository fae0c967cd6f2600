"""Checkpoint steps in words, and paths in which a step stands for all."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from verlint.lazy import pattern

_STEP = pattern(r"(global_step_)(\d{1,12})(?!\d)")
_SHOWN = 4


def steps_text(steps: Iterable[int]) -> str:
    """`800`, `10..100/10` (from, to, distance), `30, 60, 150`; more without a common distance as `30 … 400 (9)`."""
    every = sorted(set(steps))
    gaps = {after - before for before, after in pairwise(every)}
    if len(every) > 2 and len(gaps) == 1:
        gap = gaps.pop()
        return f"{every[0]}..{every[-1]}" + (f"/{gap}" if gap > 1 else "")
    if len(every) <= _SHOWN:
        return ", ".join(map(str, every))
    return f"{every[0]} … {every[-1]} ({len(every)})"


def without_steps(path: str) -> tuple[str, list[int]]:
    """A path with `global_step_*` for each known step, and the steps that stood there."""
    return _STEP.sub(r"\1*", path), [int(number) for _, number in _STEP.findall(path)]
