"""Defaults of VeRL's configuration by version, for the keys that rules judge when a launcher leaves them out.

Each row: key, then (first version, default) pairs, oldest first. Source: `verl/trainer/config/ppo_trainer.yaml` (from
0.5.0 on its composed form) of the released wheels 0.2.0 to 0.9.1."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from verlint.value import Data

TABLE: Mapping[str, tuple[tuple[str, Data], ...]] = {
    "actor_rollout_ref.actor.ppo_epochs": (("0.2", 1),),
    "actor_rollout_ref.actor.use_kl_loss": (("0.2", False),),
    "actor_rollout_ref.actor.kl_loss_coef": (("0.2", 0.001),),
    "actor_rollout_ref.actor.entropy_coeff": (("0.2", 0.001), ("0.4", 0)),
    "actor_rollout_ref.actor.ppo_mini_batch_size": (("0.2", 256),),
    "data.train_batch_size": (("0.2", 1024),),
    "algorithm.adv_estimator": (("0.2", "gae"),),
    "algorithm.kl_ctrl.kl_coef": (("0.2", 0.001),),
    "trainer.save_freq": (("0.2", -1),),
}

CONSTANT = {key: rows[0][1] for key, rows in TABLE.items() if len(rows) == 1}
"""Defaults that no version changed; they hold when the version is not known."""


def version_key(text: str) -> tuple[int, ...] | None:
    """A version as numbers to compare (`0.2.0.post2` is 0.2.0); None for what is no version."""
    match = re.match(r"v?(\d+(?:\.\d+)*)", text.strip())
    return tuple(int(each) for each in match.group(1).split(".")) if match else None


@lru_cache
def defaults_of(version: str) -> Mapping[str, Data]:
    """The defaults of a version; those that never changed when the version is "" or cannot be read."""
    wanted = version_key(version)
    if wanted is None:
        return CONSTANT
    found: dict[str, Data] = {}
    for key, rows in TABLE.items():
        for since, default in rows:
            if (version_key(since) or ()) <= wanted:
                found[key] = default
    return found
