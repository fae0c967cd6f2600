"""`verlint init`: first files for a checkout, never over files that are there."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from fixture_cases import FIXTURES
from verlint.cli.main import main
from verlint.plan.spec_text import spec_text
from verlint.settings import read_settings_file

FAMILIES = ("oel", "opcd", "coach", "gad", "opo")


@pytest.fixture(params=FAMILIES)
def checkout(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a family's checkout without its specs, as the current folder."""
    folder = tmp_path / str(request.param)
    shutil.copytree(FIXTURES / "experiments" / str(request.param) / "clean", folder)
    for spec in folder.glob("*.exp.yaml"):
        spec.unlink()
    for launcher in folder.glob("scripts/*.sh"):  # a draft takes the steps that the family publishes
        if request.param == "opcd":
            launcher.write_text(launcher.read_text().replace("trainer.save_freq=10 ", "trainer.save_freq=2 "))
    monkeypatch.chdir(folder)
    return folder


def test_the_draft_passes_the_check(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init"]) == 0
    assert f"family {checkout.name}" in capsys.readouterr().out
    [spec] = checkout.glob("*.exp.yaml")
    what = "." if checkout.name in ("gad", "opo") else spec.name  # the launchers of the others take long
    assert main(["check", what, "--require-files"]) == 0, capsys.readouterr().out
    assert "<" in spec.read_text()
    read_settings_file(checkout / "verlint.toml")
    assert "- id: verlint" in (checkout / ".pre-commit-config.yaml").read_text()


def test_the_draft_can_be_planned(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["init"])
    [spec] = checkout.glob("*.exp.yaml")
    capsys.readouterr()
    assert main(["plan", str(spec), "--format", "json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    open_ones = {each["name"]: each["stages"] for each in plan["unresolved"]}
    assert plan["family"] == checkout.name
    assert plan["steps"]
    assert all(step["commands"] and step["label"] == "not executed" for step in plan["steps"])
    assert set(re.findall("<[A-Z_]+>", spec.read_text())) <= set(open_ones)
    assert all(open_ones.values())


def test_a_draft_of_unknown_launchers_can_be_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.sh").write_text('python3 -m verl.trainer.main_ppo data.train_batch_size=64 "$@"\n')
    (tmp_path / "test.sh").write_text('python3 -m verl.trainer.main_ppo trainer.val_only=True "$@"\n')
    assert main(["init"]) == 0
    [spec] = tmp_path.glob("*.exp.yaml")
    assert "kind: eval, launcher: test.sh" in spec.read_text()
    assert main(["plan", str(spec)]) == 0
    out = capsys.readouterr().out
    assert "  - family: which family the stages are of: oel, opcd, coach, gad, opo;" in out
    assert "$ bash train.sh" in out


def test_the_readme_of_opo_gives_its_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A checkout of OPO has no launcher, only a command in its README."""
    (tmp_path / "opo").mkdir()
    monkeypatch.chdir(tmp_path / "opo")
    command = "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=${GLOBAL_BSZ}"
    Path("README.md").write_text(f"# OPO\n\n```bash\n{command}\n```\n")
    assert main(["init"]) == 0
    assert "family opo" in capsys.readouterr().out
    assert main(["plan", "opo-opo.exp.yaml"]) == 0
    assert "algorithm.kl_ctrl.kl_coef=0.0" in capsys.readouterr().out


def test_nothing_is_overwritten(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = {"verlint.toml": 'fail-on = "error"\n', ".pre-commit-config.yaml": "repos: []\n", "my.exp.yaml": "mine\n"}
    for name, text in mine.items():
        (checkout / name).write_text(text)
    before = sorted(path for path in checkout.rglob("*"))
    assert main(["init"]) == 0
    assert sorted(path for path in checkout.rglob("*")) == before
    assert {name: (checkout / name).read_text() for name in mine} == mine
    assert "kept     verlint.toml (it was there)" in capsys.readouterr().out


def test_a_dry_run_writes_nothing(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(checkout.rglob("*"))
    assert main(["init", "--dry-run"]) == 0
    assert sorted(checkout.rglob("*")) == before
    assert "schema: verlint/exp-v1" in capsys.readouterr().out


def test_an_empty_folder_gets_settings_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [".pre-commit-config.yaml", "verlint.toml"]
    assert main(["init", "nowhere"]) == 2
    assert "nowhere is not a folder" in capsys.readouterr().err


def test_text_is_quoted_where_yaml_would_read_something_else() -> None:
    assert spec_text({"a": "no", "b": "1e5", "c": "x: y", "d": "<A>", "e": 5e-6, "f": "2..100/2", "g": None}) == (
        'a: "no"\nb: "1e5"\nc: "x: y"\nd: <A>\ne: 5.0e-06\nf: 2..100/2\ng: null\n'
    )
