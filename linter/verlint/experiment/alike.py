"""Names of runs that are like one that nothing makes."""

from __future__ import annotations

import re
from collections.abc import Sequence

CUTOFF = 0.6


def alike(name: str, names: Sequence[str], most: int = 2) -> list[str]:
    """The names like one, the likeliest first.

    `names` come in the order in which the runs are made. The letters of two rounds of one run are equally far from
    those of a third, so of the names that differ from this one only in numbers the last comes first."""
    from difflib import get_close_matches

    order = list(dict.fromkeys(reversed(names)))
    close = get_close_matches(name, order, n=len(order) or 1, cutoff=CUTOFF)
    shape = _shape(name)
    rounds = [each for each in order if each in close and _shape(each) == shape]
    return [*rounds, *(each for each in close if each not in rounds)][:most]


def _shape(name: str) -> str:
    return re.sub(r"\d+", "#", name)
