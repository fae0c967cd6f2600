"""Named files: the experiments around them are loaded, and what touches the files is reported: exactly what a check of
the whole repository says of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from checkout import ROOT, commit_all
from verlint.cli.main import main

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is missing")
BROKEN = sorted(path.parent.name for path in (ROOT / "fixtures" / "experiments").glob("*/broken"))


def findings(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["check", "--output-format", "json", *arguments]) in (0, 1)
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["findings"]
    return found


def touching(found: list[dict[str, Any]], names: set[str]) -> list[dict[str, Any]]:
    """The findings with their place, a related one or a step of the value in one of the files."""
    return [
        each
        for each in found
        if names & {each["path"], *(held.get("path") for held in (*each["related"], *each["hops"]))}
    ]


def put(files: dict[str, str]) -> None:
    for name, text in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("family", BROKEN)
def test_each_file_gets_what_the_whole_repository_says_of_it(
    family: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "fixtures" / "experiments" / family / "broken", here / family)
    shutil.copytree(ROOT / "fixtures" / "experiments" / "opo" / "clean", here / "beside")
    commit_all(here)
    whole = findings(capsys, ".")
    names = sorted(str(path.relative_to(here)) for path in here.rglob("*") if path.suffix in (".sh", ".md", ".yaml"))
    assert whole
    for name in [*names[:: max(1, len(names) // 4)], f"{family}/README.md"]:
        assert findings(capsys, name) == touching(whole, {name}), name


DRIVER = """\
#!/usr/bin/env bash
set -euo pipefail
bash scripts/textgame_generate_deploy.sh --exp_name dep-r2 --resume_policy_name con-r1 --resume_policy_ckpt 100
bash scripts/textgame_consolidate.sh --exp_name con-r2 --deploy_save_dir /data/dep-r1/deploy_data
"""
LAUNCHER = """\
#!/usr/bin/env bash
set -euo pipefail
export WANDB_API_KEY=YOUR_KEY_HERE
python3 -m verl.trainer.main_ppo trainer.experiment_name="$2" trainer.save_freq=50 data.train_batch_size=0x
"""
NAMES = ["scripts/textgame_generate_deploy.sh", "scripts/textgame_consolidate.sh"]


@pytest.fixture
def repository(here: Path) -> Path:
    put({"oel/run_all.sh": DRIVER, **{f"oel/{name}": LAUNCHER for name in NAMES}})
    put({f"other/{number}/run.sh": LAUNCHER for number in range(40)})
    put({f"other/{number}/README.md": "```bash\nbash run.sh\n```\n" for number in range(40)})
    return commit_all(here)


def places(found: list[dict[str, Any]]) -> list[str]:
    return [f"{each['path']}:{each['start']['line']} {each['code']}" for each in found]


def loaded(capsys: pytest.CaptureFixture[str], *arguments: str) -> int:
    capsys.readouterr()
    main(["check", "--output-format", "json", *arguments])
    count: int = json.loads(capsys.readouterr().out)["summary"]["files"]
    return count


def test_only_the_files_of_the_experiment_are_loaded(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert loaded(capsys, "oel/run_all.sh") == 3
    assert loaded(capsys, f"oel/{NAMES[0]}") == 2
    assert loaded(capsys, "other/7/run.sh") == 2
    assert loaded(capsys, "--scope", "all", "other/7/run.sh") == 1
    assert loaded(capsys, "other/7") == 2
    assert loaded(capsys, ".") == 83


def test_a_hook_names_several_files_and_gets_nothing_twice(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hook = ["--force-exclude", "--scope=touched"]
    names = ["oel/run_all.sh", *(f"oel/{name}" for name in NAMES), *(f"other/{number}/run.sh" for number in range(5))]
    whole = findings(capsys, ".")
    found = findings(capsys, *hook, *names)
    assert found == touching(whole, set(names))
    assert len(places(found)) == len(set(map(json.dumps, found)))
    # pre-commit may cut the names into several calls: together they miss nothing
    parts = [findings(capsys, *hook, *names[:3]), findings(capsys, *hook, *names[3:])]
    assert {json.dumps(each) for part in parts for each in part} == set(map(json.dumps, found))


def test_a_driver_without_a_mark_of_its_own_is_checked_by_a_hook(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put({"oel/all.sh": "#!/bin/sh\nbash scripts/textgame_deploy_missing.sh\nbash run_all.sh\n"})
    commit_all(repository)
    found = findings(capsys, "--scope=touched", "oel/all.sh")
    assert found == touching(findings(capsys, "."), {"oel/all.sh"})
    assert "VL010" in {each["code"] for each in found}


def test_a_folder_is_checked_as_a_whole_and_the_settings_may_ask_for_it(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    only = [each for each in findings(capsys, "oel") if each["path"] == "oel/run_all.sh"]
    assert len(findings(capsys, "oel")) > len(only)
    named = findings(capsys, "oel/run_all.sh", "other/3")
    assert {each["path"] for each in named} >= {"other/3/run.sh"}
    put({"verlint.toml": 'scope = "all"\n'})
    assert loaded(capsys, "oel/run_all.sh") == 1
    assert loaded(capsys, "--scope", "touched", "oel/run_all.sh") == 3


def test_callers_above_the_current_folder_are_found(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository / "oel" / "scripts")
    name = "textgame_consolidate.sh"
    assert loaded(capsys, name) == 2
    expected = touching(findings(capsys, "--scope=touched", name), {name})
    assert expected


def test_a_suppression_in_a_called_launcher_holds(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = findings(capsys, "--scope=all", "oel/run_all.sh")
    held = [each for each in before if each["path"] == f"oel/{NAMES[0]}"]
    assert held
    put({f"oel/{NAMES[0]}": LAUNCHER.replace("set -euo", "# verlint: file-ignore[ALL] as it came\nset -euo")})
    assert [each for each in findings(capsys, "--scope=all", "oel/run_all.sh") if each["path"] == held[0]["path"]] == []


WAYS = {
    "by its path": ("jobs/train/run.sh", "top.sh", "bash jobs/train/run.sh"),
    "from its folder": ("jobs/train/run.sh", "jobs/train/top.sh", "./run.sh"),
    "after cd": ("jobs/train/run.sh", "top.sh", "cd jobs/train\nbash run.sh"),
    "from a folder beside": ("jobs/train/run.sh", "jobs/eval/top.sh", "bash ../train/run.sh"),
    "through a variable": ("jobs/train/run.sh", "jobs/top.sh", 'bash "$(dirname "$0")/train/run.sh"'),
    "through a root": ("jobs/train/run.sh", "top.sh", 'bash "${ROOT}/train/run.sh"'),
    "by an absolute path": ("jobs/train/run.sh", "top.sh", "bash /srv/checkout/jobs/train/run.sh"),
    "with a loop": ("a/run_math.sh", "top.sh", "for t in math game; do bash a/run_$t.sh; done"),
    "in a document": ("jobs/train/run.sh", "README.md", "```bash\nbash jobs/train/run.sh\n```"),
    "in a spec": ("jobs/train/run.sh", "x.exp.yaml", "checkout: {here: {path: jobs}}\nlauncher: train/run.sh"),
    "as a config": ("jobs/train/conf.yaml", "top.sh", "python3 -m a --config-path=jobs/train --config-name='conf'"),
    "without a suffix": ("jobs/train/go", "top.sh", "./jobs/train/go"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("git", [True, False], ids=["git", "plain"])
def test_ways_to_call_a_launcher(way: str, git: bool, here: Path) -> None:
    from verlint.files.around import files_around
    from verlint.settings import Settings

    launcher, caller, call = WAYS[way]
    put({launcher: LAUNCHER, caller: call + "\n", "far/run.sh": LAUNCHER, "far/top.sh": "bash run.sh\n"})
    if git:
        commit_all(here)
    found = [each.shown for each in files_around([here / launcher], Settings(root=here))]
    assert found == [caller]
    back = [each.shown for each in files_around([here / caller], Settings(root=here))]
    assert (launcher in back) == (way != "as a config")  # which is read by the launch itself


def test_a_caller_of_a_caller(here: Path) -> None:
    from verlint.files.around import files_around
    from verlint.settings import Settings

    put({"a.sh": "ls\n", "b.sh": "bash a.sh\n", "c.md": "`bash b.sh`\n", "d.sh": "bash z.sh\n", "sub/b.sh": "ls\n"})
    assert [each.shown for each in files_around([here / "a.sh"], Settings(root=here))] == ["b.sh", "c.md"]


README = "[more](https://git.example/x/tree/main/{other})\n```bash\n{first}bash scripts/run.sh\n```\n"


@pytest.mark.parametrize(("first", "callers"), [("", ["a/README.md"]), ("cd ../a\n", ["a/README.md", "b/README.md"])])
def test_a_link_to_a_folder_is_no_way_into_it_where_the_own_one_has_the_file(
    first: str, callers: list[str], here: Path
) -> None:
    from verlint.files.around import files_around
    from verlint.settings import Settings

    put({f"{name}/scripts/run.sh": LAUNCHER for name in "ab"})
    put({"a/README.md": README.format(other="b", first=""), "b/README.md": README.format(other="a", first=first)})
    assert [each.shown for each in files_around([here / "a/scripts/run.sh"], Settings(root=here))] == callers


def test_ignored_and_excluded_files_are_left_out(here: Path) -> None:
    from verlint.files.around import files_around
    from verlint.settings import Settings

    put({"a.sh": "ls\n", ".gitignore": "tmp/\n", "tmp/b.sh": "bash a.sh\n", "old/c.sh": "bash a.sh\n"})
    put({"new.sh": "bash a.sh\n"})
    commit_all(here)
    found = files_around([here / "a.sh"], Settings(root=here, exclude=("old/**",)))
    assert [each.shown for each in found] == ["new.sh"]
    assert os.path.lexists("tmp/b.sh")
    assert subprocess.run(["git", "status", "--porcelain"], capture_output=True, check=True).stdout == b""


def test_only_named_files_are_fixed(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = "#!/usr/bin/env bash\npython3 -m verl.trainer.main_ppo \\\n    data.seed=1 \\ \n    trainer.nnodes=1\n"
    put({"a/inner.sh": broken, "a/outer.sh": broken + "bash inner.sh\n"})
    commit_all(repository)
    assert {each["path"] for each in findings(capsys, "a") if each["fix"]} == {"a/inner.sh", "a/outer.sh"}
    main(["check", "--fix", "a/inner.sh"])
    assert Path("a/outer.sh").read_text("utf-8") == broken + "bash inner.sh\n"
    assert Path("a/inner.sh").read_text("utf-8") == broken.replace("\\ \n", "\\\n")
