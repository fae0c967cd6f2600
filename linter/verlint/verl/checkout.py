"""VeRL on disk: checkouts beside a launcher, pins in requirements files, installed distributions. Read, never run."""

from __future__ import annotations

import os
import posixpath
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from verlint import disk
from verlint.files.tree import Tree
from verlint.languages.hydra.override import Override
from verlint.lazy import pattern
from verlint.record import dataclass, field, replace
from verlint.verl.effective import FORK_FAMILIES, best_fit, config_name, said_version, schema_on_disk, what_fits
from verlint.verl.in_use import ROOT, Call, Found
from verlint.verl.interpolation import ConfigError
from verlint.verl.schema import forks, versions
from verlint.verl.versions import version_key

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from verlint.files.made import Files
    from verlint.source import Source
    from verlint.verl.compose import ConfigFolders
    from verlint.verl.own_configs import OwnConfig

MARK = "verl/trainer/config/ppo_trainer.yaml"
MAX_ANCESTORS = 8
_PIN = pattern(r"""(?im)^[^#\n]*?(?<![\w-])["']?verl(?:\[[^\]\n]*\])?\s*(?:==\s*|@\s*git\+\S+?@)v?(\d[\w.]*)""")
_INSTALLS = pattern(
    r"\bpip3?\s+install\b[^\n;&|]*?[\s\"']verl(?:\[[^\]\n]*\])?==(\d[\w.]*)"
    r"|\bgit\s+clone\s+(?:-b|--branch)[ =]v(\d[\w.]*)\s[^\n]*/verl(?:\.git)?(?=\s|$)"
    r"|\bgit\s+clone\s[^\n;&|]*/verl(?:\.git)?\s*(?:\n|&&|;)\s*cd\s+verl\s*(?:\n|&&|;)\s*git\s+checkout\s+(?:tags/)?v(\d[\w.]*)"
)
"""How a text installs a version of VeRL."""
_TELLING = ("README", "Dockerfile", "install", "setup")
_TOLD = pattern(r"README\.md|Dockerfile[\w.-]*|(?:install|setup)[\w-]*\.sh")
_LOCKED = pattern(r'''(?m)^name = "verl"\r?\nversion = "(\d[\w.]*)"''')
_REQUIREMENTS = pattern(
    r"requirements[\w.-]*\.txt|pyproject\.toml|setup\.(?:py|cfg)|(?:environment|conda)[\w.-]*\.ya?ml"
)
_STARTS = ("uv.lock", "poetry.lock", "requirements", "pyproject", "setup.", "environment", "conda")
"""How the names of files with pins start, the one that counts first."""
_LOCKS = pattern(r"(?:uv|poetry)\.lock")


@dataclass(frozen=True)
class Asked:
    """What a launch gives to find its VeRL by.

    `said`: who names a version or a checkout, and how, the first counts. `folders`: where a checkout may lie at or
    above, absolute, best first. `base`: the version its family builds on. `made`: the files that the launcher writes
    before, by their path below the root of the project. `text`: the file that holds the launch, which may install
    VeRL."""

    call: Call
    overrides: Sequence[Override]
    said: Sequence[tuple[str, str]]
    folders: Sequence[Path]
    family: str = ""
    base: str = ""
    made: Mapping[str, Source] = field(default_factory=dict)
    text: str = ""

    @property
    def written(self) -> tuple[tuple[str, Source], ...]:
        """The configs and programs that the launcher writes itself."""
        return tuple(self.made.items())


class Finder:
    """Finds the VeRL of launches; what is on disk is looked at once. `root` is what paths are shown relative to."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._checkouts: dict[Path, Path | None] = {}
        self._nearest: dict[Path, Path | None] = {}
        self._pins: dict[Path, tuple[str, str] | None] = {}
        self._folders: dict[tuple[object, ...], ConfigFolders] = {}
        self._found: dict[tuple[object, ...], Found] = {}
        self._fitting: dict[tuple[object, ...], Found] = {}
        self._own_configs: dict[tuple[object, ...], OwnConfig | None] = {}
        self._installed: tuple[str, Path | None] | None = None
        self._disk = Tree(Path(root.anchor))

    def find(self, asked: Asked) -> Found:
        """The VeRL in use."""
        for source, text in asked.said:
            if not text:
                continue
            if looks_like_path(text):
                place = self._checkout_at(Path(disk.real(self.root / text)))
                if place is not None:
                    return self.on_disk(place, asked, source)
                return Found(f"the checkout {text}", source=source, problem=f"there is no VeRL checkout at {text}")
            return self._said(text, source, asked)
        place = self.checkout(asked.folders)
        if place is not None:
            return self.on_disk(place, asked, "checkout")
        pin = self._pinned(asked)
        if pin is not None:
            return self._said(pin[0], pin[1], asked)
        if asked.family in FORK_FAMILIES:
            return said_version(asked.family, "family", config_name(asked.call, "0.4.1"))
        if asked.base:
            return self._said(asked.base, "family", asked)
        version, place = self.installed()
        if place is not None:
            return self.on_disk(place, asked, "installed")
        if version:
            return self._said(version, "installed", asked)
        own = self._own(asked)
        found = None if own is None else own.fitting(asked.overrides)
        if found is not None:
            return found
        name = next((name for each in reversed(versions()) if (name := config_name(asked.call, each))), "")
        key = (name, *what_fits(asked.overrides))
        if key not in self._fitting:
            self._fitting[key] = best_fit(name, asked.overrides)
        return self._fitting[key]

    def _said(self, text: str, source: str, asked: Asked) -> Found:
        """A released version that is named, with the config of the project where the launch has one."""
        own = None if text in forks() else self._own(asked)
        return said_version(text, source, config_name(asked.call, text)) if own is None else own.on(text, source)

    def _own(self, asked: Asked) -> OwnConfig | None:
        call, folders = asked.call, tuple(asked.folders)
        if call.undecided or (call.module.startswith("verl.") and not call.names_configs):
            return None
        key = (call, folders, asked.written)
        if key not in self._own_configs:
            from verlint.verl.own_configs import own_config

            self._own_configs[key] = own_config(self._files(asked), call, folders, self.root)
        return self._own_configs[key]

    # ---- checkouts

    def checkout(self, folders: Iterable[Path]) -> Path | None:
        """The folder that holds the package `verl` of the checkout nearest to one of some folders."""
        for folder in folders:
            if folder not in self._nearest:
                above = (self._checkout_at(each) for each in (folder, *folder.parents)[:MAX_ANCESTORS])
                self._nearest[folder] = next((found for found in above if found is not None), None)
            if (nearest := self._nearest[folder]) is not None:
                return nearest
        return None

    def _checkout_at(self, folder: Path) -> Path | None:
        if folder not in self._checkouts:
            places = (folder, folder / "verl", folder.parent if folder.name == "verl" else folder)
            self._checkouts[folder] = next((each for each in places if disk.is_file(each / MARK)), None)
        return self._checkouts[folder]

    def on_disk(self, checkout: Path, asked: Asked, source: str) -> Found:
        """The VeRL in a folder, with the config that a call starts with."""
        call, near = asked.call, asked.folders
        shown = os.path.relpath(checkout, self.root).replace(os.sep, "/")
        label = f"the checkout {shown}/" if shown != "." else "this checkout"
        place = None if call.undecided else self._config_place(checkout, call, near)
        if place is None:
            what = "its config is not known before the run" if call.undecided else f"no entry point {call.module}"
            return Found(label, self._version_file(checkout), source, problem=what)
        folder, name, program = place
        key = (checkout, folder, name, call.config_dir, call.searchpath, *near[:1], asked.written)
        if key not in self._found:
            self._found[key] = self._composed(checkout, folder, name, asked, label, source)
        found = self._found[key]
        if program.startswith(_below_anchor(checkout) + "/"):
            return found
        from verlint.verl.programs import stands_for

        text = self._disk.source(program)
        stands = stands_for(text.text, version_key(found.text) or ()) if text is not None else ""
        return replace(found, program=program, entry=stands)

    def _composed(self, checkout: Path, folder: str, name: str, asked: Asked, label: str, source: str) -> Found:
        folders = self._config_folders(checkout, folder, asked)
        said = self._version_file(checkout)
        try:
            schema, places, text = schema_on_disk(folders, name, said, label)
        except ConfigError as error:
            return Found(label, said, source, config=name, problem=str(error))
        return Found(label, text, source, schema=schema, folders=folders, config=name, places=places)

    def _config_folders(self, checkout: Path, folder: str, asked: Asked) -> ConfigFolders:
        call, near = asked.call, asked.folders
        key = (checkout, folder, call.config_dir, call.searchpath, *near[:1], asked.written)
        if key not in self._folders:
            from verlint.verl.compose import ConfigFolders

            files = self._files(asked)
            bases = [_below_anchor(self._given(call.config_dir, base)) for base in (*near[:1], self.root)]
            added = [next((each for each in bases if files.is_dir(each)), bases[0])] if call.config_dir else []
            places = [_below_anchor(each) for each in near]
            self._folders[key] = ConfigFolders(
                files, [folder, *added], _below_anchor(checkout), places, searchpath=call.searchpath
            )
        return self._folders[key]

    def _files(self, asked: Asked) -> Files:
        """The files of the disk, with those that the launcher makes."""
        if not asked.made:
            return self._disk
        from verlint.files.made import with_made

        return with_made(self._disk, asked.made, _below_anchor(self.root))

    def _config_place(self, checkout: Path, call: Call, near: Sequence[Path]) -> tuple[str, str, str] | None:
        """The folder of the configs of a call (below the root of the disk), the name of the first one, and the path of
        the program."""
        from verlint.verl.programs import hydra_main

        module = call.module.replace(".", "/") + ".py"
        places = [checkout, *near]
        if call.entry.endswith(".py"):
            places = [each / call.entry for each in near] + [each / module for each in places]
        else:
            places = [each / module for each in places]
        for place in places:
            text = self._disk.source(_below_anchor(place)) if place.suffix == ".py" else None
            main = hydra_main(text.text) if text is not None else None
            if main is not None:
                path = call.config_path or main.config_path or ""
                folder = path if path.startswith("pkg://") else _below_anchor(self._given(path, place.parent))
                return folder, call.config_name or main.config_name, _below_anchor(place)
        return None

    def _given(self, path: str, base: Path) -> Path:
        """A folder that an option gives, relative to `base`."""
        return self.root / path.removeprefix(ROOT) if path.startswith(ROOT) else base / path

    def _version_file(self, checkout: Path) -> str:
        source = self._disk.source(_below_anchor(checkout / "verl/version/version"))
        return source.text.strip() if source is not None else ""

    # ---- pins and installed distributions

    def _pinned(self, asked: Asked) -> tuple[str, str] | None:
        """The version that the file with the launch installs, or a file above pins, and who says so."""
        here = _installed_in(asked.text)
        if here is not None:
            return here, "the installation in this file"
        return next((pin for folder in asked.folders if (pin := self.pin(folder)) is not None), None)

    def pin(self, folder: Path) -> tuple[str, str] | None:
        """The version that the nearest requirements file at or above a folder pins, and the file. Looks no further up
        than the project."""
        if folder not in self._pins:
            found = self._pin_in(folder)
            if found is None and folder != self.root and folder.is_relative_to(self.root):
                found = self.pin(folder.parent)
            self._pins[folder] = found
        return self._pins[folder]

    def _pin_in(self, folder: Path) -> tuple[str, str] | None:
        inside = _below_anchor(folder)
        names = self._disk.listing(inside, *_STARTS)
        for name in sorted(names, key=lambda each: _STARTS.index(next(filter(each.startswith, _STARTS)))):
            search = _PIN if _REQUIREMENTS.fullmatch(name) else _LOCKED if _LOCKS.fullmatch(name) else None
            source = self._disk.source(posixpath.join(inside, name)) if search is not None else None
            match = search.search(source.text) if search is not None and source and "verl" in source.text else None
            if match is not None:
                return match[1], os.path.relpath(folder / name, self.root).replace(os.sep, "/")
        told = [each for each in self._disk.listing(inside, *_TELLING) if _TOLD.fullmatch(each)]
        sources = [self._disk.source(posixpath.join(inside, each)) for each in told]
        version = _installed_by([source.text for source in sources if source is not None])
        return None if version is None else (version, os.path.relpath(folder / told[0], self.root).replace(os.sep, "/"))

    def installed(self) -> tuple[str, Path | None]:
        """The version of an installed distribution of VeRL, and its place when its configs are there. From the names of
        folders on Python's search path; nothing is imported."""
        if self._installed is None:
            self._installed = _installed()
        return self._installed


@lru_cache(maxsize=8)
def _installed_in(text: str) -> str | None:
    """The version that the file with a launch installs: asked for each of its launches."""
    return _installed_by([text])


def _installed_by(texts: Iterable[str]) -> str | None:
    """The version of VeRL that texts install, where all agree; None where they do not, or say none."""
    found = {
        version
        for text in texts
        if "verl" in text
        for match in _INSTALLS.finditer(text)
        if (version := next(filter(None, match.groups()), ""))
    }
    return found.pop() if len(found) == 1 else None


def _installed() -> tuple[str, Path | None]:
    for folder in sys.path:
        try:
            names = disk.names(folder or ".", "verl-")
        except OSError:
            continue
        for name in names:
            if name.endswith(".dist-info"):
                place = Path(folder)
                has_configs = disk.is_file(place / MARK)
                return name.removeprefix("verl-").removesuffix(".dist-info"), place if has_configs else None
    return "", None


def is_checkout(text: str) -> bool:
    """Whether a folder is a VeRL checkout, or holds one."""
    folder = Path(disk.real(text))
    places = (folder, folder / "verl", folder.parent if folder.name == "verl" else folder)
    return any(disk.is_file(each / MARK) for each in places)


def looks_like_path(text: str) -> bool:
    """Whether a `--verl` names a folder, not a version."""
    return "/" in text or text.startswith(".") or disk.is_dir(text)


def _below_anchor(path: Path) -> str:
    return posixpath.normpath(path.as_posix().removeprefix(path.anchor))
