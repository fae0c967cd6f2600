"""How many findings each rule has, most first."""

from __future__ import annotations

import json

from verlint.finding import Finding, Verdict
from verlint.report.summary import found_line
from verlint.result import Report


def render(report: Report, *, as_json: bool = False) -> str:
    """A line a rule: number of findings, code, name, how many can be fixed; or the same as a JSON list."""
    by_code: dict[str, list[Finding]] = {}
    for finding in sorted(report.findings, key=Finding.order):
        by_code.setdefault(finding.code, []).append(finding)
    rows = [_row(code, by_code[code]) for code in sorted(by_code, key=lambda code: (-len(by_code[code]), code))]
    if as_json:
        return json.dumps(rows, indent=2) + "\n"
    if not rows:
        return found_line(report) + "\n"
    from tabulate import tabulate

    table = tabulate(
        [[row["findings"], row["code"], row["name"], row["unsure"] or "", row["fixable"] or ""] for row in rows],
        headers=["findings", "rule", "name", "to verify", "fixable"],
        tablefmt="plain",
        colalign=("right", "left", "left", "right", "right"),
    )
    return f"{table}\n\n{found_line(report)}\n"


def _row(code: str, found: list[Finding]) -> dict[str, str | int]:
    return {
        "code": code,
        "name": found[0].slug,
        "findings": len(found),
        "unsure": sum(finding.verdict is Verdict.UNSURE for finding in found),
        "fixable": sum(finding.fix is not None and finding.verdict is Verdict.FAIL for finding in found),
    }
