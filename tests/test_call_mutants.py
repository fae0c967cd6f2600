"""Clean experiments with faults in calls: an option, a record, a data file or a run that is scored. The rules about
calls find them, at their places, and nothing else.

Each line below is one experiment, to look at which takes a second or more; its faults are in calls of their own."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from fixture_cases import FIXTURES
from verlint.engine import check_project
from verlint.files.loading import load
from verlint.settings import Settings

CODES = ("VL011", "VL012", "VL013", "VL208", "VL510", "VL511")


@dataclass(frozen=True)
class Mutant:
    """The first `old` in a file becomes `new`, which is the fault `found` (places and codes)."""

    file: str
    old: str
    new: str
    found: str


EXPERIMENTS = (
    ("oel", Mutant("README.md", "--nnodes", "--nodes", "README.md:26 VL011"),
            Mutant("README.md", ",Sokoban-v0,1024,5,", ",1024,Sokoban-v0,5,", "README.md:16 VL013")),
    ("oel", Mutant("README.md", "--textgame_max_steps 5", "--textgame_steps 5", "README.md:31 VL011"),
            Mutant("README.md", "r1,50,500,50,100,50", "r1,50,500,50,100", "README.md:17 VL013")),
    ("oel", Mutant("README.md", "--exp_name", "--name", "README.md:25 VL011")),
    ("coach", Mutant("README.md", "--exp_name wildchat-el-q3-8b-r8b --start", "--exp_name qwen-el-self --start", "README.md:66 VL510"),
              Mutant("usage_example.sh", "--rollout_n", "--rollouts", "usage_example.sh:41 VL011")),
    ("coach", Mutant("README.md", "--start_ckpt 300", "--start_ckpt 250", "README.md:66 VL511"),
              Mutant("coach.exp.yaml", "nnodes: 1, ckpt: 300", "nnodes: 1, checkpoint: 300", "coach.exp.yaml:83 VL011")),
    ("coach", Mutant("README.md", "--exp_name wildchat-el-q3-8b-r8b --start", "--exp_name wildchat-el-q3-8b-r9b --start", "README.md:66 VL511")),
    ("coach", Mutant("README.md", " --base_dir", " --root", "README.md:66 VL011"),
              Mutant("coach.exp.yaml", "samples: {from: eval-el}", "policy: {from: train-el, role: actor, step: 300}", "coach.exp.yaml:116 VL511")),
    ("coach", Mutant("README.md", "--end_ckpt 300 ", "", "README.md:66 VL012")),
    ("gad", Mutant("README.md", "--exp_name", "--experiment", "README.md:25 VL011")),
    ("opcd", Mutant("README.md", "--nnodes", "--nodes", "README.md:40 VL011")),
)  # fmt: skip


@pytest.mark.parametrize(
    ("family", "mutants"),
    [(family, mutants) for family, *mutants in EXPERIMENTS],
    ids=[f"{family}-{mutants[0].found}" for family, *mutants in EXPERIMENTS],
)
def test_faults_in_calls_are_found(
    family: str, mutants: list[Mutant], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / family
    shutil.copytree(FIXTURES / "experiments" / family / "clean", folder)
    for mutant in mutants:
        path = folder / mutant.file
        text = path.read_text("utf-8")
        assert mutant.old in text
        path.write_text(text.replace(mutant.old, mutant.new, 1), "utf-8")
    monkeypatch.chdir(folder)
    settings = Settings(root=folder, select=CODES)
    report = check_project(load(["."], settings).files, settings, folder)
    found = {f"{each.file}:{each.span.begin.line} {each.code}" for each in report.findings if each.span is not None}
    assert found == {each.found for each in mutants}
