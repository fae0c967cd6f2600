"""What makes an evaluation run code that a model wrote, and what a spec allows of it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from verlint.experiment.places import assignments_in, scripts_in
from verlint.experiment.project import Project
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.source import Source, Span
from verlint.value import State, Text, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import Spec, SpecApproval, SpecFile, SpecStage

FLAGS = frozenset(
    [
        "--confirm_run_unsafe_code",
        "--confirm-run-unsafe-code",
        "--trust_unsafe",
        "--allow_code_execution",
        "--allow-code-execution",
        "--unsafe_execute",
    ]
)
"""Options that let a harness run generated code. Sources: lm-evaluation-harness, bigcode-evaluation-harness."""

VARIABLE = "HF_ALLOW_CODE_EVAL"
"""Set to 1 it lets the `code_eval` metric run generated code. Source: Hugging Face evaluate."""

KEYS = frozenset(["allow_code_execution", "confirm_run_unsafe_code", "allow_code_eval", "trust_unsafe"])

_RUNNERS = {
    "evalplus.evaluate": (),
    "evaluate_functional_correctness": (),
    "human_eval.evaluate_functional_correctness": (),
    "bigcodebench.evaluate": ("--execution", "local"),
    "lcb_runner.runner.main": ("--evaluate",),
    "lcb_runner.runner.custom_evaluator": (),
}
"""Programs that run generated code on the spot, with the option that makes them do it. Sources: EvalPlus,
HumanEval, BigCodeBench, LiveCodeBench."""

_WITHOUT_CODE = pattern(
    r"(?:ifeval|leaderboard_ifeval|gsm8k|gsm_plus|mmlu|mmlu_pro|mmlu_redux|hellaswag|winogrande|piqa|openbookqa|boolq|copa"
    r"|arc_easy|arc_challenge|truthfulqa(?:_mc1|_mc2|_gen)?|triviaqa|nq_open|bbh|gpqa(?:_\w+)?|hendrycks_math(?:500)?"
    r"|minerva_math(?:500)?|aime(?:24|25)?|wikitext|lambada(?:_openai)?|drop|squadv2|commonsense_qa|sciq|race|logiqa)"
)
"""Tasks that score answers without running them: none asks for the permission (`unsafe_code`). Source:
lm-evaluation-harness, `lm_eval/tasks`."""

_ON = frozenset(["1", "true", "yes", "on"])
_OFF = frozenset(["0", "false", "no", "off"])
_NOTHING = frozenset(["", "none", "null", "false", "no"])
_NAMED = pattern(rf"\b{VARIABLE}=([\"']?)\Z")
_TASKS = pattern(r"--tasks?[= ]")
_WORD = pattern(
    r"(?<![\w-])(--(?:confirm[_-]run[_-]unsafe[_-]code|trust_unsafe|allow[_-]code[_-]execution)\b|HF_ALLOW_CODE_EVAL=[\"']?1)"
)


@dataclass(frozen=True, slots=True)
class Trigger:
    """What makes code run: its words, its place, and the tasks that are evaluated (comma-separated, "" when not
    known)."""

    what: str
    span: Span
    tasks: str = ""
    variable: bool = False


def run_no_code(tasks: str) -> bool:
    """Whether each of the tasks (comma-separated) is known and runs nothing of what the model answers."""
    names = [name.strip() for name in tasks.split(",")]
    return all(_WITHOUT_CODE.fullmatch(name) is not None for name in names)


def is_on(value: Text) -> bool:
    """Whether a switch is surely on."""
    return (value.known or "").strip().lower() in _ON


def triggers_of(command: Command) -> list[Trigger]:
    """What makes a command run generated code: options first, then variables given to it alone."""
    if command.builtin or command.function:
        return []
    unwrapped = unwrap(command.argv)
    argv = unwrapped.argv
    tasks = _tasks(argv)
    found = [*_options(argv, tasks), *_runner(argv, tasks)]
    for name, value in {**command.prefix, **unwrapped.assignments}.items():
        if name == VARIABLE and is_on(value) and value.span is not None:
            found.append(Trigger(f"{VARIABLE}={value.known}", _assignment(value.span), tasks, True))
    return found


def _assignment(value: Span) -> Span:
    """The assignment whose value is given, as far as it is written so."""
    text = value.source.text
    name = _NAMED.search(text, 0, value.start)
    if name is None:
        return value
    end = value.end + (text[value.end : value.end + 1] == name[1] != "")
    return Span(value.source, name.start(), end)


def exports_of(project: Project, source: Source, *, assigned: bool = False) -> list[Trigger]:
    """Where a file sets the variable for all that it starts: exports, and the environment that a job file gives.
    `assigned`: assignments without an export, too."""
    found: dict[int, Trigger] = {}
    for each in assignments_in(project, source):
        if each.name == VARIABLE and each.value is not None and is_on(each.value) and (each.exported or assigned):
            found.setdefault(each.span.in_file().start, Trigger(f"{VARIABLE}={each.value.known}", each.span))
    for script in scripts_in(project, source):
        for entry in script.entries:
            value = (entry.environment or {}).get(VARIABLE) if entry is not None else None
            if isinstance(value, Text) and value.span is not None and is_on(value):
                trigger = Trigger(f"{VARIABLE}={value.known}", value.span, variable=True)
                found.setdefault(value.span.in_file().start, trigger)
    return list(found.values())


def _options(argv: Sequence[Text], tasks: str) -> Iterator[Trigger]:
    for at, word in enumerate(argv):
        name, sign, value = (word.known or word.prefix).partition("=")
        after = (argv[at + 1].known or "").lower() if at + 1 < len(argv) else ""
        switched = value.lower() if sign else after if after in _ON | _OFF else "1"
        flag = name in FLAGS and switched not in _OFF
        key = bool(sign) and name.lstrip("+").rsplit(".", 1)[-1] in KEYS and value.lower() in _ON
        if (flag or key) and word.span is not None:
            yield Trigger(word.known or name, word.span, tasks)


def _runner(argv: Sequence[Text], tasks: str) -> Iterator[Trigger]:
    names = [program_name(argv[0])] if argv else []
    if len(argv) > 2 and names[0].startswith("python") and argv[1].known == "-m":
        names.append(argv[2].known or "")
    known = [word.known or "" for word in argv]
    for name in names:
        if name in _RUNNERS and all(option in known for option in _RUNNERS[name]) and argv[0].span is not None:
            yield Trigger(name, (argv[2] if name != names[0] else argv[0]).span or argv[0].span, tasks)


def _tasks(argv: Sequence[Text]) -> str:
    for at, word in enumerate(argv):
        text = word.known or ""
        if text in ("--tasks", "--task") and at + 1 < len(argv):
            return argv[at + 1].known or ""
        if text.startswith(("--tasks=", "--task=")):
            return text.split("=", 1)[1]
    return ""


# ---- specs


def spec_triggers(stage: SpecStage) -> list[Trigger]:
    """What a stage of a spec itself says about running generated code."""
    found = [
        Trigger(f"--{name}", _place(stage, f"args.{name}", value), "")
        for name, value in stage.args.items()
        if _asks(name, value)
    ]
    found += [
        Trigger(f"{name}={value}", _place(stage, f"overrides.{name}", value))
        for name, value in stage.overrides.items()
        if name.rsplit(".", 1)[-1] in KEYS and value.truthy()
    ]
    found += [
        Trigger(f"{name}={value}", _place(stage, f"env.{name}", value), variable=True)
        for name, value in stage.env.items()
        if name == VARIABLE and value.decided and str(value).lower() in _ON
    ]
    if stage.run_source is not None:
        match = _WORD.search(stage.run_source.text)
        if match is not None:
            found.append(
                Trigger(match.group().replace("'", "").replace('"', ""), stage.run_source.span(*match.span()).in_file())
            )
    return found


def _asks(name: str, value: Value) -> bool:
    option = name.lstrip("-").replace("-", "_")
    return f"--{option}" in FLAGS and (value.data is None or bool(value.truthy())) and str(value).lower() not in _OFF


def _place(stage: SpecStage, key: str, value: Value) -> Span:
    place = stage.places.get(key)
    if place is not None and value.span is not None and place.source is value.span.source:
        return place.join(value.span)
    return value.span or place or stage.id_span


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a stage may not run generated code. `variable` is what decides it at launch; `place` is the approval."""

    reason: str
    variable: str = ""
    place: Span | None = None


def refusal(spec: Spec, stage: SpecStage) -> Refusal | None:
    """Why a stage may not run generated code, None when it may."""
    names = [str(value) for value in stage.approvals if value.decided]
    found = [approval for name in names if (approval := spec.approvals.get(name)) is not None]
    lacks = [_lack(approval, stage) for approval in found]
    if not lacks:
        named = f"stage `{stage.id}` names none of the `approvals`"
        return Refusal(named if spec.approvals and not names else f"stage `{stage.id}` has no approval")
    return None if None in lacks else min((lack for lack in lacks if lack), key=lambda lack: not lack.variable)


def _lack(approval: SpecApproval, stage: SpecStage) -> Refusal | None:
    """What an approval lacks for a stage."""
    place = approval.name_span
    name = f"approval `{approval.name}`"
    for key, value in (("granted_by", approval.granted_by), ("sandbox", approval.sandbox)):
        if not value.given or (value.state is State.KNOWN and str(value).lower() in _NOTHING):
            return Refusal(f"{name} has no `{key}`", place=place)
        if value.state is not State.KNOWN:
            holes = value.text.holes if value.text is not None else ()
            if any(_is_placeholder(hole.key) for hole in holes):
                return Refusal(f"{name} is not granted yet: `{key}` is a placeholder", place=place)
            variable = holes[0].name if holes else key
            return Refusal(f"{name} takes `{key}` from outside the spec", variable, place)
    scope = {str(value) for value in approval.scope if value.decided}
    kind = str(stage.kind) if stage.kind.decided else ""
    open_scope = not scope or any(not value.decided for value in approval.scope)
    if open_scope or scope & {stage.id, kind, "*", "all"} or _task_in(scope, stage):
        return None
    return Refusal(f"{name} does not cover stage `{stage.id}`", place=place)


def _is_placeholder(key: object) -> bool:
    return isinstance(key, tuple) and key[0] == "placeholder"


def stage_tasks(stage: SpecStage) -> str:
    """The tasks that a stage evaluates, comma-separated; "" when they are not known."""
    value = stage.args.get("tasks") or stage.args.get("task")
    if value is None or not value.decided:
        text = stage.run_source.text if stage.run_source is not None else ""
        match = _TASKS.search(text)
        words = text[match.end() :].split() if match is not None else []
        return words[0] if words else ""
    return ",".join(map(str, value.data)) if isinstance(value.data, list) else str(value)


def _task_in(scope: set[str], stage: SpecStage) -> bool:
    """Whether the stage evaluates only tasks of the scope."""
    tasks = stage_tasks(stage)
    return bool(tasks) and set(tasks.split(",")) <= scope


def runs(file: SpecFile, spec: Spec, stage: SpecStage, path: str, project: Project) -> bool:
    """Whether a stage starts the launcher at `path` (below the root of the project)."""
    if not stage.launcher.decided or not stage.launcher.given:
        return False
    launcher = posixpath.normpath(str(stage.launcher))
    checkout = spec.checkouts.get(str(stage.checkout)) or next(iter(spec.checkouts.values()), None)
    base = str(checkout.path) if checkout is not None and checkout.path.given and checkout.path.decided else "."
    folder = posixpath.dirname(file.source.path)
    tree = {
        posixpath.normpath(posixpath.join(folder, base, launcher)),
        posixpath.normpath(posixpath.join(folder, launcher)),
    }
    return path in tree or ("/" in launcher and path.endswith("/" + launcher)) or path == launcher


def stages_that_run(project: Project, path: str) -> Iterator[tuple[Spec, SpecStage]]:
    """The stages of all specs that start a launcher."""
    for file in project.specs:
        if file.spec is not None:
            for stage in file.spec.stages.values():
                if runs(file, file.spec, stage, path, project):
                    yield file.spec, stage
