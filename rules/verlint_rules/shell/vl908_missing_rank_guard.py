"""Only one node of a job may start the trainer.

A script that runs on every node, and tells them apart by a rank to start the head or a worker of Ray, must start the
trainer on one of them. Behind the `fi` it runs on all: each node submits a run of its own, they fight for the same GPUs
and the same checkpoint folder, and all but one hang or fail.

Reported where one and the same script starts Ray under a condition on a rank (`RANK`, `NODE_RANK`, `SLURM_PROCID`,
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
from verlint.lazy import pattern
from verlint.rule import WARNING, Context, rule
from verlint_rules.shell.nodes import rank_guard, ray_verb

_WAITS = pattern(r"--block\b|\bexit\b|\breturn\b|\bsleep\b|\btail\s+-f|\bwait\b|\bwhile\b|\buntil\b|\bray\s+job\b")
"""What keeps the other nodes in their part of the condition, or ends them there."""


@rule("VL908", "missing-rank-guard", on=Script, severity=WARNING, since="0.1", words=("ray start",))
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if script.document:
        return
    seen: set[object] = set()
    for path in script.resolution.paths:
        guard: Guard | None = None
        for command in path.commands:
            if ray_verb(command) == "start":
                guard = rank_guard(command) or guard
            elif guard is not None and ctx.project.launch(command) is not None and rank_guard(command) is None:
                place = command.span.order()
                if place not in seen and not _others_stay(guard, script):
                    seen.add(place)
                    yield _finding(command, guard, ctx)


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
