"""`verlint inputs`: broken inputs of every kind give a finding each, with little memory and without a traceback."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from constraint_launches import parquet_end
from fixture_cases import FIXTURES, ROOT
from verlint.cli.main import main


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


@pytest.fixture
def open_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that every user may enter, as the current one."""
    with tempfile.TemporaryDirectory(prefix="verlint-") as name:
        Path(name).chmod(0o755)
        monkeypatch.chdir(name)
        yield Path(name)


@contextlib.contextmanager
def bound_by_modes() -> Iterator[None]:
    """As a user to whom the modes of files apply: the superuser, whom they do not bind, becomes another one."""
    if os.geteuid() != 0:
        yield
        return
    try:
        os.seteuid(65534)
    except OSError:
        pytest.skip("there is no other user in this namespace")
    try:
        yield
    finally:
        os.seteuid(0)


DENIED = {
    "list": ("--experience-list list.txt", "list.txt", "VL820 the experience list cannot be read: Permission denied"),
    "list's folder": (
        "--experience-list in/list.txt",
        "in",
        "VL820 the experience list cannot be read: Permission denied",
    ),
    "prompt": (
        "--system-prompt-file in/p.txt",
        "in/p.txt",
        "VL820 the system prompt cannot be read: Permission denied",
    ),
    "root": ("--data-root in", "in", "VL820 the data root cannot be read: Permission denied"),
    "parquet": (
        "--data-root . --expect-file in/x.parquet",
        "in/x.parquet",
        "VL825 the file cannot be read: Permission denied",
    ),
    "json": ("--data-root . --expect-file in/x.json", "in/x.json", "VL825 the file cannot be read: Permission denied"),
    "folder in root": (
        "--data-root . --expect-file in/x.json",
        "in",
        "VL824 the file cannot be read: Permission denied",
    ),
}


@pytest.mark.parametrize("name", DENIED)
def test_what_may_not_be_read(name: str, open_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, closed, message = DENIED[name]
    (open_folder / "in").mkdir()
    for path in ("list.txt", "in/list.txt", "in/p.txt", "in/x.json"):
        (open_folder / path).write_text('"medical questions, answered with one letter from A to D"\n')
    (open_folder / "in/x.parquet").write_bytes(parquet_end(5))
    call = ["inputs", *words.split(), "--output-format", "concise", "--ignore", "VL821"]
    columns = "pyarrow" if "parquet" in name and find_spec("pyarrow") else ""
    if not columns:  # whose metadata these few bytes are not
        assert main(call) == 0, capsys.readouterr().out
    (open_folder / closed).chmod(0)
    capsys.readouterr()
    with bound_by_modes():
        code = main(call)
    (open_folder / closed).chmod(0o755)
    out, err = capsys.readouterr()
    assert (code, message in out, "Traceback" in err) == (1, True, False), out


def test_a_root_that_may_be_entered_but_not_listed(open_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (open_folder / "in").mkdir()
    (open_folder / "in/x.json").write_text("[]")
    (open_folder / "in").chmod(0o111)
    call = ["inputs", "--data-root", "in", "--output-format", "concise", "--expect-file"]
    with bound_by_modes():
        codes = [main([*call, name]) for name in ("x.json", "y.json")]
    (open_folder / "in").chmod(0o755)
    assert codes == [0, 1]
    assert "in/y.json:1:1: VL824 the file does not exist" in capsys.readouterr().out


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no file that is there and refuses to be read")
def test_a_file_that_refuses_to_be_read(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inputs", "--experience-list", "/proc/self/mem", "--output-format", "concise"]) == 1
    assert "VL820 the experience list cannot be read: Input/output error" in capsys.readouterr().out


ODD = {
    "fifo": "is not a regular file",
    "folder": "is a folder",
    "loop": "is a symbolic link that leads in a circle",
    "nothing": "is a symbolic link to nothing",
    "missing": "does not exist",
    "x" * 300: "cannot be read: File name too long",
    "file/below": "cannot be read: Not a directory",
}


@pytest.mark.parametrize("name", ODD, ids=lambda name: name[:9])
def test_what_is_no_file(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same is said of a thing that is no file, whatever it is taken for, and no thing is waited for."""
    os.mkfifo("fifo")
    Path("folder").mkdir()
    Path("file").touch()
    Path("loop").symlink_to("loop")
    Path("nothing").symlink_to("none")
    words = ["--experience-list", name, "--system-prompt-file", name, "--data-root", ".", "--expect-file", name]
    assert main(["inputs", *words, "--output-format", "concise"]) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if " VL82" in line]
    assert sorted(line.split(": ", 1)[1][:5] for line in lines) == ["VL820", "VL820", "VL824"]
    assert all(ODD[name] in line for line in lines), lines


WHOLE = {"content": ["a"] * 300, "teacher_response": ["b"] * 300}
TABLES: dict[str, tuple[dict[str, list[str]], list[str]]] = {
    "whole": (WHOLE, []),
    "another column": (
        {"contents": ["a"] * 300, "answer": ["b"] * 300},
        ["no column `content`, which holds the prompts; `contents` is there; columns: contents, answer"],
    ),
    "few rows": (
        {"content": ["a"] * 255},
        ["the file has 255 rows, fewer than one batch of 256: VeRL stops with `Train dataloader is empty!`"],
    ),
    "both": (
        {"prompt": ["a"]},
        [
            "the file has 1 row, fewer than one batch of 256: VeRL stops with `Train dataloader is empty!`",
            "no column `content`, which holds the prompts; columns: prompt",
        ],
    ),
    "no rows": (
        {"content": []},
        ["the file has 0 rows, fewer than one batch of 256: VeRL stops with `Train dataloader is empty!`"],
    ),
}
TRAIN, TEST = "lmsys_gpt5_chat_filtered_train.parquet", "lmsys_gpt5_chat_filtered_test.parquet"


def write_table(path: Path, columns: dict[str, list[str]]) -> None:
    arrow = pytest.importorskip("pyarrow")
    path.parent.mkdir(parents=True, exist_ok=True)
    table = arrow.table({name: arrow.array(values, arrow.string()) for name, values in columns.items()})
    importlib.import_module("pyarrow.parquet").write_table(table, path)


def messages_of(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[list[str], str]:
    """The messages of the findings, and what is said on standard error."""
    main(["inputs", *words, "--output-format", "json"])
    out, err = capsys.readouterr()
    return sorted(each["message"] for each in json.loads(out)["findings"]), err


@pytest.mark.parametrize("name", TABLES)
def test_tables(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns, messages = TABLES[name]
    write_table(here / "data" / TRAIN, columns)
    write_table(here / "data" / TEST, {"content": ["a"]})
    found, err = messages_of(["--data-root", "data", "--profile", "gad"], capsys)
    assert found == sorted(messages)
    rows = len(next(iter(columns.values())))
    assert f"data/{TRAIN}: {rows} row{'' if rows == 1 else 's'}; columns {', '.join(columns)}\n" in err


def test_column_and_batch_of_a_call(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_table(here / "data/a.parquet", {"prompt": ["a"] * 20})
    call = ["--data-root", "data", "--train-file", "a.parquet", "--prompt-key"]
    assert messages_of([*call, "prompt", "--train-batch-size", "20"], capsys)[0] == []
    assert messages_of([*call, "question", "--train-batch-size", "32"], capsys)[0] == [
        "no column `question`, which holds the prompts; columns: prompt",
        "the file has 20 rows, fewer than one batch of 32: VeRL stops with `Train dataloader is empty!`",
    ]


def test_every_cut_of_a_table_is_found(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_table(here / "data/a.parquet", WHOLE)
    data = (here / "data/a.parquet").read_bytes()
    length = int.from_bytes(data[-8:-4], "little")
    no_end, no_footer = "the parquet file has no end: it was cut off", "the footer of the parquet file cannot be read"
    cuts = {
        b"": "the file is no parquet file: it does not begin with PAR1",
        b"PAR1": no_end,
        data[: len(data) // 2]: no_end,
        data[:-1]: no_end,
        data[: -8 - length] + data[-8:]: no_footer,
        data[:-8] + b"\xff\xff\xff\x7fPAR1": no_footer,
        data[:-8] + b"\0\0\0\0PAR1": no_footer,
        data[: -8 - length] + b"\xff" * length + data[-8:]: no_footer,
    }
    for cut, message in cuts.items():
        (here / "data/a.parquet").write_bytes(cut)
        assert messages_of(["--data-root", "data", "--expect-file", "a.parquet"], capsys)[0] == [message]


def test_without_pyarrow_columns_are_not_read(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "data").mkdir()
    (here / "data" / "a.parquet").write_bytes(parquet_end(100))
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    words = ["--data-root", "data", "--train-file", "a.parquet", "--train-batch-size", "101", "--prompt-key", "content"]
    assert messages_of(words, capsys) == (
        ["the file has 100 rows, fewer than one batch of 101: VeRL stops with `Train dataloader is empty!`"],
        "data/a.parquet: 100 rows; columns not read: no pyarrow\n",
    )


JSON = {
    "[]": [],
    '{"a": [1, 2.5e3, null, "\u00e9\u20ac\U0001f600"]}': [],
    "[1, 2": ["the file is no JSON at line 1"],
    "[1,\n2,\n]": ["the file is no JSON at line 3"],
    "\ufeff[]": ["the file is no JSON at line 1"],
    "": ["the file is no JSON at line 1"],
    '{"a": 1}\n{"a": 2}': ["the file is no JSON at line 2"],
    "[" * 100_000: ["the file is no JSON"],
}


@pytest.mark.parametrize("text", JSON, ids=lambda text: repr(text)[:20])
def test_json_files(text: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "x.json").write_text(text, "utf-8")
    assert messages_of(["--data-root", ".", "--expect-file", "x.json"], capsys)[0] == JSON[text]


def test_json_of_bytes_that_are_no_text(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "x.json").write_bytes(b'["\xe9"]')
    assert messages_of(["--data-root", ".", "--expect-file", "x.json"], capsys)[0] == ["the file is no JSON"]


def test_a_file_of_two_gigabytes_takes_little_memory(here: Path) -> None:
    write_table(here / "data/big.parquet", WHOLE)
    data = (here / "data/big.parquet").read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    long = bytes.fromhex("00000070") + b"PAR1"  # metadata of 1.9 GB
    for name, end in (("big.parquet", data[footer:]), ("cut.parquet", b"\0"), ("long.parquet", long)):
        with (here / "data" / name).open("wb") as stream:
            stream.write(data[:footer])
            stream.seek(2_000_000_000)
            stream.write(end)
    with (here / "list.txt").open("wb") as stream:
        stream.truncate(2_000_000_000)
    call = (
        "import re, sys\nfrom verlint.cli.main import main\ncode = main(sys.argv[1:])\n"
        "status = open('/proc/self/status').read()\n"  # the usage of resources counts the process before `exec` too
        "print(re.search(r'VmHWM:\\s+(\\d+)', status)[1], file=sys.stderr)\nsys.exit(code)"
    )
    files = [word for name in ("big", "cut", "long") for word in ("--expect-file", f"{name}.parquet")]
    words = ["inputs", "--data-root", "data", *files, "--prompt-key", "content", "--experience-list", "list.txt",
             "--output-format", "concise"]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", call, *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'linter'}:{ROOT / 'rules'}"},
    )
    assert done.returncode == 1, done.stderr
    *shown, kilobytes = done.stderr.splitlines()
    assert shown == ["data/big.parquet: 300 rows; columns content, teacher_response"]
    assert int(kilobytes) < 100_000
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
    assert "not checked: train reads below $PROMPT_DATA, which is not set" in capsys.readouterr().err


OPO_SPEC = """schema: verlint/exp-v1
name: exact
family: opo
checkout: {verl: {path: code}}
roots: {data: "${oc.env:OPO_DATA}"}
vars: {batch: 64}
stages:
  train:
    kind: config
    checkout: verl
    entry: verl.trainer.main_ppo
    overrides:
      data.train_files: ["${roots.data}/a.parquet", "${roots.data}/b.parquet"]
      data.val_files: extra/val.parquet
      data.train_batch_size: "${vars.batch}"
"""


def test_batch_and_column_are_those_of_the_spec(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths of a stage count from its checkout; the column is VeRL's own where the spec names none."""
    (here / "x.exp.yaml").write_text(OPO_SPEC)
    write_table(here / "data/a.parquet", {"prompt": ["a"] * 64})
    write_table(here / "data/b.parquet", {"prompt": ["a"] * 63})
    write_table(here / "code/extra/val.parquet", {"question": ["a"]})
    monkeypatch.setenv("OPO_DATA", str(here / "data"))
    assert messages_of(["x.exp.yaml"], capsys)[0] == [
        "no column `prompt`, which holds the prompts; columns: question",
        "the file has 63 rows, fewer than one batch of 64: VeRL stops with `Train dataloader is empty!`",
    ]
    (here / "x.exp.yaml").write_text(OPO_SPEC.replace("batch: 64", "batch: 63").replace("extra/", "extra/<SET>-"))
    found, err = messages_of(["x.exp.yaml"], capsys)
    assert found == []
    assert [main(["inputs", "x.exp.yaml", *strict]) for strict in ((), ("--strict",))] == [0, 1]
    capsys.readouterr()
    (here / "x.exp.yaml").write_text(OPO_SPEC.replace("/b.parquet", "/b\\0.parquet"))
    assert "the file cannot be read: embedded null byte" in messages_of(["x.exp.yaml"], capsys)[0]
    assert "not checked: train: --expect-file <SET>-val.parquet is still open\n" in err


ROUND = """schema: verlint/exp-v1
name: third
family: oel
roots: {checkpoints: "${oc.env:OEL_ROOT}"}
stages:
  consolidate:
    kind: consolidate
    round: 3
    launcher: scripts/textgame_consolidate.sh
    args:
      resume_policy_name: con-r2
      resume_policy_ckpt: 100
      exp_name: con-r3
      exp_path: "${roots.checkpoints}/ext-r3/experience_list.txt"
      deploy_save_dir: "${roots.checkpoints}/dep-r3/deploy_data"
"""


def test_the_checkpoint_that_a_spec_goes_on_from(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "x.exp.yaml").write_text(ROUND)
    (here / "ext-r3").mkdir()
    (here / "ext-r3/experience_list.txt").write_text("a.txt\n")
    monkeypatch.setenv("OEL_ROOT", str(here))
    assert main(["inputs", "x.exp.yaml", "--output-format", "concise"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.removeprefix(f"{here}/") for line in lines[:2]] == [
        "con-r2/global_step_100/actor:1:1: VL824 the folder does not exist",
        "ext-r3/experience_list.txt:1:1: VL821 the listed file does not exist",
    ]
    (here / "con-r2/global_step_100/actor").mkdir(parents=True)
    (here / "ext-r3/a.txt").touch()
    assert main(["inputs", "x.exp.yaml"]) == 0


def test_what_a_stage_makes_is_not_asked_for(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inputs", str(FIXTURES / "experiments/oel/clean/oel-sokoban.exp.yaml")]) == 0
    assert "its stages make all that they read" in capsys.readouterr().err


@pytest.mark.parametrize("family", ["oel", "opcd --track math", "coach --track el", "gad", "opo"])
def test_inputs_of_a_plan_are_those_that_it_names(
    family: str, here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The spec of a plan, with all roots set and empty: the files that are missing are those of the plan's list."""
    call = ["plan", "--family", *family.split(), "--format"]
    main([*call, "spec"])
    (here / "plan.exp.yaml").write_text(capsys.readouterr().out)
    main([*call, "json"])
    plan = json.loads(capsys.readouterr().out)
    if family == "gad":  # nothing seen is no success
        assert main(["inputs", "plan.exp.yaml"]) == 2
        assert "nothing was checked: set GAD_DATA_ROOT" in capsys.readouterr().err
    for name in re.findall(r"oc\.env:(\w+)", (here / "plan.exp.yaml").read_text()):
        monkeypatch.setenv(name, str(here))
    main(["inputs", "plan.exp.yaml", "--output-format", "json"])
    missing = {os.path.relpath(each["path"], here) for each in json.loads(capsys.readouterr().out)["findings"]}
    assert missing == {each["name"].partition("/")[2] for each in plan["inputs"] if "<" not in each["name"]}


WRONG = {
    "": "nothing to check",
    "--data-root . --profile gda": "--profile `gda` is not known",
    "--data-root . --expect-file ../x": "relative to the data root",
    "--data-root . --expect-dir /tmp": "relative to the data root",
    "--experience-list x --min-lines -1": "--min-lines takes 0 or more",
    "missing.exp.yaml": "missing.exp.yaml: does not exist",
    "--data-root . --train-file /x": "relative to the data root",
    "--data-root . --train-batch-size -1": "--train-batch-size takes 0 or more, not -1",
    "--system-prompt-text x --experience-max-length -5": "--experience-max-length takes 0 or more, not -5",
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
