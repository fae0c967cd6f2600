"""`verlint inputs`: broken inputs of every kind give a finding each, with little memory and without a traceback."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from fixture_cases import ROOT
from verlint.cli.main import main

FOOTER = bytes.fromhex("1502190c16d80400" + "08000000") + b"PAR1"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    """Exit code and findings, each as code and severity."""
    code = main(["inputs", *words, "--output-format", "json"])
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return code, [f"{each['code']} {each['severity']}" for each in json.loads(out)["findings"]] if out else []


CASES: dict[str, tuple[bytes, int, list[str]]] = {
    "good": (b"a.txt\nb.txt\n", 0, []),
    "empty": (b"", 1, ["VL820 error"]),
    "blank": (b" \n\n", 1, ["VL820 error"]),
    "binary": (b"\x7fELF\0\0\1", 1, ["VL820 error"]),
    "latin": (b"caf\xe9.txt\n", 1, ["VL820 error"]),
    "windows": (b"a.txt\r\nb.txt\r\n", 0, ["VL821 info"]),
    "mark": (b"\xef\xbb\xbfa.txt\n", 1, ["VL821 error"]),
    "twice": (b"a.txt\na.txt\n", 1, ["VL821 warning"]),
    "remote": (b"s3://bucket/a.txt\nhf:lab/b\n", 1, ["VL821 error", "VL821 error"]),
    "folder": (b".\n", 1, ["VL821 error"]),
    "rounds": (b"x-r1/a.txt\nx-r2/a.txt\n", 1, ["VL822 warning"]),
    "control": (b"a\x01b\n" + b"x" * 5000 + b"\n", 1, ["VL821 error"]),
}


@pytest.mark.parametrize("name", CASES)
def test_lists(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, code, findings = CASES[name]
    (here / "list.txt").write_bytes(data)
    assert said(["--experience-list", "list.txt"], capsys) == (code, findings)


def test_strict_makes_notes_count(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "list.txt").write_bytes(CASES["windows"][0])
    assert said(["--experience-list", "list.txt", "--strict"], capsys) == (1, ["VL821 info"])


def test_links_that_lead_in_a_circle(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "loop").symlink_to("loop")
    (here / "data").mkdir()
    (here / "data" / "x.parquet").symlink_to("x.parquet")
    words = ["--experience-list", "loop", "--data-root", "loop", "--data-root", "data", "--expect-file", "x.parquet"]
    assert said(words, capsys) == (1, ["VL824 error", "VL820 error", "VL820 error"])


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser reads everything")
def test_unreadable_files(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "list.txt").write_text("a\n")
    (here / "list.txt").chmod(0)
    assert said(["--experience-list", "list.txt"], capsys) == (1, ["VL820 error"])


def test_no_right_to_read(here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    (here / "data").mkdir()
    (here / "data" / "x.parquet").write_bytes(b"PAR1" + FOOTER)
    monkeypatch.setattr(Path, "open", refuse)
    assert said(["--data-root", "data", "--expect-file", "x.parquet"], capsys) == (1, ["VL825 error"])


def test_a_file_of_two_gigabytes_takes_little_memory(here: Path) -> None:
    (here / "data").mkdir()
    for name, end in (("big.parquet", FOOTER), ("cut.parquet", b"")):
        with (here / "data" / name).open("wb") as stream:
            stream.write(b"PAR1")
            stream.seek(2_000_000_000)
            stream.write(end or b"\0")
    with (here / "list.txt").open("wb") as stream:
        stream.truncate(2_000_000_000)
    call = (
        "import re, sys\nfrom verlint.cli.main import main\ncode = main(sys.argv[1:])\n"
        "status = open('/proc/self/status').read()\n"  # the usage of resources counts the process before `exec` too
        "print(re.search(r'VmHWM:\\s+(\\d+)', status)[1], file=sys.stderr)\nsys.exit(code)"
    )
    words = ["inputs", "--data-root", "data", "--expect-file", "big.parquet", "--expect-file", "cut.parquet",
             "--experience-list", "list.txt", "--output-format", "concise"]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", call, *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'linter'}:{ROOT / 'rules'}"},
    )
    assert done.returncode == 1, done.stderr
    assert int(done.stderr.split()[-1]) < 100_000  # kilobytes
    assert [line.split(": ", 1)[1][:50] for line in done.stdout.splitlines()[:2]] == [
        "VL825 the parquet file has no end: it was cut off",
        "VL820 the experience list is too large (2000.0 MB;",
    ]


SPEC = """schema: verlint/exp-v1
name: prompts
family: opcd
track: system-prompt
roots: {data: "${oc.env:PROMPT_DATA}"}
stages:
  train:
    kind: on-policy
    launcher: scripts/sys_consolidate.sh
    args: {exp_path: prompts/safety.txt, system_prompt_type: safety, experience_max_length: 4096, exp_name: x}
"""


def test_all_inputs_of_a_spec(here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "x.exp.yaml").write_text(SPEC)
    (here / "data").mkdir()
    monkeypatch.setenv("PROMPT_DATA", str(here / "data"))
    assert said(["x.exp.yaml"], capsys) == (1, ["VL824 error", "VL824 error", "VL820 error"])
    monkeypatch.delenv("PROMPT_DATA")
    assert main(["inputs", "x.exp.yaml"]) == 1
    assert "not checked: roots.data needs $PROMPT_DATA, which is not set" in capsys.readouterr().err


WRONG = {
    "": "nothing to check",
    "--data-root . --profile gda": "--profile `gda` is not known",
    "--data-root . --expect-file ../x": "relative to the data root",
    "--data-root . --expect-dir /tmp": "relative to the data root",
    "--experience-list x --min-lines -1": "--min-lines takes 0 or more",
    "missing.exp.yaml": "missing.exp.yaml: does not exist",
    "--data-root . --select VL999": "unknown rule",
}


@pytest.mark.parametrize("words", WRONG, ids=lambda words: words or "nothing")
def test_wrong_calls(words: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inputs", *words.split()]) == 2
    assert WRONG[words] in capsys.readouterr().err


def test_nothing_is_started(here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a check starts nothing and opens no connection")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert main(["inputs", "--data-root", ".", "--profile", "coach", "--system-prompt-text", "x" * 50]) == 1
    assert "VL824" in capsys.readouterr().out
