"""Configs of a project: of a program of its own that Hydra starts, or named by the options of a launch.

What they take from VeRL (`hydra.searchpath`, `pkg://verl.trainer.config`) comes from the config files of a released
version, so that a launch needs no checkout of VeRL beside it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from verlint.languages.hydra.override import Override
from verlint.verl.compose import ConfigFolders, OfRelease, Place
from verlint.verl.effective import best_fit_among, said_label, said_version
from verlint.verl.in_use import ROOT, Call, Found
from verlint.verl.interpolation import ConfigError, leaves
from verlint.verl.programs import HydraMain, hydra_main, stands_for
from verlint.verl.schema import Schema, facts, known_version
from verlint.verl.versions import version_key

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from verlint.files.made import Files


class OwnConfig:
    """The config that a launch gets from its project.

    `program` is the path of the program below the root of the disk, "" for a module of VeRL, whose `@hydra.main` is
    that of the version; `places` are the folders that may hold what is named relative to the working directory or by
    package, the working directory first; `root` is the folder of the project."""

    def __init__(self, disk: Files, call: Call, program: str, text: str, places: Sequence[Path], root: Path) -> None:
        self.disk = disk
        self.call = call
        self.program = program
        self.text = text
        self.places = places
        self.root = root
        self._known: dict[str, tuple[Schema, ConfigFolders] | None] = {}
        self._places: dict[str, dict[str, Place]] = {}

    @cached_property
    def main(self) -> HydraMain | None:
        """What `@hydra.main` of the program says."""
        return hydra_main(self.text)

    def name(self, version: str) -> str:
        """The config that is composed first."""
        main = self._main(version)
        return self.call.config_name or (main.config_name if main is not None else "")

    def _main(self, version: str) -> HydraMain | None:
        if self.program:
            return self.main
        row = facts("entries", version).get(self.call.module)
        return HydraMain(row[0], row[1]) if row else None

    def folders(self, version: str) -> ConfigFolders | None:
        """The search path on a released version; None when the program is not one of Hydra's."""
        main = self._main(version)
        if main is None:
            return None
        first = self._first(main, version)
        added = self.call.config_dir
        folders = [*([first] if first is not None else []), *([self._added(added)] if added else [])]
        places = [_below_anchor(each) for each in self.places]
        return ConfigFolders(self.disk, folders, places=places, release=version, searchpath=self.call.searchpath)

    def _added(self, path: str) -> str:
        """The folder that `--config-dir` names, below the root of the disk."""
        found = [_below_anchor(self._given(path, base)) for base in (*self.places[:1], self.root)]
        return next((each for each in found if self.disk.is_dir(each)), found[0])

    def _first(self, main: HydraMain, version: str) -> str | OfRelease | None:
        """The folder of the program's configs."""
        path = self.call.config_path
        if path.startswith(("pkg://", "/", ROOT)):
            return path if path.startswith("pkg://") else _below_anchor(self._given(path, self.root))
        if not self.program:
            here = main.config_path or ""
            return OfRelease(version, posixpath.join(posixpath.dirname(here), path) if path else here)
        here = posixpath.dirname(self.program)
        given = path or main.config_path
        if given is None or given.startswith("pkg://"):
            return given
        return posixpath.normpath(posixpath.join("/" + here, given)).lstrip("/")

    def _given(self, path: str, base: Path) -> Path:
        return self.root / path.removeprefix(ROOT) if path.startswith(ROOT) else base / path

    def at(self, version: str) -> tuple[Schema, ConfigFolders] | None:
        """The keys of the config on a released version, and what composes it. Raises ConfigError."""
        if version not in self._known:
            self._known[version] = self._composed(version)
        return self._known[version]

    def _composed(self, version: str) -> tuple[Schema, ConfigFolders] | None:
        folders, name = self.folders(version), self.name(version)
        if folders is None or not name:
            return None
        tree, places = folders.compose(name)
        self._places[version] = places
        return Schema(version, folders.base(name), leaves(tree), f"VeRL {version}{_with(folders, name)}"), folders

    def on(self, text: str, source: str) -> Found:
        """The config on a version that is named. A project that is only built on another VeRL has none."""
        version = known_version(text)
        try:
            made = self.at(version) if version else None
        except ConfigError as error:
            problem = f"its config is not known: {error}"
            return Found(said_label(text), text, source, problem=problem, program=self.program)
        if made is None:
            return said_version(text, source, "")
        label = said_label(text) + _with(made[1], self.name(version))
        return Found(
            label,
            text,
            source,
            schema=made[0],
            folders=made[1],
            config=self.name(version),
            places=self._places[version],
            program=self.program,
            entry=self.entry(text),
        )

    def entry(self, text: str) -> str:
        """The entry point of VeRL that the program stands for."""
        return stands_for(self.text, version_key(text) or ()) if self.program else ""

    def fitting(self, overrides: Sequence[Override]) -> Found | None:
        """The config on the released versions that fit the launch best; None when a module of VeRL has it on none."""

        def at(version: str) -> tuple[Schema, ConfigFolders] | None:
            try:
                return self.at(version)
            except ConfigError:
                return None

        found = best_fit_among(overrides, at)
        if found is None and self.program:
            problem = "its config can be composed on no version"
            return Found("every VeRL version", source="best fit", guess=True, problem=problem, program=self.program)
        if found is None:
            return None
        config, entry = self.name(found.text), self.entry(found.text)
        made = at(found.text)
        assert made is not None
        from verlint.record import replace

        return replace(
            found,
            label=found.label + _with(made[1], config),
            config=config,
            folders=made[1],
            places=self._places[found.text],
            program=self.program,
            entry=entry,
            at=at,
        )


def _with(folders: ConfigFolders, name: str) -> str:
    """What is said behind the version: the file of the project, nothing for a config of VeRL's own."""
    path = folders.shown(name)
    return f" with {path}" if path else ""


def own_config(disk: Files, call: Call, places: Sequence[Path], root: Path) -> OwnConfig | None:
    """The config that a launch gets from its project; None for one that is VeRL's alone, or not known."""
    if call.undecided:
        return None
    if call.module.startswith("verl."):
        return OwnConfig(disk, call, "", "", places, root) if call.names_configs else None
    for path in _candidates(call, places):
        source = disk.source(path)
        if source is not None:
            return OwnConfig(disk, call, path, source.text, places, root) if hydra_main(source.text) else None
    return None


def _candidates(call: Call, places: Sequence[Path]) -> list[str]:
    module = call.module.replace(".", "/") + ".py"
    files = [call.entry] if call.entry.endswith(".py") else [module, f"src/{module}"]
    return [_below_anchor(place / file) for place in places for file in files]


def _below_anchor(path: Path) -> str:
    return posixpath.normpath(path.as_posix().removeprefix(path.anchor))
