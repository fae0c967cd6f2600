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
from verlint.languages.yaml import Duplicate
from verlint.rule import ERROR, Context, rule

MOST_SHOWN = 40


@rule("VL006", "duplicate-key", on=SpecFile, severity=ERROR, since="0.1")
def check(file: SpecFile, ctx: Context) -> Iterator[Finding]:
    for duplicate in file.yaml.duplicates:
        if duplicate.key == "<<":
            message, hint = "a second `<<` in one mapping", "merge several anchors with one list: <<: [*first, *second]"
        else:
            message, hint = _message(duplicate), "remove one of the two, or rename it"
        yield ctx.fail(duplicate.span, message, help=hint).with_related(duplicate.first, "first given here")


def _message(duplicate: Duplicate) -> str:
    """Both values are shown where they are single words that are no secrets."""
    message = f"`{duplicate.key}` is given twice"
    texts = (duplicate.first_text, duplicate.text)
    if all(text and len(text) <= MOST_SHOWN for text in texts):
        message += f": {texts[0]} (line {duplicate.first.in_file().begin.line}) and {texts[1]}"
    return message
