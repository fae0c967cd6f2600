"""A spec must declare the credentials that its stages need.

`credentials:` tells whoever starts the experiment what to have at hand, and which stage asks for it. A stage that needs
a key the spec does not name stops at a login prompt or with an error after the models are loaded, on a node where
nobody can type one in.

Needed is what the stage's launcher and its nested scripts take from the environment under the name of a secret, what a
Python tool asks `os.environ` for, and `WANDB_API_KEY` where a launch logs to `wandb` (unless `WANDB_MODE` is offline or
disabled). A credential with `used_by` is declared for the stages and kinds that it lists. One finding for each
credential; a stage that lists it under its own `credentials` has it declared.

Fix: add `NAME: null` (needed at launch) or `NAME: {optional: true}` to `credentials`. The unsafe fix adds the first.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from verlint.experiment.launch import Launch
from verlint.experiment.stage import Experiment, Stage
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.command import Command
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import WARNING, Context, rule
from verlint.secret import is_secret_name
from verlint.source import Span
from verlint.value import Hole, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import Spec

_READ = pattern(r"\bos\.(?:environ(?:\.get)?[\[(]|getenv\()\s*['\"]([A-Z][A-Z0-9_]*)['\"](\s*[,)\]])")
_EXPANDED = pattern(r"\$\{?([A-Za-z_]\w*)")
_SAME = (
    frozenset(["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_TOKEN", "HUGGINGFACEHUB_API_TOKEN"]),
    frozenset(["OPENAI_API_KEY", "GPT_RM_API_KEY"]),
)
"""Names that stand for one credential. Source: `huggingface_hub/constants.py`; llm-as-a-coach/verl, reward client."""

_OFF = frozenset(["offline", "disabled", "dryrun"])


@dataclass(frozen=True, slots=True)
class _Need:
    """A credential that a stage needs, with the place that shows it and what is there."""

    name: str
    stage: Stage
    span: Span | None
    label: str


@rule(
    "VL405",
    "undeclared-credential",
    on=Experiment,
    severity=WARNING,
    since="0.1",
    fixable="unsafe",
    words=("verlint/exp",),
)
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    spec = experiment.spec.spec if experiment.spec is not None else None
    if spec is None:
        return
    lacking: dict[str, list[_Need]] = {}
    for stage in experiment.stages:
        for need in _needs(stage, ctx):
            if not _is_declared(need, spec):
                lacking.setdefault(need.name, []).append(need)
    for name, needs in lacking.items():
        yield _finding(name, needs, spec, ctx)


def _needs(stage: Stage, ctx: Context) -> Iterator[_Need]:
    found: dict[str, _Need] = {}
    for event in stage.events:
        if isinstance(event, Command):
            for name, span in _of_command(event):
                found.setdefault(name, _Need(name, stage, span, "reads it"))
    for name, span in _of_text(stage):
        found.setdefault(name, _Need(name, stage, span, "reads it"))
    for launch in stage.launches:
        if "WANDB_API_KEY" not in found and _logs_to_wandb(launch):
            found["WANDB_API_KEY"] = _Need("WANDB_API_KEY", stage, launch["trainer.logger"].span, "logs to wandb")
    for name, span in _of_tool(stage, ctx):
        found.setdefault(name, _Need(name, stage, span, "reads it"))
    yield from found.values()


def _of_command(command: Command) -> Iterator[tuple[str, Span | None]]:
    """The secrets that a command takes from the environment of its caller."""
    words: Sequence[Text] = (*command.argv, *command.prefix.values())
    for word in words:
        for part in word.parts:
            if isinstance(part, Hole) and isinstance(part.key, tuple) and part.key[0] == "env":
                name = str(part.key[-1])
                if is_secret_name(name):
                    yield name, part.span or word.span or command.span


def _of_text(stage: Stage) -> Iterator[tuple[str, Span]]:
    """The secrets that the commands written in a spec expand."""
    source = stage.spec.run_source if stage.spec is not None else None
    for match in _EXPANDED.finditer(source.text) if source is not None else ():
        if source is not None and is_secret_name(match.group(1)):
            yield match.group(1), source.span(match.start(1), match.end(1))


def _logs_to_wandb(launch: Launch) -> bool:
    logger = launch["trainer.logger"]
    if not logger.given or not logger.decided:
        return False
    names = logger.data if isinstance(logger.data, list) else [logger.data]
    given = {**launch.command.around.environment, **launch.command.prefix}
    mode, off = given.get("WANDB_MODE"), given.get("WANDB_DISABLED")
    return "wandb" in names and (mode is None or mode.known not in _OFF) and off is None


def _of_tool(stage: Stage, ctx: Context) -> Iterator[tuple[str, Span]]:
    """The secrets that a stage's Python tool asks for without a default."""
    if stage.spec is None or not stage.launcher.endswith(".py"):
        return
    home = next(
        (ctx.project.tree.relative(file.path) for file in ctx.project.files if file.source is stage.span.source), ""
    )
    folder = posixpath.dirname(home or "")
    source = ctx.project.tree.source(posixpath.normpath(posixpath.join(folder, stage.launcher)))
    if source is not None:
        for match in _READ.finditer(source.text):
            if is_secret_name(match.group(1)) and "," not in match.group(2):
                yield match.group(1), Span(source, match.start(1), match.end(1))


def _is_declared(need: _Need, spec: Spec) -> bool:
    names = next((each for each in _SAME if need.name in each), frozenset([need.name]))
    stage = need.stage.spec
    if stage is not None and any(str(each) in names for each in (*stage.credentials, *stage.env)):
        return True
    for credential in spec.credentials.values():
        if credential.name in names:
            users = {str(each) for each in credential.used_by if each.decided}
            if (
                not users
                or len(users) < len(credential.used_by)
                or not users.isdisjoint((need.stage.id, need.stage.kind))
            ):
                return True
    return False


def _finding(name: str, needs: Sequence[_Need], spec: Spec, ctx: Context) -> Finding:
    first, *others = needs
    declared = spec.credentials.get(name)
    more = f" and {len(others)} more" if others else ""
    verb = "need" if others else "needs"
    if declared is not None:
        message = f"{name} is declared for other stages, but `{first.stage.id}`{more} {verb} it too"
        help_ = f"add {first.stage.id} to used_by of {name}"
    else:
        message = f"stage `{first.stage.id}`{more} {verb} {name}, which the spec does not declare"
        help_ = f"add {name}: null to credentials, or {{optional: true}} where it can do without"
    found = ctx.fail(first.stage.span, message, value=f"credentials.{name}", help=help_)
    found = found.with_related(first.span, first.label)
    if declared is not None:
        return found.with_related(declared.name_span, "declared here")
    for other in others[:4]:
        found = found.with_related(other.stage.span, "needs it too")
    edit = _added(name, spec)
    return found if edit is None else found.with_fix(f"declare {name}", edit, safety=Safety.UNSAFE)


def _added(name: str, spec: Spec) -> Edit | None:
    """The name behind the last credential, in the style of the mapping."""
    last = max(spec.credentials.values(), key=lambda each: each.span.end, default=None)
    if last is None:
        return None
    text, end = spec.source.text, max(last.span.end, last.name_span.end)
    line = text.rfind("\n", 0, last.name_span.start) + 1
    indent = text[line : last.name_span.start]
    rest = text[end:].lstrip(" \t")
    if not indent.strip():
        return Edit(Span(spec.source, end, end), f"\n{indent}{name}: null") if rest[:1] in ("\n", "") else None
    return Edit(Span(spec.source, end, end), f", {name}: null") if rest[:1] in ("}", ",") else None
