"""Composes the config of a VeRL checkout as Hydra would: config files, their defaults lists, the overrides of a call.

Nothing of the checkout is imported; its files are read as text.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

from verlint.languages.hydra.override import Override
from verlint.record import dataclass, replace
from verlint.source import Source
from verlint.verl.config_yaml import Config, ConfigError, ConfigFile, read_config
from verlint.verl.defaults_list import DefaultsList, Part
from verlint.verl.group_choices import Choices
from verlint.verl.interpolation import Resolver, Tree, leaves
from verlint.verl.overriding import Applied, Refused, apply, merge

SUFFIXES = (".yaml", ".yml")

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from verlint.files.made import Files


@dataclass(frozen=True, slots=True)
class Place:
    """Where a default is written: the path of the config file as it is shown, and the line from 1."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


def _outer_line(source: Source, line: int) -> int:
    """The line of the file that a text stands in, for a line of the text."""
    start = source.offset(line)
    return source.span(start, start + 1).in_file().begin.line


class OnDisk:
    """A folder of config files on disk, by its path below the root of the files."""

    def __init__(self, files: Files, path: str) -> None:
        self.files = files
        self.path = path

    def read(self, name: str) -> tuple[ConfigFile, str] | None:
        """The config file of a name, with its path as it is shown."""
        source = self.files.source(posixpath.join(self.path, name))
        if source is None:
            return None
        file = read_config(source)
        if source.parent is not None:  # it stands in a launcher, some lines down
            lines = {key: _outer_line(source, line) for key, line in file.lines.items()}
            file = replace(file, lines=lines)
        return file, source.path

    def has(self, group: str = "") -> bool:
        """Whether there is such a folder, or one below it."""
        return self.files.is_dir(posixpath.join(self.path, group))

    def names(self, group: str) -> list[str]:
        """The names of the files in a folder below it."""
        return self.files.listing(posixpath.join(self.path, group))


class OfRelease:
    """A folder of config files of a released version (`verl/trainer/config`)."""

    def __init__(self, version: str, path: str) -> None:
        self.version = version
        self.path = path

    def read(self, name: str) -> tuple[ConfigFile, str] | None:
        """The config file of a name; it has no path to show."""
        from verlint.verl.release_files import config_file

        found = config_file(self.version, posixpath.normpath(posixpath.join(self.path, name)))
        return None if found is None else (found, "")

    def has(self, group: str = "") -> bool:
        """Whether there is such a folder, or one below it."""
        from verlint.verl.release_files import is_folder

        return is_folder(self.version, posixpath.join(self.path, group))

    def names(self, group: str) -> list[str]:
        """The names of the files in a folder below it."""
        from verlint.verl.release_files import names_in

        return names_in(self.version, posixpath.join(self.path, group))


class ConfigFolders:
    """The config files of a search path. `folders` are paths below the root of the files, `pkg://a.b` ones too; the
    first one wins.

    `packages` is the folder that holds the package `verl` of a checkout, `places` are further ones that may hold what
    `hydra.searchpath` names: working directory and Python path. `release` is the version whose files stand for those of
    a `verl` that is not on disk. `searchpath` is what the call gives in place of the config's own."""

    def __init__(
        self,
        files: Files,
        folders: Sequence[str | OfRelease],
        packages: str = "",
        places: Sequence[str] = (),
        release: str = "",
        searchpath: Sequence[str] | None = None,
    ) -> None:
        self.files = files
        self.packages = packages
        self.places = [*places, *([packages] if packages or not places else [])]
        self.release = release
        self.searchpath = searchpath
        self._loaded: dict[str, ConfigFile | None] = {}
        self._groups: dict[str, bool] = {}
        self._composed: dict[str, tuple[Tree, dict[str, Place]]] = {}
        self._paths: dict[str, str] = {}
        self._extended: set[str] = set()
        self.folders = [found for each in folders if (found := self._start(each)) is not None]

    def _start(self, folder: str | OfRelease) -> OnDisk | OfRelease | None:
        if isinstance(folder, OfRelease):
            return folder
        return self._folder_of(folder) if "://" in folder else OnDisk(self.files, folder)

    def load(self, config_path: str) -> ConfigFile | None:
        """A config by its path below the search path, without suffix; None when there is none."""
        path = posixpath.normpath(config_path)
        if path not in self._loaded:
            self._loaded[path] = self._read(path)
        return self._loaded[path]

    def _read(self, path: str) -> ConfigFile | None:
        name = path if path.endswith(SUFFIXES) else path + ".yaml"
        for folder in self.folders:
            found = folder.read(name)
            if found is not None:
                self._paths[path] = found[1]
                return found[0]
        return None

    def is_group(self, key: str) -> bool:
        """Whether a key is that of a config group: a folder of the search path."""
        found = self._groups.get(key)
        if found is None:
            found = self._groups[key] = any(each.has(key) for each in self.folders)
        return found

    def options(self, group: str) -> list[str]:
        """The options of a group."""
        names = {name for folder in self.folders for name in folder.names(group)}
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
        self._extend(primary, name)
        tree: Tree = {}
        places: dict[str, Place] = {}
        for part in DefaultsList(self.load, choices).parts(name):
            is_first = posixpath.normpath(part.config_path) == posixpath.normpath(name)
            if not is_first and self._has_search_path(part.config_path):
                raise ConfigError(f"{part.config_path} has hydra.searchpath, which only the first config may have")
            self._merge(part, tree, places)
        tree.pop("hydra", None)
        return tree, places

    def _merge(self, part: Part, tree: Tree, places: dict[str, Place]) -> None:
        loaded = self.load(part.config_path)
        assert loaded is not None
        content: Config = loaded.data
        for piece in reversed(part.package.split(".") if part.package else []):
            content = {piece: content}
        try:
            merge(tree, content, Resolver(tree))
        except Refused as error:
            raise ConfigError(f"{part.config_path}: {error}") from None
        shown = self._paths[posixpath.normpath(part.config_path)]
        prefix = part.package + "." if part.package else ""
        for key, line in loaded.lines.items():
            places[prefix + key] = Place(shown, line)
        if not shown:
            self._forget(places, content)

    def _has_search_path(self, config_path: str) -> bool:
        loaded = self.load(config_path)
        own = None if loaded is None else loaded.data.get("hydra")
        return isinstance(own, dict) and own.get("searchpath") is not None

    def _forget(self, places: dict[str, Place], content: Config) -> None:
        """What a released file sets is no longer as the files on disk before it have it."""
        if places:
            for key in leaves(content):
                places.pop(key, None)

    def _extend(self, primary: ConfigFile, name: str) -> None:
        """Add the folders that `hydra.searchpath` of the primary config names. Raises ConfigError for one that is not
        known: anything may be in it."""
        if name in self._extended:
            return
        self._extended.add(name)
        own = primary.data.get("hydra")
        paths = own.get("searchpath") if isinstance(own, dict) else None
        if self.searchpath is not None:
            paths = list(self.searchpath)
        for each in paths if isinstance(paths, list) else ():
            folder = self._folder_of(str(each))
            if folder is None:
                raise ConfigError(f"the search path of {name} has {each}, which is not here")
            self.folders.append(folder)
            self._groups.clear()
            self._loaded = {path: file for path, file in self._loaded.items() if file is not None}

    def _folder_of(self, entry: str) -> OnDisk | OfRelease | None:
        """The folder that an entry of the search path names."""
        scheme, colon, rest = entry.partition("://")
        if not colon:
            scheme, rest = "file", entry
        if scheme not in ("pkg", "file") or "${" in rest:
            return None
        path = rest.replace(".", "/") if scheme == "pkg" else rest
        if path.startswith("/"):
            found = OnDisk(self.files, posixpath.normpath(path).lstrip("/"))
            return found if found.has() else None
        for place in self.places:
            found = OnDisk(self.files, posixpath.normpath(posixpath.join(place, path)))
            if found.has():
                return found
        released = OfRelease(self.release, posixpath.normpath(path)) if self.release else None
        return released if released is not None and released.has() else None

    def base(self, name: str) -> str:
        """The config of a released version that a composed config is built on, itself when it is on none."""
        from verlint.verl.schema import leaves_of

        released = [path for path, shown in self._paths.items() if not shown and "/" not in path]
        whole = (path for path in released if leaves_of(self.release, path) is not None)
        return next(whole, posixpath.basename(name))

    def shown(self, name: str) -> str:
        """The path of the file of a config, as it is shown; "" for one of a released version."""
        return self._paths.get(posixpath.normpath(name), "")

    def apply(self, name: str, overrides: Iterable[Override], *, multirun: bool = False) -> Applied:
        """The config of a call with these overrides."""
        primary = self.load(name)
        if primary is None:
            raise ConfigError(f"there is no config {name}")
        self._extend(primary, name)
        return apply(overrides, self.is_group, lambda choices: self.compose(name, choices)[0], multirun=multirun)
