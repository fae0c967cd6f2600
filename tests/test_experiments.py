"""Whole small experiments of each family: the clean checkout is silent, the broken one shows exactly its faults.

`fixtures/experiments/FAMILY/faults.txt` has one line a fault: `path:line CODE words`, with paths below `broken/`.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from fixture_cases import FIXTURES
from verlint.engine import check_project
from verlint.files.loading import load
from verlint.result import Report
from verlint.settings import Settings

EXPERIMENTS = FIXTURES / "experiments"
FAMILIES = sorted(path.name for path in EXPERIMENTS.iterdir() if path.is_dir())


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    """The name of a family."""
    return str(request.param)


def checked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    """What all rules say about a folder, seen from inside it."""
    monkeypatch.chdir(folder)
    settings = Settings(root=folder)
    loading = load(["."], settings)
    return check_project(loading.files, settings, folder, unreadable=loading.unreadable)


def test_the_clean_checkout_is_silent(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    report = checked(EXPERIMENTS / family / "clean", monkeypatch)
    assert [f"{finding.file}: {finding.code} {finding.message}" for finding in report.findings] == []
    assert report.summary.stages > 1


def test_the_broken_checkout_shows_its_faults(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    report = checked(EXPERIMENTS / family / "broken", monkeypatch)
    found = Counter(
        f"{finding.file}:{finding.span.begin.line if finding.span else 0} {finding.code}" for finding in report.findings
    )
    assert sorted(found) == sorted(faults(family))
    assert max(found.values()) == 1, "one cause gives one finding"


def faults(family: str) -> list[str]:
    """Place and code of each fault, as listed."""
    lines = (EXPERIMENTS / family / "faults.txt").read_text("utf-8").splitlines()
    found = [re.match(r"\S+:\d+ VL\d{3}", line) for line in lines if line and not line.startswith("#")]
    assert all(found)
    return [match.group() for match in found if match]
