"""Defaults of VeRL's PPO config by version.

`CONSTANT` holds those that no released version changed; they tell stages apart before the version is known, and cost
nothing. Source: `verl/trainer/config/ppo_trainer.yaml` of the released wheels 0.2 to 0.9.1 (a test compares them with
`schemas.json.gz`)."""

from __future__ import annotations

from collections.abc import Mapping

from verlint.value import Data
from verlint.verl.versions import version_key

CONSTANT: Mapping[str, Data] = {
    "actor_rollout_ref.actor.ppo_epochs": 1,
    "actor_rollout_ref.actor.use_kl_loss": False,
    "actor_rollout_ref.actor.kl_loss_coef": 0.001,
    "actor_rollout_ref.actor.ppo_mini_batch_size": 256,
    "data.train_batch_size": 1024,
    "algorithm.adv_estimator": "gae",
    "algorithm.kl_ctrl.kl_coef": 0.001,
    "trainer.save_freq": -1,
}


def defaults_of(version: str) -> Mapping[str, Data]:
    """The defaults of a version, references resolved; those that never changed when the version is "" or not known."""
    if version_key(version) is None:
        return CONSTANT
    from verlint.verl.in_use import fixed

    return fixed(version).defaults(())


__all__ = ["CONSTANT", "defaults_of", "version_key"]
