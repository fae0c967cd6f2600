"""What is on disk of a launch: the configs of its models, and the rows of its data files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from verlint import disk
from verlint.experiment.launch import Launch
from verlint.experiment.paths import absolute, in_tree
from verlint.settings import Settings
from verlint.value import Literal, Text, Value, literal
from verlint.verl.facts import CRITIC_PATH, MODEL_PATH

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from verlint.verl.model_config import ModelConfig

PATHS = ("actor_rollout_ref.model.hf_config_path", MODEL_PATH)
"""The keys that say where the config of the policy is, the first that is given counts (`HFModelConfig`)."""
CRITIC_PATHS = ("critic.model.hf_config_path", CRITIC_PATH)


class OnDisk:
    """Knows the model configs and data files of a project; each is read once. `root` is the project's."""

    def __init__(self, root: Path, settings: Settings) -> None:
        self.root = root
        self.said = settings.model_config
        self._known: dict[str, ModelConfig | None] = {}
        self._rows: dict[str, int | None] = {}

    def config_of(self, launch: Launch) -> ModelConfig | None:
        """The config of the model that the launch starts from, None when it is not at hand."""
        return self._config(self.said or _place(launch, PATHS))

    def critic_of(self, launch: Launch) -> ModelConfig | None:
        """The config of the model that the critic starts from: that of the policy when it is the same model."""
        policy, critic = launch[MODEL_PATH].text, launch[CRITIC_PATH].text
        same = policy is not None and critic is not None and policy.identity() == critic.identity()
        return self.config_of(launch) if same else self._config(_place(launch, CRITIC_PATHS))

    def rows_of(self, launch: Launch, paths: Sequence[str]) -> int | None:
        """The rows in data files together, None unless all are at hand."""
        counts = [self._count(_below_root(Text((Literal(path),)), launch)) for path in paths]
        return None if None in counts or not counts else sum(filter(None, counts))

    def _count(self, place: str | None) -> int | None:
        if place is None:
            return None
        if place not in self._rows:
            from verlint.verl.data_file import rows_of

            self._rows[place] = rows_of(self.root / place)
        return self._rows[place]

    def _config(self, place: str | None) -> ModelConfig | None:
        if place is None:
            return None
        if place not in self._known:
            self._known[place] = self._read(place)
        return self._known[place]

    def _read(self, place: str) -> ModelConfig | None:
        said = place == self.said
        path = Path(place) if said else self.root / place
        if not disk.exists(path):  # most models are named for a hub
            return None
        from verlint.verl.model_config import ModelConfigError, read_model_config

        try:
            return read_model_config(path, shown(path) if said or not os.path.isabs(place) else place)
        except ModelConfigError:
            return None


def shown(path: Path) -> str:
    """A path from the current folder when it is below it, else as it is."""
    try:
        near = os.path.relpath(path)
    except ValueError:  # another drive
        near = ".."
    return (path.as_posix() if near.startswith("..") else near).replace(os.sep, "/")


def _place(launch: Launch, keys: Sequence[str]) -> str | None:
    """The folder of a model: an absolute path, or one below the root of the project."""
    given = next((value for key in keys if (value := launch[key]).given and value.equals(None) is not True), None)
    return None if given is None else _placed(given, launch)


def _placed(value: Value, launch: Launch) -> str | None:
    text = literal(value.data) if value.decided and isinstance(value.data, str) else value.text
    return None if text is None else _below_root(text, launch)


def _below_root(path: Text, launch: Launch) -> str | None:
    if path.known is not None and path.known.startswith("/"):
        return path.known
    cwd = launch.command.around.cwd
    return in_tree(absolute(path, cwd)) if cwd.parts else None
