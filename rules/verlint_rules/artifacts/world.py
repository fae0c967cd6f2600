"""The GPUs that a run's shards belong to."""

from __future__ import annotations

from verlint.experiment.launch import Launch
from verlint.verl.facts import Facts
from verlint.verl.undecided import Undecided, outcomes


def worlds_differ(first: Launch, second: Launch) -> tuple[int, int] | None:
    """The GPUs of two FSDP runs when they surely differ, else None."""
    one, other = world(first), world(second)
    return None if one is None or other is None or one == other else (one, other)


def world(launch: Launch) -> int | None:
    """The GPUs of an FSDP run, as all versions that fit agree on them."""
    found = {_world(facts) for facts in launch.facts}
    return found.pop() if len(found) == 1 else None


def _world(facts: Facts) -> int | None:
    try:
        if any(answer is not True for answer, _ in outcomes(facts, lambda each: each.sharded)):
            return None
        return facts.n_gpus
    except Undecided:
        return None
