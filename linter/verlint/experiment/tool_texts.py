"""Python tools that commands start, and the data files that their texts name."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from verlint.experiment.paths import absolute, in_tree
from verlint.experiment.script import Script
from verlint.experiment.stage import called_file
from verlint.languages.bash.command import Command
from verlint.lazy import pattern
from verlint.source import Source, Span

_NAMED = pattern(r"[\w.{}$%-]+\.(?:parquet|jsonl?)\b")
OPEN = pattern(r"\{[^{}]*\}|%s|\$\w+")
"""The parts of a name in a text that are filled in when the tool runs."""


def called_source(command: Command, script: Script, endings: tuple[str, ...] = (".py",)) -> Source | None:
    """The tool that a command starts by its path, also where the working directory is not known: then it is looked for
    below the script's."""
    called = called_file(command)
    if called is None or not called.path.suffix.endswith(endings):
        return None
    place = in_tree(absolute(called.path, command.around.cwd))
    relative = called.path.known
    if place is None and relative is not None and not relative.startswith("/"):
        place = posixpath.normpath(posixpath.join(script.start, relative))
    return None if place is None or place.startswith("..") else script.tree.source(place)


def data_files(source: Source) -> Iterator[Span]:
    """The places where a text names a data file, also in part (`f"{name}_{split}.parquet"`)."""
    for match in _NAMED.finditer(source.text):
        yield Span(source, match.start(), match.end())


def is_named(name: str, named: Iterable[str]) -> bool:
    """Whether one of the names that texts give to data files may be this one."""
    return any(re.fullmatch(".+".join(map(re.escape, OPEN.split(each))), name) for each in named)
