"""Comma records: one word of a call that names a whole run."""

from __future__ import annotations

import re

from verlint.families import FAMILIES
from verlint.families.model import Record
from verlint.languages.bash.pieces import flat
from verlint.value import Text


def records_of(path: str, family: str = "") -> tuple[Record, ...]:
    """The records that a driver of this path may take, of one family or of all."""
    return tuple(
        record
        for owner in FAMILIES.values()
        if not family or owner.name == family
        for kind in owner.stages.values()
        for record in kind.records
        if any(re.search(rf"(?:^|/){pattern}$", path) for pattern in record.launchers)
    )


def fields(word: Text) -> list[Text]:
    """The fields of a record, in order; an unknown piece is taken to hold no comma."""
    out: list[Text] = []
    at = 0
    for piece in flat(word.parts).split(","):
        out.append(word.slice(at, at + len(piece)))
        at += len(piece) + 1
    return out
