"""Every fixture gives what its `expected.txt` says, and the good ones nothing. The pack must be installed."""

from __future__ import annotations

from pathlib import Path

import pytest

import verlint

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
CASES = sorted(folder for folder in FIXTURES.glob("*/*") if folder.is_dir())


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_a_fixture_gives_what_it_expects(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    report = verlint.check(".", select=[folder.parent.name])
    lines = verlint.render(report, "concise").splitlines()[: len(report.findings)]
    expected = folder / "expected.txt"
    assert lines == (expected.read_text("utf-8").splitlines() if expected.is_file() else [])
