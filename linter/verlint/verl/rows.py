"""Rows of facts about VeRL: what holds for a key, in which versions, and under which settings of other keys."""

from __future__ import annotations

from collections.abc import Callable

from verlint.record import dataclass
from verlint.value import Data
from verlint.verl.versions import padded


class _Name:
    """A value that is no data."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


UNKNOWN = _Name("UNKNOWN")
"""A value that is not known before the run."""

NO_KEY = _Name("NO_KEY")
"""What a config that has no such key holds there."""


@dataclass(frozen=True, slots=True)
class Term:
    """A condition on one key: it holds one of the values (`negated`: none of them). A key that a version does not have
    counts as null."""

    key: str
    values: tuple[Data, ...]
    negated: bool = False


def is_(key: str, *values: Data) -> Term:
    """The key holds one of the values."""
    return Term(key, values)


def is_not(key: str, *values: Data) -> Term:
    """The key holds none of the values."""
    return Term(key, values, negated=True)


@dataclass(frozen=True)
class Row:
    """A fact about a key. It holds from version `since` to version `until`, both included ("" for no end), when all
    terms of `when` do. `message` says what VeRL does, `right` what to write instead, `source` where it is read."""

    key: str
    message: str
    right: str
    source: str
    since: str = ""
    until: str = ""
    when: tuple[Term, ...] = ()
    successor: str = ""


def holds(row: Row, version: str, value: Callable[[str], object]) -> bool | None:
    """Whether the row holds in a version and its config, of which `value` gives the values; None when a value is not
    known."""
    if not in_versions(row.since, row.until, version):
        return False
    answers = [meets(term, value(term.key)) for term in row.when]
    if False in answers:
        return False
    return None if None in answers else True


def in_versions(since: str, until: str, version: str) -> bool:
    """Whether a version lies between two, both included."""
    mine = padded(version)
    return (not since or padded(since) <= mine) and (not until or mine[:3] <= padded(until)[:3])


def meets(term: Term, found: object) -> bool | None:
    """Whether a value meets a condition; None when it is not known."""
    if found is UNKNOWN:
        return None
    if found is NO_KEY:
        found = None
    return any(_equal(found, each) for each in term.values) is not term.negated


def _equal(left: object, right: Data) -> bool:
    return isinstance(left, bool) == isinstance(right, bool) and left == right
