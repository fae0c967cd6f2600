"""VeRL versions as numbers to compare."""

from __future__ import annotations

from functools import lru_cache

from verlint.lazy import pattern

_MOST_DIGITS = 18
_DIGITS = "0123456789"
_WHOLE = pattern(r"v?\d+(?:\.\d+)*(?:[.-]?(?:a|b|rc|dev|post)[.-]?\d*)*(?:\+[\w.]+)?(?:\.[x*])?")


def is_version(text: str) -> bool:
    """Whether a text is the name of a version: `0.7.1`, `v0.3.0.post1`, `0.8.0.dev`, `0.6.x`."""
    return _WHOLE.fullmatch(text.strip()) is not None


@lru_cache(maxsize=256)
def version_key(text: str) -> tuple[int, ...] | None:
    """A version as numbers to compare (`0.2.0.post2` is 0.2.0); None for what is no version."""
    numbers: list[int] = []
    for piece in text.strip().removeprefix("v").split("."):
        rest = piece.lstrip(_DIGITS)
        if len(rest) < len(piece):
            numbers.append(int(piece[: len(piece) - len(rest)][:_MOST_DIGITS]))
        if rest or not piece:
            break
    return tuple(numbers) or None


def padded(text: str) -> tuple[int, ...]:
    """A version as three numbers to compare, so that 0.4 is 0.4.0."""
    return (*(version_key(text) or ()), 0, 0, 0)[:3]
