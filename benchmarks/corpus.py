"""How often each rule speaks over checkouts of public projects, and where first: `benchmarks/corpus.txt`.

    python benchmarks/corpus.py FOLDER ...           # what differs from the snapshot; exit code 1 when something does
    python benchmarks/corpus.py FOLDER ... --write   # writes the snapshot: read the difference before it is committed

Each folder is a checkout, called `owner+name`, at the commit in `AT`. They are read as `verlint check` reads them, one
after the other. The snapshot has, for each checkout, what was looked at, and for each rule the number of certain and
of unsure findings and the first places of each."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import verlint
from verlint import Finding, Report, Verdict

SNAPSHOT = Path(__file__).resolve().with_suffix(".txt")
AT = {
    "hiyouga+EasyR1": "b44b311b669b",
    "microsoft+LMOps": "4f2a9deb5f08, folders gad, llm-as-a-coach, oel, opcd, opo",
    "verl-project+verl": "1dda039b9c63",
    "volcengine+verl": "b178a3cd56f5",
}
"""The commits that the snapshot is of."""

FIRST = 2
"""Places that are named for each rule and verdict."""


def counted(name: str, report: Report) -> Iterator[str]:
    """The lines of the snapshot about one checkout."""
    summary = report.summary
    yield f"== {name}"
    if name in AT:
        yield f"at {AT[name]}"
    experiments = f"{summary.experiments} experiments, {summary.stages} stages"
    yield f"{summary.launchers} launchers, {experiments} in {summary.files} files"
    if report.crashed:
        yield "CRASHED"
    found: dict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    for finding in report.findings:
        found[finding.code, finding.slug, finding.verdict.value].append(finding)
    for (code, slug, verdict), findings in sorted(found.items()):
        mark = "?" if verdict == Verdict.UNSURE.value else " "
        yield f"{code}{mark} {slug:<28}{len(findings):>6}  {', '.join(map(place, findings[:FIRST]))}"


def place(finding: Finding) -> str:
    """Path and line of a finding."""
    return f"{finding.file}:{finding.span.begin.line}" if finding.span is not None else finding.file


def snapshot(folders: list[Path]) -> dict[str, list[str]]:
    """The lines about each checkout, by its name."""
    found: dict[str, list[str]] = {}
    for folder in folders:
        with contextlib.chdir(folder):
            found[folder.name] = list(counted(folder.name, verlint.check(".", isolated=True)))
    return found


def read(path: Path) -> dict[str, list[str]]:
    """The checkouts of a snapshot file."""
    found: dict[str, list[str]] = {}
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        if line.startswith("== "):
            found[line[3:]] = []
        if line:
            found[line[3:] if line.startswith("== ") else list(found)[-1]].append(line)
    return found


def text(checkouts: dict[str, list[str]]) -> str:
    """A snapshot as a file holds it."""
    return "\n".join("\n".join(lines) + "\n" for _, lines in sorted(checkouts.items()))


def main() -> int:
    """The command of this file."""
    parser = argparse.ArgumentParser(description="Counts of findings over checkouts, held against the snapshot.")
    parser.add_argument("folders", nargs="+", type=lambda name: Path(name).resolve(), metavar="FOLDER")
    parser.add_argument("--write", action="store_true", help="write the snapshot; of checkouts not named it is kept")
    called = parser.parse_args()
    before, now = read(SNAPSHOT), snapshot(called.folders)
    if called.write:
        SNAPSHOT.write_text(text(before | now), "utf-8")
    old = text({name: before.get(name, []) for name in now}).splitlines(keepends=True)
    difference = list(difflib.unified_diff(old, text(now).splitlines(keepends=True), "snapshot", "now", n=0))
    sys.stdout.writelines(difference)
    return int(bool(difference) and not called.write)


if __name__ == "__main__":
    raise SystemExit(main())
