"""The files around some named ones: drivers, documents and specs that call them, and what they call themselves, found
by a quick look at the bytes.

Nothing is remembered between runs: every file of the tree that may call one is read, and only those that hold a name
of a launcher are looked at closer."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from pathlib import Path

from verlint import disk
from verlint.files.discovery import CACHE_MARK, NEVER, Candidate
from verlint.files.kinds import DOCUMENT_SUFFIXES, SHELL_SUFFIXES, YAML_SUFFIXES, Kind, guess
from verlint.files.reader import LIMIT, shown_path
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.settings import Settings

CALLERS = SHELL_SUFFIXES | DOCUMENT_SUFFIXES | YAML_SUFFIXES | {""}
"""Suffixes of the files that may call a launcher."""

MOST = 2_000
"""How many entries are looked at where no git tells which files belong to the project."""

_CONFIG = rb"(?:--config-name|-cn)[= \t]+[\"']?([\w./-]+)"
"""How Hydra is told of a config: without its suffix."""
_OPEN = pattern(r"\\?\$\{[^}]*\}|\$\w+|\*|\$")


@dataclass(frozen=True)
class _Text:
    """A file that may call others: its path below the top, and its bytes."""

    path: str
    data: bytes


def files_around(seeds: Sequence[Path], settings: Settings) -> list[Candidate]:
    """The files that call one of the seeds, those that call them, and so on; and what the seeds call. Shown relative to
    the current folder.

    Looked for in the git repository of the current folder; without one below the folder of the settings file or the
    current one, as far as `MOST` entries reach.
    """
    here = Path.cwd()
    top = _top(here)
    names = _tracked(top) if top is not None else None
    if top is None or names is None:
        top = settings.root if settings.path is not None and here.is_relative_to(settings.root) else here
        names = _walked(seeds, top)
    known = {path for seed in seeds if (path := _below(seed, top)) is not None}
    texts = _texts(top, names)
    found = {*_callers(known, texts), *_called(known, texts)} - known
    paths = [top / name for name in sorted(found)]
    return [Candidate(path, _shown(path, here)) for path in paths if settings.excluded_by(path) is None]


def _top(here: Path) -> Path | None:
    return next((folder for folder in (here, *here.parents) if disk.lexists(folder / ".git")), None)


def _tracked(top: Path) -> list[str] | None:
    listed = disk.git_files(top)
    return None if listed is None else [name for name in listed if NEVER.isdisjoint(name.split("/"))]


def _walked(seeds: Iterable[Path], top: Path) -> list[str]:
    """The files in the folders of the seeds, in those above them, then in all others below the top, near ones first; at
    most `MOST` entries are looked at."""
    waiting = dict.fromkeys(_above(seeds, top))
    seen: set[Path] = set()
    out: list[str] = []
    left = MOST
    while waiting and left > 0:
        folder = next(iter(waiting))
        del waiting[folder]
        seen.add(folder)
        try:
            found = disk.entries(folder)
        except OSError:
            continue
        if (CACHE_MARK, False, False) in found and folder != top:
            continue
        left -= len(found)
        for name, is_folder, is_link in found:
            path = folder / name
            if is_folder and not is_link:
                if name not in NEVER and not name.startswith(".") and path not in seen:
                    waiting.setdefault(path)
            elif not is_folder:
                out.append(path.relative_to(top).as_posix())
    return sorted(out)


def _above(seeds: Iterable[Path], top: Path) -> Iterator[Path]:
    """The folders of the seeds and those above, up to the top, which comes in any case."""
    for seed in seeds:
        yield from (folder for folder in seed.parents if folder.is_relative_to(top))
    yield top


def _below(path: Path, top: Path) -> str | None:
    return path.relative_to(top).as_posix() if path.is_relative_to(top) else None


def _shown(path: Path, here: Path) -> str:
    return shown_path(os.path.relpath(path, here).replace(os.sep, "/"))


def _texts(top: Path, names: Iterable[str]) -> list[_Text]:
    """The files that may call others and are no more than a launcher's size."""
    out: list[_Text] = []
    base = f"{top}{os.sep}"
    for name in names:
        if os.path.splitext(name)[1].lower() not in CALLERS:
            continue
        try:
            data = disk.content(base + name, LIMIT)
        except OSError:
            continue
        if "." in name.rpartition("/")[2] or data.startswith(b"#!") or guess(name) is Kind.MAKEFILE:
            out.append(_Text(name, data))
    return out


def _callers(seeds: set[str], texts: list[_Text]) -> set[str]:
    """The files that lead to a seed, over any number of others."""
    found: set[str] = set()
    every = {text.path for text in texts}
    texts = [text for text in texts if text.path not in seeds]
    new = sorted(seeds)
    while new:
        wanted = _Wanted(new, every)
        taken = [text for text in texts if wanted.named_in(text)]
        new = [text.path for text in taken]
        found.update(new)
        texts = [text for text in texts if text.path not in found]
        new = [path for path in new if not _is_prose(path)]
    return found


def _called(seeds: set[str], texts: list[_Text]) -> set[str]:
    """The files that a seed leads to, over any number of others."""
    found: set[str] = set()
    new = [text for text in texts if text.path in seeds]
    files = [text for text in texts if not _is_prose(text.path)]
    wanted = _Wanted([text.path for text in files], {text.path for text in texts}) if new else None
    while wanted is not None and new:
        named = {path for text in new for path in wanted.named_by(text)} - found
        found |= named
        new = [text for text in files if text.path in named and text.path not in seeds]
    return found


def _is_prose(path: str) -> bool:
    """Whether a file calls others and is called by none."""
    return os.path.splitext(path)[1].lower() in DOCUMENT_SUFFIXES | YAML_SUFFIXES


class _Wanted:
    """Paths, of all those in the tree, of which texts are to be found that name them."""

    def __init__(self, paths: Sequence[str], every: Set[str]) -> None:
        self.every = every
        self.by_name: dict[str, list[str]] = {}
        for path in paths:
            self.by_name.setdefault(path.rpartition("/")[2], []).append(path)
        suffixes = {os.path.splitext(name)[1] for name in self.by_name}
        self.endings = [suffix.encode() for suffix in sorted(suffixes) if suffix]
        self.plain = [name.encode("utf-8", "surrogateescape") for name in self.by_name if "." not in name]
        self.configs = {
            os.path.splitext(name)[0].encode("utf-8", "surrogateescape")
            for name in self.by_name
            if name.endswith(tuple(YAML_SUFFIXES))
        }

    def named_in(self, text: _Text) -> bool:
        """Whether a text seems to name one of the paths, seen from its own folder or one that it goes to."""
        data = text.data
        if self.configs and any(each[1].rpartition(b"/")[2] in self.configs for each in re.finditer(_CONFIG, data)):
            return True
        if not any(ending in data for ending in self.endings) and not any(name in data for name in self.plain):
            return False
        return any(self._meant(word, text) for word in self._words(data))

    def named_by(self, text: _Text) -> set[str]:
        """The paths that a text seems to name."""
        return {path for word in set(self._words(text.data)) for path in self._meant(word, text)}

    def _words(self, data: bytes) -> Iterator[str]:
        """The words of a text that end like one of the names."""
        for ending in self.endings:
            at = data.find(ending)
            while at >= 0:
                end = at + len(ending)
                if not data[end : end + 1].isalnum():
                    before = data[max(0, at - LONGEST) : at].decode("utf-8", "replace")
                    yield before.translate(_BREAKS).rpartition(" ")[2] + ending.decode("utf-8", "replace")
                at = data.find(ending, end)
        for name in self.plain:
            if name in data:
                yield name.decode("utf-8", "replace")

    def _meant(self, word: str, text: _Text) -> list[str]:
        """The paths that a word of a text may mean."""
        from_root = word.startswith("$") and _LEADING.match(word) is not None
        word = _tail(word)
        if "$" not in word and "*" not in word:
            anywhere = from_root and "/" in word
            paths = self.by_name.get(word.rpartition("/")[2], ())
            if not paths:
                return []
            beside = posixpath.join(posixpath.dirname(text.path), word) in self.every
            return [path for path in paths if _is_meant(word, path, text, anywhere=anywhere, beside=beside)]
        expression = re.compile("(?:^|.*/)" + "[^/]*".join(map(re.escape, _OPEN.split(word))))
        return [path for paths in self.by_name.values() for path in paths if expression.fullmatch(path)]


_BREAKS = dict.fromkeys(map(ord, "\"'`()[]|;&<>=#\t\n\r\v\f"), " ")
LONGEST = 200
"""Characters of a path that are looked at."""


def _tail(word: str) -> str:
    """A path as written, without what leads to a folder that is not known here."""
    word = word.replace("//", "/").rpartition(",")[2]
    while True:
        for start in ("./", "../", "~/", "/"):
            if word.startswith(start):
                word = word[len(start) :]
                break
        else:
            found = _LEADING.match(word) if word.startswith("$") else None
            if found is None:
                return word
            word = word[found.end() :]


_LEADING = pattern(r"(?:\$\{[^{}]*\}|\$\w+)/")


def _is_meant(word: str, path: str, text: _Text, *, anywhere: bool, beside: bool) -> bool:
    """Whether the end of a path, as a text names it, is this path: from a folder above the text, or one that the text
    speaks of, or `anywhere`. A path that leads from elsewhere to the tree (`/srv/repo/scripts/a.sh`) ends with that of
    the tree. `beside` says that the word names a file from the text's own folder as well: then a link to the other
    folder does not count."""
    if word.endswith("/" + path):
        return True
    if path != word and not path.endswith("/" + word):
        return False
    base = path[: -len(word)].rstrip("/")
    folder = text.path.rpartition("/")[0]
    if anywhere or not base or folder == base or folder.startswith(base + "/"):
        return True
    name = re.escape(base.rpartition("/")[2].encode("utf-8", "surrogateescape"))
    places = re.finditer(rb"(?<![\w.-])" + name + rb"(?![\w.-])", text.data)
    return any(not beside or not _is_in_link(text.data, place.start()) for place in places)


def _is_in_link(data: bytes, at: int) -> bool:
    """Whether a place lies in an address of the web."""
    return b"://" in re.split(rb"[\s\"'`()<>]", data[max(0, at - LONGEST) : at])[-1]
