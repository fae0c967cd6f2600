"""Bad input through the program itself: what it prints, to the last character, and its exit code."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from verlint.cli.main import main

TRAIN = "python3 -m verl.trainer.main_ppo trainer.nnodes=1 trainer.n_gpus_per_node=8\n"


def verlint(folder: Path, *arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `verlint check` in a folder."""
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    environment.pop("VERLINT_OUTPUT_FORMAT", None)
    done = subprocess.run(
        [sys.executable, "-m", "verlint", "check", "--isolated", *arguments],
        cwd=folder,
        env=environment,
        input=stdin,
        capture_output=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def vl001(path: str, reason: str, help: str = "") -> str:
    """The finding about a file that cannot be read."""
    lines = [f"VL001 error: the file {reason}; nothing of it is checked", f"  --> {path}"]
    return "\n".join([*lines, *([f" help   {help}"] if help else [])]) + "\n"


def ending(code: str, checked: str, found: str = "Found 1 error.") -> str:
    """The last lines of a report."""
    return f"\nchecked {checked}\n{found}\n  verlint rule {code}  why the rule exists, with an example and the way to fix it\n"


BYTES: dict[str, tuple[bytes, str]] = {
    "binary": (
        b"\x7fELF\x02\x00\x00\x00main_ppo",
        vl001(
            "run.sh",
            "is not text: NUL at byte 5, line 1",
            "save it as plain text, or leave it out with `exclude` in the settings",
        )
        + ending("VL001", "1 file"),
    ),
    "NUL": (
        b"echo a\x00b\n" + TRAIN.encode(),
        vl001(
            "run.sh",
            "is not text: NUL at byte 6, line 1",
            "save it as plain text, or leave it out with `exclude` in the settings",
        )
        + ending("VL001", "1 file"),
    ),
    "invalid UTF-8": (
        b"# caf\xe9\n" + TRAIN.encode(),
        vl001("run.sh", "is not UTF-8: byte 0xe9 at byte 5, line 1", "save it as UTF-8") + ending("VL001", "1 file"),
    ),
    "50 MB": (
        b"# filler\n" * 5_555_556 + TRAIN.encode(),
        vl001(
            "run.sh",
            "is too large (50.0 MB; the limit is 5 MB)",
            "leave it out with `exclude` in the settings when it is data",
        )
        + ending("VL001", "1 file"),
    ),
    "unclosed quote": (
        TRAIN.encode() + b'echo "never closed\n',
        """\
VL002 error: bash rejects this launcher: this " is never closed; what stands before runs (up to line
             1), nothing after it
  --> run.sh:2:6
   |
 2 | echo "never closed
   |      ^
  ::: run.sh:2:19 the text ends here
"""
        + ending("VL002", "1 launcher in 1 file"),
    ),
    "Windows line ends": (
        TRAIN.encode().replace(b" trainer", b" \\\r\n  trainer").replace(b"8\n", b"8\r\n"),
        """\
VL901 error: the file has Windows line ends: a carriage return follows each of its 2 backslashes, so
             no line is continued
  --> run.sh:1:34
   |
 1 | python3 -m verl.trainer.main_ppo \\
   |                                  ^
 value  argument "\\r"
 help   save the file with Unix line ends (dos2unix)
 fix    save the file with Unix line ends (safe, --fix)

checked 1 launcher in 1 file
Found 1 error (1 fixable with --fix).
  verlint check --fix {path}  make the safe changes (--diff shows them)
  verlint rule VL901{margin}why the rule exists, with an example and the way to fix it
""",
    ),
    "endless": (
        b"while true; do :; done\n" + TRAIN.encode(),
        """\
VL923 error: this loop never ends: its condition always holds, and nothing leaves it; the launch
             behind it never starts
  --> run.sh:1:1
   |
 1 | while true; do :; done
   | ^^^^^^^^^^^
  ::: run.sh:2:1 never started
 help   run it in the background (`done &`), or leave it with `break`
"""
        + ending("VL923", "1 launcher in 1 file"),
    ),
    "byte order mark": (
        b"\xef\xbb\xbf" + TRAIN.encode(),
        """\
VL002 error: a byte order mark stands before this line, and bash takes it for a part of `python3`
  --> run.sh:1:1
   |
 1 | python3 -m verl.trainer.main_ppo trainer.nnodes=1 trainer.n_gpus_per_node=8
   | ^^^^^^^
 help   save the file as UTF-8 without a byte order mark
"""
        + ending("VL002", "1 launcher in 1 file"),
    ),
}


@pytest.mark.parametrize("name", BYTES)
@pytest.mark.parametrize("way", ["named", "folder"])
def test_files(name: str, way: str, tmp_path: Path) -> None:
    data, expected = BYTES[name]
    path = "run.sh" if way == "named" else "."
    margin = " " * (len(f"--fix {path}  ") - len("VL901") + 1)
    (tmp_path / "run.sh").write_bytes(data)
    told = expected.replace("{path}", path).replace("{margin}", margin)
    assert verlint(tmp_path, path) == (1, told, "")


def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("")
    assert verlint(tmp_path, "run.sh") == (0, "checked 1 launcher in 1 file\nAll checks passed!\n", "")
    code, out, error = verlint(tmp_path, ".")
    assert (code, error) == (0, "warning: nothing to check (--show-files says why)\n")
    assert out == "checked 0 files (1 skipped, --show-files says why)\nAll checks passed!\n"
    assert verlint(tmp_path, "--require-files", ".")[0] == 2


def test_includes_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text("source b.sh\n" + TRAIN)
    (tmp_path / "b.sh").write_text("source a.sh\n")
    expected = """\
VL923 error: a.sh and b.sh source each other without end
  --> a.sh:1:1
   |
 1 | source b.sh
   | ^^^^^^^^^^^
  ::: b.sh:1:1 and back
 help   leave at the start what is read already: [ -n "${LOADED:-}" ] && return; LOADED=1
"""
    for arguments in (["."], ["a.sh"], ["b.sh"], ["b.sh", "a.sh"]):
        code, out, error = verlint(tmp_path, *arguments)
        assert (code, error) == (1, "")
        assert out.startswith(expected)


def test_a_missing_file(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text(TRAIN)
    expected = """\
VL001 error: the file does not exist; nothing of it is checked
  --> runn.sh
 near   run.sh
 help   correct the path
""" + ending("VL001", "1 file")
    assert verlint(tmp_path, "runn.sh") == (1, expected, "")


@pytest.mark.parametrize("way", ["named", "folder"])
def test_a_pipe(way: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.sh")
    expected = """\
VL001 error: the file is not a regular file (give a stream as - on standard input); nothing of it is
             checked
  --> run.sh
""" + ending("VL001", "1 file")
    code, out, error = verlint(tmp_path, "run.sh" if way == "named" else ".")
    assert (code, out, error) == (1, expected, "")


def test_links(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "train.sh").write_text(TRAIN)
    (tmp_path / "scripts" / "again").symlink_to("../scripts")
    (tmp_path / "scripts" / "gone.sh").symlink_to("nothing.sh")
    (tmp_path / "scripts" / "one.sh").symlink_to("two.sh")
    (tmp_path / "scripts" / "two.sh").symlink_to("one.sh")
    (tmp_path / "scripts" / "same.sh").symlink_to("train.sh")
    mend = "mend the link or remove it"
    expected = (
        vl001("scripts/gone.sh", "is a symbolic link to nothing", mend)
        + "\n"
        + vl001("scripts/one.sh", "is a symbolic link that leads in a circle", mend)
        + "\n"
        + vl001("scripts/two.sh", "is a symbolic link that leads in a circle", mend)
        + ending("VL001", "1 launcher in 4 files (2 skipped, --show-files says why)", "Found 3 errors.")
    )
    assert verlint(tmp_path, ".") == (1, expected, "")
    assert verlint(tmp_path, "--show-files", ".") == (
        0,
        (
            "skipped  scripts/again: symbolic link to a folder, which is not followed\n"
            "skipped  scripts/same.sh: symbolic link to a file that is checked itself\n"
            "checked  scripts/train.sh: launcher, starts main_ppo\n"
            "skipped  scripts/gone.sh: is a symbolic link to nothing\n"
            "skipped  scripts/one.sh: is a symbolic link that leads in a circle\n"
            "skipped  scripts/two.sh: is a symbolic link that leads in a circle\n"
            "1 checked (1 launcher), 5 skipped\n"
        ),
        "",
    )


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    """Without the rights of root, who may read everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_what_may_not_be_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    right = "give yourself the right to read it"
    expected = (
        vl001("closed", "cannot be listed: Permission denied")
        + "\n"
        + vl001("run.sh", "cannot be read: Permission denied", right)
        + ending("VL001", "2 files", "Found 2 errors.")
    )
    monkeypatch.setenv("COLUMNS", "100")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "closed").mkdir(0)
        (folder / "run.sh").write_text(TRAIN)
        (folder / "run.sh").chmod(0)
        monkeypatch.chdir(folder)
        main(["check", "--isolated", "gone.sh"])  # loads what is loaded late
        capsys.readouterr()
        with as_nobody():
            code = main(["check", "--isolated", "--color", "never", "."])
        monkeypatch.undo()
        (folder / "closed").chmod(0o700)
    assert (code, capsys.readouterr().out) == (1, expected)


def test_standard_input(tmp_path: Path) -> None:
    data, expected = BYTES["invalid UTF-8"]
    assert verlint(tmp_path, "-", stdin=data) == (1, expected.replace("run.sh", "<stdin>"), "")
    assert verlint(tmp_path, "-", "--stdin-filename", "run.sh", stdin=data) == (1, expected, "")
    assert verlint(tmp_path, "-") == (0, "checked 1 launcher in 1 file\nAll checks passed!\n", "")


# ---- what is wrong around verlint


@pytest.mark.parametrize("arguments", [["check"], ["check", "run.sh"], ["rules"], ["rule", "VL203"]])
def test_a_working_directory_that_is_gone_is_told(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    try:
        gone.rmdir()
    except OSError:
        pytest.skip("a folder in use cannot be removed here")
    assert main(arguments) == 2
    text = "verlint: error: the folder this was started in does not exist any more: change into one that does\n"
    assert capsys.readouterr() == ("", text)
    monkeypatch.chdir(tmp_path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["check", "--isolated"], ["--version"]])
def test_an_output_that_is_full_is_told(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text(TRAIN)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "verlint", *arguments],
            cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False,
        )  # fmt: skip
    text = "verlint: error: the output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, text)
