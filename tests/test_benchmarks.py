"""The benchmark runs, and the page about performance is what it writes. No test looks at a time."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import verlint
from fixture_cases import ROOT

SCRIPT = ROOT / "benchmarks" / "run.py"
PAGE = ROOT / "docs" / "performance.md"


def loaded(name: str) -> ModuleType:
    """A program of `benchmarks/` as a module."""
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    return loaded("run")


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
    always = ["version", "launcher", "experiments", "tree", "growth", "jobs", "again", "again-experiments"]
    always += ["again-tree", "edited", "lines", "nesting", "contexts"]
    named = [case["name"] for case in cases]
    assert (named[: len(always)], set(named[len(always) :]) - {"yaml", "slurm"}) == (always, set())
    assert all(len(case[side]["wall"]) == 1 for case in cases for side in ("ours", "other"))


def test_the_page_is_written_by_the_script(benchmark: ModuleType) -> None:
    measured = benchmark.Measured([1.0], [1.0], 1.0)
    result = benchmark.Result("launcher", "one launcher", 1, 0, measured, measured)
    text = benchmark.page([result], 15, sys.executable)
    before, _, behind = text.partition(benchmark.table([result]))
    page = PAGE.read_text("utf-8")
    assert page.startswith(before)
    assert page.endswith(behind.partition('"Of processor time"')[2])
    assert page.count("\n| ") == 17, "a head, a line and fifteen cases"


def test_the_snapshot_of_the_corpora_reads_again() -> None:
    corpus = loaded("corpus")
    checkouts = corpus.read(corpus.SNAPSHOT)
    assert sorted(checkouts) == sorted(corpus.AT)
    assert corpus.text(checkouts) == corpus.SNAPSHOT.read_text("utf-8")
    assert [lines[1] for lines in checkouts.values()] == [f"at {corpus.AT[name]}" for name in checkouts]
    assert all("CRASHED" not in lines for lines in checkouts.values())


def test_a_checkout_is_counted_by_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = loaded("corpus")
    command = "python3 -m verl.trainer.main_ppo\n    trainer.nnodes=1\n"
    (tmp_path / "run.sh").write_text(command + "sleep 1\n" + command + "sleep 1\n" + command)
    monkeypatch.chdir(tmp_path)
    assert list(corpus.counted("example", verlint.check(".", select=["VL901"]))) == [
        "== example",
        "1 launchers, 1 experiments, 3 stages in 1 files",
        f"VL901  broken-continuation {'3':>14}  run.sh:1, run.sh:4",
    ]


def test_the_comparison_has_a_table_for_every_tool() -> None:
    compare = loaded("compare")
    page = compare.PAGE.read_text("utf-8")
    for name in compare.MEASURES:
        found = page.partition(f"<!-- measured: {name} -->")[2].partition(f"<!-- end: {name} -->")[0].strip()
        assert found.startswith("| ")
        assert compare.fill(page, name, found) == page
    assert compare.fill("a <!-- measured: x -->old<!-- end: x --> b", "x", "new").splitlines()[2] == "new"
    with pytest.raises(SystemExit, match="no place for y"):
        compare.fill(page, "y", "")
