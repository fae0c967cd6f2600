"""The snippets of docs/ci.md do what the page says: pre-commit takes them, and the steps of the jobs run in a shell."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from checkout import ROOT, commit_all

TEXT = (ROOT / "docs" / "ci.md").read_text("utf-8")
BASH = shutil.which("bash")

pytestmark = pytest.mark.skipif(BASH is None or shutil.which("git") is None, reason="bash or git is missing")


def snippets(title: str) -> list[Any]:
    """The YAML snippets below a title, read."""
    part = re.split(r"^## ", TEXT, flags=re.MULTILINE)
    (own,) = (each for each in part if each.startswith(f"{title}\n"))
    return [YAML(typ="safe", pure=True).load(text) for text in re.findall(r"^```yaml\n(.*?)^```$", own, re.M | re.S)]


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with `verlint` of this checkout, and a `pip` that installs nothing and writes down what it is told."""
    folder = tmp_path / "bin"
    folder.mkdir()
    path = os.pathsep.join([str(ROOT / "linter"), str(ROOT / "rules")])
    texts = {
        "verlint": f'PYTHONPATH={path!r} exec {sys.executable!r} -m verlint "$@"',
        "pip": f'printf "%s\\n" "$@" >> {str(tmp_path / "pip.log")!r}',
    }
    for name, text in texts.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return folder


def checkout(folder: Path, half: str) -> Path:
    return commit_all(shutil.copytree(ROOT / "fixtures" / "experiments" / "opo" / half, folder / "checkout"))


def shell(script: str, cwd: Path, programs: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A script as jobs run it: bash, which stops at the first command that fails."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "CI_", "PYTHON"))
    }
    environment |= {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1", **variables}
    command = [str(BASH), "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def test_pre_commit_takes_the_snippets(tmp_path: Path) -> None:
    from pre_commit.clientlib import load_config, load_manifest

    hooks = {hook["id"]: hook for hook in load_manifest(str(ROOT / ".pre-commit-hooks.yaml"))}
    found = snippets("pre-commit")
    assert len(found) == 2
    for number, snippet in enumerate(found):
        path = tmp_path / f"{number}.yaml"
        path.write_text(json.dumps(snippet))
        (repository,) = load_config(str(path))["repos"]
        assert [hook["id"] for hook in repository["hooks"] if hook["id"] not in hooks] == []
    assert sorted(re.findall(r"^\| `(verlint[a-z-]*)` \|", TEXT, re.MULTILINE)) == sorted(hooks)
    assert hooks["verlint-all"]["always_run"] is True


@pytest.mark.parametrize(("half", "code"), [("broken", 1), ("clean", 0)])
def test_the_workflow_for_github(half: str, code: int, tmp_path: Path, programs: Path) -> None:
    (workflow,) = snippets("GitHub")
    assert workflow["permissions"] == {"actions": "read", "contents": "read", "security-events": "write"}
    (job,) = workflow["jobs"].values()
    used = {step["uses"].partition("@")[0]: step for step in job["steps"] if "uses" in step}
    assert list(used) == ["actions/checkout", "actions/setup-python", "github/codeql-action/upload-sarif"]
    assert all(re.fullmatch(r"v\d+", step["uses"].partition("@")[2]) for step in used.values())
    upload = used["github/codeql-action/upload-sarif"]
    here, summary = checkout(tmp_path, half), tmp_path / "summary.md"
    install, check, page = (step for step in job["steps"] if "run" in step)
    for step in (install, check, page):
        variables = {"GITHUB_WORKSPACE": str(here), "GITHUB_STEP_SUMMARY": str(summary)}
        done = shell(step["run"], here, programs, **variables)
        assert done.returncode == (code if step is check else 0), done.stderr
        if step is check:
            assert ("::error file=" in done.stdout) == (code == 1)
    assert [page["if"], upload["if"][:16]] == ["${{ !cancelled() }}", "${{ !cancelled()"]
    log = json.loads((here / upload["with"]["sarif_file"]).read_text())
    assert bool(log["runs"][0]["results"]) == (code == 1)
    assert "verlint" in summary.read_text()
    assert (tmp_path / "pip.log").read_text() == "install\nverlint @ git+<URL of this repository>@<REVISION>\n"


@pytest.mark.parametrize(("half", "code"), [("broken", 1), ("clean", 0)])
def test_the_job_for_gitlab(half: str, code: int, tmp_path: Path, programs: Path) -> None:
    (jobs,) = snippets("GitLab")
    (job,) = jobs.values()
    here = checkout(tmp_path, half)
    done = shell("\n".join(job["script"]), here, programs, CI_PROJECT_DIR=str(here), GITLAB_CI="true")
    assert done.returncode == code, done.stderr
    assert ("Found " in done.stdout) == (code == 1)
    assert job["artifacts"]["when"] == "always"
    reports = job["artifacts"]["reports"]
    assert list(reports) == ["codequality", "junit"]
    assert bool(json.loads((here / reports["codequality"]).read_text())) == (code == 1)
    assert (here / reports["junit"]).read_text().startswith("<?xml")
    assert (tmp_path / "pip.log").read_text() == "install\nverlint @ git+<URL of this repository>@<REVISION>\n"


def test_the_command_for_any_other(tmp_path: Path, programs: Path) -> None:
    (command,) = re.findall(r"^## Any other\n\n```bash\n(.*?)^```$", TEXT, re.M | re.S)
    empty = commit_all(shutil.copytree(ROOT / "docs" / "rule-pack" / "src", tmp_path / "empty"))
    assert shell(command, checkout(tmp_path, "broken"), programs).returncode == 1
    assert shell(command, empty, programs).returncode == 2
