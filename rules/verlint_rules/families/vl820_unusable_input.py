"""An input of a run must be there and must be text, or a folder of data.

The trainer opens its inputs long after the launcher has ended: on a Ray worker, after the models are loaded. A missing
experience file is not even an error there, as training goes on with an empty text. An empty list stops the first step
with an IndexError, and a binary file in its place with a UnicodeDecodeError.

Looked at are the inputs that `verlint inputs` is given: experience lists, system prompts, data roots.

Fix: correct the path, or write the file as UTF-8 text.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.finding import Finding
from verlint.inputs import Input
from verlint.rule import ERROR, Context, rule
from verlint_rules.families.input_places import about

_NAMES = {"experience-list": "the experience list", "system-prompt": "the system prompt", "data-root": "the data root"}


@rule("VL820", "unusable-input", on=Input, severity=ERROR, since="0.1")
def check(given: Input, ctx: Context) -> Iterator[Finding]:
    if given.problem:
        yield about(given, ctx, f"{_NAMES[given.kind]} {given.problem}")
