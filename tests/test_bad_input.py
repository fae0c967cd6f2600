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


ENDLESS = {
    "while true": "while true; do :; done\n" + TRAIN,
    "for without step": "for ((i=0; i<10; i+=STEP)); do echo $i; done\n" + TRAIN,
    "argument loop": 'set -- --a; while [ $# -gt 0 ]; do case $1 in --a) A="$2"; shift 2 ;; esac; done\n' + TRAIN,
    "doubling": "x=a\nwhile :; do x=$x$x; done\n" + TRAIN,
    "counting": "i=0\nwhile :; do i=$((i + 1)); done\n" + TRAIN,
    "array": "while :; do a+=(x); done\n" + TRAIN,
    "recursion": "f() { f; }\nf\n" + TRAIN,
    "fork bomb": ":(){ :|:& };:\n" + TRAIN,
    "itself": "bash run.sh\n" + TRAIN,
    "sources itself": "source run.sh\n" + TRAIN,
    "wide braces": "echo {1..1000000}{1..1000000}\n" + TRAIN,
    "long seq": "for i in $(seq 1000000000); do echo $i; done\n" + TRAIN,
}


@pytest.mark.parametrize("name", ENDLESS)
def test_launchers_that_never_end(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.sh"
    path.write_text(ENDLESS[name], "utf-8")
    code, _ = check(path, capsys)
    assert code in (0, 1)


def test_includes_in_a_circle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.sh").write_text("source b.sh\nbash b.sh\n" + TRAIN)
    (tmp_path / "b.sh").write_text("source a.sh\nbash a.sh\n")
    code, _ = check(tmp_path / "a.sh", capsys)
    assert code in (0, 1)


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
