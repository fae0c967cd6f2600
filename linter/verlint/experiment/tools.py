"""The tools that commands start: what they read and write with the words of a call, and the data files that their
texts name."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from verlint.experiment.paths import absolute, in_tree
from verlint.experiment.python_programs import python_program
from verlint.experiment.stage import called_file
from verlint.files.tree import Tree
from verlint.languages.bash.command import Command
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.source import Source, Span
from verlint.value import Hole, Part, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.stage import Stage
    from verlint.languages.python.facts import FileUse
    from verlint.languages.python.tool import Tool

_NAMED = pattern(r"[\w.{}$%-]+\.(?:parquet|jsonl?)\b")
OPEN = pattern(r"\{[^{}]*\}|%s|\$\w+")
"""The parts of a name in a text that are filled in when the tool runs."""


@dataclass(frozen=True, eq=False)
class CalledTool:
    """A Python tool of the checkout, and the words of a call. `name` is the word that names it, `cwd` where it runs."""

    tool: Tool
    name: Text
    words: tuple[Text, ...]
    cwd: Text


@dataclass(frozen=True, eq=False)
class Touched:
    """A file that a call reads or writes: its path seen from the root of the project where that is known, `how` as in
    `FileUse`, and where the tool says so."""

    path: Text
    how: str
    span: Span


def called_tool(command: Command, tree: Tree, start: str = "") -> CalledTool | None:
    """The tool that a command starts, when it is in the checkout. Where the working directory is not known, it is
    looked for below `start`."""
    if command.builtin or command.function:
        return None
    program = python_program(command.argv)
    if program is None or not program.entry:
        return None
    entry = program.entry.replace(".", "/") + ".py" if program.module else program.entry
    if not entry.endswith(".py"):
        return None
    around = command.around.cwd
    if program.module:
        home = in_tree(around)
        source = _source_at(None if home is None else posixpath.join(home, entry), entry, tree, start)
    else:
        source = _source_at(in_tree(absolute(program.name, around)), entry, tree, start)
    if source is None:
        return None
    from verlint.languages.python.tool import tool

    return CalledTool(tool(source), program.name, program.arguments, command.around.cwd)


def called_source(command: Command, tree: Tree, start: str, endings: tuple[str, ...] = (".py",)) -> Source | None:
    """The text of the tool or script that a command starts by its path, of one of these endings."""
    called = called_file(command)
    if called is None or not called.path.suffix.endswith(endings):
        return None
    return _source_at(in_tree(absolute(called.path, command.around.cwd)), called.path.known, tree, start)


def _source_at(place: str | None, written: str | None, tree: Tree, start: str) -> Source | None:
    """The file at a place of the checkout; where the place is not known, below `start` as it is written."""
    if place is None and written is not None and not written.startswith("/"):
        place = posixpath.join(start, written)
    place = None if place is None else posixpath.normpath(place)
    return None if place is None or place.startswith("..") else tree.source(place)


def data_files(source: Source) -> Iterator[Span]:
    """The places where a text names a data file, also in part (`f"{name}_{split}.parquet"`)."""
    for match in _NAMED.finditer(source.text):
        yield Span(source, match.start(), match.end())


def is_named(name: str, named: Iterable[str]) -> bool:
    """Whether one of the names that texts give to data files may be this one."""
    return any(re.fullmatch(".+".join(map(re.escape, OPEN.split(each))), name) for each in named)


def touched(called: CalledTool) -> Iterator[Touched]:
    """The files that a call reads and writes, as far as the tool says."""
    given = _given(called)
    for use in called.tool.files:
        path = filled(use, given)
        yield Touched(absolute(path, called.cwd), use.how, use.span)


def files_of_stage(stage: Stage, tree: Tree, start: str = "") -> Iterator[tuple[Command, Touched]]:
    """The files that the Python tools of a stage read and write, each with the command that starts the tool."""
    for event in stage.events:
        if isinstance(event, Command) and (called := called_tool(event, tree, start)) is not None:
            yield from ((event, each) for each in touched(called))


def filled(use: FileUse, given: Mapping[object, Text]) -> Text:
    """The path of a use, with what a call gives in place of the unknowns that it decides."""
    parts: list[Part] = []
    for part in use.path.parts:
        known = given.get(part.key) if isinstance(part, Hole) else None
        parts.extend([part] if known is None else known.parts)
    return Text(tuple(parts), use.path.span)


def _given(called: CalledTool) -> dict[object, Text]:
    """What stands for the options, arguments and fields of a tool in a call."""
    from verlint.languages.python.options import defaults, read_call
    from verlint.languages.python.values import option_key

    source = called.tool.source
    out: dict[object, Text] = {}
    interface = called.tool.interface
    if interface is not None:
        out.update((option_key(source, dest), text) for dest, text in defaults(interface).items())
        for dest, words in read_call(interface, called.words).given.items():
            if len(words) == 1 and not words[0].elastic:
                out[option_key(source, dest)] = words[0]
    for number, word in enumerate(_certain(called.words), 1):
        out[("argument", source.known_as, number)] = word
    record = called.words[0] if called.words and not called.words[0].elastic else None
    if record is not None:
        from verlint.experiment.records import fields

        for number, field in enumerate(fields(record)):
            out[("field", source.known_as, 1, number)] = field
    return out


def _certain(words: Sequence[Text]) -> Iterator[Text]:
    """The words up to the first that may be none or several."""
    for word in words:
        if word.elastic:
            return
        yield word
