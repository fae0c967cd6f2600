"""Which branch of a VeRL fork a stage needs, and which one it is on."""

from __future__ import annotations

from verlint.experiment.stage import Stage
from verlint.families import FAMILIES
from verlint.value import Text, Value


def needed_branch(stage: Stage) -> str:
    """The branch that the stage's kind needs, "" when any will do or the kind is not known."""
    kind = stage.kind_data
    return kind.branch if kind is not None else ""


def branches_of(family: str) -> frozenset[str]:
    """The branches that stages of a family need."""
    found = FAMILIES.get(family)
    return frozenset(kind.branch for kind in found.stages.values() if kind.branch) if found is not None else frozenset()


def branch_name(branch: Text | Value | None) -> str | None:
    """The name of a branch without its remote, None when it is not known."""
    if isinstance(branch, Value):
        known = branch.data if branch.decided and isinstance(branch.data, str) else None
    else:
        known = branch.known if branch is not None else None
    if not known or known in ("-", "@") or known.startswith("<"):
        return None
    for prefix in ("refs/heads/", "refs/remotes/", "remotes/"):
        known = known.removeprefix(prefix)
    for remote in ("origin/", "upstream/"):
        known = known.removeprefix(remote)
    return known


def checkout_folder(stage: Stage) -> str:
    """The folder of the checkout that a stage runs from, as families call it."""
    family = FAMILIES.get(stage.family)
    return family.checkout if family is not None and family.checkout else "verl"
