"""Which files a call is about: named files as they are, folders by what git knows of them, or by a plain walk."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from verlint import disk
from verlint.files.kinds import Kind, guess
from verlint.files.reader import Unreadable, shown_path
from verlint.record import dataclass, field
from verlint.settings import Settings

NEVER = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__"})
"""Folders that are never entered: none of them holds an author's files."""
CACHE_MARK = "CACHEDIR.TAG"
"""A file by which programs mark a folder that holds a cache; those below the checked one are not entered either. What
is kept in verlint's own would otherwise change with every run."""


@dataclass(frozen=True)
class Candidate:
    """A file to look at: where it is (absolute), how it is shown, and whether the user named it."""

    path: Path
    shown: str
    named: bool = False


@dataclass(frozen=True)
class Skipped:
    """A path that was left out before it was read, and why."""

    shown: str
    reason: str


@dataclass
class Discovery:
    """What was found: candidates sorted by shown path, each file once; problems and left out paths likewise."""

    candidates: list[Candidate] = field(default_factory=list)
    problems: list[Unreadable] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def discover(paths: Sequence[str | Path], settings: Settings, *, force_exclude: bool = False) -> Discovery:
    """The files that `paths` (files or folders, relative to the current folder) stand for.

    A named file is always taken, unless `force_exclude` makes the patterns of `settings.exclude` hold for it too.
    """
    return _Search(settings, force_exclude).run(paths)


def display_path(path: Path, here: Path) -> str:
    """How an absolute path is shown: relative to `here` where it lies below it, else absolute."""
    return shown_path(path.relative_to(here) if path.is_relative_to(here) else path)


class _Search:
    def __init__(self, settings: Settings, force_exclude: bool) -> None:
        self.settings = settings
        self.force_exclude = force_exclude
        self.here = Path.cwd()
        self.found: dict[Path, Candidate] = {}
        self.result = Discovery()

    def run(self, paths: Sequence[str | Path]) -> Discovery:
        for given in paths:
            path = Path(os.path.normpath(self.here / given))
            if disk.is_dir(path):
                self._folder(path)
            else:
                self._named(path, given)
        result = self.result
        result.candidates = sorted(self.found.values(), key=lambda candidate: candidate.shown)
        result.problems.sort(key=lambda problem: problem.path)
        result.skipped.sort(key=lambda skipped: skipped.shown)
        return result

    def _named(self, path: Path, given: str | Path) -> None:
        below = path.is_relative_to(self.here)
        shown = display_path(path, self.here) if below else shown_path(Path(given))
        if not disk.lexists(path):
            self.result.problems.append(Unreadable(shown, "does not exist"))
        elif self.force_exclude and (pattern := self.settings.excluded_by(path)):
            self.result.skipped.append(Skipped(shown, f"excluded by `{pattern}`"))
        else:
            self.found[path] = Candidate(path, shown, named=True)

    def _folder(self, top: Path) -> None:
        if self.force_exclude and top != self.settings.root and (pattern := self.settings.excluded_by(top)):
            self.result.skipped.append(Skipped(display_path(top, self.here), f"excluded by `{pattern}`"))
            return
        for path in self._files(top):
            if path in self.found:
                continue
            if (problem := _dead_link(path)) and guess(path.name) in (Kind.LAUNCHER, Kind.SPEC):
                self.result.problems.append(Unreadable(display_path(path, self.here), problem))
            elif reason := problem or self._reason_against(path, top):
                self.result.skipped.append(Skipped(display_path(path, self.here), reason))
            else:
                self.found[path] = Candidate(path, display_path(path, self.here))

    def _reason_against(self, path: Path, top: Path) -> str:
        if pattern := self.settings.excluded_by(path):
            return f"excluded by `{pattern}`"
        if disk.is_link(path):
            what = "folder, which is not followed" if disk.is_dir(path) else "file that is checked itself"
            outside = not Path(disk.real(path)).is_relative_to(disk.real(top))
            return "symbolic link out of the checked folder" if outside else f"symbolic link to a {what}"
        return ""

    def _files(self, top: Path) -> Iterator[Path]:
        listed = list_git_files(top)
        if listed is None:
            yield from self._walk(top)
            return
        for name in listed:
            path = top / name
            if not NEVER.isdisjoint(Path(name).parts):
                continue
            if not disk.is_link(path) and disk.is_dir(path):  # a submodule, or a repository cloned into this one
                yield from self._files(path)
            elif disk.lexists(path):
                yield path

    def _walk(self, top: Path) -> Iterator[Path]:
        def complain(error: OSError) -> None:
            shown = display_path(Path(error.filename or top), self.here)
            self.result.problems.append(Unreadable(shown, f"cannot be listed: {error.strerror or error}"))

        for folder, folders, names in disk.walk(top, complain):
            if CACHE_MARK in names and folder != os.fspath(top):
                folders.clear()
                continue
            folders[:] = [name for name in folders if name not in NEVER]
            for name in folders:
                if disk.is_link(os.path.join(folder, name)):
                    yield Path(folder, name)
            nested = [name for name in folders if disk.lexists(os.path.join(folder, name, ".git"))]
            folders[:] = [name for name in folders if name not in nested]
            for name in names:
                yield Path(folder, name)
            for name in nested:
                yield from self._files(Path(folder, name))


def _dead_link(path: Path) -> str:
    """Why a symbolic link leads to nothing, "" for others."""
    if not disk.is_link(path) or disk.exists(path):
        return ""
    try:
        disk.real_strict(path)
    except FileNotFoundError:
        return "is a symbolic link to nothing"
    except (OSError, RuntimeError):
        pass
    return "is a symbolic link that leads in a circle"  # to itself, through others or not


def list_git_files(top: Path) -> list[str] | None:
    """Paths below a folder that git tracks or does not ignore, or None where git is missing or the folder is in no
    repository.

    Only git's own listing runs: the settings that could start a program of the repository are switched off.
    """
    if not any(disk.lexists(folder / ".git") for folder in (top, *top.parents)):
        return None
    return disk.git_files(top)
