"""The families verlint knows, as data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from verlint.families.coach import COACH
from verlint.families.gad import GAD
from verlint.families.model import Family, StageKind
from verlint.families.oel import OEL
from verlint.families.opcd import OPCD
from verlint.families.opo import OPO
from verlint.lazy import pattern

FAMILIES: Mapping[str, Family] = {family.name: family for family in (OEL, OPCD, COACH, GAD, OPO)}


_NOT_PLAIN = pattern(r"\((?:[^()]|\([^()]*\))*\)[?*]?|\[[^]]*\][*+?]?|\\.|\w[?*{]|[^\w|]")
"""What is no plain character in the expressions of launchers: groups, sets, escapes, characters that may be absent."""


@lru_cache(maxsize=4096)
def stages_of_launcher(path: str) -> tuple[tuple[Family, StageKind], ...]:
    """The stages that a launcher of this path may run; several families share some names."""
    found: list[tuple[Family, StageKind]] = []
    for family in FAMILIES.values():
        found += [
            (family, stage)
            for stage in family.stages.values()
            if any(_core(each) in path and re.search(rf"(?:^|/){each}$", path) for each in stage.launchers)
        ]
    return tuple(found)


@lru_cache(maxsize=256)
def _core(expression: str) -> str:
    """Characters that each match of an expression holds: a quick test, as most paths match no expression."""
    plain = _NOT_PLAIN.sub(" ", expression)
    return "" if "|" in plain else max(plain.split(), key=len, default="")


def family_of_folder(path: str) -> Family | None:
    """The family whose folder name is on a path, the innermost first; None when there is none."""
    for piece in reversed(path.split("/")[:-1]):
        for family in FAMILIES.values():
            if piece in family.folders:
                return family
    return None
