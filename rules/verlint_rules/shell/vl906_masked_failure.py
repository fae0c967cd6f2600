"""A step must not go on with what a failed step has left behind.

Bash goes on after a command that fails. When the training of a round ends early, the next step takes the checkpoint
that is in the folder, an older one or none, and writes its results under the name of the new run: hours later the
table has a line that nothing tells from the others.

Reported once for a script in which one step reads the checkpoints of an earlier one, and the earlier one may fail
unnoticed: without `set -e`, `&&`, `|| exit` or an `if`, or with its status lost in `| tee` without `pipefail`. Silent
for steps that do not depend on each other, such as the runs of a sweep.

Fix: `set -eo pipefail` at the top, or `&&` between the steps. The unsafe fix adds the line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from verlint.experiment.checkpoints import Save, Use, ledger_of_script
from verlint.experiment.script import Script
from verlint.finding import Finding, Safety
from verlint.languages.bash.command import Command
from verlint.languages.bash.syntax import AndOr, If, While
from verlint.lazy import pattern
from verlint.rule import WARNING, Context, rule
from verlint.source import Source, Span
from verlint_rules.shell.script_start import at_start

_TRAP = pattern(r"\btrap\b[^\n]*\bERR\b")


@rule("VL906", "masked-failure", on=Script, severity=WARNING, since="0.1", fixable="unsafe", words=("global_step",))
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if script.document or _TRAP.search(script.source.text):
        return
    ledger = ledger_of_script(script, ctx.project.launch)
    tops = _own_commands(script)
    for use in ledger.uses:
        reader = _top(use.command, tops)
        for save in ledger.saves:
            maker = _top(save.command, tops)
            if reader is None or maker is None or save.key != use.key or save.never or save.steps:
                continue
            again = maker.span.order() == reader.span.order() and save.place.before(use.place)
            if (maker.span.start < reader.span.start or again) and _may_fail_unnoticed(
                maker, reader, script.source, script
            ):
                yield _finding(save, use, maker, reader, script.source, ctx)
                return


def _own_commands(script: Script) -> Mapping[tuple[str, int, int], Command]:
    """The commands that stand in the script itself, by place."""
    return {
        command.span.order(): command
        for path in script.resolution.paths
        for command in path.commands
        if not command.around.stack and command.span.source is script.source
    }


def _top(command: Command, tops: Mapping[tuple[str, int, int], Command]) -> Command | None:
    """The command of the script by which another one is reached."""
    stack = command.around.stack
    return tops.get((stack[0].span if stack else command.span).order())


def _may_fail_unnoticed(maker: Command, reader: Command, source: Source, script: Script) -> bool:
    around = maker.around
    if around.background or around.substitution:
        return False
    if around.errexit:
        return maker.pipe[0] + 1 < maker.pipe[1] and not around.pipefail
    for node in script.program(source).nodes:
        if not (node.start <= maker.span.start and maker.span.end <= node.end):
            continue
        if isinstance(node, AndOr) and len(node.items) > 1:
            return False
        if isinstance(node, If | While) and _in_condition(node, maker):
            return False
    return not _status_is_looked_at(maker, reader, source)


def _in_condition(node: If | While, maker: Command) -> bool:
    conditions = [test for test, _ in node.arms] if isinstance(node, If) else [node.test]
    return any(each.start <= maker.span.start and maker.span.end <= each.end for each in conditions)


def _status_is_looked_at(maker: Command, reader: Command, source: Source) -> bool:
    between = source.text[maker.span.end : reader.span.start]
    return "$?" in between or "PIPESTATUS" in between


def _finding(save: Save, use: Use, maker: Command, reader: Command, source: Source, ctx: Context) -> Finding:
    piped = maker.around.errexit
    why = "its failure is lost in the pipe" if piped else "there is no `set -e`"
    what = "the next turn of the loop" if maker is reader else "this step"
    found = ctx.fail(
        _first_line(reader.span),
        f"{what} runs even when the training before it has failed, on whatever is in the folder: {why}",
        value=use.word.shown,
        help="set -o pipefail" if piped else "set -e at the top of the script, or && between the steps",
    ).with_related(_first_line(maker.span), "writes the checkpoint, and may fail")
    edit = at_start(source, "set -o pipefail" if piped else "set -eo pipefail")
    return found.with_fix("stop at the first failure", edit, safety=Safety.UNSAFE)


def _first_line(span: Span) -> Span:
    end = span.source.text.find("\n", span.start, span.end)
    text = span.source.text[span.start : span.end if end < 0 else end].rstrip(" \t\\")
    return span.source.span(span.start, span.start + len(text))
