"""The batch jobs that the commands of a launcher belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.source import Span


def with_jobs(commands: Iterable[Command]) -> Iterator[tuple[Command, Span | None]]:
    """Each command with the call of `sbatch` that it is submitted with: its launcher goes on at once. None for those of
    the launcher itself, which the calls are among."""
    call: Command | None = None
    for command in commands:
        if call is not None and len(command.around.stack) > len(call.around.stack):
            yield command, call.span.in_file()
            continue
        call = command if submits(command) else None
        yield command, None


def submits(command: Command) -> bool:
    """Whether a command is a call of `sbatch`."""
    argv = unwrap(command.argv).argv
    return bool(argv) and program_name(argv[0]) == "sbatch"
