"""A run on several nodes must not save below a folder that each node has for itself.

Every GPU saves its own shard on its own node, and only the first node writes the config and the tracker file. With
`default_local_dir` below `/tmp` no node has all shards of a checkpoint: it can be neither merged nor resumed, and what
merges it can take the missing shards for others without an error.

An error where the run surely has more than one node and saves below `/tmp`, `/var/tmp` or `/dev/shm`; a warning where
that is the default that the caller can replace (`${ROOT:-/tmp/x}`), or stands in a document. In a SkyPilot task the
working folder is a copy on each node too, so a folder below it is as local. Silent for runs that save
nothing, and for documents that only picture a command.

Fix: save below a folder that all nodes share.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.experiment.places import job_of, mount_of, within
from verlint.files.kinds import is_document
from verlint.finding import Finding
from verlint.lazy import pattern
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.value import Literal, Value
from verlint_rules.artifacts.training import FOLDER, FREQUENCY, is_training
from verlint_rules.config.view import pictures

_LOCAL = pattern(r"(?:/tmp|/var/tmp|/dev/shm)(?=/|$)")
_ELSEWHERE = pattern(r"/|~|\w+://")
_NODES = "trainer.nnodes"


@rule("VL105", "node-local-root", on=Launch, severity=ERROR, since="0.1", words=("/tmp", "/dev/shm", "num_nodes"))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    nodes = launch[_NODES].number()
    if nodes is None or nodes < 2 or not _writes(launch) or pictures(launch):
        return
    value = launch[FOLDER]
    root = _local_root(value)
    if root is None and _is_copied(launch, value, ctx):
        yield ctx.fail(
            value if value.given else launch.head,
            f"each of {int(nodes)} nodes has a working folder of its own on SkyPilot, so no node gets all shards of a "
            "checkpoint, and they are gone with the cluster",
            value=f"{FOLDER} = {value}" if value.given else f"{FOLDER} is not given: checkpoints/PROJECT/EXPERIMENT",
            help="save below a bucket that file_mounts mounts (mode: MOUNT)",
            severity=None if value.given else WARNING,
        ).with_related(launch[_NODES].span, f"{_NODES} = {int(nodes)}")
    mount = None if root is None else mount_of(ctx.project, launch.command, str(value))
    if root is not None and (mount is None or not mount.shared):
        yield _finding(launch, value, root, int(nodes), ctx)


def _is_copied(launch: Launch, value: Value, ctx: Context) -> bool:
    """Whether checkpoints go below the working folder of a SkyPilot task, which each node has a copy of."""
    if value.given and (value.text is None or value.text.holes or _ELSEWHERE.match(value.text.prefix)):
        return False
    job = job_of(ctx.project, launch.command)
    if job is None:
        return False
    from verlint.files.job_formats import SKYPILOT

    if job.format != SKYPILOT or launch.command.around.cwd.prefix.startswith("/"):
        return False
    return not any(mount.shared and not mount.path.startswith("/") for mount in job.mounts)


def _writes(launch: Launch) -> bool:
    frequency = launch[FREQUENCY].number()
    return is_training(launch) and frequency is not None and frequency > 0


def _local_root(value: Value) -> str | None:
    if not value.given or value.text is None:
        return None
    found = _LOCAL.match(value.text.prefix)
    return found.group() if found is not None else None


def _finding(launch: Launch, value: Value, root: str, nodes: int, ctx: Context) -> Finding:
    """A finding at the place where the root is written."""
    assert value.text is not None
    first = value.text.parts[0]
    chosen = isinstance(first, Literal) and bool(first.overridable)
    at = first.span or value.span or launch.head
    example = is_document(at.in_file().source.path)
    message = f"`{root}` is local to each of {nodes} nodes, so no node gets all shards of a checkpoint"
    if chosen:
        message = f"by default the checkpoints go to `{root}`, which is local to each of {nodes} nodes"
    shown = f"{value.key} = {value}"
    found = ctx.fail(
        at, message, value=shown, hops=value.hops, help="save below a folder that all nodes share",
        severity=WARNING if chosen or example else None,
    )  # fmt: skip
    if value.span is not None and not within(at, value.span):
        found = found.with_related(value.span, "where the run saves")
    found = found.with_related(launch[_NODES].span, f"{_NODES} = {nodes}")
    stack = launch.command.around.stack
    return found.with_related(stack[0].span, "the call of the run") if stack else found
