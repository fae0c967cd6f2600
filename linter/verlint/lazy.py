"""Regular expressions that are compiled when they are first used.

Compiling is the slow part of importing a module full of expressions, and most runs use a few of them only. Type
checkers see `re.compile`.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from re import compile as _compile

    pattern = _compile

_ATTRIBUTES = (
    *("match", "fullmatch", "search", "finditer", "findall", "split", "sub", "subn", "scanner"),
    *("pattern", "flags", "groups", "groupindex"),
)


class _Compiled:
    """Has what a compiled expression has."""

    __slots__ = ("_given", *_ATTRIBUTES)

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._given = (pattern, flags)

    def __repr__(self) -> str:
        return f"pattern({self._given[0]!r})"


class _Pattern(_Compiled):
    """The first attribute that is asked for compiles the expression and fills in all, which are plain ones then."""

    __slots__ = ()

    def __getattr__(self, name: str) -> object:
        if name not in _ATTRIBUTES:
            raise AttributeError(name)
        compiled = re.compile(*self._given)
        for each in _ATTRIBUTES:
            setattr(self, each, getattr(compiled, each))
        self.__class__ = _Compiled  # type: ignore[assignment]
        found: object = getattr(compiled, name)
        return found


if not TYPE_CHECKING:
    pattern = _Pattern
