"""Which launches train and save as VeRL's PPO trainer does, and what they are told of it."""

from __future__ import annotations

from collections.abc import Callable

from verlint.experiment.launch import Launch
from verlint.experiment.saved_roles import saved_roles
from verlint.lazy import pattern
from verlint.memo import by_identity
from verlint.value import Value
from verlint.verl.facts import Facts
from verlint.verl.undecided import certain

_MAIN = "verl.trainer.main_ppo"
"""The entry point of nearly all launches."""
_TRAINER = pattern(r"(?:.*[./])?main_(?:ppo|dapo|gkd|opo|prime|spin|sppo)(?:\.py)?")
"""Entry points whose trainer is `RayPPOTrainer` or made from it. Source: VeRL 0.2 to 0.9.1, `trainer` and `recipe`."""

FOLDER = "trainer.default_local_dir"
FREQUENCY = "trainer.save_freq"
FILES = ("data.train_files", "data.val_files")
MODE = "trainer.resume_mode"
FROM = "trainer.resume_from_path"
CONTENTS = "actor_rollout_ref.actor.checkpoint.save_contents"
OLD_CONTENTS = "actor_rollout_ref.actor.checkpoint.contents"


@by_identity
def is_training(launch: Launch) -> bool:
    """Whether a launch runs that trainer and updates a policy, as far as its overrides say."""
    entry = launch.program.entry
    if (entry != _MAIN and _TRAINER.fullmatch(entry) is None) or saved_roles(launch) == frozenset():
        return False
    return not (launch["trainer.val_only"].given and launch["trainer.val_only"].equals(False) is not True)


def everywhere(launch: Launch, ask: Callable[[Facts], bool]) -> bool:
    """Whether the answer is a certain yes on every VeRL version that fits; False where no config is known."""
    return bool(launch.facts) and all(certain(facts, ask) is True for facts in launch.facts)


def saves(launch: Launch) -> bool:
    """Whether a launch surely saves checkpoints."""
    frequency = launch[FREQUENCY].number()
    return frequency is not None and frequency > 0


def contents(launch: Launch) -> tuple[Value, frozenset[str]] | None:
    """What a launch says its checkpoints hold, with the value that says it; None when it does not say it plainly."""
    value = next((launch[key] for key in (CONTENTS, OLD_CONTENTS) if launch[key].given), None)
    if value is None or not value.decided or not isinstance(value.data, list):
        return None
    return value, frozenset(str(each) for each in value.data)


def is_test(launch: Launch) -> bool:
    """Whether the command is written below a folder of tests."""
    return "tests" in launch.span.in_file().source.path.split("/")[:-1]
