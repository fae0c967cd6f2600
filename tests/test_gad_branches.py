"""Each stage of GAD on each branch of its fork, on none, and on the branch of another checkout: silent where it is right,
and nowhere else. In drivers, documents and specs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from checkout import ROOT
from verlint.engine import check_project
from verlint.files.loading import load
from verlint.settings import Settings

LAUNCHERS = ROOT / "fixtures" / "VL301" / "good-driver" / "scripts"
STAGES = {
    "seqkd": ("seqkd", "scripts/train/small-seqkd.sh"),
    "warmup": ("warmup", "scripts/train/small-warmup.sh"),
    "adversarial": ("gad", "scripts/train/small-adversarial.sh"),
    "generation": ("eval", "scripts/generate/generate.sh"),
}
"""Each stage with the branch that it needs and its launcher, in the order of the experiment."""

BRANCHES = ["seqkd", "warmup", "gad", "eval"]
NO_BRANCH, OTHER_CHECKOUT = "no branch", "branch of another checkout"
CASES = [*BRANCHES, NO_BRANCH, OTHER_CHECKOUT]

SWITCHES = {
    "cd and back": "cd {folder}; git checkout {branch}; cd ..",
    "subshell": "(cd {folder} && git checkout -q {branch})",
    "git -C switch": "git -C {folder} switch {branch}",
    "new local branch": "git -C {folder} checkout -b {branch} origin/{branch}",
    "local branch of another name": "git -C {folder} switch -c mine-{branch} origin/{branch}",
    "pushd": "pushd {folder} && git fetch origin && git checkout {branch} && popd",
}
WORDINGS = [*(f"driver: {name}" for name in SWITCHES), "document", "spec"]


def steps(stage: str, case: str, switch: str) -> list[list[str]]:
    """The commands of each stage of a whole experiment, in which `stage` runs on the branch of the case."""
    out = []
    for name, (needed, launcher) in STAGES.items():
        branch = case if name == stage else needed
        lines = [f"bash {launcher} --model small --exp_name {name}"]
        if branch == OTHER_CHECKOUT:
            lines.insert(0, switch.format(folder="trl", branch=needed))
        elif branch != NO_BRANCH:
            lines.insert(0, switch.format(folder="verl", branch=branch))
        out.append(lines)
    return out


def driver(stage: str, case: str, switch: str) -> str:
    lines = [line for each in steps(stage, case, switch) for line in each]
    return "\n".join(["#!/usr/bin/env bash", "set -euo pipefail", *lines]) + "\n"


def document(stage: str, case: str) -> str:
    parts = ["# Small experiment\n"]
    for name, lines in zip(STAGES, steps(stage, case, SWITCHES["git -C switch"]), strict=True):
        parts += [f"## {name}\n", "```bash", *lines, "```\n"]
    return "\n".join(parts)


def spec(stage: str, case: str) -> str:
    lines = [
        "schema: verlint/exp-v1",
        "name: small",
        "family: gad",
        "checkout:",
        "  verl: {url: https://git.example.org/fork.git, path: verl, branches: [seqkd, warmup, gad, eval]}",
        "  trl: {url: https://git.example.org/trl.git, path: trl, branches: [seqkd, warmup, gad, eval]}",
        "stages:",
    ]
    for name, (needed, launcher) in STAGES.items():
        branch = case if name == stage else needed
        checkout = "trl" if branch == OTHER_CHECKOUT else "verl"
        said = "" if branch == NO_BRANCH else f", branch: {needed if branch == OTHER_CHECKOUT else branch}"
        lines.append(f"  {name}: {{kind: {name}, checkout: {checkout}{said}, launcher: ../{launcher}}}")
    return "\n".join(lines) + "\n"


def text(wording: str, stage: str, case: str) -> tuple[str, str]:
    """Suffix and text of an experiment."""
    if wording == "spec":
        return ".exp.yaml", spec(stage, case)
    if wording == "document":
        return ".md", document(stage, case)
    return ".sh", driver(stage, case, SWITCHES[wording.removeprefix("driver: ")])


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, str], list[str]]:
    """What is found in each experiment; all of them lie in one project."""
    here = tmp_path_factory.mktemp("branches") / "gad"
    shutil.copytree(LAUNCHERS, here / "scripts")
    paths: dict[str, tuple[str, str, str]] = {}
    for wording in WORDINGS:
        for stage in STAGES:
            for case in CASES:
                suffix, written = text(wording, stage, case)
                name = f"{wording}-{stage}-{case}".replace(" ", "_").replace(":", "") + suffix
                (here / name).write_text(written, "utf-8")
                paths[name] = (wording, stage, case)
    settings = Settings(root=here, select=("VL301", "VL302"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        report = check_project(load(["."], settings).files, settings, Path.cwd())
    out: dict[tuple[str, str, str], list[str]] = {key: [] for key in paths.values()}
    for finding in report.findings:
        out[paths[finding.file]].append(f"{finding.code} {finding.message}")
    return out


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("wording", WORDINGS)
def test_only_the_right_branch_is_silent(
    wording: str, stage: str, case: str, found: dict[tuple[str, str, str], list[str]]
) -> None:
    told = found[wording, stage, case]
    if case == STAGES[stage][0]:
        assert told == []
    else:
        assert len(told) == 1
        assert stage in told[0]
        assert f"`{STAGES[stage][0]}`" in told[0]


def test_exactly_four_combinations_are_silent(found: dict[tuple[str, str, str], list[str]]) -> None:
    for wording in WORDINGS:
        silent = {(stage, case) for (name, stage, case), told in found.items() if name == wording and not told}
        assert silent == {(stage, branch) for stage, (branch, _) in STAGES.items()}
