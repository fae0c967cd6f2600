"""What VeRL demands of a config: rows of data, each with the versions it holds in and where VeRL checks it.

A row is asked of a launch only for the versions it holds in. What it says is certain when it rejects the launch
whatever the unknown values are, and, for a guessed version, in every version that fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from verlint.record import dataclass
from verlint.verl.facts import MAIN, Facts, padded
from verlint.verl.undecided import Undecided, outcomes

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import TypeAlias

Ask: TypeAlias = "Callable[[Facts], bool]"
Say: TypeAlias = "Callable[[Facts], str]"
Change: TypeAlias = "Callable[[Facts], tuple[str, str] | None]"

PPO = (MAIN, "recipe.dapo.main_dapo")
"""Entry points whose trainers and workers are those of the PPO trainer."""
STOCK = (MAIN,)
SUPERVISED = ("verl.trainer.fsdp_sft_trainer",)
FULLY_ASYNC = ("verl.experimental.fully_async_policy.fully_async_main",)

AT_START = "VeRL stops at start-up"
AT_WORKERS = "VeRL stops when its workers start"
AT_STEP = "VeRL stops in the first step"


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that VeRL rejects.

    `since` and `until` are the first and the last version it holds in, "" for still. `keys` are what it is about; the
    first that the launch gives is pointed at. `rejects` may raise `Undecided`. `message` says the arithmetic, `help`
    the legal values, `outcome` what happens. `source` is the check of VeRL. `entries` are the entry points it holds
    for. `silent` rows change the result without a word. `unless` names rows whose finding explains this one too.
    `validated`: it is one of the checks of `validate_config` and of the data classes, before any worker starts.
    `fix` gives a key and the text that mends the launch where the launch gives the key, "" to take it out; `safe` says
    that this is what the author meant. `same` is the id of the row that rejects the same in other versions. `verify` is
    the command that settles whether what VeRL runs on rejects it; without it the rejection is certain."""

    id: str
    since: str
    keys: tuple[str, ...]
    rejects: Ask
    message: Say
    help: Say
    source: str
    outcome: str = AT_START
    until: str = ""
    entries: tuple[str, ...] = PPO
    silent: bool = False
    unless: tuple[str, ...] = ()
    validated: bool = False
    fix: Change | None = None
    safe: bool = False
    same: str = ""
    verify: str = ""

    def holds_in(self, facts: Facts) -> bool:
        """Whether the row is asked on the version and for the entry point."""
        if facts.entry not in self.entries or not facts.at_least(self.since):
            return False
        return not self.until or padded(facts.version) <= padded(self.until)


@dataclass(frozen=True)
class Violation:
    """A row that a launch violates, with the facts it is shown by.

    `on_defaults` are keys that are not given, and decide it with their default. `fitting` are the versions it was asked
    of when the version is a guess."""

    row: Row
    facts: Facts
    on_defaults: tuple[str, ...] = ()
    fitting: tuple[str, ...] = ()

    @property
    def help(self) -> str:
        """The legal values, "" when they hang on something that is not known."""
        try:
            return self.row.help(self.facts)
        except Undecided:
            return ""

    @property
    def fix(self) -> tuple[str, str] | None:
        """The key and the text that mend the launch, None when there is no such fix."""
        try:
            return None if self.row.fix is None else self.row.fix(self.facts)
        except Undecided:
            return None

    @property
    def message(self) -> str:
        """The arithmetic, what happens, and which check of which version says so."""
        where = self.facts.label
        if len(self.fitting) > 1:
            where = f"VeRL {self.fitting[-1]} to {self.fitting[0]}"
        try:
            said = self.row.message(self.facts)
        except Undecided:
            said = " and ".join(self.facts.said(key) for key in self.row.keys) + " do not fit together"
        return f"{said}; {self.row.outcome} ({where}, {self.row.source})"


@dataclass(slots=True)
class _Known:
    """A row on a version and with an entry point: whether it holds there, and keys with values that it does not
    reject, whatever the other keys are."""

    row: Row
    holds: bool
    passed: list[tuple[dict[str, None], tuple[tuple[str, object], ...]]]


_MOST_KEPT = 4


def violations(facts: Sequence[Facts], rows: Iterable[Row], alike: Iterable[Row] = ()) -> Iterator[Violation]:
    """The rows that a launch violates for certain. `facts` are those of each version that may be in use, the one to
    judge by first. `alike` are rows of another rule that reject the same in other versions."""
    if not facts:
        return
    rows = tuple(rows)
    asked = (*rows, *alike)
    found: dict[str, Violation] = {}
    for row in rows:
        if found and (row.id in found or any(each in found for each in row.unless)):
            continue
        shown = _rejected(facts[0], row)
        if shown is None or not all(_rejected_by_any(each, row, asked) for each in facts[1:]):
            continue
        defaults = tuple(key for key in row.keys if key in shown.read and not shown.given(key))
        found[row.id] = Violation(row, shown, defaults, tuple(each.version for each in facts))
    yield from found.values()


def _rejected_by_any(facts: Facts, like: Row, rows: Iterable[Row]) -> bool:
    """Whether a version rejects the launch for the same reason."""
    cause = like.same or like.id
    return any((row.same or row.id) == cause and _rejected(facts, row) is not None for row in rows)


def _rejected(facts: Facts, row: Row) -> Facts | None:
    """The facts to show a rejection with; None when the row does not reject the launch for certain.

    Most launches of a project are alike in what a row reads: one that reads the same values as another one, which it
    does not reject, is not asked again."""
    known: _Known | None = facts.about.get(id(row))
    if known is None or known.row is not row:
        known = facts.about[id(row)] = _Known(row, row.holds_in(facts), [])
    if not known.holds:
        return None
    for keys, values in known.passed:
        if facts.has_values(values):
            facts.read.update(keys)
            return None
    before, facts.read, facts.beyond = facts.read, {}, facts.config is None
    try:
        shown = _shown(facts, row)
        values_read = None if facts.beyond or shown is not None else facts.values(facts.read)
        if values_read is not None:
            known.passed.insert(0, (facts.read, values_read))
            del known.passed[_MOST_KEPT:]
    finally:
        before.update(facts.read)
        facts.read = before
    return shown


def _shown(facts: Facts, row: Row) -> Facts | None:
    shown: Facts | None = None
    for answer, tried in outcomes(facts, row.rejects):
        if answer is not True:
            return None
        shown = shown or tried
    return shown


def any_of(*asks: Ask) -> Ask:
    """Whether one of some questions is answered with yes; undecided when one is and none is."""

    def ask(facts: Facts) -> bool:
        undecided: Undecided | None = None
        for each in asks:
            try:
                if each(facts):
                    return True
            except Undecided as error:
                undecided = undecided or error
        if undecided is not None:
            raise undecided
        return False

    return ask


def above(value: int, step: int) -> int:
    """The multiple of `step` that is not below a value."""
    return -(-value // step) * step


def nearest(value: int, step: int) -> str:
    """The multiples of `step` next to a value, in words: `56 or 64`."""
    lower, upper = value // step * step, above(value, step)
    return str(upper) if lower <= 0 or lower == upper else f"{lower} or {upper}"
