"""VeRL versions as numbers to compare."""

from __future__ import annotations

from verlint.lazy import pattern

_VERSION = pattern(r"v?(\d+(?:\.\d+)*)")
_WHOLE = pattern(r"v?\d+(?:\.\d+)*(?:[.-]?(?:a|b|rc|dev|post)[.-]?\d*)*(?:\+[\w.]+)?(?:\.[x*])?")


def is_version(text: str) -> bool:
    """Whether a text is the name of a version: `0.7.1`, `v0.3.0.post1`, `0.8.0.dev`, `0.6.x`."""
    return _WHOLE.fullmatch(text.strip()) is not None


def version_key(text: str) -> tuple[int, ...] | None:
    """A version as numbers to compare (`0.2.0.post2` is 0.2.0); None for what is no version."""
    text = text.strip()
    numbers = text.split(".")
    if len(numbers) > 1 and text.isascii() and all(map(str.isdigit, numbers)):
        return tuple(map(int, numbers))
    match = _VERSION.match(text)
    return tuple(int(each) for each in match.group(1).split(".")) if match else None


def padded(text: str) -> tuple[int, ...]:
    """A version as three numbers to compare, so that 0.4 is 0.4.0."""
    return (*(version_key(text) or ()), 0, 0, 0)[:3]
