"""The newest step is found by number, not by the order of letters.

`ls -d "$RUN"/global_step_* | sort | tail -n 1` gives `global_step_90` when there are 90 and 100: as text, 9 comes after
1. The run then goes on from an old step, or an old model is merged and evaluated, and nothing says so. The order of
`ls`, and of the shell's own `*`, is the same.

Looked at are pipelines that list `global_step_…` or `checkpoint-…` and take the last or first line. Silent where they
sort by number, version, time or a field, and where anything else stands between that may change the order.

Fix: `sort -V`, or read the number from `latest_checkpointed_iteration.txt`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.script import Script
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.syntax import Pipeline, Simple
from verlint.languages.bash.walk import literal_word, walk
from verlint.lazy import pattern
from verlint.rule import WARNING, Context, rule
from verlint.source import Source

_STEPS = pattern(r"global_step_(?=[*\"'\s|)\\\[$]|$)|checkpoint-\*")
_ONE = pattern(r"(?:-n\s*1|-1|--lines=1)$")
_NUMERIC = pattern(r"-[a-zA-Z]*[VnghktMR]|--(?:version-sort|numeric-sort|general|human|key|field|month|random)")
_TIMED = pattern(r"-[a-zA-Z]*[vtcuUSX]|--(?:sort|time)")
_PASS = frozenset(["grep", "egrep", "xargs", "sed", "basename", "tr", "cut", "awk"])


@rule(
    "VL935",
    "steps-as-text",
    on=Script,
    severity=WARNING,
    since="0.1",
    fixable="unsafe",
    words=("global_step", "checkpoint-"),
)
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    for text, program in script.syntax:
        if "global_step" not in text.text and "checkpoint-" not in text.text:
            continue
        for group in program.groups:
            for node in walk(group):
                if isinstance(node, Pipeline) and len(node.commands) > 1:
                    yield from _of_pipeline(node, text, ctx)


def _of_pipeline(node: Pipeline, text: Source, ctx: Context) -> Iterator[Finding]:
    commands = [each for each in node.commands if isinstance(each, Simple) and each.words]
    if len(commands) < len(node.commands) or not _STEPS.search(text.text, node.start, node.end):
        return
    names = [literal_word(each.words[0]) or "" for each in commands]
    taken = next((at for at, name in enumerate(names) if at and name in ("tail", "head")), None)
    if taken is None or not _ONE.search(text.text[commands[taken].start : commands[taken].end].rstrip()):
        return
    sorts = [at for at in range(taken) if names[at] == "sort"]
    if names[0] not in ("ls", "find", "echo", "printf") or set(names[1:taken]) - _PASS - {"sort"}:
        return
    if not sorts and (names[0] != "ls" or names[taken] == "head"):
        return
    at = sorts[-1] if sorts else 0
    written = text.text[commands[at].start : commands[at].end]
    options = " ".join(word for word in written.split()[1:] if word.startswith("-"))
    if (_NUMERIC if sorts else _TIMED).search(options):
        return
    span = text.span(commands[at].start, commands[at].end)
    name = text.span(commands[at].words[0].start, commands[at].words[0].end)
    right = "sort -V" if sorts else "ls -v"
    finding = ctx.fail(
        span,
        f"`{names[at]}` orders steps as text, so global_step_90 comes after global_step_100: this takes an old step as "
        "soon as the numbers differ in length",
        value=written,
        help=f"write {right}, or read latest_checkpointed_iteration.txt",
    )
    yield finding.with_fix(f"write {right}", Edit(name.in_file(), right), safety=Safety.UNSAFE)
