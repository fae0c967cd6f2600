"""`<words>` in documents: what a reader is to put there is not known, and the block around it is read all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from verlint.cli.main import main
from verlint.experiment.project import Project
from verlint.files.loading import load
from verlint.languages.bash.parser import parse
from verlint.settings import Settings


def commands(block: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The words of the commands of a document with one block; the redirections behind them."""
    (folder / "README.md").write_text(f"# Train\n\n```bash\n{block}```\n\nverl.trainer\n")
    monkeypatch.chdir(folder)
    settings = Settings(folder)
    (script,) = Project(load(["README.md"], settings).files, settings, folder).scripts
    return [
        [word.shown for word in each.argv] + [redirect.operator for redirect in each.redirects]
        for each in script.resolution.paths[0].commands
    ]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("bash a.sh <data-dir>\n", [["bash", "a.sh", "<data-dir>"]]),
        (
            "bash a.sh <namespace/repo> <your data dir> x\n",
            [["bash", "a.sh", "<namespace/repo>", "<your data dir>", "x"]],
        ),
        ("a --x <sft or rl> \\\n  --y=<a|b> z\n", [["a", "--x", "<sft or rl>", "--y=<a|b>", "z"]]),
        ("curl http://<ip>:8265/<...>\n", [["curl", "http://<ip>:8265/<...>"]]),
        ("a --data <> --model m\n", [["a", "--data", "<>", "--model", "m"]]),
        ("export KEY=<YOUR KEY>\na $KEY\n", [["export", "KEY=<YOUR KEY>"], ["a", "<YOUR KEY>"]]),
        ("X=/data/<run>\na $X/ckpt\n", [["a", "/data/<run>/ckpt"]]),
        ("a $(b <x>)\n", [["b", "<x>"], ["a", "$(b <x>)"]]),
        ("a <in.txt >out.txt\n", [["a", "<", ">"]]),
        ("a <in.txt>out.txt\n", [["a", "<", ">"]]),
        ("a < in > out\n", [["a", "<", ">"]]),
        ("a <<EOF\n<x>\nEOF\n", [["a", "<<"]]),
        ("a <<<$b 2>&1\n", [["a", "<<<", ">&"]]),
        ("a '<x y>' \"<x>\" \\<x\n", [["a", "<x y>", "<x>", "<x"]]),
    ],
)
def test_words_of_a_document(
    block: str, expected: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert commands(block, tmp_path, monkeypatch) == expected


def test_a_stand_in_is_one_unknown_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "README.md").write_text("```sh\nverl <a> <a> <b> $C\n```\nverl.trainer\n")
    monkeypatch.chdir(tmp_path)
    settings = Settings(tmp_path)
    (script,) = Project(load(["README.md"], settings).files, settings, tmp_path).scripts
    first, again, other, variable = script.resolution.paths[0].commands[0].words
    assert [word.elastic for word in (first, other, variable)] == [False, False, True]
    assert (first.same_as(again), first.same_as(other), first.known) == (True, None, None)
    assert first.span is not None
    assert (first.span.text, str(first.span)) == ("<a>", "README.md:2:6")


def test_launchers_have_no_stand_ins() -> None:
    assert parse("bash a.sh <data-dir>\n").problem is not None


def test_blocks_that_cannot_be_read_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text(
        "# Train\n\n```bash\npython3 -m verl.trainer.main_ppo data.train_files=<your data>\n```\n\n"
        "It prints:\n\n```bash\nTraceback:\n  File x, in <module>\n  dict(\n```\n"
    )
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--isolated", "--show-files", "."]) == 0
    assert capsys.readouterr().out == (
        "checked  README.md: document, starts main_ppo\n"
        "         not read from line 12 to the end of its block, which bash rejects: unexpected (\n"
        "1 checked (1 document), 0 skipped\n"
    )
