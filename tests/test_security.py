"""What a hostile checkout tries: control sequences, paths and links out of it, bombs, settings that are traps."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from verlint.cli.main import main
from verlint.report import FORMATS

ESCAPES = "\x1b[2J\x1b]0;title\x07\x9b31m\x7f"
DIRECTION = "\u202e\u2066"
LAUNCHER = "python3 -m verl.trainer.main_ppo data.train_files=/home/{}/x.parquet trainer.{}=1 # {}\n"
OUTSIDE = "machine hidden-host login hidden-user password hidden-word\nif [ hidden\n"
SPEC = """\
schema: verlint/exp-v1
name: "x\\e[2J\\u202e"
family: gad
checkouts:
  verl: {path: ../../../../../../../..}
stages:
  "warm\\e[2J": {kind: warmup, launcher: ../outside/hidden.sh}
  a: {kind: warmup, launcher: ../outside/hidden.sh}
  b: {kind: eval, launcher: link.sh}
  c: {kind: eval, launcher: folder/hidden.sh}
  d: {kind: score, checkout: verl, launcher: etc/passwd}
"""


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with names and texts of control characters, and ways out of it."""
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "hidden.sh").write_text(OUTSIDE)
    (inside / f"a{ESCAPES}{DIRECTION}.sh").write_text(LAUNCHER.format(ESCAPES, ESCAPES, DIRECTION))
    (inside / "two\nlines.sh").write_text(LAUNCHER.format(DIRECTION, DIRECTION, ESCAPES))
    (inside / "t.exp.yaml").write_text(SPEC)
    (inside / "link.sh").symlink_to("../outside/hidden.sh")
    (inside / "folder").symlink_to("../outside")
    (inside / "out.sh").write_text(
        f"source ../outside/hidden.sh\n. {outside}/hidden.sh\nbash link.sh\nbash folder/hidden.sh\n"
        'TEXT=$(< ../outside/hidden.sh)\nread -r LINE < folder/hidden.sh\nfor each in folder/*; do echo "$each"; done\n'
        'python3 -m verl.trainer.main_ppo data.train_files="$TEXT" data.val_files="$LINE" trainer.nnodes=$machine\n'
    )
    monkeypatch.chdir(inside)
    return inside


def odd_characters(text: str) -> set[str]:
    """Characters that a terminal acts on, or that change the direction of what follows; lines and tabs may be there."""
    return {each for each in text if unicodedata.category(each) in ("Cc", "Cf", "Cs") and each not in "\n\t"}


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_no_output_holds_what_a_terminal_acts_on(form: str, hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--output-format", form, "."]) == 1
    out, error = capsys.readouterr()
    assert out
    assert odd_characters(out + error) == set()
    for what in ("hidden-host", "hidden-user", "hidden-word"):
        assert what not in out + error


@pytest.mark.parametrize("verb", [["show", "out.sh"], ["graph", "t.exp.yaml"], ["check", "--show-files", "."]])
def test_other_verbs_hold_neither(verb: list[str], hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(verb)
    out, error = capsys.readouterr()
    assert odd_characters(out + error) == set()
    assert "hidden-" not in out + error


def test_what_lies_outside_is_unknown_and_not_missing(hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "--output-format", "concise", "out.sh"])
    assert "VL010" not in capsys.readouterr().out


SETTINGS = {
    "nested": ("a = " + "[" * 5_000 + "]" * 5_000, "is nested too deeply"),
    "a chain": ('extend = "/etc/passwd"', "unknown key `extend` (did you mean `extend-select`?)"),
    "another kind of file": ('baseline = "run.sh"', "is not JSON"),
    "a program": ('[launchers."x.sh"]\ncommand = "rm"', "has no key `command`"),
    "control characters": ('exclud\u200be = "x"', "is not valid TOML"),
    "escapes": ('"\\u001b[2J" = 1', "unknown key"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_that_are_traps(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text, reason = SETTINGS[name]
    (tmp_path / "verlint.toml").write_text(text)
    (tmp_path / "run.sh").write_text("python3 -m verl.trainer.main_ppo\n")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "."]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("verlint: error: ")
    assert reason in error
    assert odd_characters(error) == set()


BOMBS = {
    "aliases": "schema: verlint/exp-v1\nx-a: &a [1,1,1,1,1,1,1,1,1,1]\n"
    + "".join(
        f"x-{new}: &{new} [{','.join([f'*{old}'] * 10)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    ),
    "merges": "schema: verlint/exp-v1\nx-a: &a {k0: 1}\n"
    + "".join(f"x-{n}: &n{n} {{<<: [{', '.join(['*a'] * 50)}], k{n}: 1}}\n" for n in range(1, 40)),
    "nesting": "schema: verlint/exp-v1\nx-a: " + "[" * 20_000 + "]" * 20_000,
    "an alias of itself": "schema: verlint/exp-v1\nx-a: &a [*a]\n",
    "a tag": "schema: verlint/exp-v1\nx-a: !!python/object/apply:os.system ['touch made']\n",
}


@pytest.mark.parametrize("name", BOMBS)
def test_specs_that_are_bombs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.exp.yaml").write_text(BOMBS[name])
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--output-format", "concise", "."]) == 1
    out, error = capsys.readouterr()
    assert "t.exp.yaml" in out
    assert error == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.exp.yaml"]
