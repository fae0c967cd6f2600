"""Ray must be able to start as it is told.

Its temporary folder holds sockets, `FOLDER/session_2025-06-01_12-00-00_000000_PID/sockets/plasma_store`, and the path
of a socket has 107 bytes at most: a folder of more than 49 leaves no room, and Ray stops with `AF_UNIX path length
cannot exceed 107 bytes`. (With a long process id 43 are too many already.) Below `RAY_TMPDIR` Ray makes a folder `ray`
of its own. A path that is not absolute is none to Ray: `temp_dir must be absolute path or None`.

A trainer that joins a cluster cannot say how many CPUs it has: `ray_kwargs.ray_init.num_cpus=32` (`ray_init.num_cpus`
to 0.5) behind a `ray start` of the same script, or submitted by `ray job submit`, ends with `When connecting to an
existing cluster, num_cpus and num_gpus must not be provided`. VeRL's own hint is about the Ray that it starts itself.

Silent where `ray stop` stands between, for nodes that join, whose folder is that of the head, and for folders whose
length is not known before the run. What is not known of a path counts as nothing.

Fix: take a short folder on a local disk (`--temp-dir=/data/ray`); say `--num-cpus` at `ray start`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.experiment.paths import written_at
from verlint.experiment.script import Script
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint.value import Literal, Text, Value
from verlint_rules.evaluation.endpoints import option_value
from verlint_rules.shell.nodes import ray_verb

_MOST = 107
"""Bytes in the path of a socket on Linux. Source: `sockaddr_un`, `ray/_private/utils.py:validate_socket_filepath`."""
_SOCKET = "/session_2025-06-01_12-00-00_000000_1/sockets/plasma_store"
"""What Ray puts behind its folder, with the shortest process id. Source: `ray/_private/node.py`."""
_LOCAL = len("/ray")
_CPUS = ("ray_kwargs.ray_init.num_cpus", "ray_init.num_cpus")
_FOLDERS = ("ray_kwargs.ray_init._temp_dir", "ray_init._temp_dir")
_ADDRESSES = ("ray_kwargs.ray_init.address", "ray_init.address")
_VARIABLE = "RAY_TMPDIR"


@rule(
    "VL936",
    "ray-start",
    on=Script,
    severity=ERROR,
    since="0.1",
    words=("ray_init.num_cpus", "temp-dir", "ray_tmpdir", "_temp_dir"),
)
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    found: dict[object, Finding] = {}
    joined: dict[object, list[Finding]] = {}
    reached: dict[object, int] = {}
    for path in () if script.document else script.resolution.paths:
        running: Command | None = None
        for command in path.commands:
            verb = ray_verb(command)
            if verb == "start":
                words = unwrap(command.argv).argv
                given = option_value(words, ("--temp-dir",))
                if any(word.known == "--head" for word in words):
                    _judge(given, command, running, found, ctx)
                if program_name(command.argv[0]) == "ray" and given is None and not command.around.elsewhere:
                    running = command
            elif verb == "stop":
                running = None
            if (launch := ctx.project.launch(command)) is None:
                continue
            place = command.span.order()
            reached[place] = reached.get(place, 0) + 1
            folder = next((launch[key] for key in _FOLDERS if key in launch), None)
            if running is None:
                _judge(None if folder is None else folder.text, command, running, found, ctx, folder)
            cpus = next((launch[key] for key in _CPUS if key in launch), None)
            if cpus is None or cpus.number() is None or any(key in launch for key in (*_ADDRESSES, *_FOLDERS)):
                continue
            by = "ray job submit" if _is_job(command) else "ray start" if running is not None else ""
            if by:
                joined.setdefault(place, []).append(_joined(cpus, by, running, ctx))
    yield from found.values()
    yield from (every[0] for place, every in joined.items() if len(every) == reached[place])


def _is_job(command: Command) -> bool:
    words = [word.known for word in command.argv[:3]]
    return words[1:3] == ["job", "submit"] and program_name(command.argv[0]) == "ray"


def _joined(cpus: Value, by: str, running: Command | None, ctx: Context) -> Finding:
    message = f"the trainer joins the cluster of {by}, and Ray stops at a num_cpus that is given then"
    finding = ctx.fail(cpus, message, help="take it away, and say --num-cpus at ray start")
    return finding if by != "ray start" or running is None else finding.with_related(running.span, "the cluster")


def _judge(
    given: Text | None,
    command: Command,
    running: Command | None,
    found: dict[object, Finding],
    ctx: Context,
    key: Value | None = None,
) -> None:
    """Notes what is wrong with the folder of a Ray that starts here; `key`: the trainer's value that gives it."""
    variable = {**command.around.environment, **command.prefix}.get(_VARIABLE)
    folder, more = (given, 0) if given is not None else (variable, _LOCAL)
    if folder is None or (given is None and running is not None) or command.around.elsewhere:
        return
    span = folder.span or written_at(folder) or command.span
    place = span.order()
    least = _least([part.text for part in folder.parts if isinstance(part, Literal)]) + more
    at: Text | Value | Span = key if key is not None and given is not None else folder if folder.span else span
    if given is not None and folder.known and not folder.known.startswith(("/", "~", "null")):
        message = "the folder of Ray must be an absolute path: Ray stops with a ValueError"
        found.setdefault(place, ctx.fail(at, message, help="write the path from the root"))
    elif least + len(_SOCKET) > _MOST:
        message = f"Ray's sockets would have {least + len(_SOCKET)} bytes or more, and {_MOST} is the most: it stops"
        help = f"take a folder of {_MOST - len(_SOCKET) - more - 6} bytes or less"
        found.setdefault(place, ctx.fail(at, message, help=help))


def _least(known: Sequence[str]) -> int:
    """The bytes that a path has at least."""
    return sum(len(each.encode("utf-8", "surrogateescape")) for each in known)
