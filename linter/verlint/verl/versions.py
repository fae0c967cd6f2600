"""VeRL versions as numbers to compare."""

from __future__ import annotations

from verlint.lazy import pattern

_VERSION = pattern(r"v?(\d+(?:\.\d+)*)")


def version_key(text: str) -> tuple[int, ...] | None:
    """A version as numbers to compare (`0.2.0.post2` is 0.2.0); None for what is no version."""
    match = _VERSION.match(text.strip())
    return tuple(int(each) for each in match.group(1).split(".")) if match else None
