"""Fixes: what is applied, in which order, and that a fixed project is at rest."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixture_cases import EXAMPLES
from verlint.cli.main import main
from verlint.example import FIXED, Example, check_example, project_copy
from verlint.finding import Edit, Finding, Fix, Safety, Severity, Verdict
from verlint.fix import apply_fixes
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


def test_an_edit_that_changes_nothing_changes_no_file(source: Source) -> None:
    assert apply_fixes([finding(source, (2, 3, "1"))]).texts == {}


def fixable_examples() -> Iterator[Example]:
    for example in EXAMPLES:
        if example.kind == "bad" and any(f.fix is not None for f in check_example(example).findings):
            yield example


@pytest.mark.parametrize("example", list(fixable_examples()), ids=lambda example: example.name)
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
