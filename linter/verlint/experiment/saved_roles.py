"""Of which models a launch saves checkpoints."""

from __future__ import annotations

from verlint.experiment.launch import Launch
from verlint.families import FAMILIES

ROLES = ("actor", "critic")

_WITHOUT_CRITIC = frozenset(["grpo", "rloo", "remax", "reinforce_plus_plus", "reinforce_plus_plus_baseline", "opo"])
"""Advantage estimators that need no critic. Source: VeRL 0.2 to 0.9.1, `verl/trainer/ppo/ray_trainer.py`."""


def saved_roles(launch: Launch) -> frozenset[str] | None:
    """The roles that a launch saves checkpoints of, None when that cannot be told."""
    family = FAMILIES.get(launch.family)
    kind = family.stage(launch.stage) if family is not None else None
    if kind is not None:
        return frozenset(kind.saves)
    if not launch.program.entry.endswith(("main_ppo", "main_ppo.py")):
        return None
    if launch["critic.model.path"].given:
        return frozenset(ROLES)
    estimator, critic = launch["algorithm.adv_estimator"], launch["critic.enable"]
    if estimator.given and str(estimator) in _WITHOUT_CRITIC and not critic.given:
        return frozenset(["actor"])
    return frozenset(ROLES) if estimator.equals("gae") else None
