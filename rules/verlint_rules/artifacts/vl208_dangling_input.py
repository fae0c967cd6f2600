"""A data file that a run reads should be one that some step writes.

The data tools of an experiment write files of certain names. A launcher that reads a file of nearly the same name,
which none of them writes, stops when the data set is made: after the queue, the start of the cluster and often after
the models are loaded. Most often the name of the data has changed on one side only.

To be verified, since the file may have come from elsewhere. Only beside tools that name the files they write (those in
the start folder's `tools/` and `data/`, and those that its scripts and documents call), and with the nearest of those
names. Silent where any command, tool, document or other text of the experiment names the file, where a download or a
program of unknown effect may have filled the folder, and for names that only the host knows.

Fix: read the file that the tool writes, or add the step that writes this one.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from weakref import WeakKeyDictionary

from verlint.experiment.checkpoints import ledger_of_script
from verlint.experiment.paths import absolute, components, in_tree, is_below, last_component, parent, shown
from verlint.experiment.project import Project
from verlint.experiment.script import Script
from verlint.experiment.stage import Experiment, called_file
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.languages.bash.pieces import flat
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import ERROR, Context, rule
from verlint.source import Source, Span
from verlint.value import Text, Value
from verlint_rules.artifacts.training import FILES

_FILE = pattern(r"[^\[\],'\"\s]+\.(?:parquet|jsonl?)(?=$|[\],'\"\s])")
_NAMED = pattern(r"[\w.{}$%-]+\.(?:parquet|jsonl?)\b")
_OPEN = pattern(r"\{[^{}]*\}|%s|\$\w+")
_CUTOFF = 0.8
_TOOL_FOLDERS = ("tools", "data", "scripts/data", "data_preprocess")


@rule("VL208", "dangling-input", on=Experiment, severity=ERROR, since="0.1", words=("_files=",))
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    script = experiment.script
    if script is None or not experiment.root:
        return
    known = _written(ctx.project, script.start)
    made = known.names
    inputs = _inputs(script, ctx) if made else []
    if not inputs:
        return
    ledger = ledger_of_script(script, ctx.project.launch)
    if ledger.cut_short or any(folder == () for folder, _ in ledger.makers):
        return
    filled = [folder for folder, _ in ledger.makers]
    others = "\n".join(known.words)
    groups: dict[tuple[object, str], list[_Input]] = {}
    for each in inputs:
        if _is_made(each.name, made) or each.name in others or any(is_below(each.key, folder) for folder in filled):
            continue
        groups.setdefault((each.span.order(), each.value.key), []).append(each)
    for found in groups.values():
        yield from _finding(found, made, ctx)


@dataclass(frozen=True, slots=True)
class _Input:
    """A file that a launch reads."""

    name: str
    path: Text
    key: tuple[tuple[object, ...], ...]
    span: Span
    value: Value


def _inputs(script: Script, ctx: Context) -> list[_Input]:
    out: dict[object, _Input] = {}
    for path in script.resolution.paths:
        for command in path.commands:
            launch = None if command.builtin or command.function else ctx.project.launch(command)
            if launch is None:
                continue
            for value in (launch[key] for key in FILES):
                for file in _files(value):
                    name = last_component(file).known
                    if name is None:
                        continue
                    full = absolute(file, command.around.cwd)
                    span = last_component(file).parts[-1].span or value.span or command.span
                    out[(name, span.order(), value.key)] = _Input(name, full, components(parent(full)), span, value)
    return list(out.values())


def _files(value: Value) -> Iterator[Text]:
    if not value.given or value.text is None:
        return
    for match in _FILE.finditer(flat(value.text.parts)):
        yield value.text.slice(match.start(), match.end())


@dataclass(frozen=True, slots=True)
class _Written:
    """What the scripts of one start folder say: the names of data files in the texts of the tools they call, with the
    place of each, and the words of all commands that are no launches."""

    names: dict[str, tuple[Source, Span]]
    words: list[str]


_KNOWN: WeakKeyDictionary[Project, dict[str, _Written]] = WeakKeyDictionary()


def _written(project: Project, start: str) -> _Written:
    """That for the scripts of a whole project which are started in a folder."""
    known = _KNOWN.setdefault(project.whole, {})
    if start not in known:
        known[start] = _read_all(project, start)
    return known[start]


def _read_all(project: Project, start: str) -> _Written:
    """What the scripts of a start folder say, in the order of their files. Where nothing speaks of Python files there
    are no tools, and what the scripts do need not be known."""
    out = _Written(_in_tools(project, start), [])
    texts = (*(file.source for file in project.every_file), *project.tree.sources())
    if not out.names and not any(".py" in source.text for source in texts):
        return out
    found = {
        id(script.source): _read(script, part)
        for part in project.every_part()
        for script in part.scripts
        if script.start == start
    }
    for each in (found[id(file.source)] for file in project.every_file if id(file.source) in found):
        for name, place in each.names.items():
            out.names.setdefault(name, place)
        out.words.extend(each.words)
    return out


def _in_tools(project: Project, start: str) -> dict[str, tuple[Source, Span]]:
    """The names of data files in the Python tools beside a start folder."""
    out: dict[str, tuple[Source, Span]] = {}
    for folder in _TOOL_FOLDERS:
        place = posixpath.normpath(posixpath.join(start, folder))
        for name in project.tree.listing(place):
            source = project.tree.source(posixpath.join(place, name)) if name.endswith(".py") else None
            if source is not None:
                _collect(source, out)
    return out


def _collect(source: Source, out: dict[str, tuple[Source, Span]]) -> None:
    for match in _NAMED.finditer(source.text):
        out.setdefault(match.group(), (source, Span(source, match.start(), match.end())))


def _read(script: Script, project: Project) -> _Written:
    out = _Written({}, [])
    if script.document:
        out.words.append(script.source.text)
    for path in script.resolution.paths:
        for command in path.commands:
            if not (command.builtin or command.function) and project.launch(command) is not None:
                continue
            out.words.extend(word.shown for word in command.argv)
            out.words.extend(redirect.target.shown for redirect in command.redirects)
            source = _tool(command, script)
            if source is not None:
                _collect(source, out.names)
    return out


def _tool(command: Command, script: Script) -> Source | None:
    """The Python tool that a command starts, also where the working directory is not known: then below the script's."""
    called = called_file(command)
    if called is None or not called.path.suffix.endswith(".py"):
        return None
    place = in_tree(absolute(called.path, command.around.cwd))
    relative = called.path.known
    if place is None and relative is not None and not relative.startswith("/"):
        place = posixpath.normpath(posixpath.join(script.start, relative))
    return None if place is None or place.startswith("..") else script.tree.source(place)


def _is_made(name: str, made: Mapping[str, object]) -> bool:
    """Whether a tool names the file, also as `f"{name}_{split}.parquet"`."""
    for each in made:
        pieces = _OPEN.split(each)
        if re.fullmatch(".+".join(map(re.escape, pieces)), name):
            return True
    return False


def _finding(found: Sequence[_Input], made: Mapping[str, tuple[Source, Span]], ctx: Context) -> Iterator[Finding]:
    from difflib import get_close_matches

    first = found[0]
    plain = {_OPEN.sub("", each): each for each in made}
    near = [plain[each] for each in get_close_matches(first.name, list(plain), n=2, cutoff=_CUTOFF)]
    if not near:
        return
    names = " and ".join(dict.fromkeys(f"`{each.name}`" for each in found[:2]))
    more = len({each.name for each in found}) - 2
    names += f" and {more} more" if more > 0 else ""
    source, span = made[near[0]]
    message = f"{names} {'is' if len(found) == 1 else 'are'} read, but no step of the experiment writes it"
    if len(found) > 1:
        message = message.removesuffix("it") + "them"
    help_ = f"read {near[0]}, or add the step that writes this one"
    value, near_names = f"{first.value.key} = {shown(first.path)}", ", ".join(near)
    finding = ctx.unsure(
        first.span, message, value=value, hops=first.value.hops, near=near_names, help=help_,
        verify=f"ls {shown(first.path)}",
    )  # fmt: skip
    yield finding.with_related(span, f"{source.path} writes the nearest")
