"""Every fixture says exactly what its `expected.txt` holds, with only its own rule selected. About a good one no rule
says anything.

`pytest tests/test_fixtures.py --bless` writes those files anew; read the change before you keep it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import pytest

from fixture_cases import EXAMPLES, ROOT, expected_text, transcript
from verlint.example import Example, check_example, find_examples
from verlint.finding import Verdict
from verlint.record import replace
from verlint.result import Loaded, Report, Unreadable
from verlint.settings import Settings

OPEN = ("VL005", "VL009")
"""Rules that say what a draft leaves open; the good examples of other rules may be drafts."""


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_fixture(
    example: Example, request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> None:
    report = silence_wanted(example) if example.kind == "good" else check_example(example)
    said = transcript(report)
    problem = wrong_kind(example, report)
    if request.config.getoption("--bless") and not problem and said != expected_text(example):
        example.expected.write_text(said, "utf-8", newline="\n")
        record_property("blessed", example.expected.relative_to(ROOT).as_posix())
    assert not problem, f"{problem}:\n{said}"
    assert said == expected_text(example)


def silence_wanted(example: Example) -> Report:
    """What all rules say about a good example."""
    report = check_example(example, select=("ALL",))
    kept = tuple(each for each in report.findings if each.code not in OPEN or each.code == example.code)
    return replace(report, findings=kept)


def wrong_kind(example: Example, report: Report) -> str:
    """Why a report does not fit the kind of its fixture, or ""."""
    if report.crashed:
        return "a rule or the engine failed"
    verdicts = {finding.verdict for finding in report.findings}
    foreign = {finding.code for finding in report.findings} - {example.code}
    if foreign:
        return f"findings of other rules: {', '.join(sorted(foreign))}"
    wanted: dict[str, tuple[set[Verdict], str]] = {
        "bad": ({Verdict.FAIL}, "a bad-* fixture needs a finding that is certain"),
        "unsure": ({Verdict.UNSURE}, "an unsure-* fixture needs an unsure finding"),
        "good": (set(), ""),
    }
    needed, missing = wanted[example.kind]
    if not needed <= verdicts:
        return missing
    if example.kind == "good" and verdicts:
        return "a good-* fixture must be silent"
    if example.kind == "unsure" and Verdict.FAIL in verdicts:
        return "an unsure-* fixture must have no certain finding"
    return ""


CASE = """
paths = ["run.sh", "odd.sh", "link.sh"]

[[files]]
path = "odd.sh"
bytes_hex = "ff00"
repeat = 3

[[files]]
path = "deep/more.sh"
text = "echo 1\\n"
mode = "750"

[[files]]
path = "link.sh"
link = "run.sh"
"""


def test_a_case_is_checked_as_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "VL101" / "bad-path"
    (folder / "fixed").mkdir(parents=True)
    for name, text in {"run.sh": "echo\n", "case.toml": CASE, "expected.txt": "", "fixed/run.sh": ""}.items():
        (folder / name).write_text(text)
    (folder / "verlint.toml").write_text('ignore = ["VL101"]\nverl = "0.7.1"\n')
    seen: dict[str, object] = {}

    def check_project(
        files: Sequence[Loaded], settings: Settings, root: Path, unreadable: object = (), inputs: object = ()
    ) -> Report:
        seen["tree"] = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
        seen["bytes"] = (root / "odd.sh").read_bytes()
        seen["mode"] = (root / "deep/more.sh").stat().st_mode & 0o777
        seen["settings"] = (settings.select, settings.ignore, settings.verl)
        seen["files"] = [(file.source.path, file.named) for file in files]
        seen["unreadable"] = unreadable
        return Report()

    engine = ModuleType("verlint.engine")
    engine.check_project = check_project  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "verlint.engine", engine)
    (example,) = find_examples(tmp_path)
    assert (example.name, example.kind, example.code) == ("VL101/bad-path", "bad", "VL101")
    assert [path.as_posix() for path in example.files()] == ["run.sh", "verlint.toml"]
    assert check_example(example) == Report()
    assert seen == {
        "tree": ["deep/more.sh", "link.sh", "odd.sh", "run.sh", "verlint.toml"],
        "bytes": b"\xff\x00" * 3,
        "mode": 0o750,
        "settings": (("VL101",), (), "0.7.1"),
        "files": [("link.sh", True), ("run.sh", True)],
        "unreadable": [Unreadable("odd.sh", "is not text: NUL at byte 1, line 1", 1)],
    }
    (folder / "case.toml").write_text("path = 'x'\n")
    with pytest.raises(ValueError, match="unknown keys path"):
        check_example(example)
