"""A credential is expanded while `set -x` is on, so its value is printed into the log.

With `set -x` bash prints every command after expansion: arguments, assignments and tests. Logs of jobs are kept,
shared and pasted into issues, and a key in them is a key given away. `[ -z "$WANDB_API_KEY" ]`, `export
HF_TOKEN=$TOKEN` and `: "${WANDB_API_KEY:?}"` print it just as `wandb login "$WANDB_API_KEY"` does. What does not
print it: `${WANDB_API_KEY:+set}`, `${#WANDB_API_KEY}`, here-strings, redirections.

Tracing is followed through functions, subshells, sourced and called files, `bash -x` and the first line of a batch
job. Not counted are tracing that is switched on only under a condition, and assignments of stand-ins.

Fix: turn tracing off around the line, `{ set +x; } 2>/dev/null` before and `set -x` after it, or test with
`${WANDB_API_KEY:+set}`. A login that only hands the key on can go: the programs read it from the environment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from verlint.experiment.places import assignments_in, only_called, scripts_in, variants_in, within
from verlint.experiment.project import Project
from verlint.experiment.script import Script
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.command import Command, Surroundings
from verlint.languages.bash.syntax import Node, Program
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import ERROR, Context, rule
from verlint.secret import names_secret
from verlint.source import Source, Span
from verlint_rules.credentials.exposure import exposed
from verlint_rules.credentials.tracing import printed

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from verlint.experiment.spec import SpecStage

SHOWN = 10
_TRACED_BATCH = pattern(r"(?P<shebang>#![^\n]*\b(?:ba|z|k)?sh[ \t]+-[a-wyz]*x[a-z]*)[ \t]*\n(?:[^\n]*\n){0,5}?#SBATCH")


@dataclass(frozen=True)
class Shown:
    """A place that prints a credential: its statement, what switched tracing on, and whether the text itself did."""

    name: str
    span: Span
    statement: Span
    switch: Span | None
    own: bool = False


@rule("VL404", "secret-in-xtrace", on=Loaded, severity=ERROR, since="0.1", fixable="unsafe")
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    for script in scripts_in(ctx.project, file.source):
        yield from _findings(ctx, _of_script(script, ctx.project))
    if file.kind is Kind.SPEC:
        for spec in (each.spec for each in ctx.project.specs if each.source is file.source):
            for stage in spec.stages.values() if spec is not None else ():
                yield from _findings(ctx, _of_stage(stage, ctx.project))


def _of_script(script: Script, project: Project) -> list[Shown]:
    found = [each for each in _static(script.syntax) if not _never_traced(each, script, project)]
    for each in _replayed(script, project):
        if not any(within(each.statement, other.statement) for other in found):
            found.append(each)
    return found


def _of_stage(stage: SpecStage, project: Project) -> list[Shown]:
    """What the shell of a stage's `run` prints."""
    if stage.run_source is None:
        return []
    from verlint.experiment.spec_runs import commands_of_run, run_text
    from verlint.languages.bash.parser import parse

    text = run_text(stage)
    if text is None or not names_secret(text.text):
        return []
    found = list(_static([(text, parse(text.text))]))
    for command in commands_of_run(stage, project.tree):
        for each in _of_words(command):
            if not any(within(each.statement, other.statement) for other in found):
                found.append(each)
    return found


def _findings(ctx: Context, found: Sequence[Shown]) -> Iterator[Finding]:
    by_name: dict[tuple[str, str], dict[int, Shown]] = {}
    for each in found:
        place = each.statement.in_file()
        by_name.setdefault((place.source.path, each.name), {}).setdefault(place.start, each)
    for (_, name), places in by_name.items():
        yield _finding(ctx, name, [places[place] for place in sorted(places)])


def _static(texts: Iterable[tuple[Source, Program]]) -> Iterator[Shown]:
    for source, program in texts:
        for each in printed(source.text, program, _by_the_first_line(source.text)):
            statement = source.span(each.statement.start, each.statement.end)
            switch = source.span(each.switch.start, each.switch.end)
            yield Shown(each.name, source.span(each.node.start, each.node.end), statement, switch, own=True)


def _never_traced(shown: Shown, script: Script, project: Project) -> bool:
    """Whether the run reaches a command, each time with tracing off: a file that it sources may have switched it."""
    if script.document or "source" not in script.source.text:
        return False
    reached = [
        variant.command.around.xtrace
        for variant in variants_in(project, script.source)
        if within(shown.span, variant.command.span)
    ]
    return bool(reached) and not any(reached)


def _replayed(script: Script, project: Project) -> Iterator[Shown]:
    """What the run shows beyond the text alone: tracing of the caller, credentials under other names. A file that is
    only called or sourced is looked at with the script that does."""
    if script.document:
        return
    for source in (script.source, *only_called(project, script.source)):
        for variant in variants_in(project, source):
            yield from _of_words(variant.command)
        for assignment in assignments_in(project, source):
            if assignment.around.xtrace and assignment.value is not None:
                for each in exposed(assignment.value):
                    yield Shown(each.name, assignment.span, assignment.span, _caller(assignment.around))


def _of_words(command: Command) -> Iterator[Shown]:
    for word in command.argv if command.around.xtrace else ():
        for each in exposed(word):
            yield Shown(each.name, word.span or command.span, command.span, _caller(command.around))


def _by_the_first_line(text: str) -> Node | None:
    """The first line of a batch job that starts it with `bash -x`; others are mostly started by `bash FILE`."""
    match = _TRACED_BATCH.match(text) if "#SBATCH" in text else None
    return None if match is None else Node(0, match.end("shebang"))


def _caller(around: Surroundings) -> Span | None:
    return around.stack[-1].span if around.stack else None


def _finding(ctx: Context, name: str, places: Sequence[Shown]) -> Finding:
    first = places[0]
    finding = ctx.fail(
        first.span,
        f"`set -x` prints the value of {name} into the log",
        help="switch tracing off around this line: { set +x; } 2>/dev/null",
    )
    finding = finding.with_related(first.switch, "tracing is on from here" if first.own else "started from here")
    for other in places[1 : SHOWN + 1]:
        finding = finding.with_related(other.span, "printed here too")
    edits = [edit for each in places if (edit := _untraced(each.statement)) is not None]
    if len(edits) == len(places) and all(each.own for each in places):
        finding = finding.with_fix("switch tracing off around it", *edits, safety=Safety.UNSAFE)
    return finding


def _untraced(statement: Span) -> Edit | None:
    """The statement with tracing off, where it has its lines for itself."""
    from verlint_rules.credentials.lines import own_lines

    indent = own_lines(statement)
    if indent is None:
        return None
    return Edit(statement, f"{{ set +x; }} 2>/dev/null\n{indent}{statement.text}\n{indent}set -x")
