"""Work that is done once for a job belongs under the condition on the rank.

A script that every node runs, and that starts the trainer on one of them, also runs everything else on all. `rm -rf` of
the output folder is then done by a node that comes late, when the first has begun to write; `git checkout` in a shared
folder is done by all at once, and all but one fail at the lock, or change the code under the first.

Reported where the launch stands under a condition on a rank (`OMPI_COMM_WORLD_RANK`, `RANK`, `NODE_RANK`,
`SLURM_PROCID` …) and such a command does not. Silent for folders of each node (`/tmp`, `/dev/shm`, `/scratch`, caches),
for installations, downloads and `ray`, which each node needs, for scripts of one process, and for job files of SkyPilot
and dstack, whose nodes have a disk each.

Fix: move the command under the condition, before the launch.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.script import Script
from verlint.files.job_formats import DSTACK, SKYPILOT
from verlint.finding import Finding
from verlint.languages.bash.command import Command, Guard
from verlint.languages.bash.wrappers import unwrap
from verlint.lazy import pattern
from verlint.rule import WARNING, Context, rule
from verlint_rules.shell.nodes import RANK, rank_guard

_OF_NODE = pattern(r"(?:/tmp|/dev/shm|/scratch|/local|/var/tmp|/run|~|\$\{?HOME)(?:/|$)|cache|\.cache|ray", 2)
_OWN_DISKS = frozenset([SKYPILOT, DSTACK])
_GIT = frozenset(["checkout", "switch", "pull", "reset", "merge", "rebase", "clean"])


@rule("VL907", "outside-rank-guard", on=Script, severity=WARNING, since="0.1", words=("rank", "procid", "nodeid"))
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if script.document or (script.job is not None and script.job.format in _OWN_DISKS):
        return
    found: dict[object, tuple[Command, Guard]] = {}
    for path in script.resolution.paths:
        guard = next(
            (
                rank_guard(command)
                for command in path.commands
                if rank_guard(command) is not None and ctx.project.launch(command) is not None
            ),
            None,
        )
        if guard is None or any(RANK.search(each.text) and each.span != guard.span for each in path.conditions):
            continue
        for command in path.commands:
            if rank_guard(command) is None and command.span.in_file().source is guard.span.in_file().source:
                found.setdefault(command.span.order(), (command, guard))
    for command, guard in found.values():
        if what := _once(command):
            yield ctx.fail(
                command.span,
                f"every node does this, while only one starts the trainer: {what}",
                help="move it under the condition on the rank",
            ).with_related(guard.span, "the trainer starts under this condition")


def _once(command: Command) -> str:
    """Why a command is for one node only, "" when it is not."""
    words = unwrap(command.argv).argv
    name = (words[0].known or "").rsplit("/", 1)[-1] if words else ""
    shown = [word.shown for word in words[1:]]
    if name == "rm" and any(word.startswith("-") and "r" in word.lower() for word in shown):
        paths = [word for word in shown if not word.startswith("-")]
        if paths and not any(_OF_NODE.search(path) for path in paths):
            return "one that comes late deletes what the first has begun to write"
    if name == "git" and any(word in _GIT for word in shown[:3]):
        return "in a shared folder they fight for the lock, and change the code under each other"
    return ""
