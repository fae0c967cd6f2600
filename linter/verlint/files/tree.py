"""The files around a launcher, as the interpreter of its language asks for them: each read once, by path below a
root."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from verlint import disk
from verlint.disk import remembered
from verlint.files.loading import Loaded
from verlint.files.reader import read
from verlint.source import Source

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import Any

MAX_LISTED = 5_000
"""How many entries of a folder are looked at; more than that no launcher lists."""


class Tree:
    """A folder and what is below it. Paths are relative to the root, with "/"; "" is the root itself.

    Files outside the root are never looked at, also through symbolic links. A tree `behind` reads for this one, which
    knows only what it was asked for itself, with the questions that it took (`verlint.disk`).
    """

    def __init__(self, root: Path, loaded: Iterable[Loaded] = (), behind: Tree | None = None) -> None:
        self._pointed: dict[str, Source | None] = {}
        self.root = root
        self._behind = behind
        self._sources: dict[str, Source | None] = {}
        self._exists: dict[str, bool] = {}
        self._folders: dict[str, bool] = {}
        self._listings: dict[tuple[str, ...], list[str]] = {}
        self._shared: dict[tuple[object, ...], Any] = {} if behind is None else behind._shared
        for file in loaded:
            if (path := self.relative(file.path)) is not None:
                self._sources[path] = file.source
        self._loaded = dict(self._sources)

    def relative(self, path: Path) -> str | None:
        """The path below the root, or None for one that is not below it."""
        text = os.path.relpath(path, self.root).replace(os.sep, "/")
        if text == "." or text == "":
            return ""
        return None if text == ".." or text.startswith("../") else text

    def _on_disk(self, path: str) -> Path | None:
        return remembered(self._shared, ("place", path), lambda: self._place(path))

    def _place(self, path: str) -> Path | None:
        full = self.root / PurePosixPath(path)
        try:
            inside = Path(disk.real(full)).is_relative_to(self._real_root)
        except (OSError, ValueError):
            return None
        return full if inside else None

    @property
    def _real_root(self) -> str:
        return remembered(self._shared, ("root",), lambda: disk.real(self.root))

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder. What a link out of the root leads to is taken to be there."""
        found = self._exists.get(path)
        if found is None:
            full = self._on_disk(path)
            found = self._exists[path] = disk.lexists(full) if full is not None else self._leads_out(path)
        return found

    def _leads_out(self, path: str) -> bool:
        """Whether a link that is below the root stands somewhere on the way of a path that ends outside it."""
        way = PurePosixPath(path)
        inside = not way.is_absolute() and ".." not in way.parts
        return inside and any(disk.is_link(self.root / each) for each in (way, *way.parents))

    def is_dir(self, path: str) -> bool:
        """Whether there is a folder."""
        found = self._folders.get(path)
        if found is None:
            full = self._on_disk(path)
            found = self._folders[path] = full is not None and disk.is_dir(full)
        return found

    def is_executable(self, path: str) -> bool:
        """Whether there is a file that may be run."""
        full = self._on_disk(path)
        return full is not None and disk.is_executable(full)

    def listing(self, path: str, *starts: str) -> list[str]:
        """Names in a folder, sorted; none when it cannot be read. Only those that start in one of some ways, if any are
        given."""
        found = self._listings.get((path, *starts))
        if found is None:
            found = self._listings[path, *starts] = self._listed(path, starts)
        return list(found)

    def _listed(self, path: str, starts: tuple[str, ...]) -> list[str]:
        full = self._on_disk(path)
        if full is None:
            return []
        try:
            return disk.names(full, *starts)[:MAX_LISTED]
        except OSError:
            return []

    def texts(self) -> list[tuple[str, str]]:
        """Path and text of every file that was read so far."""
        return [(path, source.text) for path, source in self._sources.items() if source is not None]

    def sources(self) -> list[Source]:
        """Every file that was read so far."""
        pointed = [source for path, source in self._pointed.items() if source is not None and path not in self._sources]
        return [*self.followed(), *pointed]

    def followed(self) -> list[Source]:
        """Every file that was read so far, but those that are only pointed at."""
        return [source for source in self._sources.values() if source is not None]

    def pointed_at(self, path: str) -> Source | None:
        """The text of a file that a finding names: if nothing follows it, it does not belong to the part for that."""
        if self._behind is None or path in self._sources:
            return self.source(path)
        if path not in self._pointed:
            self._pointed[path] = self._behind._asked(path)
        return self._pointed[path]

    def by_path(self) -> list[tuple[str, Source]]:
        """Every file that was read so far, with its path."""
        return [(path, source) for path, source in self._sources.items() if source is not None]

    def adopted(self, path: str, shown: str, text: str) -> Source:
        """The source of a file whose text another process has read."""
        found = self._sources.get(path)
        if found is None:
            found = self._sources[path] = Source(shown, text)
        return found

    def is_loaded(self, path: str) -> bool:
        """Whether a file was given, and not read here."""
        return path in self._loaded

    def source(self, path: str) -> Source | None:
        """The text of a file; None when there is none or it is no readable text."""
        if path not in self._sources:
            self._sources[path] = (self._behind or self)._asked(path)
        return self._sources[path]

    def _asked(self, path: str) -> Source | None:
        if path in self._loaded:
            return self._loaded[path]
        found = remembered(self._shared, ("source", path), lambda: self._read(path))
        return self._sources.setdefault(path, found)  # another process may have read it before

    def _read(self, path: str) -> Source | None:
        full = self._on_disk(path)
        found = None
        if full is not None and disk.is_file(full):
            shown = os.path.relpath(full, Path.cwd()).replace(os.sep, "/")
            result = read(full, shown)
            found = result if isinstance(result, Source) else None
        return found
