"""The permission to run generated code is given to a task that runs none.

IF-Eval, GSM8K, MMLU and their like compare text: the harness never asks whether it may execute an answer. A flag that
is there all the same changes nothing today, and tomorrow it lets the first task that somebody adds to the list run
code that a model wrote, with the rights of the job, without anybody being asked.

Looked at are commands, specs, and the calls of a harness in Python. Only tasks that are known by name to run no code
are counted, and only when all tasks of the command are.

Fix: leave the flag and the variable out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from verlint.experiment.places import variants_in
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Edit, Finding, Safety
from verlint.rule import WARNING, Context, rule
from verlint.source import Span
from verlint_rules.evaluation.code_execution import (
    Trigger,
    exports_of,
    run_no_code,
    spec_triggers,
    stage_tasks,
    triggers_of,
)
from verlint_rules.evaluation.python_switches import code_execution

SHOWN = 10


@rule(
    "VL502",
    "unneeded-code-execution",
    on=Loaded,
    severity=WARNING,
    since="0.1",
    fixable="unsafe",
    words=("unsafe", "code_eval", "code_exec", "code-exec"),
)
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    match file.kind:
        case Kind.LAUNCHER | Kind.DOCUMENT | Kind.JOB:
            yield from _in_shell(file, ctx)
        case Kind.PYTHON:
            for each in (Trigger(*each) for each in code_execution(file.source)):
                if run_no_code(each.tasks):
                    yield _finding(ctx, [each], each.tasks, _without_in_program)
        case Kind.SPEC:
            for spec in (each.spec for each in ctx.project.specs if each.source is file.source):
                for stage in spec.stages.values() if spec is not None else ():
                    tasks = stage_tasks(stage)
                    found = spec_triggers(stage) if tasks and run_no_code(tasks) else []
                    if found:
                        yield _finding(ctx, found, tasks)


def _in_shell(file: Loaded, ctx: Context) -> Iterator[Finding]:
    exports = exports_of(ctx.project, file.source)
    found: dict[int, list[Trigger]] = {}
    needed: set[int] = set()
    for variant in variants_in(ctx.project, file.source):
        triggers = triggers_of(variant.command)
        at = variant.command.span.in_file().start
        if triggers and not all(run_no_code(each.tasks) for each in triggers):
            needed.add(at)
        elif triggers:
            found.setdefault(at, triggers)
    shared = [] if needed else exports
    for at, triggers in sorted(found.items()):
        if at not in needed:
            yield _finding(ctx, [*triggers, *shared], triggers[0].tasks)


def _finding(
    ctx: Context, triggers: Sequence[Trigger], tasks: str, without: Callable[[Trigger], Edit | None] | None = None
) -> Finding:
    first, *others = triggers
    several = "these tasks run" if "," in tasks else f"`{tasks}` runs"
    message = f"`{first.what}` is not needed: {several} nothing of what the model answers"
    finding = ctx.fail(first.span, message, value=f"tasks = {tasks}", hops=(), help="leave it out")
    for other in others[:SHOWN]:
        finding = finding.with_related(other.span, f"nor is {other.what}")
    edits = [edit for each in triggers if (edit := (without or _without)(each)) is not None]
    if len(edits) == len(triggers):
        finding = finding.with_fix("leave it out", *edits, safety=Safety.UNSAFE)
    return finding


def _without_in_program(trigger: Trigger) -> Edit | None:
    """The edit that takes an argument or a word out of a Python program."""
    from verlint.languages.python.removal import without

    found = without(trigger.span)
    return None if found is None else Edit(*found)


def _without(trigger: Trigger) -> Edit | None:
    """The edit that removes an option with the blank, or the line of a continued command, before it; an `export` with
    its line."""
    span = trigger.span.in_file()
    text = span.source.text
    if span.text != trigger.span.text or "\n" in span.text or (trigger.variable and "=" not in span.text):
        return None
    start = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.end)
    end = len(text) if end < 0 else end
    before, after = text[start : span.start].strip(), text[span.end : end].strip()
    if before in ("", "export") and after in ("", "\\") and (before or after or trigger.variable or start):
        if not before and not after:  # the last line of a continued command: the sign before it goes too
            cut = text.rfind("\\", 0, start)
            kept = len(text[: max(cut, 0)].rstrip(" \t"))
            return Edit(Span(span.source, kept, span.end), "") if text[cut:start].strip() == "\\" else None
        return Edit(Span(span.source, start, min(end + 1, len(text))), "")
    if text[span.start - 1 : span.start] in (" ", "\t"):
        return Edit(Span(span.source, span.start - 1, span.end), "")
    return Edit(Span(span.source, span.start, span.end + 1), "") if text[span.end : span.end + 1] == " " else None
