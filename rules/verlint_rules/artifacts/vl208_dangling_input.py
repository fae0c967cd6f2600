"""A data file or local model that a run reads should be one that some step makes.

The data tools of an experiment write files of certain names. A launcher that reads a file of nearly the same name,
which none of them writes, stops when the data set is made: after the queue, the start of the cluster and often after
the models are loaded. Most often the name of the data has changed on one side only.

The same holds for a file of the right name that the call of the tool writes into another folder.

To be verified, since the file may have come from elsewhere. Only beside tools that name the files they write (those in
the start folder's `tools/` and `data/`, and those that its scripts and documents call), and with the nearest of those
names. Silent where any command, tool, document or other text of the experiment names the file, where a download or a
program of unknown effect may have filled the folder, and for names that only the host knows.

A model below `/tmp` is judged alike: that folder is empty in a fresh container, so some step of the experiment has to
download or copy the model. A single run is left alone, since nothing says where it belongs. Where the project names a
model of the hub that is called the same, that one may be meant.

Fix: read the file that the tool writes, or add the step that writes this one; name the hub's model, or download it.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from verlint.experiment.paths import Components, absolute, components, is_below, last_component, parent, shown
from verlint.experiment.project import Project
from verlint.experiment.script import Script
from verlint.experiment.stage import Experiment
from verlint.experiment.tools import (
    OPEN,
    CalledTool,
    Touched,
    called_source,
    called_tool,
    data_files,
    is_named,
    touched,
)
from verlint.finding import Finding
from verlint.languages.bash.command import Command, Surroundings
from verlint.languages.bash.pieces import flat
from verlint.lazy import pattern
from verlint.memo import WeakKeyDictionary, by_identity
from verlint.record import dataclass, field, replace
from verlint.rule import ERROR, Context, Pending, rule
from verlint.source import Source, Span
from verlint.value import Text, Value
from verlint_rules.artifacts.training import FILES

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import TypeAlias

    from verlint_rules.artifacts.local_models import LocalModel

_ENDINGS = (".parquet", ".json", ".jsonl")
_FILE = pattern(r"[^\[\],'\"\s]+\.(?:parquet|jsonl?)(?=$|[\],'\"\s])")
_CUTOFF = 0.8
_TOOL_FOLDERS = ("tools", "data", "scripts/data", "data_preprocess")


@dataclass(frozen=True)
class _Written:
    """What the scripts of one start folder say: the names of data files in the texts of the tools they call, with the
    place of each, the words of all commands that are no launches, and the calls of Python tools with how often each is
    made."""

    names: dict[str, tuple[Source, Span]]
    words: dict[str, None] = field(default_factory=dict)
    calls: list[tuple[Command, int]] = field(default_factory=list)


_Survey: TypeAlias = "Sequence[tuple[Source, str, _Written]]"


def _survey(project: Project) -> _Survey:
    """What each script of a part says, with its start folder. Where nothing speaks of Python files there are no tools,
    and what the scripts do need not be known."""
    if not project.speaks_of((".py",)):
        starts = {script.start for script in project.scripts}
        if not any(_in_tools(project, start) for start in starts):
            return ()
    return [(script.source, script.start, _read(script, project)) for script in project.scripts]


@rule("VL208", "dangling-input", on=Experiment, severity=ERROR, since="0.1", words=("_files=", "/tmp/"), survey=_survey)
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding | Pending]:
    script = experiment.script
    if script is None or not experiment.root:
        return
    yield from _data_files(script, ctx)
    if len(experiment.stages) > 1:
        from verlint_rules.artifacts.local_models import local_models

        yield from (_of_model(model, ctx) for model in local_models(script, ctx.project))


def _of_model(model: LocalModel, ctx: Context) -> Finding:
    from verlint_rules.artifacts.local_models import hub_name

    hub = hub_name(ctx.project, model.name)
    help_ = f"write {hub[0]}, or download it there first" if hub is not None else "download it there first"
    found = ctx.unsure(
        model.span,
        f"no step of the experiment makes `{model.path}`, and /tmp is empty in a fresh container",
        value=f"{model.value.key} = {model.value}",
        hops=model.value.hops,
        near=hub[0] if hub is not None else "",
        help=help_,
        verify=f"ls {model.path}/config.json",
    )
    if hub is not None:
        found = found.with_related(hub[1], "the same name, as a model of the hub")
    for span in model.others[:3]:
        found = found.with_related(span, "used here too")
    return found


def _data_files(script: Script, ctx: Context) -> Iterator[Pending]:
    inputs = _inputs(script, ctx)
    if not inputs:
        return
    from verlint.experiment.checkpoints import ledger_of_script

    ledger = ledger_of_script(script, ctx.project.launch)
    if not ledger.cut_short and all(folder != () for folder, _ in ledger.makers):
        yield _Reads(script.start, inputs, Counter(folder for folder, _ in ledger.makers))


@dataclass(frozen=True)
class _Reads(Pending):
    """The files that the launches of a script read, where it is started, and the folders that commands of unknown
    effect may have filled before, with how many."""

    start: str
    inputs: list[_Input]
    makers: Mapping[Components, int]

    def conclude(self, surveys: Sequence[_Survey], context: Context) -> Iterator[Finding]:
        known = _written(surveys, self.start, context.project)
        if not known.names:
            return
        filled = list(self.makers)
        if any(is_below(each.key, folder) for each in self.inputs for folder in filled):
            filled = _filled(self, known, context)
        groups: dict[tuple[object, str], list[_Input]] = {}
        for each in self.inputs:
            if any(is_below(each.key, folder) for folder in filled):
                continue
            if _is_made(each.name, known.names):
                yield from _elsewhere(each, known, context)
            elif each.name not in known.others:
                groups.setdefault((each.span.order(), each.value.key), []).append(each)
        for found in groups.values():
            yield from _finding(found, known.names, context)


def _filled(reads: _Reads, known: _Known, ctx: Context) -> list[Components]:
    """The folders that commands of unknown effect may have filled; a tool of which each file is known fills none."""
    counts = dict(reads.makers)
    for call, times in known.calls:
        named = [each for word in call.words if (each := components(absolute(word, call.cwd))) in counts]
        writes = _writes(call) if named else []
        if not writes or any(last_component(use.path).known is None for use in writes):
            continue
        for folder in named:
            counts[folder] -= times
    return [folder for folder, count in counts.items() if count > 0]


@dataclass(frozen=True)
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
    text = flat(value.text.parts)
    if text.isascii() and text.replace("/", "").replace(".", "").replace("_", "").replace("-", "").isalnum():
        places = [(0, len(text))] if text.endswith(_ENDINGS) and text not in _ENDINGS else []  # one file, or none
    else:
        places = [match.span() for match in _FILE.finditer(text)]
    for start, end in places:
        yield value.text.slice(start, end)


@dataclass(frozen=True)
class _Known:
    """What all scripts of a start folder say together. `others` are their words, one a line."""

    names: dict[str, tuple[Source, Span]]
    others: str
    calls: list[tuple[CalledTool, int]]


@by_identity
def _writes(call: CalledTool) -> list[Touched]:
    """The files that a call writes. Few calls are asked for them."""
    return [use for use in touched(call) if use.how == "write"]


_KNOWN: WeakKeyDictionary[Project, dict[str, _Known]] = WeakKeyDictionary()


def _written(surveys: Sequence[_Survey], start: str, project: Project) -> _Known:
    """That for the scripts of the whole project which are started in a folder, in the order of their files."""
    known = _KNOWN.setdefault(project, {})
    if start not in known:
        names = _in_tools(project, start)
        words: dict[str, None] = {}
        calls: list[tuple[Command, int]] = []
        of_source = {id(source): (there, each) for survey in surveys for source, there, each in survey}
        for file in project.files:
            there, each = of_source.get(id(file.source), ("", None))
            if each is not None and there == start:
                for name, place in each.names.items():
                    names.setdefault(name, place)
                words.update(each.words)
                calls += each.calls
        known[start] = _Known(names, "\n".join(words), list(_called(calls, project, start)))
    return known[start]


def _called(calls: Iterable[tuple[Command, int]], project: Project, start: str) -> Iterator[tuple[CalledTool, int]]:
    for command, times in calls:
        called = called_tool(command, project.tree, start)
        if called is not None:
            yield called, times


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
    for place in data_files(source):
        name = place.text
        if not OPEN.sub("", name).rsplit(".", 1)[0].strip("_-"):  # any name at all: the tool itself tells which
            written = _written_by(source)
            if written:
                for each, span in written.items():
                    out.setdefault(each, (source, span))
                continue
        out.setdefault(name, (source, place))


def _written_by(source: Source) -> dict[str, Span]:
    """The names of the files that a tool writes, with their places; none where one of them is not known."""
    from verlint.languages.python.tool import tool

    out: dict[str, Span] = {}
    for use in tool(source).files:
        if use.how == "write":
            name = last_component(use.path).known
            if name is None:
                return {}
            out.setdefault(name, use.span)
    return out


def _read(script: Script, project: Project) -> _Written:
    out = _Written({})
    if script.document:
        out.words[script.source.text] = None
    calls: dict[object, list[Command]] = {}
    tools: set[Source] = set()
    for path in script.resolution.paths:
        for command in path.commands:
            if not (command.builtin or command.function) and project.launch(command) is not None:
                continue
            out.words.update(dict.fromkeys(_words(command)))
            source = called_source(command, script.tree, script.start)
            if source is not None:
                if source not in tools:
                    tools.add(source)
                    _collect(source, out.names)
                place = (tuple(word.identity() for word in command.argv), command.around.cwd.identity())
                calls.setdefault(place, []).append(command)
    for same in calls.values():
        first = same[0]
        plain = replace(first, around=Surroundings(first.around.cwd, {}), prefix={}, redirects=(), raw=())
        out.calls.append((plain, len(same)))
    return out


@by_identity
def _words(command: Command) -> tuple[str, ...]:
    """The words of a command as people write them, with where its output goes."""
    targets = (redirect.target for redirect in command.redirects)
    return tuple(each.shown for each in (*command.argv, *targets))


def _is_made(name: str, made: Mapping[str, tuple[Source, Span]]) -> bool:
    """Whether a tool names the file, also as `f"{name}_{split}.parquet"`: then what it writes tells, where that is
    known."""
    for each, (source, _) in made.items():
        if is_named(name, (each,)):
            written = _written_by(source) if OPEN.search(each) is not None else {}
            if not written or name in written:
                return True
    return False


def _elsewhere(found: _Input, known: _Known, ctx: Context) -> Iterator[Finding]:
    """A file of the right name that the experiment's call of a tool writes into another folder."""
    if found.path.known is None or found.path.known in known.others:
        return
    writes = [
        use for call, _ in known.calls for use in _writes(call) if last_component(use.path).known in (found.name, None)
    ]
    if not writes or any(found.path.same_as(each.path) is not False for each in writes):
        return
    first = writes[0]
    message = f"`{found.name}` is read from another folder than the one it is written to"
    finding = ctx.unsure(
        found.span, message, value=f"{found.value.key} = {shown(found.path)}", hops=found.value.hops,
        near=f"{first.span.source.path}:{first.span.begin.line} writes {shown(first.path)}",
        help=f"read {shown(first.path)}, or let the tool write to {shown(parent(found.path))}",
        verify=f"ls {shown(found.path)}",
    )  # fmt: skip
    yield finding.with_related(first.span, f"writes {shown(first.path)}")


def _finding(found: Sequence[_Input], made: Mapping[str, tuple[Source, Span]], ctx: Context) -> Iterator[Finding]:
    from difflib import get_close_matches

    first = found[0]
    plain: dict[str, str] = {}
    places = dict(made)
    for name, (source, _) in made.items():
        exact = _written_by(source) if OPEN.search(name) is not None else {}
        places.update((each, (source, span)) for each, span in exact.items())
        plain.update({each: each for each in exact} or {OPEN.sub("", name): name})
    near = [plain[each] for each in get_close_matches(first.name, list(plain), n=2, cutoff=_CUTOFF)]
    if not near:
        return
    more = len({each.name for each in found}) - 2
    names = (", " if more > 0 else " and ").join(dict.fromkeys(f"`{each.name}`" for each in found[:2]))
    names += f" and {more} more" if more > 0 else ""
    source, span = places[near[0]]
    written = _written_by(source)
    does = "writes" if near[0] in written or not written else "names"
    span = written.get(near[0], span)
    message = f"{names} {'is' if len(found) == 1 else 'are'} read, but no step of the experiment writes it"
    if len(found) > 1:
        message = message.removesuffix("it") + "them"
    help_ = f"read {near[0]}, or add the step that writes this one"
    value = f"{first.value.key} = {shown(first.path)}"
    near_names = f"{source.path}:{span.begin.line} {does} {near[0]}"
    finding = ctx.unsure(
        first.span, message, value=value, hops=first.value.hops, near=near_names, help=help_,
        verify=f"ls {shown(first.path)}",
    )  # fmt: skip
    yield finding.with_related(span, f"{does} {near[0]}")
