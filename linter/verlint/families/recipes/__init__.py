"""How the stages of each family are called, as data for plans and for the check of their inputs.

Kinds, records, branches, saved roles and handovers are those of `verlint.families`; what stands here is the rest of a
call. Sources: launchers, tools and READMEs of microsoft/LMOps `oel`, `opcd`, `llm-as-a-coach`, `gad`, `opo`.
"""

from __future__ import annotations

from collections.abc import Mapping

from verlint.families.recipes.coach import COACH
from verlint.families.recipes.gad import GAD
from verlint.families.recipes.model import Cookbook, DataFiles
from verlint.families.recipes.oel import OEL
from verlint.families.recipes.opcd import OPCD
from verlint.families.recipes.opo import OPO

COOKBOOKS: Mapping[str, Cookbook] = {book.family: book for book in (OEL, OPCD, COACH, GAD, OPO)}

NOT_THESE = ("minillm", "dpkd", "tuna", "corag", "llma")
"""Methods of the same repository that are none of these families."""


def profiles() -> dict[str, DataFiles]:
    """The data profiles of all families by name."""
    return {name: files for book in COOKBOOKS.values() for name, files in book.data.items()}
