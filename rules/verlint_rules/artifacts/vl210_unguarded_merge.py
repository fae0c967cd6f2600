"""The merge of a checkpoint's shards must be looked at, and done once.

The merge reads every shard of a step and writes the weights as one model. When it fails (a step that was never saved,
shards of another node, a full disk) and the launcher goes on, the next command loads what is there: the folder that the
launcher has made for it, the half of a model, or that of an earlier run. When every rank runs it, several write the
same files at the same time, and the first one that is done starts to read them.

Reported where a later command of the launcher reads what is merged. Counted as looked at: `set -e`, `|| exit`,
`if python …; then`, `&&`, a test of `$?`, and an `exit` between the two. Ranks are compared with the run that follows:
where that is held back to one rank, the merge should be as well.

Fix: write `|| exit 1` behind the merge, and move it into the block of the first rank.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.experiment.python_programs import python_program
from verlint.experiment.script import Script
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.lazy import pattern
from verlint.rule import WARNING, Context, rule
from verlint.source import Span
from verlint.value import Literal, Text
from verlint_rules.artifacts.merging import merged_folder

_RANK = pattern(r"rank|procid|node.?id", 2)
_JOINED = pattern(r"[ \t]*(?:\d?>{1,2}&?[ \t]*\S+[ \t]*)*(?:\|\||&&)")
_ASKED = pattern(r"(?:\b(?:if|while|until|elif)[ \t]+(?:![ \t]*)?|\|\|[ \t]*|![ \t]*)$")
_OTHERWISE = pattern(r"^[ \t]*(?:else|elif)\b", 8)
_LOOKS = pattern(r"\$\?|\bexit[ \t]+[1-9]|\breturn[ \t]+[1-9]")


@rule("VL210", "unguarded-merge", on=Script, severity=WARNING, since="0.1", words=("merge_model", "model_merge"))
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if script.document:
        return
    seen: dict[object, Finding] = {}
    for path in script.resolution.paths:
        commands = path.commands
        for at, command in enumerate(commands):
            if command.span.order() in seen or command.span.in_file().source is not script.source:
                continue
            folder = merged_folder(command)
            if folder is None:
                continue
            reader = next(
                (each for each in commands[at + 1 :] if _reads(each, folder) and merged_folder(each) is None), None
            )
            finding = None if reader is None else _judged(command, reader, ctx)
            if finding is not None:
                seen[command.span.order()] = finding
    yield from seen.values()


def _reads(command: Command, folder: Text) -> bool:
    """Whether a command is given the folder or something below it."""
    if command.builtin or command.function:
        return False
    wanted = folder.shown.rstrip("/")
    return bool(wanted) and any(wanted in word.shown for word in command.argv)


def _judged(merge: Command, reader: Command, ctx: Context) -> Finding | None:
    launch: Launch | None = ctx.project.launch(reader)
    reasons: list[str] = []
    if not _is_looked_at(merge, reader):
        reasons.append("a merge that fails does not stop the launcher, and the next command reads what is there")
    held = [guard for guard in reader.around.guards if _RANK.search(guard.text)]
    if any(_RANK.search(guard.text) for guard in merge.around.guards):
        held = []  # the merge is held back as well
    if held:
        reasons.append(
            "every rank merges, while only one goes on: in a shared folder they overwrite each other's files"
        )
    if not reasons:
        return None
    found = ctx.fail(
        _head(merge),
        "; ".join(reasons),
        hops=(),
        help="write || exit 1 behind it"
        if len(reasons) == 1 and not held
        else "merge on the first rank, with || exit 1",
    )
    span = launch.head if launch is not None else reader.span
    return found.with_related(span, "reads the merged model").with_related(
        held[0].span if held else None, "one rank only"
    )


def _head(merge: Command) -> Span:
    program = python_program(merge.argv)
    span = program.name.span if program is not None else None
    first = program.name.parts[0] if program is not None and program.name.parts else None
    return span or (first.span if isinstance(first, Literal) else None) or merge.span


def _is_looked_at(merge: Command, reader: Command) -> bool:
    if merge.around.errexit:
        return True
    source, span = merge.span.source, merge.span
    if _JOINED.match(source.text, span.end):
        return True
    line = source.text.rfind("\n", 0, span.start) + 1
    if _ASKED.search(source.text[line : span.start]):
        return True
    end = reader.span.start if reader.span.source is source and reader.span.start > span.end else span.end + 400
    other = _OTHERWISE.search(source.text, span.end, end)  # what another branch does is not about the merge
    return _LOOKS.search(source.text, span.end, end if other is None else other.start()) is not None
