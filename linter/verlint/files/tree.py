"""The files around a launcher, as the interpreter of its language asks for them: each read once, by path below a
root."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from verlint.files.loading import Loaded
from verlint.files.reader import read
from verlint.source import Source

MAX_LISTED = 5_000
"""How many entries of a folder are looked at; more than that no launcher lists."""


class Tree:
    """A folder and what is below it. Paths are relative to the root, with "/"; "" is the root itself.

    Files outside the root are never looked at, also through symbolic links. A tree `behind` reads for this one, which
    knows only what it was asked for itself.
    """

    def __init__(self, root: Path, loaded: Iterable[Loaded] = (), behind: Tree | None = None) -> None:
        self._pointed: dict[str, Source | None] = {}
        self.root = root
        self._behind = behind
        self._real_root = Path(os.path.realpath(root))
        self._sources: dict[str, Source | None] = {}
        self._exists: dict[str, bool] = {} if behind is None else behind._exists
        self._folders: dict[str, bool] = {} if behind is None else behind._folders
        self._listings: dict[str, list[str]] = {} if behind is None else behind._listings
        for file in loaded:
            if (path := self.relative(file.path)) is not None:
                self._sources[path] = file.source

    def relative(self, path: Path) -> str | None:
        """The path below the root, or None for one that is not below it."""
        text = os.path.relpath(path, self.root).replace(os.sep, "/")
        if text == "." or text == "":
            return ""
        return None if text == ".." or text.startswith("../") else text

    def _on_disk(self, path: str) -> Path | None:
        full = self.root / PurePosixPath(path)
        try:
            inside = Path(os.path.realpath(full)).is_relative_to(self._real_root)
        except (OSError, ValueError):
            return None
        return full if inside else None

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder. What a link out of the root leads to is taken to be there."""
        found = self._exists.get(path)
        if found is None:
            full = self._on_disk(path)
            found = os.path.lexists(full) if full is not None else self._leads_out(path)
            self._exists[path] = found
        return found

    def _leads_out(self, path: str) -> bool:
        """Whether a link that is below the root stands somewhere on the way of a path that ends outside it."""
        way = PurePosixPath(path)
        inside = not way.is_absolute() and ".." not in way.parts
        return inside and any(os.path.islink(self.root / each) for each in (way, *way.parents))

    def is_dir(self, path: str) -> bool:
        """Whether there is a folder."""
        found = self._folders.get(path)
        if found is None:
            full = self._on_disk(path)
            found = self._folders[path] = full is not None and os.path.isdir(full)
        return found

    def is_executable(self, path: str) -> bool:
        """Whether there is a file that may be run."""
        full = self._on_disk(path)
        return full is not None and os.access(full, os.X_OK)

    def listing(self, path: str) -> list[str]:
        """Names in a folder, sorted; none when it cannot be read."""
        found = self._listings.get(path)
        if found is None:
            found = self._listings[path] = self._listed(path)
        return list(found)

    def _listed(self, path: str) -> list[str]:
        full = self._on_disk(path)
        if full is None:
            return []
        try:
            with os.scandir(full) as entries:
                return sorted(entry.name for _, entry in zip(range(MAX_LISTED), entries, strict=False))
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
            self._pointed[path] = self._behind.source(path)
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

    def source(self, path: str) -> Source | None:
        """The text of a file; None when there is none or it is no readable text."""
        if path in self._sources:
            return self._sources[path]
        if self._behind is not None:
            found = self._sources[path] = self._behind.source(path)
            return found
        full = self._on_disk(path)
        found = None
        if full is not None and os.path.isfile(full):
            shown = os.path.relpath(full, Path.cwd()).replace(os.sep, "/")
            result = read(full, shown)
            found = result if isinstance(result, Source) else None
        self._sources[path] = found
        return found
