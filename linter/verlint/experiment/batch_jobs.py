"""The batch jobs that a launcher submits, which commands belong to each, and for which jobs each of them waits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from verlint.languages.bash.command import Command
from verlint.languages.bash.replay import Path
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.lazy import pattern
from verlint.record import dataclass, field
from verlint.source import Span
from verlint.value import Literal, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.languages.slurm import BatchCall

_KIND = pattern(r"(after\w*|singleton|expand)(?=[:+,?]|$)")
_SENTENCE = "Submitted"
"""How the sentence begins that `sbatch` prints without `--parsable`."""
FINISHED = frozenset(["afterok", "aftercorr"])
"""Dependencies on a job that did what it was for."""


@dataclass(frozen=True, eq=False)
class Job:
    """One call of `sbatch` on a path of a driver.

    `after` are the jobs it waits for, by their number, with the kind of each dependency; `unclear` says that there may
    be more. `unnumbered` is the word that should give the number of a job and holds a sentence."""

    number: int
    command: Command
    call: BatchCall
    after: Mapping[int, str] = field(default_factory=dict)
    unclear: bool = False
    unnumbered: Text | None = None

    @property
    def script(self) -> str:
        """The script as the call names it, "" for one that is none."""
        return self.call.words[0].shown if self.call.words else ""


def jobs_of(path: Path) -> tuple[dict[int, Job], dict[int, Job]]:
    """The jobs that are submitted on a path, by number, and the job of each command in one, by the identity of the
    command."""
    from verlint.languages.slurm import batch_call

    jobs: dict[int, Job] = {}
    inside: dict[int, Job] = {}
    numbers = [number for number, event in enumerate(path.events) if isinstance(event, Command)]
    for number, (command, submitted) in zip(numbers, with_jobs(path.commands), strict=True):
        if submitted is None and submits(command):
            jobs[number] = _job(number, command, batch_call(unwrap(command.argv).argv))
        if submitted is not None or number in jobs:
            inside[id(command)] = jobs[max(jobs)]
    return jobs, inside


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


def waits_for(job: Job, jobs: Mapping[int, Job], kinds: frozenset[str] | None = None) -> set[int] | None:
    """All jobs that end before one begins, by dependencies of some kinds (all that end a job without); None when that
    is not known."""
    found: set[int] = set()
    waiting = [job]
    while waiting:
        each = waiting.pop()
        if each.unclear:
            return None
        for number, kind in each.after.items():
            if number in found or kind == "after" or (kinds is not None and kind not in kinds):
                continue
            found.add(number)
            if number in jobs:
                waiting.append(jobs[number])
    return found


def _job(number: int, command: Command, call: BatchCall) -> Job:
    after, unclear = _dependencies(call.dependency)
    told = call.options & {"hold", "H", "begin", "b", "wait", "W"}
    known = call.dependency.known if call.dependency is not None else ""
    shown = "".join(each.text for each in call.dependency.parts if isinstance(each, Literal)) if call.dependency else ""
    unnumbered = call.dependency if _SENTENCE in shown else None
    unclear = unclear or bool(told) or bool(known) or unnumbered is not None
    return Job(number, command, call, after, unclear, unnumbered)


def _dependencies(given: Text | None) -> tuple[dict[int, str], bool]:
    """`afterok:$first:$second,afterany:$third`."""
    found: dict[int, str] = {}
    unclear, kind = False, ""
    for part in () if given is None else given.parts:
        if isinstance(part, Literal):
            kinds: Sequence[str] = _KIND.findall(part.text)
            kind = kinds[-1] if kinds else kind
            unclear = unclear or "singleton" in kinds or re.search(r":\d", part.text) is not None
        elif isinstance(part.key, tuple) and part.key[0] == "job":
            found[part.key[1]] = kind
        else:
            unclear = True
    return found, unclear
