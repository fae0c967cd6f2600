"""What a command needs must be installed, activated and started before it.

A virtual environment is only in use once it is activated in the shell that goes on: a set-up script that activates it
for itself leaves its caller outside. `ray start` before the activation finds no `ray`, or another one, and the workers
inherit that environment for as long as the cluster lives. A job that is submitted before `ray start` has no cluster,
and a run on several nodes that begins before it takes the GPUs of one node.

Certain where the environment is made here, nothing else was installed since the last container began, and a program of
it is started before it is active; and where the cluster is started only after what needs it. To be verified where a
program is used before the same text installs its package, since the image may have it. Of a document only commands of
one block are compared for the last two, and a guard speaks for itself.

Fix: activate the environment, start the cluster or install the package before the first use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.experiment.environments import Environment, activated, deactivates, goes_inside, made, shell_of
from verlint.experiment.installs import Install, install_of, package_name
from verlint.experiment.python_programs import python_program
from verlint.experiment.script import Script
from verlint.experiment.stage import Experiment
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.record import dataclass, field
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint_rules.shell.nodes import ray_verb

PROVIDED = {
    "ray": "ray",
    "vllm": "vllm",
    "wandb": "wandb",
    "hf": "huggingface-hub",
    "huggingface-cli": "huggingface-hub",
    "lm_eval": "lm-eval",
    "lm-eval": "lm-eval",
    "accelerate": "accelerate",
    "deepspeed": "deepspeed",
    "torchrun": "torch",
}
"""Programs and the package that brings each. Source: the `console_scripts` of the packages."""


@rule(
    "VL306",
    "environment-order",
    on=Experiment,
    severity=ERROR,
    since="0.1",
    words=("activate", "ray start", "pip install", "-m pip"),
)
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    script = experiment.script
    if script is None or not experiment.root or not script.resolution.paths:
        return
    commands = [each for each in script.resolution.paths[0].commands if not each.function]
    yield from _inactive(commands, ctx)
    yield from _unstarted(commands, script, ctx)
    yield from _uninstalled(commands, script, ctx)


# ---- activated too late


@dataclass(slots=True)
class _Shells:
    """What holds since the last container began: environments made, where each shell is, uses outside of any."""

    made: dict[Environment, Command] = field(default_factory=dict)
    active: dict[tuple[object, ...], Environment] = field(default_factory=dict)
    uses: list[Command] = field(default_factory=list)
    outside: bool = False


def _inactive(commands: Sequence[Command], ctx: Context) -> Iterator[Finding]:
    now = _Shells()
    for command in commands:
        if goes_inside(command):
            now = _Shells()
            continue
        shell = shell_of(command)
        environment = activated(command)
        if environment is not None:
            if not shell and environment in now.made and now.uses and not now.outside:
                yield _finding_inactive(now.uses[0], now.made[environment], command, ctx)
            now.active[shell] = environment
            now.uses.clear()
        elif (new := made(command)) is not None:
            now.made[new] = command
            now.uses.clear()
        elif deactivates(command):
            now.active.pop(shell, None)
        elif not any(shell[:length] in now.active for length in range(len(shell) + 1)):
            if install_of(command) is not None:
                now.outside = True
            elif now.made and _program(command, ctx):
                now.uses.append(command)


def _program(command: Command, ctx: Context) -> str:
    """The program of a Python environment that a command starts by its name, "" for others."""
    if command.builtin or not command.argv:
        return ""
    argv = unwrap(command.argv).argv
    text = argv[0].known or "" if argv else ""
    if text in PROVIDED:
        return text
    program = python_program(argv) if text.startswith("python") else None
    started = program is not None and (
        program.module and program.entry.split(".")[0] in ("verl", "vllm", "ray", "sglang")
    )
    return text if started or (text.startswith("python") and ctx.project.launch(command) is not None) else ""


def _finding_inactive(use: Command, new: Command, activation: Command, ctx: Context) -> Finding:
    name = program_name(unwrap(use.argv).argv[0])
    span = _driver_span(use)
    found = ctx.fail(
        span,
        f"`{name}` is started before the environment that is made for it is active: "
        f"`{activation.span.text}` comes only later",
        help="activate it first",
    )
    if use.span != span:
        found = found.with_related(use.span, f"starts {name}")
    found = found.with_related(_driver_span(new), "makes the environment; what is activated in a script ends with it")
    return found.with_related(activation.span, "activated only here")


# ---- started too late


def _unstarted(commands: Sequence[Command], script: Script, ctx: Context) -> Iterator[Finding]:
    waiting: list[tuple[Command, str]] = []
    for command in commands:
        argv = unwrap(command.argv).argv
        words = [word.known or "" for word in argv[:2]]
        words[:1] = [program_name(argv[0])] if argv else []
        if ray_verb(command) == "start":
            if waiting and any(word.known == "--head" for word in argv) and not command.around.guards:
                first = next((each for each in waiting if _comparable(each[0], command, script)), None)
                if first is not None:
                    yield _finding_unstarted(*first, command, ctx)
            return
        needs = _needs_cluster(command, words, ctx)
        if needs and not command.around.guards:
            waiting.append((command, needs))


def _needs_cluster(command: Command, words: Sequence[str], ctx: Context) -> str:
    if command.builtin or command.function or "RAY_ADDRESS" in {**command.around.environment, **command.prefix}:
        return ""
    if words == ["ray", "job"] or words == ["ray", "status"]:
        given = any((word.known or word.prefix).startswith("--address") for word in command.argv)
        return "" if given else " ".join(words)
    launch = ctx.project.launch(command)
    nodes = launch["trainer.nnodes"].number() if launch is not None else None
    return f"a run on {int(nodes)} nodes" if nodes is not None and nodes > 1 else ""


def _finding_unstarted(use: Command, needs: str, start: Command, ctx: Context) -> Finding:
    found = ctx.fail(
        _driver_span(use),
        f"{needs if needs.startswith('a ') else f'`{needs}`'} needs a cluster, which is started only later",
        help="start the cluster first",
    )
    return found.with_related(_driver_span(start), "the cluster is started here")


# ---- installed too late


def _uninstalled(commands: Sequence[Command], script: Script, ctx: Context) -> Iterator[Finding]:
    first: dict[str, Command] = {}
    known: set[str] = set()
    for command in commands:
        install = install_of(command)
        if install is None:
            name = _program(command, ctx)
            if name in PROVIDED and not command.around.guards:
                first.setdefault(PROVIDED[name], command)
            continue
        if install.files or install.folders or install.editable or install.forced:
            return  # these bring packages that nobody can name here
        for package in _packages(install):
            use = first.get(package)
            if use is not None and package not in known and _comparable(use, command, script):
                yield _finding_uninstalled(use, package, command, ctx)
            known.add(package)


def _packages(install: Install) -> Iterator[str]:
    if not install.command.around.guards:
        yield from filter(None, map(package_name, install.packages))


def _finding_uninstalled(use: Command, package: str, install: Command, ctx: Context) -> Finding:
    name = program_name(unwrap(use.argv).argv[0])
    found = ctx.unsure(
        _driver_span(use),
        f"`{name}` is used before its package `{package}` is installed",
        help="install it first",
        verify=f"command -v {name}  # in the fresh container or environment",
    )
    return found.with_related(_driver_span(install), "installed only here")


# ---- places


def _comparable(first: Command, second: Command, script: Script) -> bool:
    """Whether one surely comes before the other: of a document, in one block."""
    return not script.document or _driver_span(first).source is _driver_span(second).source


def _driver_span(command: Command) -> Span:
    stack = command.around.stack
    return stack[0].span if stack else command.span
