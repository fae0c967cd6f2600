"""Names in calls and settings files that do not exist: told with the file, the line and the name that was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from verlint.cli.main import main
from verlint.verl.schema import versions

LAUNCHER = "python3 -m verl.trainer.main_ppo trainer.nnodes=1 trainer.n_gpus_per_node=8\n"
KNOWN = f"versions: {', '.join(versions())}; forks: coach, oel, opcd; or the path of a checkout"


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.sh").write_text(LAUNCHER)


def errors(arguments: list[str], capsys: pytest.CaptureFixture[str], folder: Path) -> tuple[int, list[str]]:
    """Exit code and what stands on standard error, with the folder left out."""
    code = main(arguments)
    return code, capsys.readouterr().err.replace(f"{folder}/", "").splitlines()


SETTINGS: dict[str, tuple[str, list[str]]] = {
    "unknown option": (
        "[rules.VL101]\nallow = []\nalow = []\n",
        ["verlint.toml:3: `rules` ['VL101'] has no option `alow` (did you mean `allow`?)"],
    ),
    "option of another rule": (
        "[rules.hard-coded-path]\nbanana = []\n",
        ["verlint.toml:2: `rules` ['hard-coded-path'] has no option `banana`; it has `allow`"],
    ),
    "rule without options": (
        "[rules]\nVL601 = { allow = 1 }\n",
        ["verlint.toml:2: `rules` ['VL601'] has no option `allow`: VL601 has no options"],
    ),
    "wrong type": (
        '[rules.VL101]\nallow = "/mnt"\n',
        ["verlint.toml:2: `rules` ['VL101'] `allow` must be a list of strings"],
    ),
    "unknown rule with options": (
        "[rules.VL999]\nallow = []\n",
        ["verlint.toml:1: `rules`: unknown rule 'VL999'"],
    ),
    "options for several rules": (
        "[rules.VL1]\nallow = []\n",
        ["verlint.toml:1: `rules`: 'VL1' means several rules (options are for one rule: write its whole code)"],
    ),
    "unknown rule with a severity": (
        '[severity]\nVL101 = "info"\nspilt-batch = "info"\n',
        ["verlint.toml:3: `severity`: unknown rule 'spilt-batch' (did you mean split-batch, silent-fallback?)"],
    ),
    "unknown selected rules": (
        'select = ["VL1", "nosuch"]\nextend-select = ["VL999"]\n',
        ["verlint.toml:1: `select`: unknown rule 'nosuch'", "verlint.toml:2: `extend-select`: unknown rule 'VL999'"],
    ),
    "VeRL": ('verl = "nonsense"\n', [f"verlint.toml:1: `verl`: 'nonsense' is no version of VeRL; {KNOWN}"]),
    "old VeRL": ('verl = "0.0.1"\n', [f"verlint.toml:1: `verl`: '0.0.1' is older than all known versions; {KNOWN}"]),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_that_name_what_there_is_not(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, expected = SETTINGS[name]
    Path("verlint.toml").write_text(text)
    code, found = errors(["check"], capsys, tmp_path)
    assert (code, found) == (2, [f"verlint: error: {expected[0]}", *expected[1:]])


def test_lines_in_a_pyproject(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("pyproject.toml").write_text("[project]\nname = 'x'\n\n[tool.verlint.rules.VL101]\nallow = 3\n")
    expected = "verlint: error: pyproject.toml:5: `rules` ['VL101'] `allow` must be a list of strings"
    assert errors(["check"], capsys, tmp_path) == (2, [expected])


def test_a_table_that_there_is_not_has_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("verlint.toml").write_text("ignore = []\n\n[rule.VL101]\nallow = ['x']\n[rule.VL102]\n")
    expected = "verlint: error: verlint.toml:3: unknown key `rule` (did you mean `rules`?)"
    assert errors(["check"], capsys, tmp_path) == (2, [expected])


def test_codes_are_not_guessed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert errors(["check", "--select", "VL99"], capsys, tmp_path) == (2, ["verlint: error: unknown rule 'VL99'"])
    near = "unknown rule 'VL940' (did you mean VL409, VL904?); unknown rule 'splitbatch' (did you mean split-batch?)"
    found = errors(["check", "--select", "VL940,splitbatch"], capsys, tmp_path)
    assert found == (2, [f"verlint: error: {near}"])
    assert errors(["rule", "VL999"], capsys, tmp_path) == (
        2,
        ["verlint: error: unknown rule 'VL999'; `verlint rules` lists all"],
    )
    assert errors(["check", "--ignore", "VL999"], capsys, tmp_path) == (0, ["warning: unknown rule 'VL999'"])


def test_ignoring_what_there_is_not_is_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("verlint.toml").write_text(
        "ignore = ['VL999']\nverl = './gone'\n[per-path-ignores]\n'a/**' = ['VL101']\n'b/**' = ['hard-coded']\n"
    )
    assert errors(["check"], capsys, tmp_path) == (
        0,
        [
            "warning: verlint.toml:1: `ignore`: unknown rule 'VL999'",
            "warning: verlint.toml:5: `per-path-ignores`: unknown rule 'hard-coded' (did you mean hard-coded-path?)",
            "warning: verlint.toml: `verl`: there is no VeRL checkout at gone",
        ],
    )


def test_globs_that_match_nothing_are_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("verlint.toml").write_text(f"exclude = ['a\\b', 'a/b']\n[per-path-ignores]\n'{tmp_path}/x.sh' = ['VL1']\n")
    about = "matches nothing: paths are relative to .., with `/`"
    code, found = errors(["check", "--exclude", "../x", "."], capsys, tmp_path)
    assert (code, [line.replace(str(tmp_path), "..") for line in found]) == (
        0,
        [
            rf"warning: verlint.toml:1: `exclude`: the glob a\b {about}",
            f"warning: verlint.toml:3: `per-path-ignores`: the glob x.sh {about}",
            f"warning: --exclude: the glob ../x {about}",
        ],
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nonsense", f"'nonsense' is no version of VeRL; {KNOWN}"),
        ("oeel", f"'oeel' is no version of VeRL (did you mean `oel`?); {KNOWN}"),
        ("0.7.1 or so", f"'0.7.1 or so' is no version of VeRL; {KNOWN}"),
        ("0.1", f"'0.1' is older than all known versions; {KNOWN}"),
        ("./gone", "there is no VeRL checkout at ./gone"),
    ],
)
def test_a_verl_that_there_is_not(text: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert errors(["check", "--verl", text, "."], capsys, tmp_path) == (2, [f"verlint: error: --verl: {problem}"])
    assert errors(["show", "--verl", text, "run.sh"], capsys, tmp_path) == (2, [f"verlint: error: --verl: {problem}"])
    assert errors(["show", "--diff", text, "run.sh"], capsys, tmp_path) == (2, [f"verlint: error: --diff: {problem}"])


@pytest.mark.parametrize("text", ["0.7.1", "v0.7.1", "0.3.0.post1", "0.8.0.dev0", "0.7.x", "9.0", "oel", "coach"])
def test_a_verl_that_there_is(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert errors(["check", "--select", "VL0", "--verl", text, "."], capsys, tmp_path) == (0, [])
