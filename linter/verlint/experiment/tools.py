"""Python tools as a command calls them: what they read and write with the words of that call."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence

from verlint.experiment.launch import python_program
from verlint.experiment.paths import absolute, in_tree
from verlint.files.tree import Tree
from verlint.languages.bash.command import Command
from verlint.record import dataclass
from verlint.source import Span
from verlint.value import Hole, Part, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.stage import Stage
    from verlint.languages.python.facts import FileUse
    from verlint.languages.python.tool import Tool


@dataclass(frozen=True, slots=True, eq=False)
class CalledTool:
    """A Python tool of the checkout, and the words of a call. `name` is the word that names it, `cwd` where it runs."""

    tool: Tool
    name: Text
    words: tuple[Text, ...]
    cwd: Text


@dataclass(frozen=True, slots=True, eq=False)
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
    path = Text(program.name.parts, program.name.span) if not program.module else None
    place = in_tree(absolute(path, command.around.cwd)) if path is not None else None
    if program.module:
        home = in_tree(command.around.cwd)
        place = None if home is None else posixpath.normpath(posixpath.join(home, entry))
    if place is None and not entry.startswith("/"):
        place = posixpath.normpath(posixpath.join(start, entry))
    source = None if place is None or place.startswith("..") else tree.source(place)
    if source is None:
        return None
    from verlint.languages.python.tool import tool

    return CalledTool(tool(source), program.name, program.arguments, command.around.cwd)


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
        out[("argument", id(source), number)] = word
    record = called.words[0] if called.words and not called.words[0].elastic else None
    if record is not None:
        from verlint.experiment.records import fields

        for number, field in enumerate(fields(record)):
            out[("field", id(source), 1, number)] = field
    return out


def _certain(words: Sequence[Text]) -> Iterator[Text]:
    """The words up to the first that may be none or several."""
    for word in words:
        if word.elastic:
            return
        yield word
