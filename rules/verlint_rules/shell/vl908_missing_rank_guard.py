"""Only one node of a job may start the trainer.

A script that runs on every node, and tells them apart by a rank to start the head or a worker of Ray, must start the
trainer on one of them. Behind the `fi` it runs on all: each node submits a run of its own, they fight for the same GPUs
and the same checkpoint folder, and all but one hang or fail.

`srun` runs its command once for each task of the job, so in a batch script for four nodes `srun python3 -m
verl.trainer.main_ppo` starts four trainers.

Reported where `srun` starts the trainer itself without saying how many tasks or nodes, in a job that asks for several;
and where one and the same script starts Ray under a condition on a rank (`RANK`, `NODE_RANK`, `SLURM_PROCID`,
`OMPI_COMM_WORLD_RANK` …) and the trainer both when it is the first and when it is not. Silent where the workers stop
before the trainer (`ray start --block`, `sleep infinity`, `exit`), and for trainers without Ray.

Fix: put the trainer under the same condition, `if [ "${NODE_RANK:-0}" -eq 0 ]; then … fi`, and let workers wait.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.script import Script
from verlint.finding import Finding
from verlint.languages.bash.command import Command, Guard
from verlint.languages.bash.syntax import Case, If
from verlint.languages.bash.wrappers import unwrap
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import WARNING, Context, rule
from verlint.source import Span
from verlint_rules.shell.nodes import rank_guard, ray_verb

_SAYS_HOW_MANY = pattern(r"-[nNw]|--(?:nodes|ntasks|nodelist|exclude|relative|het-group|jobid)(?:=|$)|-r\d*$")
_WAITS = pattern(r"--block\b|\bexit\b|\breturn\b|\bsleep\b|\btail\s+-f|\bwait\b|\bwhile\b|\buntil\b|\bray\s+job\b")
"""What keeps the other nodes in their part of the condition, or ends them there."""


@rule("VL908", "missing-rank-guard", on=Script, severity=WARNING, since="0.1", words=("ray start", "srun"))
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if script.document:
        return
    seen: set[object] = set()
    tasks = _tasks(script)
    for path in script.resolution.paths:
        guard: Guard | None = None
        for command in path.commands:
            if tasks and command.span.order() not in seen and _runs_per_task(command, ctx):
                seen.add(command.span.order())
                yield ctx.fail(
                    command.argv[0].span or command.span,
                    f"srun starts this trainer {tasks.number} times, once for each {tasks.what} of the job",
                    help="srun --overlap --nodes=1 --ntasks=1, in front of the one on the head of Ray",
                ).with_related(tasks.span, "asks for them")
            elif ray_verb(command) == "start":
                guard = rank_guard(command) or guard
            elif guard is not None and ctx.project.launch(command) is not None and rank_guard(command) is None:
                place = command.span.order()
                if place not in seen and not _others_stay(guard, script):
                    seen.add(place)
                    yield _finding(command, guard, ctx)


@dataclass(frozen=True, slots=True)
class _Tasks:
    number: int
    what: str
    span: Span


def _tasks(script: Script) -> _Tasks | None:
    """The tasks of a batch job with more than one, as its header asks for them."""
    header = script.scheduler
    if header is None:
        return None
    every, nodes, each = (header.amount(name) for name in ("ntasks", "nodes", "ntasks-per-node"))
    number = every.number if every is not None else (nodes.number if nodes else 1) * (each.number if each else 1)
    said = every or (nodes if nodes is not None and nodes.number > 1 else each)
    if said is None or number < 2:
        return None
    return _Tasks(number, "node" if said is nodes and (each is None or each.number == 1) else "task", said.span)


def _runs_per_task(command: Command, ctx: Context) -> bool:
    """Whether `srun` starts a trainer of Ray, and leaves it to the header how many times."""
    words = [each.known or each.prefix for each in command.argv]
    if "symmetric-run" in words:
        return False  # which runs on every node, and the trainer on one
    if "srun" not in unwrap(command.argv).wrappers or any(_SAYS_HOW_MANY.match(word) for word in words):
        return False
    launch = ctx.project.launch(command)
    return launch is not None and launch.program.entry.endswith(("main_ppo", "main_dapo"))


def _others_stay(guard: Guard, script: Script) -> bool:
    """Whether the condition around a place keeps other nodes from going on behind it, or is not found."""
    for source, program in script.syntax:
        if guard.span.source is source:
            around = [
                node
                for node in program.nodes
                if isinstance(node, If | Case) and node.start <= guard.span.start and guard.span.end <= node.end
            ]
            return not around or any(_WAITS.search(source.text, node.start, node.end) for node in around)
    return True


def _finding(command: Command, guard: Guard, ctx: Context) -> Finding:
    return ctx.fail(
        command.argv[0].span or command.span,
        "every node starts this trainer: the condition on the rank ends before it",
        value=guard.text,
        help="start it on one node only, under the same condition; let the others wait (ray start --block)",
    ).with_related(guard.span, "tells the nodes apart")
