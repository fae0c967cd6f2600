"""Results that are kept by the identity of what they are about.

Many rules ask the same of the same command: which program it starts, what it installs. Words and commands do not change
once they are made, so the answer is kept beside the object until `forget` lets go of both."""

from __future__ import annotations

from _weakref import ref

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar
    from weakref import WeakKeyDictionary as WeakKeyDictionary

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


class _WeakKeyDictionary:
    """What is kept beside objects for as long as they live; the standard module takes longer to import than this."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[ref[Any], Any] = {}

    def __getitem__(self, key: object) -> Any:
        return self._kept[ref(key)]

    def __setitem__(self, key: object, value: object) -> None:
        self._kept[ref(key, self._let_go)] = value

    def __contains__(self, key: object) -> bool:
        return ref(key) in self._kept

    def get(self, key: object, otherwise: object = None) -> Any:
        return self._kept.get(ref(key), otherwise)

    def setdefault(self, key: object, value: object) -> Any:
        if key not in self:
            self[key] = value
        return self[key]

    def _let_go(self, gone: ref[Any]) -> None:
        self._kept.pop(gone, None)


if not TYPE_CHECKING:
    WeakKeyDictionary = _WeakKeyDictionary


def forget() -> None:
    """Let go of all that is kept."""
    for kept in _KEPT:
        kept.clear()
