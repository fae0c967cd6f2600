"""A credential is exported after Ray was started, so the workers do not have it.

Processes that Ray starts inherit the environment of `ray start`, not that of the shell that later runs the trainer.
The trainer's own task is such a process: it opens the log, downloads gated models and calls the judge. A key that is
exported in between is there in the shell, where every test finds it, and missing where it is used: the run stops
after the cluster is up and the model is loaded.

Silent when the same value was exported before `ray start`, and when the job hands the name on in its `runtime_env`.

Fix: move the export above `ray start`, on every node; or name it in the runtime environment of the job
(`+ray_kwargs.ray_init.runtime_env.env_vars.NAME=…`, `ray job submit --runtime-env FILE`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from verlint.experiment.launch import Launch
from verlint.experiment.project import Project
from verlint.experiment.script import Script
from verlint.finding import Finding
from verlint.languages.bash.command import Assignment, Command
from verlint.languages.bash.state import Event
from verlint.languages.bash.wrappers import unwrap
from verlint.record import dataclass
from verlint.rule import WARNING, Context, rule
from verlint.secret import is_placeholder, is_secret_name
from verlint.source import Span
from verlint.value import Text
from verlint_rules.credentials.logger import is_login, logs_to_wandb
from verlint_rules.shell.nodes import ray_verb


@dataclass(frozen=True, slots=True)
class Late:
    """A credential that was exported too late: where, the `ray start` before it, and the launch that needs it."""

    name: str
    export: Span
    start: Span
    launch: Span


@rule("VL408", "credential-not-on-workers", on=Script, severity=WARNING, since="0.1", words=("ray start",))
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    found: dict[tuple[str, int], Late] = {}
    for path in script.resolution.paths:
        if not any(_may_start(command) for command in path.commands):
            continue
        for late in _late(path.events, ctx.project):
            found.setdefault((late.name, late.export.in_file().start), late)
    for late in found.values():
        yield (
            ctx.fail(
                late.export,
                f"{late.name} is exported after `ray start`: Ray's workers, where it is used, do not have it",
                help="export it before `ray start`, on every node, or hand it on in the job's runtime_env",
            )
            .with_related(late.start, "Ray's processes have the environment of this moment")
            .with_related(late.launch, "the launch")
        )


def _may_start(command: Command) -> bool:
    """Whether `start` is among the first words of a command."""
    return any(word.known == "start" for word in command.argv[1:10])


def _late(events: Sequence[Event], project: Project) -> Iterator[Late]:
    """What is late for the launches of one path."""
    started: Command | None = None
    login = False
    exports: dict[str, Span] = {}
    for event in events:
        if isinstance(event, Assignment):
            exports[event.name] = event.span
            continue
        login = login or is_login(event)
        if event.builtin and event.name == "export":
            exports.update((_name(word), word.span) for word in event.words if word.span is not None)
        match ray_verb(event):
            case "start" if not event.around.elsewhere:
                started = event
                exports.clear()
            case "stop":
                started = None
        launch = project.launch(event) if started is not None and not event.builtin else None
        if launch is None or started is None:
            continue
        handed_on = _handed_on(event, launch, project)
        for name in _fresh(started.around.environment, event.around.environment):
            if name not in exports or name in handed_on or not _used(name, launch, login):
                continue
            yield Late(name, exports[name], started.span, launch.head)


def _name(word: Text) -> str:
    return word.prefix.split("=", 1)[0]


def _fresh(before: Mapping[str, Text], after: Mapping[str, Text]) -> Iterator[str]:
    """The credentials that a command has and Ray has not."""
    for name, value in after.items():
        if not is_secret_name(name) or (value.known is not None and is_placeholder(value.known)):
            continue
        if value.identity() == (("hole", ("env", name)),):  # it was exported by the caller, so Ray has it too
            continue
        old = before.get(name)
        if old is None or old.same_as(value) is False:
            yield name


def _used(name: str, launch: Launch, login: bool) -> bool:
    """Whether the workers may need it: the key of wandb only for a run that logs there, without a login on the node."""
    return not name.startswith("WANDB") or (logs_to_wandb(launch) is not False and not login)


def _handed_on(command: Command, launch: Launch, project: Project) -> str:
    """Whatever the job hands on in its runtime environment, as text."""
    said = [override.word.shown for override in launch.overrides if "runtime_env" in override.key]
    argv = unwrap(command.argv).argv
    for at, word in enumerate(argv):
        text = word.shown
        if not text.startswith("--runtime-env"):
            continue
        value = text.partition("=")[2] or (argv[at + 1].shown if at + 1 < len(argv) else "")
        source = project.tree.source(value) if value.endswith((".yaml", ".yml")) and value[0] not in "/$" else None
        said.append(source.text if source is not None else value)
    return "\n".join(said)
