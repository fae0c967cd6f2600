"""Documents that clone the repository they lie in, go there, and call its launchers."""

from __future__ import annotations

from pathlib import Path

import pytest

from verlint.cli.main import main
from verlint.experiment.project import Project
from verlint.files.loading import load
from verlint.settings import Settings

LAUNCHER = "#!/usr/bin/env bash\npython3 -m verl.trainer.main_ppo trainer.experiment_name=$1\n"


def launches(folder: Path, monkeypatch: pytest.MonkeyPatch, root: str, commands: str) -> list[str]:
    """The experiment names of what the README of `lab/gad` starts; `root` is the folder that is checked."""
    home = folder / "lab" / "gad"
    (home / "scripts").mkdir(parents=True)
    (home / "scripts" / "train.sh").write_text(LAUNCHER)
    (home / "README.md").write_text(f"# Example\n\n```bash\n{commands}\n```\n")
    monkeypatch.chdir(folder / root)
    settings = Settings(root=Path.cwd())
    project = Project(load(["."], settings).files, settings, Path.cwd())
    (script,) = (each for each in project.scripts if each.document)
    own = [variant for _, variant in project.launches if variant.entry is script]
    return [str(project.launch(each.command)["trainer.experiment_name"]) for each in own]  # type: ignore[index]


FOLLOWED = {
    "the whole path": "cd /tmp\ngit clone https://git.example.org/lab.git\ncd /tmp/lab/gad",
    "from where it was cloned": "git clone https://git.example.org/lab.git\ncd lab/gad",
    "step by step": "cd /tmp && git clone --depth 1 https://git.example.org/lab.git\ncd lab\ncd gad",
    "under another name": "git clone https://git.example.org/lab.git /srv/mine\ncd /srv/mine/gad",
    "over ssh": "git clone git@git.example.org:people/lab.git ~/lab; cd ~/lab/gad",
    "then a folder beside": "git clone https://git.example.org/lab.git\ncd lab/gad\ncd verl; git checkout warmup; cd ..",
    "in a container": "docker run -it image bash\ncd /tmp; git clone https://git.example.org/lab\ncd /tmp/lab/gad/",
    "of a branch": "git clone -b main https://git.example.org/lab.git\npushd lab/gad",
    "below and up": "git clone https://git.example.org/lab.git\ncd lab/gad/scripts\ncd ..",
}


@pytest.mark.parametrize("root", [".", "lab", "lab/gad"])
@pytest.mark.parametrize("case", FOLLOWED)
def test_calls_in_the_own_clone_are_followed(
    case: str, root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert launches(tmp_path, monkeypatch, root, f"{FOLLOWED[case]}\nbash scripts/train.sh first") == ["first"]


NOT_FOLLOWED = {
    "another repository": "git clone https://git.example.org/verl.git /srv/verl\ncd /srv/verl",
    "a folder of another one": "git clone https://git.example.org/harness.git\ncd /srv/harness/tools",
    "nothing cloned": "cd /opt/elsewhere",
    "a folder nobody knows": "git clone https://git.example.org/lab.git\ncd /opt/$WHERE",
}


@pytest.mark.parametrize("case", NOT_FOLLOWED)
def test_calls_elsewhere_are_not(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert launches(tmp_path, monkeypatch, ".", f"{NOT_FOLLOWED[case]}\nbash scripts/train.sh first") == []


def test_a_document_at_the_top_of_its_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = tmp_path / "lab"
    (top / "docs").mkdir(parents=True)
    (top / "train.sh").write_text(LAUNCHER)
    (top / "README.md").write_text(
        "```bash\ngit clone https://git.example.org/lab.git\ncd lab\nbash train.sh one\n```\n"
    )
    (top / "docs" / "start.md").write_text(
        "```bash\ngit clone https://git.example.org/lab\ncd lab\nbash train.sh two\n```\n"
    )
    monkeypatch.chdir(top)
    settings = Settings(root=top)
    project = Project(load(["."], settings).files, settings, top)
    assert sorted(str(launch["trainer.experiment_name"]) for launch, _ in project.launches) == ["one", "two"]


def test_a_missing_script_of_the_clone_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "lab" / "gad"
    (home / "scripts").mkdir(parents=True)
    (home / "scripts" / "train.sh").write_text(LAUNCHER)
    (home / "README.md").write_text(
        "```bash\nbash in_docker.sh\ndocker run -it image\ncd /tmp; git clone https://git.example.org/lab.git\n"
        "cd /tmp/lab/gad\nbash scripts/train.sh one\nbash scripts/train.sh.sh two\n```\n"
    )
    monkeypatch.chdir(home)
    main(["check", "--select", "VL010", "--output-format", "concise", "."])
    assert "README.md:7:6: VL010[*] no such script: scripts/train.sh.sh" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "words", "holes"),
    [
        ("run --path {YOUR_BEST_PATH}", ["run", "--path", "{YOUR_BEST_PATH}"], ["{YOUR_BEST_PATH}"]),
        ("run --path /data/{MODEL}/x", ["run", "--path", "/data/{MODEL}/x"], ["{MODEL}"]),
        ("export P={THE_PATH}\nrun $P", ["run", "{THE_PATH}"], ["{THE_PATH}"]),
        ("run {a,B} {AB,C} {1..2} {ab} '{MODEL}'", ["run", "a", "B", "AB", "C", "1", "2", "{ab}", "{MODEL}"], []),
    ],
)
def test_words_in_braces_are_stand_ins_in_documents(text: str, words: list[str], holes: list[str]) -> None:
    from verlint.files.tree import Tree
    from verlint.languages.bash.parser import parse
    from verlint.languages.bash.replay import Entry, explore
    from verlint.source import Source

    source = Source("README.md", text)
    programs = {id(source): parse(text, stand_ins=True)}
    path = explore([source], Tree(Path.cwd()), Entry(arguments=[]), programs=programs).paths[0]
    command = path.commands[-1]
    assert [word.shown for word in command.argv] == words
    assert [hole.name for word in command.argv for hole in word.holes] == holes
