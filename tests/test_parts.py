"""A large project is checked part by part: nothing is found that the whole would not show, nothing is lost, and a part
that has been checked is let go."""

from __future__ import annotations

import gc
import os
import weakref
from pathlib import Path

import pytest

from fixture_cases import FIXTURES
from verlint import workers
from verlint.engine import check_project
from verlint.experiment import parts
from verlint.experiment.parts import parts_of
from verlint.experiment.project import Project
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded, load
from verlint.report import render
from verlint.result import Report
from verlint.settings import Settings

FOLDERS = [FIXTURES / "experiments" / family / "broken" for family in ("gad", "opcd", "opo")]
LAUNCH = 'python3 -m verl.trainer.main_ppo data.train_batch_size=64 trainer.nnodes=1 trainer.nnodes=2 "$@"\n'


def files_in(folder: Path) -> list[Loaded]:
    """The launchers and documents of a folder, which is the working directory."""
    return [file for file in load(["."], Settings(root=folder)).files if file.kind is not Kind.SPEC]


def checked(folder: Path, jobs: int = 1) -> Report:
    return check_project(files_in(folder), Settings(root=folder, select=("ALL",)), folder, jobs=jobs)


@pytest.fixture
def one_file_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "ONE_PART", 0)
    monkeypatch.setattr(parts, "PART", 1)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.parent.name)
def test_parts_give_what_the_whole_gives(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    whole = checked(folder)
    assert whole.findings, "there is something to lose"
    monkeypatch.setattr(parts, "ONE_PART", 0)
    monkeypatch.setattr(parts, "PART", 1)
    assert render(checked(folder), "json") == render(whole, "json")


@pytest.mark.usefixtures("one_file_a_part")
def test_what_a_file_is_about_is_told_by_other_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    choice = "# pick the best checkpoint of {}\n" + LAUNCH + "grep rouge logs/*.txt | sort -k2 | tail -1\n"
    for name in ("GAD", "all"):
        (tmp_path / f"choose_{name}.sh").write_text(choice.format(name))
    assert not [found for found in checked(tmp_path).findings if found.code == "VL514"]
    (tmp_path / "train.sh").write_text("# verlint: family=gad\n" + LAUNCH)
    assert [found.file for found in checked(tmp_path).findings if found.code == "VL514"] == ["choose_GAD.sh"]


@pytest.mark.usefixtures("one_file_a_part")
def test_processes_give_what_one_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run_a.sh").write_text(LAUNCH + "export HF_TOKEN=hf_" + "0123456789abcdef" * 2 + "0\n")
    (tmp_path / "run_b.sh").write_text(LAUNCH.replace("nnodes=2", "nnodes=$UNSET_NAME") + "bash helper\n")
    (tmp_path / "helper").write_text("# verlint: ignore[VL709]\n" + LAUNCH)  # no launcher by its name: read by a call
    (tmp_path / "all.sh").write_text('set -u\nfor name in a b; do bash "run_$name.sh" data.train_batch_size=8; done\n')
    one = render(checked(tmp_path), "json")
    assert "VL709" in one
    assert "0123456789abcdef" not in one
    for jobs in (2, 5):
        assert render(checked(tmp_path, jobs), "json") == one


@pytest.mark.usefixtures("one_file_a_part")
def test_what_a_killed_process_was_looking_at_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / f"run_{name}.sh").write_text(LAUNCH)
    one = render(checked(tmp_path), "json")
    monkeypatch.setattr(workers, "_begin", os._exit)
    monkeypatch.setattr(workers.Workers, "begun_with", lambda self, look: (3,))
    assert render(checked(tmp_path, 2), "json") == one


@pytest.mark.usefixtures("one_file_a_part")
def test_scripts_that_name_each_other_are_one_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "train.sh").write_text(LAUNCH)
    (tmp_path / "scripts" / "other.sh").write_text(LAUNCH)
    (tmp_path / "all.sh").write_text("bash ./scripts/train.sh trainer.total_epochs=1\n")
    (tmp_path / "README.md").write_text(
        "```bash\npip install verl\nbash $HERE/scripts/other.sh trainer.total_epochs=1\n```\n"
    )
    found = [[file.source.path for file in part] for part in parts_of(files_in(tmp_path))]
    assert found == [["README.md", "scripts/other.sh"], ["all.sh", "scripts/train.sh"]]


@pytest.mark.usefixtures("one_file_a_part")
def test_a_call_whose_name_is_computed_joins_the_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run_a.sh").write_text(LAUNCH)
    (tmp_path / "run_b.sh").write_text(LAUNCH)
    (tmp_path / "verl_all.sh").write_text(
        'python3 -m verl.trainer.main_eval\nfor name in a b; do\n    bash "run_$name.sh" data.train_batch_size=8\ndone\n'
    )
    files = files_in(tmp_path)
    assert [len(part) for part in parts_of(files)] == [1, 1, 1]
    report = checked(tmp_path)
    calls = [each.contexts for each in report.findings if each.file.startswith("run_") and each.code == "VL709"]
    assert calls == [("called at verl_all.sh:3:5",)] * 2


@pytest.mark.usefixtures("one_file_a_part")
def test_a_file_that_a_finding_points_at_stays_in_its_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run_generate.sh").write_text(LAUNCH)
    (tmp_path / "all.sh").write_text("python3 -m verl.trainer.main_eval\nbash run_generate.sh.sh\n")
    looks: list[int] = []
    part = Project.part

    def counted(self: Project, files: list[Loaded]) -> Project:
        looks.append(len(files))
        return part(self, files)

    monkeypatch.setattr(Project, "part", counted)
    report = checked(tmp_path)
    assert looks == [1, 1, 0], "each file once, then what speaks of no file"
    missing = [each for each in report.findings if each.code == "VL010"]
    assert [str(related.span) for each in missing for related in each.related] == ["run_generate.sh:1:1"]


@pytest.mark.usefixtures("one_file_a_part")
def test_a_part_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(4):
        (tmp_path / f"run_{number}.sh").write_text(
            f"while [ $# -gt 0 ]; do\n case $1 in\n --a) A=$2; shift 2;;\n esac\ndone\ncd /data/{number}\n" + LAUNCH
        )
    made: list[weakref.ref[Project]] = []
    alive: list[int] = []
    begin = Project.__init__

    def counted(self: Project, *arguments: object) -> None:
        gc.collect()
        alive.append(sum(each() is not None for each in made))
        made.append(weakref.ref(self))
        begin(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Project, "__init__", counted)
    checked(tmp_path)
    assert len(alive) >= 5
    assert max(alive) == 1, "the whole, and no part before the one that is made"
