"""Results that are kept by the identity of what they are about.

Many rules ask the same of the same command: which program it starts, what it installs. Words and commands do not change
once they are made, so the answer is kept beside the object until `forget` lets go of both."""

from __future__ import annotations

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")
    R = TypeVar("R")

_KEPT: list[dict[int, Any]] = []


def by_identity(function: Callable[[T], R]) -> Callable[[T], R]:
    """A function of one object that never changes, which is called once for each object."""
    kept: dict[int, tuple[T, R]] = {}
    _KEPT.append(kept)

    def known(subject: T) -> R:
        found = kept.get(id(subject))
        if found is None:  # the object is kept too, so that no other one gets its identity
            found = kept[id(subject)] = (subject, function(subject))
        return found[1]

    known.__doc__, known.__name__ = function.__doc__, function.__name__
    return known


def forget() -> None:
    """Let go of all that is kept."""
    for kept in _KEPT:
        kept.clear()
