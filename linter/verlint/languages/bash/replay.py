"""Exploring a launcher: run it, and run it again with the other answer wherever a condition could not be decided."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from functools import cached_property, partial

from verlint.languages.bash.checkpoint import Checkpoint
from verlint.languages.bash.command import Assignment, Command, Guard
from verlint.languages.bash.parser import parse
from verlint.languages.bash.pieces import Parts, plain
from verlint.languages.bash.prepared import Prepared
from verlint.languages.bash.run import Endless, Event, Files, Note, OverBudget, Run
from verlint.languages.bash.shell import Shell
from verlint.languages.bash.storage import Variable
from verlint.languages.bash.syntax import Program
from verlint.record import dataclass, field
from verlint.source import Source, Span
from verlint.value import Hole, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.languages.bash.clones import Home

MAX_PATHS = 16
MAX_TOTAL_STEPS = 6_000
"""After so many steps on all paths together no further path is begun: drivers of many runs repeat themselves."""

_WORDS_A_STEP = 16
_CHARACTERS_A_STEP = 128
"""How many words that are handed on, and characters that are read on the way, cost as much as a step."""

_VARIABLES_A_STEP = 8
"""How many variables may be copied for a step that other paths need not do again."""


@dataclass(frozen=True)
class Path:
    """One way through a launcher: the conditions answered, what happens in order, the exit status (None: not known).

    `tests` are the calls of `[` and `test`; they are no events, because they start nothing.
    """

    conditions: tuple[Guard, ...]
    events: tuple[Event, ...]
    notes: tuple[Note, ...]
    status: int | None
    over_budget: bool
    tests: tuple[Command, ...] = ()

    @cached_property
    def denied(self) -> Mapping[str, list[Span]]:
        """The conditions that were answered with no, by their text, with their places."""
        found: dict[str, list[Span]] = {}
        for guard in self.conditions:
            if not guard.holds:
                found.setdefault(guard.text, []).append(guard.span)
        return found

    @cached_property
    def commands(self) -> list[Command]:
        """The commands, in order."""
        return [event for event in self.events if isinstance(event, Command)]

    @cached_property
    def assignments(self) -> list[Assignment]:
        """The assignments, in order."""
        return [event for event in self.events if isinstance(event, Assignment)]


@dataclass(frozen=True)
class Resolution:
    """What a launcher does, on every path that was looked at. `cut_short` says that there are more."""

    source: Source
    paths: tuple[Path, ...]
    cut_short: bool


@dataclass(frozen=True)
class Entry:
    """How a launcher is started.

    `start` is the working directory, relative to the root of the checkout; `name` is `$0`. `arguments` is None when
    anybody may pass anything. `environment` are exported variables. `mount` is the absolute path of the root where
    that is known (then the world is closed when `closed` is set: an unset variable is empty, as in a real run).
    `folder` is a working directory outside of the checkout; `options` are shell options, `variables` what is set and
    not exported. `home` is where a document lies whose own repository may be cloned on the way."""

    start: str = ""
    name: str = ""
    arguments: Sequence[str | Text] | None = None
    environment: Mapping[str, str | Text] | None = None
    mount: str = ""
    closed: bool = False
    folder: Text | None = None
    options: frozenset[str] = frozenset()
    variables: Mapping[str, Text] = field(default_factory=dict)
    home: Home | None = None


def _shell(source: Source, entry: Entry, run: Run) -> Shell:
    cwd: Parts
    if entry.folder is not None:
        cwd = entry.folder.parts
    elif entry.mount:
        cwd = plain(posixpath.normpath(posixpath.join(entry.mount, entry.start)))
    else:
        cwd = (Hole(("cwd", entry.start), "PWD", "directory the launcher is started in"),)
    run.start = cwd
    shell = Shell(run, source, plain(entry.name or source.path), cwd)
    for name, value in (entry.environment or {}).items():
        shell.globals[name] = Variable(plain(value) if isinstance(value, str) else value.parts, exported=True)
    for name, text in entry.variables.items():
        shell.globals[name] = Variable(text.parts)
    shell.options |= entry.options
    if entry.arguments is None:
        shell.open_arguments = True
    else:
        shell.positional = [plain(each) if isinstance(each, str) else each.parts for each in entry.arguments]
    return shell


def explore(
    texts: Sequence[Source],
    files: Files,
    entry: Entry,
    *,
    entries: Sequence[Entry | None] = (),
    programs: dict[int, Program] | None = None,
    max_paths: int = MAX_PATHS,
) -> Resolution:
    """All paths of a launcher, the expected one first, at most `max_paths`.

    Several texts run one after the other in one shell, as somebody who follows a README types them: an `exit` ends
    only its own text. Where `entries` has an entry for a text, that begins a shell of its own. `programs` are trees
    already parsed, by the identity of their source; new ones are added."""
    parsed = {} if programs is None else programs
    for text in texts:
        if id(text) not in parsed:
            parsed[id(text)] = parse(text.text)
    prepared = Prepared()
    waiting: list[tuple[tuple[bool, ...], Checkpoint | None]] = [((), None)]
    seen: set[tuple[bool, ...]] = {()}
    paths: list[Path] = []
    steps = 0
    while waiting and len(paths) < max_paths and steps < MAX_TOTAL_STEPS:
        choices, begin = waiting.pop(0)
        run = Run(
            files,
            choices,
            closed=entry.closed,
            mount=entry.mount,
            home=entry.home,
            programs=parsed,
            prepared=prepared,
        )
        shell = _shell(texts[0], entry, run) if begin is None else begin.shell(run)
        checkpoints, status = _walk(shell, texts, begin, entries)
        paths.append(_path(run, status))
        steps += run.steps + run.handed_on // _WORDS_A_STEP + run.texts // _CHARACTERS_A_STEP
        for alternative in run.alternatives[: max(0, max_paths - len(paths) - len(waiting) + 1)]:
            if alternative not in seen:
                seen.add(alternative)
                known = [each for each in checkpoints if each.answered < len(alternative)]
                waiting.append((alternative, known[-1] if known else begin))
        if run.over_budget and len(paths) >= 4:
            break
    return Resolution(texts[0], tuple(paths), bool(waiting))


def _walk(
    shell: Shell, texts: Sequence[Source], begin: Checkpoint | None, entries: Sequence[Entry | None]
) -> tuple[list[Checkpoint], int | None]:
    """Run the texts, from a checkpoint on where one is given. Gives the checkpoints from which other paths can go
    on, and the exit status of the last shell."""
    checkpoints: list[Checkpoint] = []
    first = 0 if begin is None else begin.text
    try:
        for number in range(first, len(texts)):
            own = entries[number] if number < len(entries) else None
            if own is not None and (begin is None or number > first):
                shell = _shell(texts[number], own, shell.run)
            shell.source = texts[number]
            try:  # noqa: SIM105 (contextlib takes a millisecond to import)
                shell.main(
                    shell.run.programs[id(texts[number])],
                    begin.line if begin is not None and number == first else 0,
                    partial(_keep, checkpoints, shell, number),
                )
            except Endless:
                pass
    except (OverBudget, RecursionError):
        shell.run.over_budget = True
        if shell.group is not None:
            given_up = texts[number].span(shell.group.start, shell.group.end)
            shell.run.notes.append(Note("given-up", "", given_up))
    return checkpoints, shell.status


def _keep(checkpoints: list[Checkpoint], shell: Shell, text: int, line: int) -> None:
    """Make a checkpoint when a path may yet begin from it, and when what was done since the last one is worth the
    copies."""
    run = shell.run
    before = checkpoints[-1] if checkpoints else None
    done = run.steps - (before.steps if before is not None else 0)
    if len(run.alternatives) >= MAX_PATHS or done * _VARIABLES_A_STEP < len(shell.globals):
        return
    if before is not None and before.answered == len(run.taken):
        checkpoints.pop()
    checkpoints.append(Checkpoint(shell, text, line))


def _path(run: Run, status: int | None) -> Path:
    return Path(tuple(run.conditions), tuple(run.events), tuple(run.notes), status, run.over_budget, tuple(run.tests))
