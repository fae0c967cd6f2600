"""The divisors of a number of prompts, samples, GPUs or heads."""

from math import isqrt

_MOST_TRIED = 1_000_000


def divisors(number: int) -> list[int]:
    """All divisors of a positive number, in order: of one above 10^12 only those up to a million, and what is left over
    when it is divided by these. Of 0 and below only 1, as every number would do."""
    if number <= 0:
        return [1]
    small = [each for each in range(1, min(isqrt(number), _MOST_TRIED) + 1) if number % each == 0]
    return sorted({*small, *(number // each for each in small)})
