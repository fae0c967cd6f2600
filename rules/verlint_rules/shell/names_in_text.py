"""Which variables a text asks for, or sets, as far as its characters tell. Looked up once for each text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from verlint.lazy import pattern

_ASKED = pattern(r"\$\{([A-Za-z_]\w*):?[?=]")
_SET = pattern(r"(?<![\w$])([A-Za-z_]\w*)(?==)")
_GIVEN = pattern(r"(?<![\w$])([A-Za-z_]\w*)(?=\+?=[^\s;])")
_READ = pattern(r"\b(?:read|for|mapfile|getopts)\b[^\n;]*")
_NAME = pattern(r"[A-Za-z_]\w*")


@lru_cache(maxsize=4)
def asked_for(text: str) -> Mapping[str, int]:
    """The names in `${NAME:?}` or `${NAME:=}`, so that behind it the script has ended or the name has a value, each
    with the offset of its first one."""
    found: dict[str, int] = {}
    for match in _ASKED.finditer(text):
        found.setdefault(match[1], match.start())
    return found


@lru_cache(maxsize=4)
def set_names(text: str) -> frozenset[str]:
    """The names that are assigned, be it nothing."""
    return frozenset(_SET.findall(text))


@lru_cache(maxsize=4)
def given_names(text: str) -> frozenset[str]:
    """The names that get a value: by assignment, `read`, `for`, `mapfile` or `getopts`."""
    read = (name for match in _READ.finditer(text) for name in _NAME.findall(match.group()))
    return frozenset(_GIVEN.findall(text)).union(read)
