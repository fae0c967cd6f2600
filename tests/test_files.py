"""Which files are found, what they are taken for, and what is said of those that cannot be read."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from verlint import disk
from verlint.files import reader
from verlint.files.discovery import discover
from verlint.files.kinds import Kind, classify
from verlint.files.loading import load, load_around, load_text
from verlint.files.reader import Unreadable, read
from verlint.settings import Settings
from verlint.source import Source

LAUNCHER = "python3 -m verl.trainer.main_ppo trainer.nnodes=1\n"
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is missing")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def found(*paths: str, exclude: tuple[str, ...] = (), force_exclude: bool = False) -> list[str]:
    settings = Settings(root=Path.cwd(), exclude=exclude)
    return [candidate.shown for candidate in discover(paths, settings, force_exclude=force_exclude).candidates]


# Discovery -----------------------------------------------------------------------------------------------------------


def test_a_walk_is_sorted_and_passes_by_what_is_nobodys_own(here: Path) -> None:
    put(here, dict.fromkeys(["b.sh", "a/c.sh", "a/B.sh", ".git2/x.sh", "node_modules/n.sh", ".venv/v.sh"], ""))
    put(here, dict.fromkeys(["a/__pycache__/p.py", ".ci/run"], ""))
    assert found(".") == [".ci/run", ".git2/x.sh", "a/B.sh", "a/c.sh", "b.sh"]


@needs_git
def test_git_knows_what_is_ignored_and_untracked(here: Path) -> None:
    put(here, {"kept.sh": "", "new.sh": "", "out/run.sh": "", ".gitignore": "out/\n", "gone.sh": "", "é x.sh": ""})
    git(here, "init", "-q")
    git(here, "add", "kept.sh", "gone.sh")
    (here / "gone.sh").unlink()
    assert found(".") == [".gitignore", "kept.sh", "new.sh", "é x.sh"]
    assert found("out/run.sh") == ["out/run.sh"]


@needs_git
def test_a_repository_inside_is_searched_by_its_own_git(here: Path) -> None:
    put(here, {"run.sh": "", "verl/train.sh": "", "verl/build/x.sh": "", "verl/.gitignore": "build\n"})
    git(here, "init", "-q")
    git(here / "verl", "init", "-q")
    assert found(".") == ["run.sh", "verl/.gitignore", "verl/train.sh"]


@needs_git
def test_a_repository_below_a_plain_folder_is_searched_by_git(here: Path) -> None:
    put(here, {"run.sh": "", "verl/train.sh": "", "verl/build/x.sh": "", "verl/.gitignore": "build\n"})
    git(here / "verl", "init", "-q")
    assert found(".") == ["run.sh", "verl/.gitignore", "verl/train.sh"]


@needs_git
def test_variables_of_a_running_git_do_not_mislead(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(here, {"one/a.sh": "", "two/b.sh": ""})
    git(here / "one", "init", "-q")
    git(here / "two", "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(here / "two" / ".git"))
    assert found("one") == ["one/a.sh"]


@needs_git
@pytest.mark.skipif(not hasattr(signal, "SIGCHLD"), reason="no such signal")
def test_git_is_heard_where_nobody_is_told_how_processes_end(here: Path) -> None:
    put(here, {"a.sh": "", "out/b.sh": "", ".gitignore": "out\n"})
    git(here, "init", "-q")
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert found(".") == [".gitignore", "a.sh"]
    finally:
        signal.signal(signal.SIGCHLD, before)


@needs_git
def test_no_program_of_the_checked_repository_is_started(here: Path) -> None:
    put(here, {"a.sh": "", "hook": "#!/bin/sh\ntouch started\n"})
    (here / "hook").chmod(0o755)
    git(here, "init", "-q")
    git(here, "config", "core.fsmonitor", "./hook")
    assert found(".") == ["a.sh", "hook"]
    assert not (here / "started").exists()


def test_excludes_hold_for_named_files_only_on_demand(here: Path) -> None:
    put(here, {"a/x.sh": "", "b/x.sh": ""})
    assert found(".", exclude=("a",)) == ["b/x.sh"]
    assert found("a/x.sh", exclude=("a",)) == ["a/x.sh"]
    assert found("a/x.sh", "b/x.sh", exclude=("a",), force_exclude=True) == ["b/x.sh"]
    assert found("a", "b", exclude=("a",), force_exclude=True) == ["b/x.sh"]


def test_a_checkout_below_an_excluded_name_is_still_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"build/project/x.sh": ""})
    monkeypatch.chdir(tmp_path / "build" / "project")
    assert found(".", exclude=("build",), force_exclude=True) == ["x.sh"]


def test_links_out_of_the_tree_are_not_followed(here: Path) -> None:
    put(here, {"out/secret.sh": "", "in/real.sh": ""})
    (here / "in" / "away.sh").symlink_to(here / "out" / "secret.sh")
    (here / "in" / "same.sh").symlink_to("real.sh")
    (here / "in" / "loop").symlink_to(here / "in")
    result = discover(["in"], Settings(root=here))
    assert [candidate.shown for candidate in result.candidates] == ["in/real.sh"]
    assert [(skipped.shown, skipped.reason) for skipped in result.skipped] == [
        ("in/away.sh", "symbolic link out of the checked folder"),
        ("in/loop", "symbolic link to a folder, which is not followed"),
        ("in/same.sh", "symbolic link to a file that is checked itself"),
    ]
    assert found("in/away.sh") == ["in/away.sh"]


def test_a_path_that_is_not_there_is_a_problem(here: Path) -> None:
    assert discover(["no.sh", "no/way"], Settings(root=here)).problems == [
        Unreadable("no.sh", "does not exist"),
        Unreadable("no/way", "does not exist"),
    ]


def test_a_folder_that_cannot_be_listed_is_a_problem(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(here, {"a/x.sh": "", "b/x.sh": ""})
    real = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("/a"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    result = discover(["."], Settings(root=here))
    assert [candidate.shown for candidate in result.candidates] == ["b/x.sh"]
    assert result.problems == [Unreadable("a", "cannot be listed: Permission denied")]


def test_paths_outside_the_current_folder_are_shown_as_given(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(here, {"a/x.sh": "", "b/y.sh": ""})
    monkeypatch.chdir(here / "a")
    assert found("../b/y.sh", str(here / "a" / "x.sh")) == ["../b/y.sh", "x.sh"]


# Kinds ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "text", "kind", "reason"),
    [
        ("train.sh", LAUNCHER, Kind.LAUNCHER, "starts main_ppo"),
        ("train.slurm", "#SBATCH -N 2\nsrun python -m verl.trainer.fsdp_sft_trainer\n", Kind.LAUNCHER, "runs a VeRL module"),
        ("job.sbatch", "ray start --head\n", Kind.LAUNCHER, "starts a Ray node"),
        ("job.bash", "ray job submit -- bash x.sh\n", Kind.LAUNCHER, "submits a Ray job"),
        ("run", "#!/usr/bin/env bash\npip install -e ./verl\n", Kind.LAUNCHER, "installs VeRL"),
        ("run", "#!/usr/bin/env python3\nmain_ppo\n", Kind.NONE, "not a kind of file that verlint reads"),
        ("all.sh", "bash go.sh --exp_name x\n", Kind.LAUNCHER, "passes options of an LMOps launcher"),
        ("hydra.sh", "python t.py trainer.nnodes=2\n", Kind.LAUNCHER, "sets VeRL keys"),
        ("deploy.sh", "docker build .\n", Kind.NONE, "no mark of a VeRL launcher"),
        ("test.sh", "if [ $trainer.x == y ]; then true; fi\n", Kind.NONE, "no mark of a VeRL launcher"),
        ("a.exp.yaml", "name: x\n", Kind.SPEC, "is named as an experiment spec"),
        ("a.exp.yml", "", Kind.SPEC, "is named as an experiment spec"),
        ("a.yaml", "# c\nschema: verlint/exp-v1\n", Kind.SPEC, "has the key `schema: verlint/…`"),
        ("a.yaml", "jobs:\n  schema: verlint/exp-v1\n", Kind.NONE, "no mark of a VeRL launcher"),
        ("r.yaml", "apiVersion: ray.io/v1\n", Kind.YAML, "has `apiVersion`"),
        ("runtime_env.yaml", "working_dir: ./\n", Kind.YAML, "has `working_dir`"),
        ("verl/trainer/config/ppo.yaml", "actor_rollout_ref:\n", Kind.NONE, "part of the VeRL package"),
        ("conf/ppo.yaml", "actor_rollout_ref:\n", Kind.YAML, "sets VeRL keys"),
        ("README.md", "```bash\n" + LAUNCHER + "```\n", Kind.DOCUMENT, "starts main_ppo"),
        ("README.md", "# Cats\n", Kind.NONE, "no mark of a VeRL launcher"),
        ("go.py", "import subprocess\nsubprocess.run(['python', '-m', 'verl.trainer.main_ppo'])\n", Kind.PYTHON, "starts main_ppo"),
        ("mod.py", "from verl.trainer import main_ppo\n", Kind.NONE, "no mark of a VeRL launcher"),
        ("x.tar", "main_ppo", Kind.NONE, "not a kind of file that verlint reads"),
    ],
)  # fmt: skip
def test_content_decides_the_kind(path: str, text: str, kind: Kind, reason: str) -> None:
    choice = classify(path, text)
    assert (choice.kind, choice.reason) == (kind, reason)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("x.sh", Kind.LAUNCHER),
        ("x.yaml", Kind.YAML),
        ("x.md", Kind.DOCUMENT),
        ("x.py", Kind.PYTHON),
        ("x.c", Kind.NONE),
    ],
)
def test_a_named_file_needs_no_mark(path: str, kind: Kind) -> None:
    assert classify(path, "echo hello\n", named=True).kind is kind


# Reading -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a\r\nb\n", "a\r\nb\n"),
        (b"\xef\xbb\xbfecho\n", "echo\n"),
        ("né 🙂\n".encode(), "né 🙂\n"),
        (b"", ""),
        (b"a\n\0\n", Unreadable("x.sh", "is not text: NUL at byte 2, line 2", 2)),
        (b"a\nb\xe9\n", Unreadable("x.sh", "is not UTF-8: byte 0xe9 at byte 3, line 2", 3)),
        (b"\xef\xbb\xbfa\xff", Unreadable("x.sh", "is not UTF-8: byte 0xff at byte 4, line 1", 4)),
        (b"\xff\xfea\0", Unreadable("x.sh", "is UTF-16 text, not UTF-8", 0)),
        (b"\xed\xa0\x80", Unreadable("x.sh", "is not UTF-8: byte 0xed at byte 0, line 1", 0)),
    ],
)
def test_reading(tmp_path: Path, data: bytes, expected: str | Unreadable) -> None:
    path = tmp_path / "x.sh"
    path.write_bytes(data)
    result = read(path, "x.sh")
    assert (result.text if isinstance(result, Source) else result) == expected


def test_a_large_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.sh"
    path.write_bytes(b"#" * 2_000_001)
    monkeypatch.setattr(reader, "LIMIT", 2_000_000)
    assert read(path, "x.sh") == Unreadable("x.sh", "is too large (2.0 MB; the limit is 2 MB)")


def test_a_long_launcher_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "python3 -m verl.trainer.main_ppo\n" + "echo more\n" * 20_000
    Path("train.sh").write_text(text)
    Path("installer.sh").write_text("#!/bin/bash\n" + "echo more\n" * 20_000)
    reason = "is too long for a launcher (200 kB; the limit is 128 kB)"
    assert load(["."], Settings(tmp_path)).unreadable == [Unreadable("train.sh", reason)]
    assert load_text(text.encode(), "", Settings(tmp_path)).unreadable == [Unreadable("<stdin>", reason)]


def test_odd_paths_give_a_reason(tmp_path: Path) -> None:
    (tmp_path / "broken").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    reasons = {
        name: getattr(read(tmp_path / name, name), "reason", "")
        for name in ("", "none", "broken", "pipe", "x" * 300, "a\0b")
    }
    assert reasons == {
        "": "is a folder",
        "none": "does not exist",
        "broken": "is a symbolic link to nothing",
        "pipe": "is not a regular file (give a stream as - on standard input)",
        "x" * 300: "cannot be read: File name too long",
        "a\0b": "cannot be read: embedded null byte",
    }


def test_no_permission_is_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.sh"
    path.write_text("")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(disk, "_bytes", refuse)
    assert read(path, "x.sh") == Unreadable("x.sh", "cannot be read: Permission denied")


# Loading -------------------------------------------------------------------------------------------------------------


def test_every_path_gets_a_decision(here: Path) -> None:
    put(
        here,
        {
            "scripts/one.sh": LAUNCHER,
            "all.sh": "for x in 1 2; do\n  bash scripts/one.sh $x\ndone\n",
            "twice.sh": 'cd "$D" && bash ./all.sh\n',
            "other.sh": "# bash scripts/one.sh\nls\n",
            "a.exp.yaml": "schema: verlint/exp-v1\n",
            "data.bin": "x",
            "notes": "text",
        },
    )
    (here / "latin.py").write_bytes(b"# caf\xe9\n")
    (here / "bad.sh").write_bytes(b"\xff\n")
    loading = load(["."], Settings(root=here))
    assert [(decision.shown, decision.kind.value, decision.reason) for decision in loading.decisions] == [
        ("a.exp.yaml", "spec", "is named as an experiment spec"),
        ("all.sh", "launcher", "calls scripts/one.sh"),
        ("bad.sh", "none", "is not UTF-8: byte 0xff at byte 0, line 1"),
        ("data.bin", "none", "not a kind of file that verlint reads"),
        ("latin.py", "none", "is not UTF-8: byte 0xe9 at byte 5, line 1"),
        ("notes", "none", "not a kind of file that verlint reads"),
        ("other.sh", "none", "no mark of a VeRL launcher"),
        ("scripts/one.sh", "launcher", "starts main_ppo"),
        ("twice.sh", "launcher", "calls all.sh"),
    ]
    assert [file.source.path for file in loading.files] == ["a.exp.yaml", "all.sh", "scripts/one.sh", "twice.sh"]
    assert [problem.path for problem in loading.unreadable] == ["bad.sh"]
    assert loading.skipped == 4


def test_named_files_are_checked_whatever_they_hold_unless_a_tool_names_them(here: Path) -> None:
    put(here, {"plain.sh": "ls\n", "train.sh": LAUNCHER})
    names = ["plain.sh", "train.sh"]
    settings = Settings(root=here)
    assert [file.source.path for file in load(names, settings).files] == names
    assert [file.source.path for file in load(names, settings, names_are_wishes=False).files] == ["train.sh"]


def test_the_byte_order_mark_is_remembered(here: Path) -> None:
    (here / "x.sh").write_bytes(b"\xef\xbb\xbf" + LAUNCHER.encode())
    (file,) = load(["x.sh"], Settings(root=here)).files
    assert (file.bom, file.source.text) == (True, LAUNCHER)


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("", "ls\n", Kind.LAUNCHER),
        ("", "schema: verlint/exp-v1\n", Kind.SPEC),
        ("a.exp.yaml", "name: x\n", Kind.SPEC),
        ("x.sh", "ls\n", Kind.LAUNCHER),
    ],
)
def test_standard_input_has_the_kind_of_its_name_or_content(here: Path, name: str, text: str, kind: Kind) -> None:
    (file,) = load_text(text.encode(), name, Settings(root=here)).files
    assert (file.kind, file.source.path, file.named) == (kind, name or "<stdin>", True)


def test_specs_that_mention_a_file_come_along(here: Path) -> None:
    put(
        here,
        {"scripts/a.sh": LAUNCHER, "x/one.exp.yaml": "launcher: scripts/a.sh\n", "two.exp.yaml": "launcher: b.sh\n"},
    )
    settings = Settings(root=here)
    seeds = load(["scripts/a.sh"], settings).files
    assert [(spec.source.path, spec.named) for spec in load_around(seeds, settings)] == [("x/one.exp.yaml", False)]
