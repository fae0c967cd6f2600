"""What a run takes and gives: the loaded files, and the report that every renderer prints."""

from __future__ import annotations

from verlint.files.loading import Loaded as Loaded
from verlint.files.reader import Unreadable as Unreadable
from verlint.finding import Finding
from verlint.record import dataclass, field


@dataclass(frozen=True)
class Summary:
    """What was looked at: numbers of files read, launchers, experiments and stages among them, and files left out."""

    files: int = 0
    launchers: int = 0
    experiments: int = 0
    stages: int = 0
    skipped: int = 0


@dataclass(frozen=True)
class Report:
    """The outcome of a run. `findings` are sorted and without the suppressed ones, of which `suppressed` is the number.

    `crashed` says that a rule or the engine failed on some input; the rest was still checked. `known` is the number of
    findings that the baseline holds, which are left out too, `expired` its entries that nothing matches any more.
    `asked` are the words of the call that say what was checked, to be said again.
    """

    findings: tuple[Finding, ...] = ()
    summary: Summary = field(default_factory=Summary)
    crashed: bool = False
    suppressed: int = 0
    known: int = 0
    expired: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
