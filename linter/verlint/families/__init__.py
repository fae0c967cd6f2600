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

FAMILIES: Mapping[str, Family] = {family.name: family for family in (OEL, OPCD, COACH, GAD, OPO)}


@lru_cache(maxsize=4096)
def stages_of_launcher(path: str) -> tuple[tuple[Family, StageKind], ...]:
    """The stages that a launcher of this path may run; several families share some names."""
    found: list[tuple[Family, StageKind]] = []
    for family in FAMILIES.values():
        found += [
            (family, stage)
            for stage in family.stages.values()
            if any(re.search(rf"(?:^|/){pattern}$", path) for pattern in stage.launchers)
        ]
    return tuple(found)


def family_of_folder(path: str) -> Family | None:
    """The family whose folder name is on a path, the innermost first; None when there is none."""
    for piece in reversed(path.split("/")[:-1]):
        for family in FAMILIES.values():
            if piece in family.folders:
                return family
    return None
