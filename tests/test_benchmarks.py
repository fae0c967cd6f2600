"""The benchmark runs, and the page about performance is what it writes. No test looks at a time."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from types import ModuleType

import pytest

from fixture_cases import ROOT

SCRIPT = ROOT / "benchmarks" / "run.py"
PAGE = ROOT / "docs" / "performance.md"


def module(name: str) -> ModuleType:
    """A script of the benchmarks, as a module."""
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", SCRIPT.with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = found
    spec.loader.exec_module(found)
    return found


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    return module("run")


@pytest.mark.slow
def test_every_case_runs(benchmark: ModuleType) -> None:
    if benchmark.program("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--rounds", "1", "--launchers", "2", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    cases = json.loads(done.stdout)["cases"]
    assert [case["name"] for case in cases] == ["version", "launcher", "experiments", "tree", "growth"]
    assert all(len(case[side]["wall"]) == 1 for case in cases for side in ("ours", "other"))


def test_the_page_is_written_by_the_script(benchmark: ModuleType) -> None:
    measured = benchmark.Measured([1.0], [1.0], 1.0)
    result = benchmark.Result("launcher", "one launcher", 1, 0, measured, measured)
    text = benchmark.page([result], 15, sys.executable)
    before, _, behind = text.partition(benchmark.table([result]))
    page = PAGE.read_text("utf-8")
    assert page.startswith(before)
    assert page.endswith(behind.partition('"Of processor time"')[2])
    assert page.count("\n| ") == 7, "a head, a line and five cases"


def test_the_comparison_has_a_table_for_every_tool() -> None:
    compare = module("compare")
    page = compare.PAGE.read_text("utf-8")
    for name in compare.MEASURES:
        found = page.partition(f"<!-- measured: {name} -->")[2].partition(f"<!-- end: {name} -->")[0].strip()
        assert found.startswith("| ")
        assert compare.fill(page, name, found) == page
    assert compare.fill("a <!-- measured: x -->old<!-- end: x --> b", "x", "new").splitlines()[2] == "new"
    with pytest.raises(SystemExit, match="no place for y"):
        compare.fill(page, "y", "")
