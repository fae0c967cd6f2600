"""Input that is no proper input: each gives a clear finding or error, never a traceback, a hang or a silent success."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from verlint.cli.main import main

TRAIN = "python3 -m verl.trainer.main_ppo trainer.nnodes=1 trainer.n_gpus_per_node=8\n"


def check(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, list[str]]:
    """Exit code and findings of a run in the folder that holds the file."""
    os.chdir(path.parent)
    code = main(["check", "--isolated", "--output-format", "concise", *options, path.name])
    out = capsys.readouterr()
    assert "Traceback" not in out.err
    assert "internal error" not in out.err
    return code, [line for line in out.out.splitlines() if line.startswith(path.name)]


@pytest.fixture(autouse=True)
def _come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(os.getcwd())


BAD_BYTES = {
    "binary": b"\x7fELF\x02\x00\x00\x00main_ppo",
    "nul": b"echo a\x00b\n" + TRAIN.encode(),
    "latin-1": b"# caf\xe9\n" + TRAIN.encode(),
    "utf-16": TRAIN.encode("utf-16"),
    "50-megabytes": (b"# filler\n" * 5_600_000) + TRAIN.encode(),
}


@pytest.mark.parametrize("name", BAD_BYTES)
def test_bytes_that_are_no_launcher(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.sh"
    path.write_bytes(BAD_BYTES[name])
    code, found = check(path, capsys)
    assert code == 1
    assert [line.split(" ")[1].rstrip("[*]") for line in found] == ["VL001"]


BAD_SHELL = {
    "open double quote": TRAIN + 'echo "never closed\n',
    "open single quote": TRAIN + "echo 'never closed\n",
    "open substitution": TRAIN + "x=$(date\n",
    "open if": "if true; then\n" + TRAIN,
    "open here-document parenthesis": TRAIN + "cat <(\n",
    "stray done": TRAIN + "done\n",
    "deep nesting": TRAIN + "$(" * 10_000,
    "deep groups": "(" * 10_000 + TRAIN,
}


@pytest.mark.parametrize("name", BAD_SHELL)
def test_shell_that_bash_rejects(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.sh"
    path.write_text(BAD_SHELL[name], "utf-8")
    code, found = check(path, capsys)
    assert code == 1
    assert any("VL002" in line for line in found), found


LOOP = "this loop never ends: its condition always holds, and nothing leaves it; the launch behind it never starts"
ITSELF = "this script {} itself here whenever it runs, without end"
TOO_MUCH = "this starts more than verlint follows: what comes of it, and all that stands behind it, is not checked"
NO_BRANCH = (
    "this loop has no `*)` branch: an argument that no branch takes, such as a misspelt option, makes it endless"
)
NO_VALUE = "--a without a value as the last argument makes this loop endless: `shift` fails and shifts nothing"

ENDLESS: dict[str, tuple[str, int, list[str]]] = {
    "while true": ("while true; do :; done\n", 1, [f"run.sh:1:1: VL923 {LOOP}"]),
    "for without step": ("for ((i=0; i<10; i+=STEP)); do echo $i; done\n", 0, []),
    "argument loop": (
        'set -- --a; while [ $# -gt 0 ]; do case $1 in --a) A="$2"; shift 2 ;; esac; done; export A\n',
        1,
        [f"run.sh:1:36: VL905 {NO_BRANCH}", f"run.sh:1:60: VL905[*] {NO_VALUE}"],
    ),
    "doubling": ("x=a\nwhile :; do x=$x$x; done\n", 1, [f"run.sh:2:1: VL923 {LOOP}"]),
    "counting": ("i=0\nwhile :; do i=$((i + 1)); done\n", 1, [f"run.sh:2:1: VL923 {LOOP}"]),
    "array": ("while :; do a+=(x); done\n", 1, [f"run.sh:1:1: VL923 {LOOP}"]),
    "recursion": (
        "f() { f; }\nf\n",
        1,
        ["run.sh:1:7: VL923 the function f calls itself here on every way through it, without end"],
    ),
    "fork bomb": (":(){ :|:& };:\n", 0, [f"run.sh:1:1: VL923? {TOO_MUCH}"]),
    "recursion in a substitution": ("f() { x=$(f); }\nf\n", 0, [f"run.sh:2:1: VL923? {TOO_MUCH}"]),
    "itself": ("bash run.sh\n", 1, ["run.sh:1:1: VL923 " + ITSELF.format("starts")]),
    "sources itself": ("source run.sh\n", 1, ["run.sh:1:1: VL923 " + ITSELF.format("sources")]),
    "wide braces": ("echo {1..1000000}{1..1000000}\n", 0, []),
    "long seq": ("for i in $(seq 1000000000); do echo $i; done\n", 0, []),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_launchers_that_never_end(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.sh"
    text, *expected = ENDLESS[name]
    path.write_text(text + TRAIN, "utf-8")
    assert list(check(path, capsys)) == expected


def test_what_stands_behind_long_work_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.sh"
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "train.sh").write_text(TRAIN)
    for name in ("for without step", "wide braces", "long seq"):
        path.write_text(ENDLESS[name][0] + TRAIN + "bash scripts/gone.sh\n")
        code, found = check(path, capsys)
        assert (code, [line.split(" ")[1] for line in found]) == (1, ["VL010"]), name


def test_includes_in_a_circle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.sh").write_text("source b.sh\nbash b.sh\n" + TRAIN)
    (tmp_path / "b.sh").write_text("source a.sh\nbash a.sh\n")
    code, found = check(tmp_path / "a.sh", capsys)
    assert (code, found) == (1, ["a.sh:1:1: VL923 a.sh and b.sh source each other without end"])


def test_windows_line_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.sh"
    path.write_bytes(b"python3 -m verl.trainer.main_ppo \\\r\n  trainer.nnodes=1 \\\r\n  trainer.n_gpus_per_node=8\r\n")
    code, found = check(path, capsys)
    assert code == 1
    assert [line.split(" ")[1].rstrip("[*]") for line in found] == ["VL901"]


def test_a_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = check(tmp_path / "gone.sh", capsys)
    assert code == 1
    assert ["VL001" in line for line in found] == [True]


def test_an_empty_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.sh"
    path.write_text("")
    assert check(path, capsys) == (0, [])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0)
    try:
        code, found = check(folder, capsys)
    finally:
        folder.chmod(0o700)
    assert code == 1
    assert ["VL001" in line for line in found] == [True]
