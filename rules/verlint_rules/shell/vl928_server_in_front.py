"""A server runs in the background when the launcher goes on behind it.

`vllm serve`, `python -m sglang.launch_server` and their kind serve until they are stopped, and `ray start --head
--block` stays until Ray ends. Without a `&` the launcher stands there: the judge answers, the GPUs of the trainer idle,
and the launch behind is never started. `nohup` alone changes nothing about it, and neither does `| tee server.log`.

In a batch job a step in the background may hold its node all the same: `srun -w "$head" ray start --block &` has the
memory and the GPUs of the node, and since Slurm 20.11 a second `srun` on it waits for them, unless it says `--overlap`.
This is to be verified.

Looked at are servers that are known to stay, on every way through the launcher that leads from them to a launch, or to
what asks a server: a Python program, `curl`, a harness.
Left alone are servers in the background, in a terminal of their own, in a job that `sbatch` submits, under `timeout`,
on the last line, those of documents, which readers start by hand, and `ray start --address … --block`, with which the
other nodes of a job wait.

Fix: end the line with `> server.log 2>&1 &`, keep `$!`, and wait until the server answers.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.batch_jobs import with_jobs
from verlint.experiment.python_programs import python_program
from verlint.experiment.script import Script
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.languages.bash.syntax import For, ForArith, While
from verlint.languages.bash.walk import walk
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.lazy import pattern
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint_rules.evaluation.endpoints import MODEL_SERVERS

_PROGRAMS = {
    "vllm": ("serve",),
    "trl": ("vllm-serve",),
    "sglang": ("serve",),
    "lmdeploy": ("serve",),
    "swift": ("deploy",),
}
"""Programs that serve with one of these words behind them. Source: their own `--help`."""

_HERE = pattern(r"localhost|127\.0\.0\.1|0\.0\.0\.0|//\[::1\]")
_ASKING = frozenset(["lm_eval", "lm-eval", "evalscope", "lighteval", "torchrun", "accelerate"])
"""Programs that one runs against a server, or behind it."""

_MODULES = MODEL_SERVERS | {"http.server"}

_SHARES = pattern(r"--(?:overlap|exact|gres|gpus\S*|mem\S*|het-group|jobid|oversubscribe)(?:=|$)|-(?:s|G)$")
"""Options of `srun` with which a step shares its node, or takes a part of it. Source: srun(1)."""

_SAYS = pattern(r"(?:-h|-v|--help(?:=.*)?|--version)$")
"""Options with which a program says something and ends."""


@rule(
    "VL928",
    "server-in-front",
    on=Script,
    severity=ERROR,
    since="0.1",
    words=("serve", "api_server", "launch_server", "launch_router", "--block", "swift deploy", "http.server"),
)
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if script.document:
        return
    yield from _held_nodes(script, ctx)
    waiting: dict[object, tuple[Command, Command]] = {}
    for path in script.resolution.paths:
        servers: list[tuple[Command, Span | None]] = []
        for command, job in with_jobs(path.commands):
            launched = bool(servers) and ctx.project.launch(command) is not None
            if servers and (launched or _asks(command)):
                for server, of in servers:
                    watched = not launched and _is_watched(server, script)
                    same = server.span.order() == command.span.order()
                    if of == job and not same and not watched:
                        waiting.setdefault(server.span.order(), (server, command))
            if _stays(command):
                servers.append((command, job))
    for server, behind in waiting.values():
        line = behind.span.in_file().source.position(behind.span.in_file().start).line
        what = "the launch in line" if ctx.project.launch(behind) is not None else "line"
        message = f"this server runs until it is stopped: the launcher does not get to {what} {line}"
        finding = ctx.fail(
            server.span, message, help="run it in the background: end its line with `&`, and wait until it answers"
        )
        if server.around.stack:
            finding = finding.with_related(server.around.stack[-1].span, "called here")
        yield finding.with_related(behind.span, "never started")


def _held_nodes(script: Script, ctx: Context) -> Iterator[Finding]:
    """Launches in a step of Slurm on a node that a step before them holds until the job ends."""
    if script.scheduler is None or "SLURM_OVERLAP" in script.source.text:
        return
    seen: set[object] = set()
    for path in script.resolution.paths:
        holders: dict[object, Command] = {}
        for command in path.commands:
            node = _node_of_step(command)
            if node is None:
                continue
            if _is_ray_node(command) and command.around.background:
                holders.setdefault(node, command)
            elif node in holders and command.span.order() not in seen and ctx.project.launch(command) is not None:
                seen.add(command.span.order())
                finding = ctx.unsure(
                    command.argv[0].span or command.span,
                    "this step waits for the GPUs and the memory that an earlier step on its node holds to the end",
                    verify="srun --version",
                    help="since Slurm 20.11: srun --overlap, here and there",
                )
                yield finding.with_related(holders[node].span, "holds the node")


def _node_of_step(command: Command) -> object | None:
    """The node that a step of Slurm is put on with all that it has; None for other commands and for steps that share,
    or take a part."""
    if "srun" not in unwrap(command.argv).wrappers:
        return None
    words = command.argv
    texts = [word.known or word.prefix for word in words]
    if any(_SHARES.match(text) for text in texts):
        return None
    for at, text in enumerate(texts[:-1]):
        if text in ("-w", "--nodelist"):
            return words[at + 1].identity()
        if text.startswith("--nodelist="):
            return words[at].slice(len("--nodelist="), 1_000_000).identity()
    return None


def _is_ray_node(command: Command) -> bool:
    words = [word.known or "" for word in unwrap(command.argv).argv]
    return words[:2] == ["ray", "start"] and "--block" in words


def _asks(command: Command) -> bool:
    """Whether a command is work that needs a server: no clean-up, no message, and not the server once more."""
    if command.builtin or command.function or command.around.background or command.around.substitution:
        return False
    argv = unwrap(command.argv).argv
    if not argv or _stays(command):
        return False
    name = program_name(argv[0])
    if name in ("curl", "wget"):
        return any(_HERE.search(word.shown) for word in argv[1:])
    return name in _ASKING or python_program(command.argv) is not None


def _is_watched(server: Command, script: Script) -> bool:
    """Whether the launcher waits for the end of a server: it starts the server in a loop, or looks at its status."""
    span = server.span
    if "$?" in span.source.text[span.end : span.end + 120]:
        return True
    return any(
        isinstance(node, While | For | ForArith) and node.start <= span.start and span.end <= node.end
        for source, program in script.syntax
        if source is span.source
        for group in program.groups
        for node in walk(group)
    )


def _stays(command: Command) -> bool:
    """Whether a command serves until it is stopped, while the launcher waits for it."""
    around = command.around
    if command.builtin or command.function or around.background or around.substitution:
        return False
    unwrapped = unwrap(command.argv)
    if "timeout" in unwrapped.wrappers or not unwrapped.argv:
        return False
    if "setsid" in unwrapped.wrappers and any(word.known in ("-f", "--fork") for word in command.argv):
        return False
    words = [each.known or "" for each in unwrapped.argv]
    if any(_SAYS.match(word) for word in words[1:]):
        return False
    name = program_name(unwrapped.argv[0])
    if name == "ray":
        return words[1:2] == ["start"] and "--head" in words and "--block" in words
    if name in _PROGRAMS:
        return words[1:2] == [*_PROGRAMS[name]]
    program = python_program(command.argv)
    return program is not None and program.module and program.entry in _MODULES
