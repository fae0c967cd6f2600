"""The hooks as a user gets them: pre-commit clones this checkout, installs it and runs the hook on staged files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from checkout import ROOT, commit_all, copy_checkout

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is missing")

GOOD = """\
#!/usr/bin/env bash
set -euo pipefail
python3 -m verl.trainer.main_ppo "$@"
"""
BAD = GOOD.replace("python3", "# verlint: ignore[VL8888] a rule that no version has\npython3")
UNRELATED = "#!/bin/sh\n# verlint: ignore[VL8888]\nls\n"


def pre_commit(*arguments: str, cwd: Path, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTHONPATH"))}
    environment |= {"PRE_COMMIT_HOME": str(home), "PRE_COMMIT_COLOR": "never", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "pre_commit", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return commit_all(copy_checkout(tmp_path_factory.mktemp("hooks") / "verlint"))


def project(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return commit_all(folder)


def test_the_manifest_is_valid(tmp_path: Path) -> None:
    done = pre_commit("validate-manifest", str(ROOT / ".pre-commit-hooks.yaml"), cwd=tmp_path, home=tmp_path / "home")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_hook_calls_the_command_with_options_it_has() -> None:
    import argparse

    from verlint.cli import check

    subparsers = argparse.ArgumentParser(exit_on_error=False).add_subparsers()
    check.add_parser(subparsers)
    known = set(subparsers.choices["check"]._option_string_actions)
    text = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    entries = re.findall(r"entry: (verlint check.*)", text)
    used = {word.split("=")[0] for entry in entries for word in entry.split()[2:]}
    assert len(entries) == 3
    assert used - {"--fix"} <= known
    if "--fix" not in known:
        pytest.xfail("verlint check has no --fix yet")


@pytest.mark.parametrize(
    ("path", "checked"),
    [
        ("scripts/train.sh", True),
        ("jobs/train.slurm", True),
        ("exp/gad.exp.yaml", True),
        ("train.sky.yml", True),
        (".dstack.yml", True),
        ("jobs/warmup.dstack.yml", True),
        ("configs/runtime_env.yaml", True),
        (".github/workflows/eval.yml", True),
        ("actions/train/action.yml", True),
        (".gitlab-ci.yml", True),
        ("ci/gpu.gitlab-ci.yml", True),
        ("compose.yaml", True),
        ("docker/docker-compose.eval.yml", True),
        (".github/dependabot.yml", False),
        ("configs/model.yaml", False),
        ("compose.md", False),
        ("decompose.yaml", False),
        ("train.sh.orig", False),
    ],
)
def test_the_hook_gets_the_files_that_are_read(path: str, checked: bool) -> None:
    from ruamel.yaml import YAML

    hooks = YAML(typ="safe", pure=True).load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    files = next(hook["files"] for hook in hooks if hook["id"] == "verlint")
    assert bool(re.search(files, path)) == checked


@pytest.mark.slow
def test_a_bad_launcher_fails_the_hook(hooks: Path, tmp_path: Path) -> None:
    here = project(tmp_path / "project", {"scripts/bad.sh": BAD, "good.sh": GOOD, "plain.sh": UNRELATED})
    done = pre_commit(
        "try-repo", str(hooks), "verlint", "--files", "scripts/bad.sh", "good.sh", "plain.sh", cwd=here, home=tmp_path
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"^verlint\.+Failed$", done.stdout, re.MULTILINE)
    assert "VL008" in done.stdout
    assert "scripts/bad.sh:3" in done.stdout
    assert "plain.sh" not in done.stdout.split("- exit code: 1")[1]


@pytest.mark.slow
def test_good_launchers_pass_the_hook(hooks: Path, tmp_path: Path) -> None:
    names = [f"runs/{number}/a-launcher-with-quite-a-long-name-{number}.sh" for number in range(200)]
    here = project(tmp_path / "project", dict.fromkeys([*names, "left/alone.sh"], GOOD) | {"left/bad.sh": BAD})
    done = pre_commit("try-repo", str(hooks), "verlint", "--files", *names, cwd=here, home=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^verlint\.+Passed$", done.stdout, re.MULTILINE)
