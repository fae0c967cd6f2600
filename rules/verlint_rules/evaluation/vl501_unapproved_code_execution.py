"""Code that a model wrote is run, and nobody has approved it.

`HF_ALLOW_CODE_EVAL=1` and `--confirm_run_unsafe_code` tell a harness to execute whatever the model answers, with the
rights of the job: its files, its network, its credentials. The harnesses ask for the flag so that a person decides,
in a place where no harm can be done. A flag in a launcher decides for everybody who runs it.

Silent once a spec of the project grants it to the stage that runs the launcher: the stage names an entry of
`approvals` with `granted_by`, `sandbox` and a `scope` that covers the stage or its tasks. A placeholder
(`<APPROVER>`) grants nothing. In a document this is a warning. A flag for tasks that are known to run no code is
VL502.

A flag in a launcher and the variable in the stage that runs it are told once, at the launcher.

Fix: leave the flag out for tasks that run no code (IF-Eval runs none). Otherwise run the stage in a sandbox and say
so: `approvals: {unsafe-code-eval: {granted_by: NAME, sandbox: docker, scope: [STAGE]}}` and `approvals:
[unsafe-code-eval]` in the stage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.experiment.places import variants_in
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Finding, Severity
from verlint.rule import ERROR, WARNING, Context, rule
from verlint_rules.evaluation.code_execution import (
    Refusal,
    Trigger,
    exports_of,
    refusal,
    run_no_code,
    spec_triggers,
    stage_tasks,
    stages_that_run,
    triggers_of,
)
from verlint_rules.evaluation.python_switches import code_execution

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import Spec, SpecStage
    from verlint.source import Source

SHOWN = 10
_HELP = (
    "leave it out if the tasks run no code; else run the stage in a sandbox and grant it under `approvals` in the spec"
)


@rule(
    "VL501",
    "unapproved-code-execution",
    on=Loaded,
    severity=ERROR,
    since="0.1",
    words=("unsafe", "code_eval", "code_exec", "code-exec", "evalplus", "correctness", "bigcodebench", "lcb_runner"),
)
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    match file.kind:
        case Kind.LAUNCHER | Kind.DOCUMENT | Kind.JOB:
            yield from _in_shell(file, ctx)
        case Kind.PYTHON:
            found = [Trigger(*each) for each in code_execution(file.source)]
            found = [each for each in found if not run_no_code(each.tasks)]
            if found:
                yield from _in_launcher(file, ctx, [found])
        case Kind.SPEC:
            for spec in (each.spec for each in ctx.project.specs if each.source is file.source):
                yield from _in_spec(spec, ctx) if spec is not None else ()


def _in_shell(file: Loaded, ctx: Context) -> Iterator[Finding]:
    yield from _in_launcher(file, ctx, _groups(file.source, ctx))


def _groups(source: Source, ctx: Context) -> list[list[Trigger]]:
    """What makes code run in a launcher, by the command that is told to."""
    by_command: dict[int, list[Trigger]] = {}
    for variant in variants_in(ctx.project, source):
        found = triggers_of(variant.command)
        if found:
            by_command.setdefault(variant.command.span.in_file().start, found)
    exports = exports_of(ctx.project, source, assigned=True)
    needed = [found for _, found in sorted(by_command.items()) if not all(run_no_code(each.tasks) for each in found)]
    return [[*found, *exports] for found in needed] or ([exports] if exports and not by_command else [])


def _in_launcher(file: Loaded, ctx: Context, groups: Sequence[Sequence[Trigger]]) -> Iterator[Finding]:
    document = file.kind is Kind.DOCUMENT
    specs = [each.spec for each in ctx.project.specs if each.spec is not None]
    if document:
        stages = [(spec, stage) for spec in specs for stage in spec.stages.values()]
    else:
        stages = list(stages_that_run(ctx.project, ctx.project.tree.relative(file.path) or file.source.path))
    refusals = [refusal(spec, stage) for spec, stage in stages]
    if None in refusals:
        return
    why, place = Refusal("no spec grants it"), None
    if refusals and not document:
        why, place = next(((lack, stage.id_span) for lack, (_, stage) in zip(refusals, stages, strict=True) if lack))
    elif specs and not document:
        why = Refusal("no stage of a spec runs this launcher and is granted it")
    for group in groups:
        if all(run_no_code(each.tasks) for each in group):
            continue  # that it is not needed at all is said elsewhere
        finding = _finding(ctx, group, why, WARNING if document else None)
        finding = finding.with_related(place, "the stage that runs it")
        for trigger in () if document else (each for _, stage in stages for each in spec_triggers(stage)):
            finding = finding.with_related(trigger.span, f"{trigger.what} for it")
        yield finding


def _finding(ctx: Context, group: Sequence[Trigger], why: Refusal, severity: Severity | None = None) -> Finding:
    first = group[0]
    tasks = f"tasks {first.tasks}" if first.tasks else ""
    message = f"`{first.what}` lets code that the model writes run, and {why.reason}"
    if why.variable:
        verify = f'echo "${{{why.variable}}}"'
        finding = ctx.unsure(first.span, message, verify=verify, value=tasks, help=_HELP, severity=severity)
    else:
        finding = ctx.fail(first.span, message, value=tasks, help=_HELP, severity=severity)
    for other in group[1 : SHOWN + 1]:
        finding = finding.with_related(other.span, f"{other.what} for it" if other.variable else other.what)
    return finding.with_related(why.place, "the approval")


def _in_spec(spec: Spec, ctx: Context) -> Iterator[Finding]:
    for stage in spec.stages.values():
        why = refusal(spec, stage)
        found = spec_triggers(stage) if why is not None else []
        tasks = stage_tasks(stage)
        needless = bool(tasks) and run_no_code(tasks)
        if why is not None and found and not needless and not _is_told_at_launcher(stage, ctx):
            yield _finding(ctx, found, why)


def _is_told_at_launcher(stage: SpecStage, ctx: Context) -> bool:
    """Whether the launcher of a stage asks for it too: then the finding is there, with what the stage says."""
    for file in ctx.project.files:
        path = ctx.project.tree.relative(file.path) or file.source.path
        stages = list(stages_that_run(ctx.project, path)) if file.kind is Kind.LAUNCHER else []
        if any(each is stage for _, each in stages) and all(refusal(*each) is not None for each in stages):
            groups = _groups(file.source, ctx)
            if any(not all(run_no_code(each.tasks) for each in group) for group in groups):
                return True
    return False
