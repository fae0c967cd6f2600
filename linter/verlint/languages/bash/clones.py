"""A clone of the repository that a document lies in: who follows the document works in the clone, so its folders are
those of the tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from verlint.languages.bash.command import Command
from verlint.languages.bash.pieces import MARK, Parts, flat
from verlint.languages.bash.state import Event
from verlint.languages.bash.wrappers import program_name
from verlint.record import dataclass
from verlint.value import Hole, Literal, Text

_TAKE_A_WORD = frozenset(
    ["-b", "--branch", "--depth", "-o", "--origin", "--reference", "-j", "--jobs", "-c", "--config", "--filter"]
)
"""Options of `git clone` that take the next word. Source: `git clone -h`."""


@dataclass(frozen=True, slots=True)
class Home:
    """Where a document lies: the path of its folder on this machine, and the same below the root of the tree."""

    path: str
    start: str

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.path.rstrip("/").rpartition("/")[2]


def in_own_clone(folder: Parts, home: Home, events: Iterable[Event]) -> Parts | None:
    """A folder in a clone of the document's own repository, as a folder of the tree; None for any other.

    The clone is one of the document's own when what follows its name is the path of the document's folder, or when the
    name is that of a folder above the document."""
    pieces = flat(folder).rstrip("/").split("/")
    for name in _cloned(events):
        if name not in pieces:
            continue
        at = len(pieces) - 1 - pieces[::-1].index(name)
        below = pieces[at + 1 :]
        if any(MARK in piece or piece in (".", "..") for piece in below):
            continue
        found = _beside(below, home) or _under(name, below, home)
        if found is not None:
            return found
    return None


def _beside(below: Sequence[str], home: Home) -> Parts | None:
    """The folder, where the path behind the clone's name begins with the end of the document's path."""
    for size in range(len(below), 0, -1):
        if home.path.endswith("/" + "/".join(below[:size])):
            return _folder(home.start, below[size:])
    return None


def _under(name: str, below: Sequence[str], home: Home) -> Parts | None:
    """The folder, where the clone has the name of a folder above the document (or of its own)."""
    pieces = home.path.split("/")
    root = pieces[: len(pieces) - len(home.start.split("/"))] if home.start else pieces
    for size in range(len(pieces), 0, -1):
        target = [*pieces[:size], *below]
        if pieces[size - 1] == name and target[: len(root)] == root:
            inner = target[len(root) :]
            own = home.start.split("/") if home.start else []
            if inner[: len(own)] == own:
                return _folder(home.start, inner[len(own) :])
            return _folder("/".join(inner), ())
    return None


def _folder(start: str, below: Sequence[str]) -> Parts:
    hole = Hole(("cwd", start), "PWD", "directory the launcher is started in")
    return (hole, Literal("/" + "/".join(below))) if below else (hole,)


def _cloned(events: Iterable[Event]) -> Iterator[str]:
    """The folders that `git clone` has made so far, by their names."""
    for event in events:
        if isinstance(event, Command) and len(event.argv) > 2 and program_name(event.argv[0]) == "git":
            words = event.argv[1:]
            if words[0].known == "clone":
                yield from _target(words[1:])


def _target(words: Sequence[Text]) -> Iterator[str]:
    places: list[str] = []
    at = 0
    while at < len(words):
        text = words[at].known or words[at].suffix
        if text.startswith("-"):
            at += text in _TAKE_A_WORD
        elif text:
            places.append(text)
        at += 1
    if places:
        yield places[-1].rstrip("/").rpartition("/")[2].removesuffix(".git")
