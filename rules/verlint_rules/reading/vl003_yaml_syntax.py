"""A spec must be YAML that its reader accepts.

Nothing of a spec is known when its YAML is broken, so no stage, root or credential in it is checked. The most common
cause is a reference in flow style: `{model: ${models.policy}}` is a syntax error, because `{` opens a second mapping
inside the first. In block style the same reference needs no quotes.

Fix: mend what the message names. Quote references inside `{…}` and `[…]`: `{model: "${models.policy}"}`. Quote values
that start with `@`, `` ` ``, `%` or `*`, and values that hold `: `. Indent with spaces.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.spec import SpecFile
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule


@rule("VL003", "yaml-syntax", on=SpecFile, severity=ERROR, since="0.1")
def check(file: SpecFile, ctx: Context) -> Iterator[Finding]:
    if (error := file.yaml.error) is not None:
        yield ctx.fail(error.span, error.message, help=error.hint)
