"""A key must stand once in its mapping.

YAML forbids a repeated key. Some readers stop there, many keep the last value without a word: of two stages with one
id only the second runs, of two `train_batch_size` values only one is used. Two `<<` keys in one mapping are the same
fault. A key that overrides one that came in by `<<` is no repetition.

Fix: remove one of the two, or give the second its own name. Merge several anchors with one list:
`<<: [*first, *second]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.spec import SpecFile
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule


@rule("VL006", "duplicate-key", on=SpecFile, severity=ERROR, since="0.1")
def check(file: SpecFile, ctx: Context) -> Iterator[Finding]:
    for duplicate in file.yaml.duplicates:
        if duplicate.key == "<<":
            message, hint = "a second `<<` in one mapping", "merge several anchors with one list: <<: [*first, *second]"
        else:
            message, hint = "this key stands in the mapping already", "remove one of the two, or rename it"
        yield ctx.fail(duplicate.span, message, help=hint).with_related(duplicate.first, "first given here")
