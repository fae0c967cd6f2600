"""Completion scripts and the manual page: complete, current, and understood by the shells and by `man`."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from checkout import ROOT
from verlint.cli import manual
from verlint.cli.command_line import RULES, verbs
from verlint.cli.completion import SHELLS
from verlint.cli.main import VERBS, main
from verlint.header import headers
from verlint.report import FORMATS

BASH = shutil.which("bash")
CODES = [each.code for each in headers()]


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The script for each shell, as it is printed."""
    found: dict[str, Path] = {}
    for shell in SHELLS:
        path = tmp_path_factory.mktemp("completion") / f"verlint.{shell}"
        with pytest.MonkeyPatch.context() as patch, path.open("w") as stream:
            patch.setattr("sys.stdout", stream)
            assert main(["completion", shell]) == 0
        found[shell] = path
    return found


@pytest.mark.parametrize("shell", SHELLS)
def test_every_verb_and_option_is_completed(shell: str, scripts: dict[str, Path]) -> None:
    text = scripts[shell].read_text()
    for verb in verbs():
        assert re.search(rf"\b{verb.name}\b", text)
        for option in verb.options:
            long = [name for name in option.names if name.startswith("--")]
            wanted = [name[2:] for name in long] if shell == "fish" else long
            assert [name for name in wanted if name not in text] == [], verb.name
    assert [code for code in CODES if code not in text] == []


def test_an_unknown_shell_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "tcsh"]) == 2
    assert "invalid choice: 'tcsh'" in capsys.readouterr().err


# bash: each line as it is typed up to the cursor, `=` a word of its own as bash has it --------------------------------

BY_BASH: dict[str, list[str]] = {
    "che": ["check"],
    "r": ["rule", "rules"],
    "--v": ["--version"],
    "check --stat": ["--statistics"],
    "check --fix --unsafe": ["--unsafe-fixes"],
    "check --color ": ["auto", "always", "never"],
    "check --color a": ["auto", "always"],
    "check --color = ne": ["never"],
    "check --color =": ["auto", "always", "never"],
    "check --output-format s": ["sarif"],
    "check --output-format ": list(FORMATS),
    "check --select VL10": [code for code in CODES if code.startswith("VL10")],
    "check --select VL101,VL20": [f"VL101,{code}" for code in CODES if code.startswith("VL20")],
    "check --select VL101,hard-coded-p": ["VL101,hard-coded-path"],
    "check --verl 0.7": ["0.7.0", "0.7.1"],
    "rule missing-checkp": ["missing-checkpoint"],
    "plan --family ": ["oel", "opcd", "coach", "gad", "opo"],
    "completion ": ["bash", "zsh", "fish"],
    "graph -o ": [],  # nothing, and then bash completes files
    "check scr": [],
    "check --config ": [],
    "show train.sh -- --": [],
    "nonsense --": [],
}


@pytest.mark.skipif(BASH is None, reason="bash is missing")
def test_bash_completes(scripts: dict[str, Path]) -> None:
    calls = [f"source {shlex.quote(str(scripts['bash']))}", "complete -p verlint"]
    for typed in BY_BASH:
        words = typed.split(" ")
        calls.append(f"COMP_WORDS=(verlint {shlex.join(words)}) COMP_CWORD={len(words)}")
        calls.append('_verlint; echo "${COMPREPLY[*]}"')
    done = subprocess.run([str(BASH), "-uc", "\n".join(calls)], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    first, *lines = done.stdout.splitlines()
    assert first == "complete -o bashdefault -o default -F _verlint verlint"
    assert dict(zip(BY_BASH, (line.split() for line in lines), strict=True)) == BY_BASH


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is missing")
def test_zsh_reads_the_script(scripts: dict[str, Path]) -> None:
    done = subprocess.run(["zsh", "-fn", str(scripts["zsh"])], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is missing")
def test_fish_completes(scripts: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    typed = ["verlint che", "verlint check --color a", "verlint check --select VL101,VL20", "verlint rule VL10"]
    script = "\n".join([f"source {scripts['fish']}", *(f"complete -C {shlex.quote(each)}; echo" for each in typed)])
    done = subprocess.run(["fish", "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    answers = [[line.split("\t")[0] for line in part.splitlines()] for part in done.stdout.split("\n\n")]
    assert answers[:2] == [["check"], ["always", "auto"]]
    assert sorted(answers[2]) == [f"VL101,{code}" for code in CODES if code.startswith("VL20")]
    assert sorted(answers[3]) == [code for code in CODES if code.startswith("VL10")]


# The manual page ------------------------------------------------------------------------------------------------------


def test_the_manual_page_is_up_to_date(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert manual.main(["--check", "--root", str(ROOT)]) == 0, "run python -m verlint.cli.manual"
    (tmp_path / "docs").mkdir()
    assert manual.main(["--check", "--root", str(tmp_path)]) == 1
    assert manual.main(["--root", str(tmp_path)]) == 0
    assert manual.main(["--check", "--root", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "docs/verlint.1: out of date",
        "wrote docs/verlint.1",
        "docs/verlint.1: up to date",
    ]


def test_the_manual_page_says_what_the_pages_say() -> None:
    """Exit codes and environment variables are not in the parser: they are held against docs/usage.md."""
    text = (ROOT / "docs/usage.md").read_text("utf-8")
    assert re.findall(r"^\| (\d) \|", text, re.MULTILINE) == list(manual.STATUS)
    variables = text.partition("## Environment variables")[2]
    named = re.findall(r"^\| (`.+?) \|", variables, re.MULTILINE)
    assert [name.replace("`", "") for name in named] == list(manual.ENVIRONMENT)


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is missing")
def test_groff_sets_the_manual_page() -> None:
    command = ["groff", "-man", "-Tutf8", "-ww", "-rLL=500n", "-P-c", str(ROOT / manual.PAGE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    page = re.sub(".\b", "", done.stdout)
    for verb in verbs():
        assert f"verlint {verb.usage}" in page
        assert " ".join(verb.description.split()) in page
        for option in verb.options:
            if option.names != ("-h", "--help"):
                value = f" {option.value}" if option.value else ""
                assert ", ".join(option.names) + value in page
    assert "verlint rule VL203" in page


def test_the_command_line_as_data() -> None:
    found = {verb.name: verb for verb in verbs()}
    assert list(found) == list(VERBS)
    (select,) = (each for each in found["check"].options if "--select" in each.names)
    assert (select.value, select.kind, select.many) == ("RULES", RULES, True)
    assert found["check"].usage == "check [options] [PATH ...]"
