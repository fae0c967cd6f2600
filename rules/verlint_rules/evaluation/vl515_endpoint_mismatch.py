"""A judge, reward or tool server is called at another port or by another model name than it has.

The call fails when the first answer is scored: after the queue, the model load and the first rollout. Reward code
often catches the error and counts it as a score of 0, and the run trains on that. Servers know their model by
`--served-model-name`, and without it by the path they were started with: every other name is answered with 404.

Compared are the servers that a launcher starts (vLLM, SGLang, LMDeploy, Ollama and kin, with their default ports) with
addresses of this machine in the same run: in what waits for a server (`curl`, `nc -z`, `/dev/tcp`), in words and
variables, in the reward function and the tools that it starts, where these write an address out; and in the files
beside the launcher. A folder with a README of its own is a recipe of its own. Silent when some server of the run has a
port that is not known, when something else in it may listen there (a command that names the port, a program in the
background), and for ports of Ray, Ollama (which runs as a service), metrics and web pages.

Fix: give both ends the same value, best by one variable: `JUDGE_PORT=8001`, `--port "$JUDGE_PORT"`,
`http://localhost:$JUDGE_PORT/v1`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from verlint.experiment.project import Project
from verlint.experiment.script import Script
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.memo import by_identity
from verlint.rule import WARNING, Context, rule
from verlint.source import Source
from verlint_rules.evaluation.endpoints import OTHER_PORTS, URL, Call, Server, calls_in, may_listen, servers_in


@rule(
    "VL515",
    "endpoint-mismatch",
    on=Loaded,
    severity=WARNING,
    since="0.1",
    words=("vllm serve", "api_server", "launch_server", "sglang serve", "lmdeploy", "ollama serve", "trtllm", "llama"),
)
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    calls = [*calls_in(file, ctx.project), *_of_clients(file, ctx.project)]
    if not calls:
        return
    servers, commands = _servers_for(file, ctx.project)
    if not servers or any(server.port is None for server in servers):
        return
    seen: set[tuple[str, int, int]] = set()
    for call in calls:
        at = call.span.in_file().order()
        finding = _check(call, servers, commands, ctx) if at not in seen else None
        if finding is not None:
            seen.add(at)
            yield finding


def _of_clients(file: Loaded, project: Project) -> Iterator[Call]:
    """The addresses that are written into the reward functions and tools of a launcher."""
    if file.kind is not Kind.LAUNCHER or not _starts_servers(project):
        return
    from verlint_rules.evaluation.clients import clients_of, fixed_addresses

    for source, run in clients_of(file.source, project):
        if "localhost:" not in source.text and "127.0.0.1:" not in source.text:
            continue
        for text, span in fixed_addresses(source, run=run):
            match = URL.match(text)
            if match is not None and match[2]:
                yield Call(span, source, int(match[2]))


@by_identity
def _starts_servers(project: Project) -> bool:
    return any(True for script in project.scripts for _ in servers_in(_commands(script)))


@by_identity
def _commands(script: Script) -> list[Command]:
    return [command for path in script.resolution.paths for command in path.commands]


def _servers_for(file: Loaded, project: Project) -> tuple[Sequence[Server], Sequence[Command]]:
    """The servers of the runs that a file takes part in, with all commands of these runs; without any, those that a
    script beside it starts, when it starts nothing else."""
    together: list[Server] = []
    beside: list[Server] = []
    seen: list[Command] = []
    for script in project.scripts:
        commands = _commands(script)
        mine = script.source is file.source or any(each.span.in_file().source is file.source for each in commands)
        found = list(servers_in(commands)) if mine or _near(script.source, file.source, project) else []
        if mine:
            together += found
            seen += commands
        elif found and not any(project.launch(command) for command in commands):
            beside += found
            seen += commands
    return together or beside, seen


def _near(one: Source, other: Source, project: Project) -> bool:
    """Whether two files stand in one folder, or one in a folder beside or below that of the other."""
    first, second = (posixpath.dirname(each.path) for each in (one, other))
    parents = (posixpath.dirname(first), posixpath.dirname(second))
    if first == second or first == parents[1] or second == parents[0]:
        return True
    recipes = any(project.tree.exists(f"{folder}/README.md") for folder in (first, second))
    return parents[0] == parents[1] and bool(first) and not recipes


def _check(call: Call, servers: Sequence[Server], commands: Sequence[Command], ctx: Context) -> Finding | None:
    ports = {server.port for server in servers}
    answering = [server for server in servers if server.port == call.port]
    if not answering:
        if call.port in OTHER_PORTS or may_listen(commands, call.port):
            return None
        server = servers[0]
        message = f"nothing listens on port {call.port}: {_started(servers)}"
        listed = ", ".join(str(port) for port in sorted(port for port in ports if port))
        help_ = f"call port {listed}" if len(ports) == 1 else f"call one of the ports {listed}"
        if any(each.open for each in servers):
            verify = f"ss -ltn | grep :{call.port}"
            finding = ctx.unsure(call.span, message, help=help_, verify=verify)
        else:
            finding = ctx.fail(call.span, message, help=help_)
        return finding.with_related(server.port_span, f"the server: port {server.port}")
    server = answering[0]
    if not call.model or call.model_span is None or not all(each.names for each in answering):
        return None
    names = {name for each in answering for name in each.names}
    if call.model in names or any(each.open for each in answering) or server.kind == "sglang":
        return None
    return ctx.fail(
        call.model_span,
        f"the server on port {call.port} answers for {', '.join(sorted(names))}, not for {call.model}",
        help=f"ask for {min(names)}, or start it with --served-model-name {call.model}",
    ).with_related(server.span, "the server")


def _started(servers: Sequence[Server]) -> str:
    ports = sorted({server.port for server in servers if server.port is not None})
    if len(ports) == 1:
        return f"the {servers[0].kind} server is on {ports[0]}"
    return f"the servers are on {', '.join(map(str, ports))}"
