"""The last lines of a report: what was looked at, what was found, what helps next."""

from __future__ import annotations

import re
from collections import Counter

from verlint.finding import Safety, Severity, Verdict
from verlint.report.display import visible
from verlint.result import Report, Summary

MANY = 20
"""Findings past which a baseline is proposed."""


def checked_line(summary: Summary, *, files_left_out: bool = True) -> str:
    """`checked 2 experiments, 11 stages, 14 launchers in 20 files`; things that were not met are left out."""
    counts = [(summary.experiments, "experiment"), (summary.stages, "stage"), (summary.launchers, "launcher")]
    things = ", ".join(counted(number, noun) for number, noun in counts if number)
    files = counted(summary.files, "file")
    skipped = f" ({summary.skipped} skipped, --show-files says why)" if summary.skipped and files_left_out else ""
    return f"checked {things} in {files}{skipped}" if things else f"checked {files}{skipped}"


def found_line(report: Report) -> str:
    """`Found 3 errors, 2 warnings (1 fixable with --fix), 4 to verify.` or `All checks passed!`"""
    severities = Counter(finding.severity for finding in report.findings if finding.verdict is Verdict.FAIL)
    unsure = sum(finding.verdict is Verdict.UNSURE for finding in report.findings)
    found = [
        counted(severities[severity], severity.label)
        for severity in sorted(Severity, reverse=True)
        if severities[severity]
    ]
    parts = [", ".join(found) + _fixable(report)] if found else []
    parts += [f"{unsure} to verify"] if unsure else []
    if not parts:
        line = "All checks passed!"
    elif not found:
        line = f"No faults found, {parts[0]}."
    else:
        line = f"Found {', '.join(parts)}."
    if report.suppressed:
        line += f" {report.suppressed} suppressed."
    if report.known:
        line += f" {report.known} known from the baseline."
    return line


def next_lines(report: Report) -> list[tuple[str, str]]:
    """The commands that help most with these findings, each with what it does; none when there is nothing to do."""
    if not report.findings:
        return []
    codes = Counter(finding.code for finding in report.findings if finding.verdict is Verdict.FAIL)
    codes = codes or Counter(finding.code for finding in report.findings)
    code = min(codes, key=lambda code: (-codes[code], code))
    lines = [(f"verlint rule {code}", "why the rule exists, with an example and the way to fix it")]
    if "-" in report.asked:  # of standard input nothing can be changed
        return lines
    if Safety.SAFE in _fixes(report):
        lines.insert(0, (_again("--fix", report), "make the safe changes (--diff shows them)"))
    if len(report.findings) > MANY and not report.known:
        lines.append((_again("--write-baseline", report), "take these as known: only new ones are reported then"))
    return lines


def _again(option: str, report: Report) -> str:
    """The call that was made, with an option more."""
    return " ".join(["verlint check", option, *map(_quoted, report.asked)])


def _quoted(word: str) -> str:
    """A word as a shell takes it."""
    return visible(word if re.fullmatch(r"[\w@%+=:,./-]+", word) else "'" + word.replace("'", "'\\''") + "'")


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _fixable(report: Report) -> str:
    fixes = _fixes(report)
    safe, unsafe = fixes[Safety.SAFE], fixes[Safety.UNSAFE]
    parts = [f"{safe} fixable with --fix"] if safe else []
    parts += [f"{unsafe} {'more' if safe else 'fixable'} with --fix --unsafe-fixes"] if unsafe else []
    return f" ({', '.join(parts)})" if parts else ""


def _fixes(report: Report) -> Counter[Safety]:
    """How many findings can be fixed; what must be verified first is not fixed."""
    certain = (finding for finding in report.findings if finding.verdict is Verdict.FAIL)
    return Counter(finding.fix.safety for finding in certain if finding.fix is not None)
