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
from verlint.languages.jobs.reading import read_jobs
from verlint.source import Source

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


# On our own examples ---------------------------------------------------------------------------------------------------

OWN = {
    ".github/workflows/tests.yml": ["ran"],
    ".github/workflows/verlint.yml": ["verlint.md", "verlint.sarif"],
    ".gitlab-ci.yml": ["ran", "verlint.json", "verlint.xml"],
}
"""The files that make their jobs, each with what the jobs leave behind."""

EXAMPLES = "fixtures/experiments/*/clean"


def own(name: str) -> Any:
    return YAML(typ="safe", pure=True).load((ROOT / name).read_text("utf-8"))


def for_us(snippet: Any) -> Any:
    """A snippet of the page as it stands here: this checkout is installed, and the clean examples are checked."""
    text = json.dumps(snippet).replace('"verlint @ git+<URL of this repository>@<REVISION>"'.replace('"', '\\"'), ".")
    return json.loads(re.sub(r"(verlint check [^\"]*?) \.(?=\\n|\")", rf"\1 {EXAMPLES}", text))


def test_our_own_jobs_are_those_of_the_page() -> None:
    (workflow,), (jobs,) = snippets("GitHub"), snippets("GitLab")
    assert own(".github/workflows/verlint.yml") == for_us(workflow)
    ours, theirs = own(".gitlab-ci.yml")["verlint"], for_us(jobs)["verlint"]
    assert [line.strip() for line in ours.pop("script")] == theirs.pop("script")
    assert ours == theirs


def test_our_own_tests_are_run_with_the_least_rights() -> None:
    workflow, jobs = own(".github/workflows/tests.yml"), own(".gitlab-ci.yml")
    assert workflow["permissions"] == {"contents": "read"}
    (job,) = workflow["jobs"].values()
    pinned = [step for step in own(".github/workflows/verlint.yml")["jobs"]["verlint"]["steps"] if "with" in step][:1]
    assert job["steps"][1:-1] == pinned
    assert [job["steps"][-1]["run"], *jobs["tests"]["script"]] == ["bash .ci/run"] * 2
    assert (ROOT / ".ci" / "run").is_file()
    assert not [name for name in OWN if "secrets." in (ROOT / name).read_text("utf-8")]


@pytest.mark.parametrize("name", sorted(OWN))
def test_our_own_jobs_start_what_they_name(name: str, tmp_path: Path, programs: Path) -> None:
    """The shell texts as verlint's own reader sees them, each run in a checkout with one clean example."""
    shutil.copytree(ROOT / "fixtures/experiments/opo/clean", tmp_path / "here/fixtures/experiments/opo/clean")
    here = commit_all(tmp_path / "here")
    (here / ".ci").mkdir()
    (here / ".ci/run").write_text("echo tests >> ran\n")
    blocks = [block for job in read_jobs(Source(name, (ROOT / name).read_text("utf-8")))[1] for block in job.blocks]
    for block in blocks:
        done = shell(block.source.text, here, programs, GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"))
        assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in here.iterdir() if path.is_file()) == OWN[name]


def test_the_command_for_any_other(tmp_path: Path, programs: Path) -> None:
    (command,) = re.findall(r"^## Any other\n\n```bash\n(.*?)^```$", TEXT, re.M | re.S)
    empty = commit_all(shutil.copytree(ROOT / "docs" / "rule-pack" / "src", tmp_path / "empty"))
    assert shell(command, checkout(tmp_path, "broken"), programs).returncode == 1
    assert shell(command, empty, programs).returncode == 2
