"""What a launcher starts on any course of a call, for stages whose expected course ends before it starts anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from verlint.experiment.launch import Launch
from verlint.experiment.spec_calls import LauncherPlace
from verlint.files.tree import Tree
from verlint.languages.bash.command import Command
from verlint.languages.bash.replay import Entry, explore
from verlint.languages.bash.syntax import Program
from verlint.value import Text


def launches_of_call(
    place: LauncherPlace, arguments: list[Text], tree: Tree, programs: dict[int, Program],
    launch_of: Callable[[Command], Launch | None],
) -> list[Launch]:  # fmt: skip
    """The launches of a launcher that is called with these words, on all its courses, each distinct one once."""
    entry = Entry(start=place.start, name=place.name, arguments=arguments)
    resolution = explore([place.source], tree, entry, programs=programs)
    commands = (each for path in resolution.paths for each in path.commands if not (each.builtin or each.function))
    return distinct(launch for each in commands if (launch := launch_of(each)) is not None)


def distinct(launches: Iterable[Launch]) -> list[Launch]:
    """Launches of one place with the same words once."""
    found: dict[object, Launch] = {}
    for launch in launches:
        words = tuple(word.identity() for word in launch.command.argv)
        found.setdefault((launch.command.span.order(), words), launch)
    return list(found.values())
