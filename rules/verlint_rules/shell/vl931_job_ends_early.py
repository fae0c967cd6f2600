"""A batch script must not end while its training runs in the background.

A job of Slurm ends with its script. What the script put into the background with `&` (also under `nohup`, `srun` or
`setsid`) is killed at that moment: the job is COMPLETED after a second, with status 0, and there is a log of a few
lines. By hand the same script works, because nothing ends what a closed script leaves behind.

Reported are launches, servers and other Python programs in the background of a script with an `#SBATCH` header, or of
one that is submitted with `sbatch`, when all that follows takes no time: no `wait`, no program in front that keeps the
script there. A server beside a trainer in front is right, and what goes to another host, a container or a terminal of
its own is left alone.

Fix: write `wait` on the last line, or run the last launch without its `&`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.experiment.batch_jobs import with_jobs
from verlint.experiment.python_programs import python_program
from verlint.experiment.script import Script
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.lazy import pattern
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint.value import Text, whole

_QUICK = frozenset(
    ["echo", "printf", "date", "cd", "pushd", "popd", "export", "declare", "typeset", "readonly", "set", "unset", ":",
     "exit", "true", "mkdir", "touch", "rm", "ls", "cat", "chmod", "hostname", "nvidia-smi", "squeue", "sacct",
     "module", "ulimit", "umask", "shopt", "disown", "jobs", "local", "return", "deactivate", "source", ".", "trap",
     "basename", "dirname", "seq", "cut", "head", "tr", "wc"]
)  # fmt: skip
"""Commands that take no time."""

_SERVERS = frozenset([("vllm", "serve"), ("sglang", "serve"), ("lmdeploy", "serve"), ("trl", "vllm-serve")])
_LONGEST_SLEEP = 300
_APART = pattern(
    r"\s*(?:\w+=\S*\s+)*(?:sudo\s+)?(?:tmux|byobu|screen|docker|podman|nerdctl|kubectl|ssh|pdsh|clush|pueue|tsp|systemd-run|bsub|ray\s+job)\b"
)
"""Calls of programs that hand a command to something that does not belong to the job."""


@rule("VL931", "job-ends-early", on=Script, severity=ERROR, since="0.1", words=("sbatch",))
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if script.document:
        return
    left: dict[tuple[str, int, int], tuple[Command, Span | None]] = {}
    kept: set[tuple[str, int, int]] = set()
    for path in script.resolution.paths:
        by_job: dict[Span | None, list[Command]] = {}
        for command, job in with_jobs(path.commands):
            if job is not None or script.scheduler is not None:
                by_job.setdefault(job, []).append(command)
        for job, commands in by_job.items():
            for at, command in enumerate(commands):
                if not _is_work(command, ctx):
                    continue
                place = command.span.in_file().order()
                if path.over_budget or any(_holds_up(other, ctx) for other in commands[at + 1 :]):
                    kept.add(place)
                else:
                    left.setdefault(place, (command, job))
    by_header: dict[Span | None, list[Command]] = {}
    for place, (command, job) in left.items():
        if place not in kept:
            by_header.setdefault(job, []).append(command)
    for job, commands in by_header.items():
        yield _finding(commands, job, script, ctx)


def _is_work(command: Command, ctx: Context) -> bool:
    """Whether a command is a program in the background that is meant to run for long."""
    around = command.around
    if command.builtin or command.function or not around.background or around.elsewhere or around.substitution:
        return False
    if _APART.match(command.span.text) or any(_APART.match(call.span.text) for call in around.stack):
        return False
    argv = unwrap(command.argv).argv
    if not argv or (command.pipe[1] > 1 and command.pipe[0] > 0):
        return False
    if len(argv) > 1 and (program_name(argv[0]), argv[1].known or "") in _SERVERS:
        return True
    return ctx.project.launch(command) is not None or python_program(command.argv) is not None


def _holds_up(command: Command, ctx: Context) -> bool:
    """Whether a later command may keep the script from its end."""
    if command.around.background:
        return False
    if command.name == "sleep":
        return not all(_is_short(word) for word in command.argv[1:])
    if command.function or command.name in _QUICK:
        return False
    if command.name == "tail":
        return any((word.known or "").startswith(("-f", "-F", "--follow", "--pid")) for word in command.argv[1:])
    return True


def _is_short(word: Text) -> bool:
    """Whether a time of `sleep` is known and short."""
    seconds = None if word.known is None else whole(word.known)
    return seconds is not None and seconds <= _LONGEST_SLEEP


def _finding(commands: Sequence[Command], job: Span | None, script: Script, ctx: Context) -> Finding:
    last = commands[-1]
    what = "launch" if ctx.project.launch(last) is not None else "program"
    finding = ctx.fail(
        last.argv[0].span or last.span,
        f"the job ends here: nothing waits for this {what} in the background, and Slurm kills it",
        help="write `wait` at the end of the script",
    )
    for other in commands[:-1]:
        finding = finding.with_related(other.argv[0].span or other.span, "killed with it")
    header = job
    if header is None and script.scheduler is not None:
        header = script.scheduler.directives[0].span
    return finding.with_related(header, "makes it a batch job")
