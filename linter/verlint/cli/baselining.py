"""`verlint check --baseline` and `--write-baseline`: what is known already, and how it gets known."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from verlint.baseline import BaselineError, baseline_text, read_baseline
from verlint.cli.main import UsageError, complain
from verlint.record import replace
from verlint.report.summary import counted
from verlint.result import Loaded, Report, Unreadable
from verlint.settings import Settings

DEFAULT = "verlint-baseline.json"
_MOST = 10


def without_known(
    report: Report, settings: Settings, files: Sequence[Loaded], unreadable: Sequence[Unreadable]
) -> Report:
    """The report on these files without what the baseline of the settings holds. Raises UsageError when it cannot be
    used."""
    from verlint.engine import selected_rules

    try:
        baseline = read_baseline(Path(settings.baseline))
    except BaselineError as error:
        raise UsageError(str(error)) from error
    split = baseline.split(
        report.findings,
        checked={file.source.path for file in files} | {each.path for each in unreadable},
        ran={rule.code for rule in selected_rules(settings)},
    )
    expired = tuple(str(key) + (f" ({number} times)" if number > 1 else "") for key, number in split.expired)
    return replace(report, findings=split.new, known=split.known, expired=expired)


def write_baseline(report: Report, settings: Settings) -> bool:
    """Write all findings of a report into the baseline file; False when it cannot be written."""
    path = Path(settings.baseline) if settings.baseline else settings.root / DEFAULT
    shown = os.path.relpath(path)
    try:
        path.write_text(baseline_text(report.findings, path.absolute().parent), "utf-8", newline="\n")
    except OSError as error:
        complain(f"verlint: error: cannot write {shown}: {error.strerror or error}")
        return False
    print(f"Wrote {counted(len(report.findings), 'finding')} to {shown}.")
    if not settings.baseline:
        print(f'Use it with `--baseline {shown}`, or with `baseline = "{DEFAULT}"` in the settings.')
    return True


def tell_expired(report: Report) -> None:
    """Say on standard error which entries of the baseline nothing matches any more."""
    if not report.expired:
        return
    number = len(report.expired)
    verb = "matches" if number == 1 else "match"
    lines = [f"  {each}" for each in report.expired[:_MOST]]
    lines += [f"  and {number - _MOST} more"] if number > _MOST else []
    entries = "1 entry" if number == 1 else f"{number} entries"
    first = f"warning: {entries} of the baseline {verb} nothing any more (--write-baseline takes them out):"
    complain("\n".join([first, *lines]))
