"""Commands as the ways of starting them give them: which script they were reached from, on which of its paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from verlint.experiment.script import Script
from verlint.languages.bash.command import Command
from verlint.languages.bash.replay import Path
from verlint.record import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

Place = tuple[str, int, int]
"""Path of a file and two offsets in it: where a command is written."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A command as one way of starting it gives it: the script it was reached from, and on how many of its paths."""

    command: Command
    entry: Script
    paths: frozenset[int]

    @property
    def in_document(self) -> bool:
        """Whether the command itself is written in a document, not in a script that one calls."""
        return self.entry.document and self.command.span.in_file().source is self.entry.source

    @property
    def called(self) -> bool:
        """Whether the arguments are those of a real call, not those of anybody."""
        return bool(self.command.around.stack) or self.entry.closed


def variants_of(script: Script, of: Callable[[Path], Iterable[Command]] = lambda path: path.commands) -> list[Variant]:
    """The distinct commands of a script, in order; `of` says which commands of a path are meant."""
    found: dict[object, tuple[Command, set[int]]] = {}
    same: dict[int, set[int]] = {}  # paths that begin alike share what they have in common
    for number, path in enumerate(script.resolution.paths):
        for command in of(path):
            paths = same.get(id(command))
            if paths is not None:
                paths.add(number)
                continue
            key = (
                command.span.order(),
                tuple(word.identity() for word in command.argv),
                tuple(call.span.order() for call in command.around.stack),
                command.around.xtrace,
                tuple((path, made.text) for path, made in command.made.items()),
            )
            paths = found.setdefault(key, (command, set()))[1]
            paths.add(number)
            same[id(command)] = paths
    return [Variant(command, script, frozenset(paths)) for command, paths in found.values()]


def by_place(variants: Iterable[Variant]) -> Mapping[Place, list[Variant]]:
    """Variants by the place of the command. Where real calls reach it, the launcher's own open run is left out; jobs
    alone do not speak for all calls: a test of a launcher is one of its uses. The rules of a Makefile do: it is a
    launcher of launchers."""
    found: dict[Place, list[Variant]] = {}
    for variant in variants:
        found.setdefault(variant.command.span.order(), []).append(variant)
    return {place: _called(each) for place, each in sorted(found.items())}


def by_call(site: Iterable[tuple[T, Variant]]) -> Iterable[list[tuple[T, Variant]]]:
    """What one place gives, by the script it was reached from and the calls on the way there."""
    found: dict[object, list[tuple[T, Variant]]] = {}
    for each in site:
        variant = each[1]
        calls = tuple(call.span.order() for call in variant.command.around.stack)
        found.setdefault((id(variant.entry), calls), []).append(each)
    return found.values()


def _called(variants: list[Variant]) -> list[Variant]:
    if not any(each.called and _speaks_for_all(each.entry) for each in variants):
        return variants
    return [each for each in variants if each.called]


def _speaks_for_all(entry: Script) -> bool:
    return entry.job is None or entry.job.format == "Makefile"
