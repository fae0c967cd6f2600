"""Composes the config of a VeRL checkout as Hydra would: config files, their defaults lists, the overrides of a call.

Nothing of the checkout is imported; its files are read as text.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

from verlint.files.tree import Tree as Files
from verlint.languages.hydra.override import Override
from verlint.record import dataclass
from verlint.verl.config_yaml import Config, ConfigError, ConfigFile, read_config
from verlint.verl.defaults_list import DefaultsList, Part
from verlint.verl.group_choices import Choices
from verlint.verl.interpolation import Resolver, Tree
from verlint.verl.overriding import Applied, apply, merge

SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a default is written: the path of the config file as it is shown, and the line from 1."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class ConfigFolders:
    """The config files of a search path. `folders` are paths below the root of the files; the first one wins.

    `packages` is the folder that holds the Python packages (`pkg://verl.trainer.config` is looked for in it)."""

    def __init__(self, files: Files, folders: Sequence[str], packages: str = "") -> None:
        self.files = files
        self.folders = list(folders)
        self.packages = packages
        self._loaded: dict[str, ConfigFile | None] = {}
        self._groups: dict[str, bool] = {}
        self._composed: dict[str, tuple[Tree, dict[str, Place]]] = {}
        self._paths: dict[str, str] = {}

    def load(self, config_path: str) -> ConfigFile | None:
        """A config by its path below the search path, without suffix; None when there is none."""
        path = posixpath.normpath(config_path)
        if path not in self._loaded:
            self._loaded[path] = self._read(path)
        return self._loaded[path]

    def _read(self, path: str) -> ConfigFile | None:
        names = [path] if path.endswith(SUFFIXES) else [path + ".yaml"]
        for folder in self.folders:
            for name in names:
                source = self.files.source(posixpath.join(folder, name))
                if source is not None:
                    self._paths[path] = source.path
                    return read_config(source)
        return None

    def is_group(self, key: str) -> bool:
        """Whether a key is that of a config group: a folder of the search path."""
        found = self._groups.get(key)
        if found is None:
            found = self._groups[key] = any(self.files.is_dir(posixpath.join(each, key)) for each in self.folders)
        return found

    def options(self, group: str) -> list[str]:
        """The options of a group."""
        names = {name for folder in self.folders for name in self.files.listing(posixpath.join(folder, group))}
        return sorted(name[: -len(".yaml")] for name in names if name.endswith(".yaml"))

    def compose(self, name: str, choices: Choices | None = None) -> tuple[Tree, dict[str, Place]]:
        """The config `name` before overrides of single keys, and where each key is written; not to be changed. Raises
        ConfigError."""
        choices = choices or Choices()
        if choices.replaced or choices.added or choices.deleted:
            return self._compose(name, choices)
        if name not in self._composed:
            self._composed[name] = self._compose(name, choices)
        return self._composed[name]

    def _compose(self, name: str, choices: Choices) -> tuple[Tree, dict[str, Place]]:
        primary = self.load(name)
        if primary is None:
            raise ConfigError(f"there is no config {name}")
        self._extend(primary)
        tree: Tree = {}
        places: dict[str, Place] = {}
        for part in DefaultsList(self.load, choices).parts(name):
            self._merge(part, tree, places)
        tree.pop("hydra", None)
        return tree, places

    def _merge(self, part: Part, tree: Tree, places: dict[str, Place]) -> None:
        loaded = self.load(part.config_path)
        assert loaded is not None
        content: Config = loaded.data
        for piece in reversed(part.package.split(".") if part.package else []):
            content = {piece: content}
        merge(tree, content, Resolver(tree))
        shown = self._paths[posixpath.normpath(part.config_path)]
        prefix = part.package + "." if part.package else ""
        for key, line in loaded.lines.items():
            places[prefix + key] = Place(shown, line)

    def _extend(self, primary: ConfigFile) -> None:
        """Add the folders that `hydra.searchpath` of the primary config names."""
        own = primary.data.get("hydra")
        paths = own.get("searchpath") if isinstance(own, dict) else None
        for each in paths if isinstance(paths, list) else ():
            scheme, _, rest = str(each).partition("://")
            if scheme == "pkg":
                folder = posixpath.join(self.packages, rest.replace(".", "/"))
            elif scheme == "file" and not rest.startswith("/"):
                folder = posixpath.join(self.packages, rest)
            else:
                continue
            if folder not in self.folders:
                self.folders.append(folder)
                self._groups.clear()
                self._loaded = {path: file for path, file in self._loaded.items() if file is not None}

    def apply(self, name: str, overrides: Iterable[Override], *, multirun: bool = False) -> Applied:
        """The config of a call with these overrides."""
        primary = self.load(name)
        if primary is None:
            raise ConfigError(f"there is no config {name}")
        self._extend(primary)
        return apply(overrides, self.is_group, lambda choices: self.compose(name, choices)[0], multirun=multirun)
