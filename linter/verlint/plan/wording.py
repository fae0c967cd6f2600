"""Steps of checkpoints and names of stages, said in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verlint.experiment.spec import step_range
from verlint.lazy import pattern

_OF_ROUND = pattern(r"r(\d+)-(.+)")


def single_step(steps: object) -> str:
    """The one step that is meant, "" for a range, a list or an interval."""
    text = str(steps)
    return text if text.isdecimal() or re.fullmatch(r"<\w*STEP>", text) else ""


def steps_said(steps: object) -> str:
    """`step 100`, `steps 2 to 100 by 2`."""
    if step := single_step(steps):
        return f"step {step}"
    items = steps if isinstance(steps, list) else [steps]
    return "steps " + " and ".join(_range_said(str(item)) for item in items)


def _range_said(text: str) -> str:
    found = step_range(text)
    return f"{found.start} to {found[-1]} by {found.step}" if found is not None else text


def machines(nodes: str, accelerators: str) -> str:
    """`2 nodes with 8 H100` for two nodes of `H100:8`."""
    kind, colon, number = accelerators.partition(":")
    return f"{nodes} node{'' if nodes == '1' else 's'} with {f'{number} {kind}' if colon else accelerators}"


def stages_said(names: Sequence[str], every: Sequence[str] = ()) -> str:
    """Names of stages; those of rounds are put together, and all that there are (`every`) are called so."""
    if len(names) > 3 and set(names) == set(every):
        return "all steps"
    rounds: dict[str, list[int]] = {}
    others: list[str] = []
    for name in names:
        if found := _OF_ROUND.fullmatch(name):
            rounds.setdefault(found[2], []).append(int(found[1]))
        else:
            others.append(name)
    if all(len(numbers) == 1 for numbers in rounds.values()):
        return ", ".join(names)
    kinds: dict[tuple[int, ...], list[str]] = {}
    for kind, numbers in rounds.items():
        kinds.setdefault(tuple(numbers), []).append(kind)
    said = [f"{', '.join(each)} of {_rounds_said(numbers)}" for numbers, each in kinds.items()]
    return "; ".join([*([", ".join(others)] if others else []), *said])


def _rounds_said(numbers: tuple[int, ...]) -> str:
    if len(numbers) == 1:
        return f"round {numbers[0]}"
    if numbers == tuple(range(numbers[0], numbers[-1] + 1)):
        return f"rounds {numbers[0]} to {numbers[-1]}"
    return "rounds " + ", ".join(str(each) for each in numbers)
