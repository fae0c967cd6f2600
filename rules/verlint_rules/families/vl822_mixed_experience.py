"""The experiences of one list must come from one kind of extraction.

A list may name files of several seeds, and of nothing else that differs: experience of another game, of another round,
with another prompt version, sample limit or thinking setting does not fit the situations that the student is trained
on. Nothing compares them, so training goes on, and the scores stay where they were.

Read from the parts of the paths: `round2` or `r2`, `sokoban` or `frozenlake`, `v3` or `v4`, `extract_100_samples`,
`nothink` or `think`. Entries that do not say one of these are not compared in it.

Fix: write the list anew for one extraction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from verlint.finding import Finding
from verlint.inputs import LIST, Input, entries
from verlint.rule import WARNING, Context, rule
from verlint.source import Span

_TRAITS = {
    "round": re.compile(r"(?:^|[-_/])r(?:ound)?[-_]?(\d+)(?=[-_/.]|$)"),
    "game": re.compile(r"(sokoban|frozen[-_]?lake)"),
    "prompt version": re.compile(r"(?:^|[-_/])(v\d+)(?=[-_/.]|$)"),
    "sample limit": re.compile(r"extract_(\d+)_samples"),
    "thinking setting": re.compile(r"(?:^|[-_/])(no[-_]?think|think(?:ing)?)(?=[-_/.]|$)"),
}


@rule("VL822", "mixed-experience", on=Input, severity=WARNING, since="0.1")
def check(given: Input, ctx: Context) -> Iterator[Finding]:
    if given.kind != LIST or given.source is None or given.problem:
        return
    first: dict[str, tuple[str, Span]] = {}
    told: set[str] = set()
    for line, start, _ in entries(given.source):
        for trait, expression in _TRAITS.items():
            found = expression.search(line.lower())
            if found is None or trait in told:
                continue
            value, span = re.sub("[-_]", "", found[1]), given.source.span(start + found.start(1), start + found.end(1))
            known = first.setdefault(trait, (value, span))
            if known[0] != value:
                told.add(trait)
                message = f"the {trait} differs within the list: `{value}` here, `{known[0]}` before"
                yield ctx.fail(span, message, help="list one extraction only").with_related(known[1], "here")
