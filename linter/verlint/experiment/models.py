"""The config of the model that a launch starts from: of a file that the call names, or where the launch says."""

from __future__ import annotations

import os
from pathlib import Path

from verlint.experiment.launch import Launch
from verlint.experiment.paths import absolute, in_tree
from verlint.settings import Settings
from verlint.value import Value, literal
from verlint.verl.model_config import ModelConfig, ModelConfigError, read_model_config

PATHS = ("actor_rollout_ref.model.hf_config_path", "actor_rollout_ref.model.path")
"""The keys that say where the config of the policy is, the first that is given counts (`HFModelConfig`)."""


class Models:
    """Knows the model configs of a project; each file is read once. `root` is the project's."""

    def __init__(self, root: Path, settings: Settings) -> None:
        self.root = root
        self.said = settings.model_config
        self._known: dict[str, ModelConfig | None] = {}

    def config_of(self, launch: Launch) -> ModelConfig | None:
        """The config of the model that the launch starts from, None when it is not at hand."""
        place = self.said or _place(launch)
        if place is None:
            return None
        if place not in self._known:
            self._known[place] = self._read(place)
        return self._known[place]

    def _read(self, place: str) -> ModelConfig | None:
        path = Path(place) if self.said else self.root / place
        try:
            return read_model_config(path, shown(path) if self.said or not os.path.isabs(place) else place)
        except ModelConfigError:
            return None


def shown(path: Path) -> str:
    """A path from the current folder when it is below it, else as it is."""
    try:
        near = os.path.relpath(path)
    except ValueError:  # another drive
        near = ".."
    return (path.as_posix() if near.startswith("..") else near).replace(os.sep, "/")


def _place(launch: Launch) -> str | None:
    """The folder of the model: an absolute path, or one below the root of the project."""
    given = next((value for key in PATHS if (value := launch[key]).given and value.equals(None) is not True), None)
    if given is None:
        return None
    return _placed(given, launch)


def _placed(value: Value, launch: Launch) -> str | None:
    text = literal(value.data) if value.decided and isinstance(value.data, str) else value.text
    if text is None:
        return None
    if text.known is not None and text.known.startswith("/"):
        return text.known
    cwd = launch.command.around.cwd
    return in_tree(absolute(text, cwd)) if cwd.parts else None
