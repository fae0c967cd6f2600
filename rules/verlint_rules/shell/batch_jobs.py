"""The batch jobs that the commands of a launcher belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.source import Span


def with_jobs(commands: Iterable[Command]) -> Iterator[tuple[Command, Span | None]]:
    """Each command with the call of `sbatch` that it is submitted with: its launcher goes on at once. None for those of
    the launcher itself."""
    calls: list[Span] = []
    for command in commands:
        yield command, _job(command, calls)
        if command.argv and program_name(unwrap(command.argv).argv[0]) == "sbatch":
            calls.append(command.span.in_file())


def _job(command: Command, calls: list[Span]) -> Span | None:
    places = [command.span.in_file(), *(call.span.in_file() for call in command.around.stack)] if calls else []
    for call in calls:
        if any(call.source is at.source and call.start <= at.start and at.end <= call.end for at in places):
            return call
    return None
