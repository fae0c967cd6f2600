"""Every reader on a clean and a broken project: the clean one is silent, the broken one says what is written down.

`fixtures/readers/KIND/broken.txt` has all findings of all rules, the diff of all fixes, and the summary.
`pytest tests/test_readers.py --bless` writes it anew; read the change before you keep it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fixture_cases import FIXTURES, ROOT, transcript
from verlint.cli.fixing import diff_text
from verlint.cli.main import main
from verlint.engine import check_project
from verlint.files.loading import Loading, load
from verlint.result import Report
from verlint.settings import read_settings

READERS = FIXTURES / "readers"
KINDS = sorted(path.name for path in READERS.iterdir())


def checked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Report, Loading]:
    """What all rules say about a folder, seen from inside it."""
    monkeypatch.chdir(folder)
    settings = read_settings(folder)
    loading = load(["."], settings)
    return check_project(loading.files, settings, folder, unreadable=loading.unreadable), loading


@pytest.mark.parametrize("kind", [kind for kind in KINDS if (READERS / kind / "clean").is_dir()])
def test_the_clean_project_is_silent(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    report, _ = checked(READERS / kind / "clean", monkeypatch)
    assert transcript(report) == ""
    assert report.summary.launchers > 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_broken_project_says_what_is_expected(
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    record_property: Callable[[str, object], None],
) -> None:
    report, loading = checked(READERS / kind / "broken", monkeypatch)
    summary = report.summary
    said = transcript(report) + diff_text(report, loading, unsafe=True)
    said += f"{summary.launchers} launchers, {summary.stages} stages, {summary.files} files\n"
    expected = READERS / kind / "broken.txt"
    if request.config.getoption("--bless") and (not expected.exists() or expected.read_text("utf-8") != said):
        expected.write_text(said, "utf-8", newline="\n")
        record_property("blessed", expected.relative_to(ROOT).as_posix())
    assert not report.crashed
    assert said == (expected.read_text("utf-8") if expected.exists() else "")


def test_a_config_checked_by_name_is_taken_for_a_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = READERS / "config" / "broken"
    monkeypatch.chdir(folder)
    loading = load(["config/mine.yaml"], read_settings(folder))
    report = check_project(loading.files, read_settings(folder), folder)
    assert [f"{finding.code} {finding.span}" for finding in report.findings] == ["VL722 config/mine.yaml:16:26"]


@pytest.mark.parametrize(
    ("kind", "file", "said"),
    [
        ("skypilot", "called.yaml", ["SkyPilot task", "called.yaml:5:7", "scripts/train.sh:12:1", "data.train_batch_size=32"]),
        ("dstack", "train.dstack.yml", ["dstack configuration grpo", "train.dstack.yml:8:5", "when HOST_RANK is 0"]),
        ("workflow", ".github/workflows/nightly.yml", ["GitHub workflow grpo", "trainer.n_gpus_per_node=8", "--batch ${{ inputs.batch }}"]),
        ("kubernetes", "job.yaml", ["RayJob grpo", "PyTorchJob pytorch", "data.train_files=/data/train.parquet"]),
    ],
)  # fmt: skip
def test_show_takes_files_of_jobs(
    kind: str, file: str, said: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(READERS / kind / "broken")
    assert main(["show", file]) == 0
    out = capsys.readouterr().out
    assert [each for each in said if each not in out] == []
    assert main(["show", file, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["jobs"]
