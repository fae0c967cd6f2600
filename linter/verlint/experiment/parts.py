"""The files of a large project in parts that have nothing to do with each other, so that only one part at a time need
be held in memory.

A script and what it calls or reads belong together, as the call says what the callee does. What calls what is guessed
here from the names that stand in the texts; whoever looks at a part finds out what it really reached
(`Project.reached`), and joins parts where the guess was wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.lazy import pattern

ONE_PART = 60
"""A project of so many launchers is looked at as a whole."""
PART = 48
"""Files that are looked at together, where they are not linked."""
KEPT_PART = 12
"""As many where what is found is kept for later runs, so that little is looked at again after an edit."""

_CALLED = pattern(r"(?<![\w./${}-])[\w./${}-]*\.(?:sh|bash|sbatch|slurm|pbs|lsf|sge|qsub)\b")
_BEHIND_VARIABLE = pattern(r".*[$}][^/]*/|(?:\.\.?/)+")
_MANY = 8
"""So many files of a name are not told apart by it."""


def parts_of(files: Sequence[Loaded], *, kept: bool = False) -> list[list[Loaded]]:
    """The files in parts, each in the order given. With a spec among them they are one part: it may speak of all.

    Parts that are `kept` are small, and most stay the same when a file comes or goes: where one ends is a matter of the
    paths, not of how many files stand before it."""
    launchers = sum(file.kind is Kind.LAUNCHER for file in files)
    if launchers <= ONE_PART or any(file.kind is Kind.SPEC for file in files):
        return [list(files)]
    parts: list[list[Loaded]] = [[]]
    most = min(PART, KEPT_PART) if kept else PART
    for group in _linked(files):
        if parts[-1] and (len(parts[-1]) + len(group) > most or (kept and _begins_one(group[0], most))):
            parts.append([])
        parts[-1] += group
    places = {id(file): number for number, file in enumerate(files)}
    return [sorted(part, key=lambda file: places[id(file)]) for part in parts]


def _begins_one(file: Loaded, most: int) -> bool:
    """Whether a part begins here, about one in `most` times."""
    from zlib import crc32

    return crc32(file.source.path.encode("utf-8", "surrogatepass")) % most == 0


def _linked(files: Sequence[Loaded]) -> list[list[Loaded]]:
    """The files that name each other, group by group."""
    by_name: dict[str, list[int]] = {}
    for number, file in enumerate(files):
        by_name.setdefault(_name(file.source.path), []).append(number)
    groups = Groups((number,) for number in range(len(files)))
    for number, file in enumerate(files):
        groups.join((number, *_named_in(file, files, by_name)))
    return [[files[number] for number in sorted(group)] for group in groups.every()]


class Groups:
    """Numbers in groups that grow together."""

    def __init__(self, groups: Iterable[Sequence[int]]) -> None:
        self._heads: dict[int, int] = {}
        for group in groups:
            self._heads.update(dict.fromkeys(group, group[0]))

    def join(self, numbers: Iterable[int]) -> None:
        """The groups of these numbers become one."""
        first, *others = map(self._head, numbers)
        for other in others:
            self._heads[self._head(other)] = self._head(first)

    def every(self) -> list[list[int]]:
        """All groups, by their first number in the order given."""
        found: dict[int, list[int]] = {}
        for number in self._heads:
            found.setdefault(self._head(number), []).append(number)
        return list(found.values())

    def _head(self, number: int) -> int:
        heads = self._heads
        while heads[number] != number:
            heads[number] = number = heads[heads[number]]
        return number


def _named_in(file: Loaded, files: Sequence[Loaded], by_name: dict[str, list[int]]) -> Iterator[int]:
    """The files that a file may mean by the names of scripts in it."""
    for token in dict.fromkeys(_CALLED.findall(file.source.text)):
        path = _BEHIND_VARIABLE.sub("", token)
        found = [
            number for number in by_name.get(_name(path), ()) if f"/{files[number].source.path}".endswith("/" + path)
        ]
        if len(found) > _MANY:
            found = [number for number in found if _folder(files[number].source.path) == _folder(file.source.path)]
        yield from found


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
