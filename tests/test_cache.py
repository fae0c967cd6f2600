"""What earlier runs found is taken again only when a run without it would say the same, to the last byte."""

from __future__ import annotations

import ast
import json
import os
import pickle
import random
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from checkout import ROOT
from verlint import disk, engine
from verlint.cache import store as store_module
from verlint.cache.calls import KIND
from verlint.cache.store import FORMAT, Store, default_folder
from verlint.cli.main import main
from verlint.experiment import parts
from verlint.experiment.project import Project
from verlint.files.loading import Loaded

Said = tuple[int, str, str]

TRAIN = """\
#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/common.sh
[ -d outputs ] || echo none
python3 -m verl.trainer.main_ppo \\
    data.train_files=data/train.jsonl data.train_batch_size={batch} \\
    actor_rollout_ref.model.path=models/tiny \\
    actor_rollout_ref.actor.ppo_mini_batch_size=64 \\
    trainer.n_gpus_per_node=$GPUS trainer.nnodes=1{more} "$@"
"""
LAUNCH = """\
python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=meta-llama/{name} trainer.nnodes=1 trainer.nnodes=2
"""
CONFIG = """\
defaults: [_self_]
data: {{train_files: null, train_batch_size: 1024}}
actor_rollout_ref:
  model: {{path: null}}
  actor: {{ppo_mini_batch_size: 256{more}}}
trainer: {{n_gpus_per_node: 8, nnodes: 1}}
"""
MAIN = '@hydra.main(config_path="config", config_name="ppo_trainer", version_base=None)\ndef main(config): pass\n'
MODEL = '{{"num_attention_heads": {heads}, "max_position_embeddings": 4096}}'
FOLDER, LINK = object(), object()

STATES: dict[str, tuple[object, ...]] = {
    "scripts/train.sh": (
        TRAIN.format(batch=128, more=" trainer.nnodes=2"),
        TRAIN.format(batch=100, more=" trainer.nodes=2"),
        TRAIN.format(batch=128, more=""),
    ),
    "scripts/common.sh": ("export GPUS=8\n", "export GPUS=8 WANDB_API_KEY=\n", "GPUS=3; set +u\n", None, FOLDER),
    "scripts/eval.sh": (
        None,
        TRAIN.format(batch=7, more=""),
        "# verlint: ignore[VL7] why\n" + TRAIN.format(batch=7, more=""),
    ),
    "run.sh": (None, "#!/bin/bash\nbash scripts/train.sh\nbash scripts/eval.sh data.train_batch_size=8\n"),
    "README.md": (None, "```bash\nbash scripts/train.sh trainer.nnodes=4 trainer.nnodes=5\n```\n"),
    "models/tiny/config.json": (None, MODEL.format(heads=8), MODEL.format(heads=7), "{", FOLDER),
    "data/train.jsonl": (None, '{"a": 1}\n' * 3, '{"a": 1}\n' * 300, LINK),
    "verl/trainer/config/ppo_trainer.yaml": (None, CONFIG.format(more=""), CONFIG.format(more=", entropy_coeff: 0")),
    "verl/trainer/main_ppo.py": (None, MAIN),
    "verl/version/version": (None, "0.4.1\n", "0.6.0\n"),
    "requirements.txt": (None, "verl==0.3.0\n", "verl==0.6.1\n"),
    "verlint.toml": (
        None,
        'ignore = ["VL7"]\n',
        'severity = {VL7 = "info"}\n',
        'select = ["VL0", "VL7"]\n',
        "exclude = 1\n",
    ),
    "outputs": (None, FOLDER, "x"),
}
"""What may stand at each path of a small project; None for nothing."""

CALLS = (
    ["check", "--jobs=1"],
    ["check", "scripts/train.sh", "--jobs=1"],
    ["check", ".", "--output-format", "json", "--jobs=1"],
    ["check", "--statistics", "--jobs=1"],
    ["check", "--diff", "scripts", "--jobs=1"],
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project, which is the working directory, with a cache beside it."""
    folder = tmp_path / "project"
    for path, states in STATES.items():
        put(folder / path, states[0])
    put(folder / "scripts/common.sh", "export GPUS=8\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("VERLINT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_COLOR", "1")
    return folder


def put(path: Path, state: object) -> None:
    """Make a path what it is to be."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()
    if state is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if state is FOLDER:
        path.mkdir()
    elif state is LINK:
        path.symlink_to("../scripts/train.sh")
    else:
        path.write_text(str(state), "utf-8")


def said(words: list[str], capsys: pytest.CaptureFixture[str]) -> Said:
    code = main(words)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("it was looked at again")


def entries(kind: str = KIND) -> list[Path]:
    return sorted((Path(os.environ["VERLINT_CACHE_DIR"]) / FORMAT / kind).glob("*"))


# ---- the same is said


@pytest.mark.parametrize("seed", range(int(os.environ.get("VERLINT_CACHE_SEEDS", "1"))))
def test_after_any_edit_the_same_is_said_as_without(
    seed: int, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compare_after_edits(random.Random(seed), project, capsys)


def compare_after_edits(rand: random.Random, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(int(os.environ.get("VERLINT_CACHE_EDITS", "8"))):
        path = rand.choice(list(STATES))
        put(project / path, rand.choice(STATES[path]))
        words = rand.choice(CALLS)
        fresh = said([*words, "--no-cache"], capsys)
        assert said(words, capsys) == fresh, path
        assert said(words, capsys) == fresh, "from what was just kept"


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files of every part that is looked at; all that are linked make a part of their own."""
    monkeypatch.setattr(parts, "ONE_PART", 0)
    monkeypatch.setattr(parts, "PART", 1)
    looked: list[str] = []
    real = engine._look

    def look(project: Project, files: Sequence[Loaded]) -> tuple[object, Project]:
        looked.append(" ".join(file.source.path for file in files))
        return real(project, files)

    monkeypatch.setattr(engine, "_look", look)
    return looked


@pytest.mark.parametrize("seed", range(int(os.environ.get("VERLINT_CACHE_SEEDS", "1"))))
def test_after_any_edit_parts_are_as_without(
    seed: int, project: Path, capsys: pytest.CaptureFixture[str], looks: list[str]
) -> None:
    for name in ("eval", "other", "more"):
        put(project / f"jobs/{name}.sh", TRAIN.format(batch=7, more=" trainer.logger=wandb").replace("common", name))
    put(project / "scripts/other.sh", "export GPUS=7\n")
    compare_after_edits(random.Random(seed), project, capsys)


def test_only_the_part_that_changed_is_looked_at(
    project: Path, capsys: pytest.CaptureFixture[str], looks: list[str]
) -> None:
    for name in "abcd":
        put(project / f"jobs/{name}.sh", LAUNCH.format(name=name))
    every = ["jobs/a.sh", "jobs/b.sh", "jobs/c.sh", "jobs/d.sh", "scripts/train.sh"]
    edits: dict[str, tuple[object, list[str]]] = {
        "": (None, every),
        "jobs/b.sh": (LAUNCH.format(name="b") + "# more\n", ["jobs/b.sh"]),
        "jobs/c.sh": (None, []),
        "jobs/e.sh": (LAUNCH.format(name="e"), ["jobs/e.sh"]),
        "scripts/common.sh": ("export GPUS=4\n", ["scripts/train.sh"]),
        "meta-llama/d/config.json": (MODEL.format(heads=7), ["jobs/d.sh"]),
        "login.sh": (
            LAUNCH.format(name="f") + "hf auth login\n",
            ["jobs/a.sh", "jobs/b.sh", "jobs/d.sh", "jobs/e.sh", "login.sh"],
        ),
        "verlint.toml": (
            'ignore = ["VL7"]\n',
            [each for each in every if each != "jobs/c.sh"] + ["jobs/e.sh", "login.sh"],
        ),
    }
    for path, (state, expected) in edits.items():
        if path:
            put(project / path, state)
        looks.clear()
        cached = said(["check", "--jobs=1"], capsys)
        assert sorted(looks) == sorted(expected), path
        assert cached == said(["check", "--jobs=1", "--no-cache"], capsys)


@pytest.mark.parametrize("words", CALLS, ids=" ".join)
def test_what_has_not_changed_is_not_looked_at(
    words: list[str], project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = said(words, capsys)
    assert first[0] == ("--diff" not in words)
    monkeypatch.setattr(engine, "check_loaded", refuse)
    assert said(words, capsys) == first
    put(project / "scripts/train.sh", TRAIN.format(batch=128, more=" trainer.nnodes=3"))
    code, _, errors = said(words, capsys)
    assert code == 2
    assert "it was looked at again" in errors


def test_the_quick_path_imports_neither_rules_nor_the_interpreter(project: Path) -> None:
    code = (
        "import sys; from verlint.cli.main import main; code = main(['check', 'scripts/train.sh']);"
        "print(code, *sorted(name for name in sys.modules if name.startswith('verlint')), file=sys.stderr)"
    )
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'linter'}{os.pathsep}{ROOT / 'rules'}"}
    runs = [
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout
    assert runs[1].stderr.split()[-10:] == [
        *("1", "verlint", "verlint.cache", "verlint.cache.calls", "verlint.cache.code", "verlint.cache.store"),
        *("verlint.cli", "verlint.cli.main", "verlint.disk", "verlint_rules"),
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [("COLUMNS", "60"), ("VERLINT_OUTPUT_FORMAT", "json"), ("NO_COLOR", ""), ("GITHUB_WORKSPACE", "..")],
)
def test_the_environment_counts(
    name: str, value: str, project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    words = ["check"] if name != "GITHUB_WORKSPACE" else ["check", "--output-format", "gitlab"]
    first = said(words, capsys)
    monkeypatch.setenv(name, str((project / value).resolve()) if value == ".." else value)
    second = said(words, capsys)
    assert second != first
    assert second == said([*words, "--no-cache"], capsys)


def test_two_runs_at_once(project: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'linter'}{os.pathsep}{ROOT / 'rules'}"}
    command = [sys.executable, "-m", "verlint", "check"]
    runs = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = [run.communicate()[0] for run in runs]
    assert outputs[0]
    assert outputs == [outputs[0]] * 3
    assert len(entries()) == 1
    assert not list(Path(os.environ["VERLINT_CACHE_DIR"]).rglob("*.new"))


def test_reports_are_written_into_files_again(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.json"
    words = ["check", "--output-format", "concise", "--output-format", f"json:{out}"]
    first, text = said(words, capsys), out.read_bytes()
    out.unlink()
    monkeypatch.setattr(engine, "check_loaded", refuse)
    assert said(words, capsys) == first
    assert out.read_bytes() == text
    (entry,) = entries()
    packed = zlib.compress(
        zlib.decompress(entry.read_bytes().partition(b"\n")[2]).replace(str(out).encode(), b"elsewhere")
    )
    entry.write_bytes(f"{FORMAT} {KIND} {entry.name} {disk.digest(packed)}\n".encode() + packed)
    assert said(words, capsys)[0] == 2, "it was looked at again"
    assert not (project / "elsewhere").exists()


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no such file")
@pytest.mark.parametrize("redirection", ["", " >/dev/null", " >&-"])
def test_what_goes_to_standard_output_in_two_ways_keeps_its_order(redirection: str, project: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'linter'}{os.pathsep}{ROOT / 'rules'}"}
    start = f"{sys.executable} -c 'from verlint.cli.main import console; console()' check"
    command = f"{start} --output-format concise --output-format json:/dev/stdout{redirection}"
    runs = [subprocess.run(command, shell=True, env=environment, capture_output=True) for _ in range(2)]
    assert [run.stdout for run in runs] == [runs[0].stdout] * 2
    assert bool(runs[0].stdout) == (not redirection)


def test_files_that_the_settings_name_are_not_written_from_an_entry(
    project: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    put(project / "verlint.toml", f'output-format = "json:{(tmp_path / "out.json").as_posix()}"\n')
    said(["check"], capsys)
    assert (tmp_path / "out.json").exists()
    assert entries() == []


# ---- what is kept, and where


def test_what_changes_files_or_asks_past_is_not_kept(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--fix"], ["--write-baseline"], ["--add-ignore", "why"]):
        said(["check", *words], capsys)
    said(["check", "--help"], capsys)
    said(["check", "--show-settings"], capsys)
    put(project / "verlint.toml", "cache = false\n")
    said(["check"], capsys)
    said(["check", "--no-cache", "scripts"], capsys)
    assert entries() == []


def test_a_crash_is_not_kept(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(engine, "_about", crash)
    assert main(["check"]) == 2
    assert entries() == []


def test_where_entries_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("VERLINT_CACHE_DIR", "here")
    assert default_folder() == "here"
    monkeypatch.setenv("VERLINT_CACHE_DIR", "")
    assert default_folder() == ""
    monkeypatch.delenv("VERLINT_CACHE_DIR")
    if os.name == "nt":
        return
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == str(tmp_path / "verlint")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/someone")
    base = "Library/Caches" if sys.platform == "darwin" else ".cache"
    assert default_folder() == f"/home/someone/{base}/verlint"


def test_a_folder_of_the_call(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--cache-dir", str(tmp_path / "a")], [f"--cache-dir={tmp_path / 'b'}"]):
        said(["check", *words], capsys)
    assert entries() == []
    for name in "ab":
        assert len(list((tmp_path / name / FORMAT / KIND).iterdir())) == 1
        assert [path.name for path in (tmp_path / name).iterdir()] == [FORMAT], "what else is there is left alone"
        assert (tmp_path / name / FORMAT / ".gitignore").read_text().endswith("*\n")


@pytest.mark.skipif(os.name == "nt", reason="other permissions")
def test_only_the_user_may_read_entries(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(["check"], capsys)
    (entry,) = entries()
    assert entry.stat().st_mode & 0o777 == 0o600
    assert entry.parent.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_cannot_be_written_is_no_error(
    project: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    fresh = said(["check", "--no-cache"], capsys)
    assert said(["check", "--cache-dir", str(tmp_path / "file" / "x")], capsys) == fresh
    assert said(["check", "--cache-dir", os.devnull], capsys) == fresh


def test_old_entries_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Store(str(tmp_path))
    for number in range(4):
        kept.put("calls", f"{number}", ["x" * 10])
        os.utime(tmp_path / FORMAT / "calls" / str(number), (10**9 + number, 10**9 + number))
    assert len(list((tmp_path / FORMAT / "calls").iterdir())) == 4
    monkeypatch.setattr(store_module, "BETWEEN", 0)
    kept.put("calls", "new", ["x"])
    assert [path.name for path in (tmp_path / FORMAT / "calls").iterdir()] == ["new"]
    monkeypatch.setattr(store_module, "BETWEEN", 3_600)
    os.utime(tmp_path / FORMAT / "trimmed", (2**32, 2**32))
    monkeypatch.setattr(store_module, "MOST", 1)
    kept.put("calls", "newer", ["x"])
    assert list((tmp_path / FORMAT / "calls").iterdir()) == []


@pytest.mark.parametrize("words", [["check"], ["check", "scripts/train.sh"]], ids=" ".join)
def test_a_cache_in_the_checked_folder_changes_nothing(
    words: list[str], project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = said([*words, "--no-cache"], capsys)
    kept = [*words, "--cache-dir", "cache"]
    assert [said(kept, capsys), said(kept, capsys)] == [fresh, fresh]
    assert said([*words, "--no-cache"], capsys) == fresh
    monkeypatch.setattr(engine, "check_loaded", refuse)
    assert said(kept, capsys) == fresh


def test_nothing_behind_a_link_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "other/calls/old", "")
    os.utime(tmp_path / "other/calls/old", (10**9, 10**9))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / FORMAT).symlink_to(tmp_path / "other")
    Store(str(tmp_path / "cache")).put("calls", "new", ["x"])
    assert (tmp_path / "other/calls/old").exists()


# ---- entries that somebody else wrote


class Evil:
    def __reduce__(self) -> object:
        return (os.mkdir, ("ran",))


def _foreign(entry: Path) -> Iterator[bytes]:
    data = entry.read_bytes()
    yield pickle.dumps(Evil())
    yield b""
    yield b"\0" * 100
    yield data[:-1]
    yield data[: len(data) // 2]
    yield data + b"x"
    yield data.replace(FORMAT.encode(), b"verlint-0", 1)
    yield data.replace(b" calls ", b" parts ", 1)
    for texts in (["1"], ["x", "0"], ["2", "0"], ["0", "9"], ["0", "0", "no such question"], ["0", "0", "a", "b", "c"]):
        rest = zlib.compress("\0".join(texts).encode())
        yield f"{FORMAT} {KIND} {entry.name} {disk.digest(rest)}\n".encode() + rest
    bomb = zlib.compress(b"0" * 300_000_000, 9)
    yield f"{FORMAT} {KIND} {entry.name} {disk.digest(bomb)}\n".encode() + bomb
    yield f"{FORMAT} {KIND} {entry.name} {disk.digest(b'xyz')}\nxyz".encode()


def test_a_damaged_or_foreign_entry_is_none(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["check", "scripts/train.sh"]
    first = said(words, capsys)
    (entry,) = entries()
    good = entry.read_bytes()
    for data in _foreign(entry):
        entry.write_bytes(data)
        assert said(words, capsys) == first, data[:80]
        assert entry.read_bytes() == good
    assert not (project / "ran").exists()


def _foreign_parts(entry: Path) -> Iterator[bytes]:
    rest = entry.read_bytes().partition(b"\n")[2]
    good = json.loads(zlib.decompress(rest))
    asked, of_all, read, (classes, rows, last) = good
    other: list[object] = [
        "text",
        [],
        [[["bytes x", "y", "z"]], of_all, read, [classes, rows, last]],
        [asked, [["os:mkdir", "ran", ""]], read, [classes, rows, last]],
        [asked, [["verlint.__main__:main", ""]], read, [classes, rows, last]],
        [asked, of_all, [["read", "../outside", "x"]], [classes, rows, last]],
        [asked, of_all, read, [["os:mkdir"], [["record", 0, "ran"]], [0]]],
        [asked, of_all, read, [["verlint.cli.main:main"], [["record", 0, ["check"]]], [0]]],
        [asked, of_all, read, [["verlint.cache.store:Store"], [["record", 0, "ran"]], [0]]],
        [asked, of_all, read, [classes, [*rows, ["tuple", [len(rows) + 5]]], last]],
        [asked, of_all, read, [classes, [*rows, ["no such row"]], last]],
        [asked, of_all, read, [classes, [["tuple", [-1]]], [0]]],
        [asked, of_all, read, [classes, rows, [0]]],
        [asked, of_all, read, [classes, rows, 5]],
        [asked, of_all, read, [[], [["tuple"], ["tuple", [0], [0]]], [1]]],
    ]
    for data in other:
        packed = zlib.compress(json.dumps(data).encode())
        yield f"{FORMAT} parts {entry.name} {disk.digest(packed)}\n".encode() + packed


def test_a_foreign_part_is_none(project: Path, capsys: pytest.CaptureFixture[str], looks: list[str]) -> None:
    words = ["check", "--jobs=1"]
    put(project / "jobs/a.sh", LAUNCH.format(name="a"))
    first = said(words, capsys)
    entry = entries("parts")[0]
    good = entry.read_bytes()
    for data in _foreign_parts(entry):
        entry.write_bytes(data)
        entries()[0].unlink()
        looks.clear()
        assert said(words, capsys) == first, data[:80]
        assert len(looks) == 1
        assert entry.read_bytes() == good
    assert not (project / "ran").exists()


# ---- the one way to the disk

QUESTIONS = {
    "os": {
        "stat",
        "lstat",
        "listdir",
        "scandir",
        "walk",
        "access",
        "open",
        "readlink",
        "environ",
        "getenv",
        "environb",
    },
    "os.path": {"exists", "lexists", "isdir", "isfile", "islink", "realpath", "getsize", "getmtime", "expanduser"},
    "posixpath": {"exists", "lexists", "isdir", "isfile", "islink", "realpath", "getsize", "getmtime", "expanduser"},
}
OF_PATHS = {
    *("is_file", "is_dir", "is_symlink", "read_text", "read_bytes", "iterdir", "rglob", "lstat", "readlink", "home"),
    *("expanduser", "samefile", "is_mount", "is_fifo", "open", "stat", "exists", "glob", "resolve"),
}
MODULES = {
    "subprocess",
    "time",
    "datetime",
    "socket",
    "platform",
    "getpass",
    "locale",
    "random",
    "shutil",
    "tempfile",
    "glob",
}
NOT_THROUGH = {
    "verlint/disk.py": "the one way",
    "verlint/cache/": "keeps what was found",
    "verlint/header.py": "reads the rules' own files, which are a part of what an entry is kept under",
    "verlint/packs.py": "nothing is kept of a run with packs",
    "verlint/verl/schema.py": "reads its own data, likewise",
    "verlint/workers.py": "asks for the number of processors only",
    "verlint/__main__.py": "finds verlint itself",
    "verlint/example.py": "is not for checks",
    "verlint/docs.py": "is not for checks",
    "verlint/spec_page.py": "is not for checks",
    "verlint/editor/": "is not for checks",
    "verlint/plan/": "is not for checks",
    "verlint/graph/": "is not for checks",
}
OF_CHECKS = {"main", "check", "call", "output", "baselining", "settings_check"}
"""Modules of `verlint.cli` that a check which is kept goes through."""
ALLOWED = {
    "verlint/cli/main.py": {"os.open", "os.environ", "os.path.exists"},  # no reader; for errors and wrong calls
    "verlint/cli/output.py": set[str](),
    "verlint/languages/python/syntax.py": {".resolve"},  # of libcst
    "verlint/modules.py": {"os.open", "os.stat"},  # of our own code, which is in the key
    "verlint/baseline.py": set[str](),
}


def sources() -> Iterator[tuple[str, ast.AST]]:
    for root in (ROOT / "linter", ROOT / "rules"):
        for path in sorted(root.rglob("*.py")):
            name = path.relative_to(root).as_posix()
            of_cli = name.startswith("verlint/cli/") and path.stem not in OF_CHECKS
            if not of_cli and not any(name.startswith(each) for each in NOT_THROUGH):
                yield name, ast.parse(path.read_text("utf-8"))


def asked_past(tree: ast.AST) -> Iterator[str]:
    """What a module asks of the disk, the environment or the clock by other ways than `verlint.disk`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            of = ast.unparse(node.value)
            if node.attr in QUESTIONS.get(of, ()):
                yield f"{of}.{node.attr}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in OF_PATHS:
            of = ast.unparse(node.func.value)
            if of.split(".")[-1] not in ("disk", "tree", "_disk", "files", "os", "path") and of != "os.path":
                yield f".{node.func.attr}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
            yield "open"
        if isinstance(node, ast.Import) and MODULES.intersection(each.name for each in node.names):
            yield ast.unparse(node)
        if isinstance(node, ast.ImportFrom) and node.module in (*MODULES, "os", "os.path"):
            names = {each.name for each in node.names}
            if node.module in MODULES or names & (QUESTIONS["os"] | QUESTIONS["os.path"]):
                yield ast.unparse(node)


def test_nothing_a_check_goes_through_asks_past_the_one_way() -> None:
    wrong = [
        f"{name}: {each}" for name, tree in sources() for each in asked_past(tree) if each not in ALLOWED.get(name, ())
    ]
    assert wrong == []


def test_rules_ask_all_files_in_one_way() -> None:
    """A rule that looked past its part would not be noticed when a part is taken as it was."""
    wrong = [
        f"{name}:{node.lineno}"
        for name, tree in sources()
        if name.startswith("verlint_rules/")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "whole" and ast.unparse(node.value).endswith("project")
    ]
    assert wrong == []


def test_what_is_opened_was_noted(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Python itself says what it opens and lists; nothing of the project may be missing among the questions."""
    put(project / "models/tiny/config.json", MODEL.format(heads=7))
    put(project / "data/train.jsonl", '{"a": 1}\n')
    put(project / "verl/trainer/config/ppo_trainer.yaml", CONFIG.format(more=""))
    put(project / "verl/trainer/main_ppo.py", MAIN)
    opened: set[str] = set()
    listening = True

    def hear(event: str, arguments: tuple[object, ...]) -> None:
        if listening and event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], (str, os.PathLike)):
            opened.add(os.path.abspath(os.fspath(arguments[0])))

    sys.addaudithook(hear)
    with disk.gathered() as questions:
        main(["check", "--no-cache"])
    listening = False
    capsys.readouterr()
    about = {os.path.abspath(each) for _, each in questions.asked}
    here = {path for path in opened if path.startswith(str(project))}
    assert here, "it has read something"
    assert here - about == set()
