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


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_run", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["benchmark_run"] = module
    spec.loader.exec_module(module)
    return module


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
