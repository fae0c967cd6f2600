"""The configs of recipes, which VeRL's wheels leave out: what each adds to a config of the release.

Source: `recipe/dapo/config/dapo_trainer.yaml` of the releases 0.4.0 to 0.7.0; the folder is a repository of its own
since."""

from __future__ import annotations

from collections.abc import Mapping

from verlint.record import dataclass
from verlint.value import Data
from verlint.verl.versions import padded


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recipe's config: its name, the config below it, the releases that have it, what it sets."""

    config: str
    base: str
    first: str
    last: str
    sets: Mapping[str, Data]

    def in_version(self, version: str) -> bool:
        """Whether a release has the recipe."""
        return padded(self.first) <= padded(version) <= padded(self.last)


_DAPO: Mapping[str, Data] = {
    "data.gen_batch_size": "${data.train_batch_size}",
    "reward_model.reward_manager": "dapo",
    "reward_model.overlong_buffer.enable": False,
    "reward_model.overlong_buffer.len": 0,
    "reward_model.overlong_buffer.penalty_factor": 0.0,
    "reward_model.overlong_buffer.log": False,
    "algorithm.filter_groups.enable": False,
    "algorithm.filter_groups.metric": None,
    "algorithm.filter_groups.max_num_gen_batches": 0,
    "trainer.project_name": "verl-dapo",
}

RECIPES: Mapping[str, Recipe] = {
    "recipe.dapo.main_dapo": Recipe("dapo_trainer", "ppo_trainer", "0.4.0", "0.7.0", _DAPO),
}
"""By the module that starts it."""


def recipe_config(version: str, module: str) -> str:
    """The config that a recipe starts with on a release, "" for what is no recipe of it."""
    recipe = RECIPES.get(module)
    return recipe.config if recipe is not None and recipe.in_version(version) else ""


def recipe_of_config(version: str, name: str) -> Recipe | None:
    """The recipe of a release whose config has this name."""
    return next((each for each in RECIPES.values() if each.config == name and each.in_version(version)), None)
