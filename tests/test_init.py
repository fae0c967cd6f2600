"""`verlint init`: first files for a checkout, never over files that are there."""

from __future__ import annotations

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
    monkeypatch.chdir(folder)
    return folder


def test_the_draft_passes_the_check(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init"]) == 0
    assert f"family {checkout.name if checkout.name != 'opo' else 'unknown'}" in capsys.readouterr().out
    [spec] = checkout.glob("*.exp.yaml")
    assert main(["check", ".", "--require-files"]) == 0, capsys.readouterr().out
    assert "<" in spec.read_text()
    read_settings_file(checkout / "verlint.toml")
    assert "- id: verlint" in (checkout / ".pre-commit-config.yaml").read_text()


def test_the_draft_can_be_planned(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["init"])
    [spec] = checkout.glob("*.exp.yaml")
    code = main(["plan", str(spec)])
    out, err = capsys.readouterr()
    if checkout.name == "opo":
        assert (code, "a plan needs the family" in err) == (2, True)
    else:
        assert code == 0
        assert "not executed" in out


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
