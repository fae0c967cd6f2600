"""Exploring a launcher: run it, and run it again with the other answer wherever a condition could not be decided."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence

from verlint.languages.bash.command import Assignment, Command, Guard
from verlint.languages.bash.parser import parse
from verlint.languages.bash.pieces import Parts, plain
from verlint.languages.bash.run import Endless, Event, Files, Note, OverBudget, Run
from verlint.languages.bash.shell import Shell
from verlint.languages.bash.storage import Variable
from verlint.languages.bash.syntax import Program
from verlint.record import dataclass
from verlint.source import Source
from verlint.value import Hole, Text

MAX_PATHS = 16
MAX_TOTAL_STEPS = 6_000
"""After so many steps on all paths together no further path is begun: drivers of many runs repeat themselves."""


@dataclass(frozen=True, slots=True)
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

    @property
    def commands(self) -> list[Command]:
        """The commands, in order."""
        return [event for event in self.events if isinstance(event, Command)]

    @property
    def assignments(self) -> list[Assignment]:
        """The assignments, in order."""
        return [event for event in self.events if isinstance(event, Assignment)]


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a launcher does, on every path that was looked at. `cut_short` says that there are more."""

    source: Source
    paths: tuple[Path, ...]
    cut_short: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """How a launcher is started.

    `start` is the working directory, relative to the root of the checkout; `name` is `$0`. `arguments` is None when
    anybody may pass anything. `environment` are exported variables with known values. `mount` is the absolute path of
    the root where that is known (then the world is closed when `closed` is set: an unset variable is empty, as in a
    real run)."""

    start: str = ""
    name: str = ""
    arguments: Sequence[str | Text] | None = None
    environment: Mapping[str, str] | None = None
    mount: str = ""
    closed: bool = False


def _shell(source: Source, entry: Entry, run: Run) -> Shell:
    cwd: Parts
    if entry.mount:
        cwd = plain(posixpath.normpath(posixpath.join(entry.mount, entry.start)))
    else:
        cwd = (Hole(("cwd", entry.start), "PWD", "directory the launcher is started in"),)
    shell = Shell(run, source, plain(entry.name or source.path), cwd)
    for name, value in (entry.environment or {}).items():
        shell.globals[name] = Variable(plain(value), exported=True)
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
    programs: dict[int, Program] | None = None,
    max_paths: int = MAX_PATHS,
) -> Resolution:
    """All paths of a launcher, the expected one first, at most `max_paths`.

    Several texts run one after the other in one shell, as somebody who follows a README types them: an `exit` ends
    only its own text. `programs` are trees already parsed, by the identity of their source; new ones are added."""
    source = texts[0]
    parsed = {} if programs is None else programs
    for text in texts:
        if id(text) not in parsed:
            parsed[id(text)] = parse(text.text)
    waiting: list[tuple[bool, ...]] = [()]
    seen: set[tuple[bool, ...]] = {()}
    paths: list[Path] = []
    steps = 0
    while waiting and len(paths) < max_paths and steps < MAX_TOTAL_STEPS:
        run = Run(files, waiting.pop(0), closed=entry.closed, mount=entry.mount, programs=parsed)
        shell = _shell(source, entry, run)
        try:
            for text in texts:
                shell.source = text
                try:  # noqa: SIM105 (contextlib takes a millisecond to import)
                    shell.main(parsed[id(text)])
                except Endless:
                    pass
        except (OverBudget, RecursionError):
            run.over_budget = True
            if shell.group is not None:
                run.notes.append(Note("given-up", "", text.span(shell.group.start, shell.group.end)))
        paths.append(
            Path(
                tuple(run.conditions),
                tuple(run.events),
                tuple(run.notes),
                shell.status,
                run.over_budget,
                tuple(run.tests),
            )
        )
        steps += run.steps
        for alternative in run.alternatives:
            if alternative not in seen:
                seen.add(alternative)
                waiting.append(alternative)
        if run.over_budget and len(paths) >= 4:
            break
    return Resolution(source, tuple(paths), bool(waiting))
