"""Fixes: what is applied, in which order, and that a fixed project is at rest."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fixture_cases import EXAMPLES, expected_text
from verlint.cli.check import only_touched
from verlint.cli.fixing import diff_text
from verlint.cli.main import main
from verlint.example import FIXED, Example, check_example, project_copy
from verlint.file_edits import in_file
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded, Loading
from verlint.finding import Edit, Finding, Fix, Safety, Severity, Verdict
from verlint.fix import Fixed, apply_fixes
from verlint.report.summary import found_line
from verlint.result import Report
from verlint.source import Source

BASH = shutil.which("bash")


def finding(
    source: Source, *edits: tuple[int, int, str], safety: Safety = Safety.SAFE, unsure: bool = False
) -> Finding:
    """A finding at the first edit with a fix of these edits."""
    fix = Fix("mend it", tuple(Edit(source.span(start, end), text) for start, end, text in edits), safety)
    verdict = Verdict.UNSURE if unsure else Verdict.FAIL
    span = source.span(*edits[0][:2])
    return Finding("VL999", "made-up", Severity.ERROR, verdict, "wrong", span, fix=fix)


@pytest.fixture
def source() -> Source:
    return Source("run.sh", "a=1 \\\r\n  b=2 # keep\n")


def test_edits_are_applied_and_the_rest_stays(source: Source) -> None:
    fixed = apply_fixes([finding(source, (2, 3, "10"), (11, 12, "20"))])
    assert fixed.texts == {source: "a=10 \\\r\n  b=20 # keep\n"}


def test_unsafe_fixes_wait_for_the_word(source: Source) -> None:
    unsafe = finding(source, (2, 3, "10"), safety=Safety.UNSAFE)
    assert apply_fixes([unsafe]).texts == {}
    assert apply_fixes([unsafe], unsafe=True).texts == {source: "a=10 \\\r\n  b=2 # keep\n"}


def test_unsure_findings_are_not_fixed(source: Source) -> None:
    assert apply_fixes([finding(source, (2, 3, "10"), unsure=True)]).applied == ()


def test_of_two_that_overlap_the_first_wins_whole(source: Source) -> None:
    first = finding(source, (0, 3, "x=1"))
    second = finding(source, (2, 3, "9"), (11, 12, "9"))
    fixed = apply_fixes([second, first])
    assert fixed.applied == (first,)
    assert fixed.texts == {source: "x=1 \\\r\n  b=2 # keep\n"}


def test_the_same_edit_of_two_findings_is_made_once(source: Source) -> None:
    fixed = apply_fixes([finding(source, (2, 3, "10")), finding(source, (2, 3, "10"), (11, 12, "20"))])
    assert fixed.texts == {source: "a=10 \\\r\n  b=20 # keep\n"}
    assert len(fixed.applied) == 2


LAUNCH = "python3 -m verl.trainer.main_ppo"
STAND_IN = f"#!/bin/bash\nexport WANDB_API_KEY='YOUR_WANDB_API_KEY'\n{LAUNCH} trainer.logger=wandb\n"
ASKED = f'#!/bin/bash\n: "${{WANDB_API_KEY:?set WANDB_API_KEY}}"\n{LAUNCH} trainer.logger=wandb\n'
CUT = f"{LAUNCH} \\\n    trainer.nnodes=1 \\\n    # one\n    trainer.save_freq=5\n"


def listed(text: str) -> str:
    """A launcher as a block of a list in a page."""
    return "1. Train:\n\n   ```bash\n" + "".join(f"   {line}\n" for line in text.splitlines()) + "   ```\n"


@pytest.mark.parametrize(
    ("path", "text", "fixed"),
    [
        ("run.sh", STAND_IN.replace("\n", "\r\n"), ASKED),
        ("README.md", listed(CUT), listed("# one\n" + CUT.replace("    # one\n", ""))),
        ("README.md", listed(CUT).replace("\n", "\r\n"), listed("# one\n" + CUT.replace("    # one\n", ""))),
    ],
    ids=["line ends", "margin", "margin and line ends"],
)
def test_new_lines_are_those_of_the_file(
    path: str, text: str, fixed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ends = "\r\n" if "\r" in text else "\n"
    Path(path).write_bytes(text.encode())
    codes = "VL402" if path == "run.sh" else "VL901,VL402"  # VL901 mends these ends, see below
    assert main(["check", "--exit-zero", "--select", codes, "--fix", "--unsafe-fixes", path]) == 0
    assert Path(path).read_bytes().decode() == fixed.replace("\n", ends)


@pytest.mark.parametrize(
    ("old", "new", "fixed"),
    [("", " \\", "a=1 \\\r\nb=2\r\n"), ("\n", " ", "a=1 b=2\r\n"), ("", "\nc=3", "a=1\r\nc=3\r\nb=2\r\n")],
)
def test_what_is_put_at_the_end_of_a_line_stands_before_its_carriage_return(old: str, new: str, fixed: str) -> None:
    source = Source("README.md", "a=1\r\nb=2\r\n")
    mended = in_file(finding(source, (4, 4 + len(old), new)))
    assert apply_fixes([mended]).texts == {source: fixed}


def test_new_lines_of_a_file_whose_ends_are_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else is mended with the line ends, no carriage return is left."""
    monkeypatch.chdir(tmp_path)
    Path("run.sh").write_bytes(STAND_IN.replace("\n", "\r\n").encode())
    assert main(["check", "--exit-zero", "--select", "VL901,VL402", "--fix", "--unsafe-fixes", "run.sh"]) == 0
    assert Path("run.sh").read_bytes() == ASKED.encode()


REQUEST = "cat > head.txt <<'END'\nGET / HTTP/1.1\r\n\r\nEND\n"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        (f"set -e\n{LAUNCH} \\\n    trainer.nnodes=1\n".replace("\n", "\r\n"), True),
        (f"set -e\n{LAUNCH} \\\r\n    trainer.nnodes=1\n", True),
        (f"set -e\n{LAUNCH} \\\r\n    trainer.nnodes=1\n{REQUEST}", False),
        (f"set -e\n{LAUNCH} \\\r\n    'trainer.note=a\r\nb'\n", False),
        (f'set -e\n{LAUNCH} \\\r\n    "trainer.note=a\r\n$B"\n', False),
    ],
    ids=["all lines", "some lines", "a here-document", "a quoted word", "a quoted word with a parameter"],
)
def test_line_ends_that_may_be_meant_need_leave(
    text: str, safe: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.sh").write_bytes(text.encode())
    command = ["check", "--exit-zero", "--select", "VL901", "--fix", "run.sh"]
    assert main(command) == 0
    assert Path("run.sh").read_bytes() == (text.replace("\r", "") if safe else text).encode()
    assert main([*command, "--unsafe-fixes"]) == 0
    assert Path("run.sh").read_bytes() == text.replace("\r", "").encode()


def test_a_fix_that_would_break_the_file_is_left_out() -> None:
    launcher = Source("run.sh", 'a="b"\nc="d"\n')
    breaking, good = finding(launcher, (4, 5, "")), finding(launcher, (9, 10, "e"))
    assert apply_fixes([breaking, good]).texts == {launcher: 'a="b"\nc="e"\n'}
    job = Source("job.yaml", 'run: "ls"\nname: a\n')
    breaking, good = finding(job, (6, 8, 'echo "x"')), finding(job, (16, 17, "b"))
    assert apply_fixes([breaking, good]).texts == {job: 'run: "ls"\nname: b\n'}


TRACED = f"#!/bin/bash\nset -xeuo pipefail\nexport WANDB_API_KEY=key\n{LAUNCH} trainer.logger=wandb\n"


@pytest.mark.parametrize(
    ("ends", "count"), [("\n", "1 error (1 fixable with --fix --unsafe-fixes)"), ("\r\n", "1 error")]
)
def test_only_fixes_that_are_made_are_counted(
    ends: str, count: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = TRACED.replace("\n", ends).encode()  # a `}` in front of a carriage return closes nothing
    Path("run.sh").write_bytes(text)
    arguments = ["check", "--exit-zero", "--select", "VL402", "run.sh"]
    assert main([*arguments, "--output-format", "concise"]) == 0
    assert f"Found {count}." in capsys.readouterr().out
    assert main([*arguments, "--diff", "--unsafe-fixes"]) == 0
    assert bool(capsys.readouterr().out) is ("fixable" in count)


def test_what_must_be_verified_counts_as_no_fix(source: Source) -> None:
    report = Report((finding(source, (2, 3, "1"), unsure=True), finding(source, (2, 3, "1"))))
    assert found_line(report) == "Found 1 error (1 fixable with --fix), 1 to verify."


def test_a_fix_that_reaches_into_another_file_is_not_half_made(source: Source) -> None:
    there, file = Source("other.sh", "x=1\n"), Path("run.sh")
    fix = Fix("mend both", (Edit(source.span(2, 3), "9"), Edit(there.span(2, 3), "9")), Safety.SAFE)
    both = Finding("VL999", "made-up", Severity.ERROR, Verdict.FAIL, "wrong", source.span(2, 3), fix=fix)
    loaded = Loaded(source, Kind.LAUNCHER, file, named=True)
    assert diff_text(Report((both,)), Loading([loaded], []), unsafe=False) == ""
    assert only_touched(Report((both,)), [loaded], []).findings[0].fix is None


MIXED = (
    "# one\r\n# two\nexport WANDB_API_KEY='YOUR_WANDB_API_KEY'\r\n"
    f"{LAUNCH} \\\n    trainer.nnodes=1 \\ \n    trainer.logger=wandb\n# three\r\n# four"
)


ODD = "#!/bin/bash\n# form\x0cfeed, \u2028, \x85 and \U0001f419\nset -e\npython3 -m verl.trainer.main_ppo trainer.nnodes=1 | tee a.log{end}"


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
@pytest.mark.parametrize(
    ("name", "end", "mark"), [("run.sh", "\n", ""), ("my run \u00e9.sh", "", "\ufeff")], ids=["plain", "odd"]
)
def test_a_diff_makes_what_the_fixes_make(
    name: str, end: str, mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any
) -> None:
    written = (mark + ODD.format(end=end)).encode()
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(written)
    call = ["check", "--select", "VL906,VL919", "--unsafe-fixes", "--no-cache"]
    assert main([*call, "--diff"]) == 1
    diff = capfdbinary.readouterr().out
    assert main([*call, "--fix", "--exit-zero"]) == 0
    fixed = (tmp_path / name).read_bytes()
    for tool in ("git apply -p0", "patch -p0 --binary -s"):
        (tmp_path / name).write_bytes(written)
        if shutil.which(tool.split()[0]) is not None:
            subprocess.run(tool.split(), input=diff, check=True)
            assert (tmp_path / name).read_bytes() == fixed != written


def test_only_a_line_feed_ends_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.sh").write_bytes(ODD.format(end="\n").encode())
    page = "a \u2028 b\n\n```bash\n# \x0c\nset -e\npython3 -m verl.trainer.main_ppo trainer.nnodes=1 | tee a.log\n```\n"
    (tmp_path / "README.md").write_bytes(page.encode())
    call = ["check", "--select", "VL906,VL919", "--no-cache"]
    assert main([*call, "--add-ignore", "known"]) == 0
    assert main(call) == 0
    lines = (tmp_path / "run.sh").read_text("utf-8").split("\n")
    assert [number for number, line in enumerate(lines) if "ignore[" in line] == [3]


def test_each_line_keeps_its_own_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.sh").write_bytes(b"\xef\xbb\xbf" + MIXED.encode())
    assert main(["check", "--exit-zero", "--select", "VL901,VL402", "--fix", "--unsafe-fixes", "run.sh"]) == 0
    fixed = MIXED.replace("export WANDB_API_KEY='YOUR_WANDB_API_KEY'", ': "${WANDB_API_KEY:?set WANDB_API_KEY}"')
    assert Path("run.sh").read_bytes() == b"\xef\xbb\xbf" + fixed.replace("\\ \n", "\\\n").encode()


def test_an_edit_that_changes_nothing_changes_no_file(source: Source) -> None:
    assert apply_fixes([finding(source, (2, 3, "1"))]).texts == {}


FIRST = (
    "export HF_HOME=/tmp/huggingface\npython3 -m verl.trainer.main_ppo trainer.nnodes=1 \\ \n    trainer.save_freq=5\n"
)
SECOND = "python3 -m verl.trainer.main_ppo trainer.nnodes=1 \\ \n    trainer.test_freq=5\n"


@pytest.fixture
def two_launchers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.sh").write_text(FIRST)
    (tmp_path / "b.sh").write_text(SECOND)
    return tmp_path


def failing_replace(monkeypatch: pytest.MonkeyPatch, fails: Callable[[str], bool]) -> None:
    """Let `os.replace` fail for the targets that a test names."""
    replace = os.replace

    def replace_or_fail(new: str, target: Path) -> None:
        if fails(Path(target).name):
            raise OSError(28, "No space left on device")
        replace(new, target)

    monkeypatch.setattr("os.replace", replace_or_fail)


@pytest.mark.parametrize("call", [("--fix", "--unsafe-fixes"), ("--add-ignore", "known")])
def test_a_file_that_cannot_be_written_leaves_all_files_as_they_were(
    two_launchers: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], call: tuple[str, ...]
) -> None:
    failing_replace(monkeypatch, lambda name: name == "b.sh")
    assert main(["check", *call]) == 2
    assert (two_launchers / "a.sh").read_text() == FIRST
    assert (two_launchers / "b.sh").read_text() == SECOND
    assert sorted(path.name for path in two_launchers.iterdir()) == ["a.sh", "b.sh"]
    told = "verlint: error: cannot write b.sh: No space left on device; no file was changed\n"
    assert capsys.readouterr() == ("", told)


def test_what_cannot_be_taken_back_is_said(
    two_launchers: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written: list[str] = []
    failing_replace(monkeypatch, lambda name: bool(written) or written.append(name) is not None)
    assert main(["check", "--fix"]) == 2
    assert (two_launchers / "a.sh").read_text() != FIRST
    assert (two_launchers / "b.sh").read_text() == SECOND
    assert capsys.readouterr().err == (
        "verlint: error: cannot write b.sh: No space left on device; "
        f"the fixes already made stay in {two_launchers / 'a.sh'}, which cannot be written again\n"
    )


def test_a_file_that_changes_meanwhile_is_left_alone(
    two_launchers: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from verlint.cli import fixing

    def apply_late(*arguments: Any, **options: Any) -> Fixed:
        (two_launchers / "b.sh").write_text("echo saved by an editor\n")
        return apply_fixes(*arguments, **options)

    monkeypatch.setattr(fixing, "apply_fixes", apply_late)
    assert main(["check", "--fix"]) == 2
    assert (two_launchers / "a.sh").read_text() == FIRST
    assert (two_launchers / "b.sh").read_text() == "echo saved by an editor\n"
    assert "b.sh: it was changed while it was checked; no file was changed" in capsys.readouterr().err


def test_a_link_stays_a_link_and_permissions_stay(two_launchers: Path) -> None:
    (two_launchers / "kept").mkdir()
    (two_launchers / "b.sh").rename(two_launchers / "kept" / "b.sh")
    (two_launchers / "kept" / "b.sh").chmod(0o750)
    (two_launchers / "b.sh").symlink_to("kept/b.sh")
    assert main(["check", "--fix", "--exit-zero"]) == 0
    assert (two_launchers / "b.sh").is_symlink()
    assert (two_launchers / "kept" / "b.sh").stat().st_mode & 0o777 == 0o750
    assert (two_launchers / "kept" / "b.sh").read_text() != SECOND


def fixable_examples() -> list[Example]:
    """The bad examples that have a fix, by what is expected of them."""
    return [each for each in EXAMPLES if each.kind == "bad" and "\n    fix: " in expected_text(each)]


@pytest.mark.parametrize("example", fixable_examples(), ids=lambda example: example.name)
def test_a_fixed_project_is_at_rest(example: Example) -> None:
    with project_copy(example) as folder:
        before = _texts(folder)
        arguments = ["check", "--exit-zero", "--output-format", "json", "--select", example.code, "."]
        assert main([*arguments, "--fix", "--unsafe-fixes"]) == 0
        after = _texts(folder)
        assert main([*arguments, "--fix", "--unsafe-fixes"]) == 0
        assert _texts(folder) == after, "a second run changed the files again"
        for path, text in after.items():
            _still_reads(path, before[path], text)
        left = [
            f for f in check_example(example, folder=folder).findings if f.fix is not None and f.verdict is Verdict.FAIL
        ]
        assert left == [], "findings with a fix are left"


@pytest.mark.parametrize(
    "example", [each for each in EXAMPLES if (each.folder / FIXED).is_dir()], ids=lambda each: each.name
)
def test_the_fixed_project_of_a_fixture_is_what_the_fixes_make(example: Example) -> None:
    wanted = {path.relative_to(example.folder / FIXED): path.read_bytes() for path in _files(example.folder / FIXED)}
    with project_copy(example) as folder:
        before = _texts(folder)
        arguments = ["check", "--exit-zero", "--output-format", "json", "--select", example.code, "."]
        assert main([*arguments, "--fix", "--unsafe-fixes"]) == 0
        after = _texts(folder)
        changed = {path.relative_to(folder): text for path, text in after.items() if text != before[path]}
    assert changed == wanted


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _texts(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".git"}


def _still_reads(path: Path, before: bytes, after: bytes) -> None:
    """A launcher that bash accepted is still accepted, and comments are kept."""
    if before == after or path.suffix != ".sh" or BASH is None:
        return
    accepted = subprocess.run([BASH, "-n"], input=before, capture_output=True, check=False).returncode == 0
    if accepted:
        result = subprocess.run([BASH, "-n"], input=after, capture_output=True, check=False)
        assert result.returncode == 0, result.stderr.decode()
