"""The written pages are true: their commands parse, their links lead somewhere, their output is what verlint prints."""

from __future__ import annotations

import argparse
import builtins
import importlib
import io
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from checkout import ROOT, copy_checkout
from doc_pages import CUT, PAGES, SKILL, Fence, apply_diff, fences, missing_line, prose, run, steps
from fixture_cases import EXAMPLES, expected_text
from verlint.cli.main import VERBS, main
from verlint.cli.settings_schema import ABOUT
from verlint.files.comments import DIRECTIVES
from verlint.finding import Severity
from verlint.report import FORMATS
from verlint.rule import THEMES, find_rule, load_rules, match_rules
from verlint.settings import READERS, Settings, read_settings_file

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


# Commands ------------------------------------------------------------------------------------------------------------

_CALL = re.compile(r"(?:^|[\s/;&|])verlint[ \t]+(?P<words>[a-z-].*)")


def calls(fence: Fence) -> Iterator[list[str]]:
    """The arguments of every `verlint …` in a block."""
    if fence.language not in ("bash", "yaml", "console"):
        return
    for line in fence.text.splitlines():
        if fence.language == "console" and not line.startswith("$ "):
            continue
        found = _CALL.search(line.split(" #")[0])
        if found is not None and not line.lstrip().startswith(("#", "- id:", "name:")):
            words = shlex.split(re.split(r"[|;&>]", found["words"])[0])
            yield words[: words.index("--")] if "--" in words else words  # what is behind it is the launcher's


def parser() -> argparse.ArgumentParser:
    """The whole command line, every verb with its options."""
    whole = argparse.ArgumentParser(prog="verlint", exit_on_error=False)
    whole.add_argument("--version", action="store_true")
    verbs = whole.add_subparsers(dest="verb")
    for verb in VERBS:
        importlib.import_module(f"verlint.cli.{verb}").add_parser(verbs)
    return whole


@each_page
def test_commands_exist(page: Path) -> None:
    for fence in fences(page):
        for words in calls(fence):
            try:
                parsed = parser().parse_args(words)
            except (argparse.ArgumentError, SystemExit) as error:
                pytest.fail(f"verlint {' '.join(words)}: {error}")
            for names in [*(getattr(parsed, "select", None) or []), *(getattr(parsed, "ignore", None) or [])]:
                assert [match_rules(name) for name in names.split(",")], words
            for name in getattr(parsed, "output_format", None) or []:
                assert name.partition(":")[0] in FORMATS


@each_page
def test_commands_within_sentences_exist(page: Path) -> None:
    for words in re.findall(r"`verlint ([a-z][^`]*)`", prose(page)):
        if (
            re.search(r"…|\b[A-Z]{3,}\b|<|--help", words) is None
            and words.split()[0] in VERBS
            and len(words.split()) > 1
        ):
            parser().parse_args(shlex.split(words))


def test_commands_are_found() -> None:
    found = [words for page in PAGES for fence in fences(page) for words in calls(fence)]
    assert ["check", "fixtures/experiments/gad/broken"] in found
    assert ["check", "-", "--stdin-filename", "scripts/train.sh"] in found
    assert len(found) > 20


@each_page
def test_options_that_are_named_exist(page: Path) -> None:
    options = {name for verb in VERBS for name in _options(verb)} | {"--version"}
    others = {
        "--bless",
        "--check",
        "--pack",
        "--recipes",
        "--with",
        "--config-dir",
        "--config-name",
        "--config-path",
        "--dependency",
        "--wrap",
    } | set(re.findall(r"--\w+_\w+", prose(page)))
    named = set(re.findall(r"(?<=`)(?:verlint [^`]*?)?(--[a-z][\w-]*)", prose(page)))
    assert named - options - others == set()


def _options(verb: str) -> list[str]:
    verbs = argparse.ArgumentParser().add_subparsers()
    importlib.import_module(f"verlint.cli.{verb}").add_parser(verbs)
    return [name for action in verbs.choices[verb]._actions for name in action.option_strings]


def test_the_readme_and_the_job_run_the_same_tests() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    job = (ROOT / ".ci/run").read_text("utf-8")
    command = re.search(r"python (-m pytest -q\b.*)$", readme, re.MULTILINE)
    assert command is not None
    assert f"python {command[1]} " in job.replace("\n", " ")


# Links and names -----------------------------------------------------------------------------------------------------


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"(?<!!)\[[^\]]+\]\(([^)]+)\)", prose(page))
    for link in links:
        if re.match(r"[a-z]+://", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in _anchors(target), link


def _anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@each_page
def test_rules_that_are_named_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    codes = {rule.code for rule in load_rules()}
    example = {"VL599"} if page.name == "CONTRIBUTING.md" else set()
    assert set(re.findall(r"\bVL\d{3}\b", text)) - codes - example == set()


def test_the_settings_page_names_every_key_and_its_examples_are_valid(tmp_path: Path) -> None:
    page = ROOT / "docs/settings.md"
    named = re.findall(r"^\| `([a-z-]+)` \|", page.read_text("utf-8"), re.MULTILINE)
    assert sorted(named) == sorted(READERS)
    for fence in fences(page):
        data = tomllib.loads(fence.text)
        path = tmp_path / ("pyproject.toml" if "tool" in data else "verlint.toml")
        path.write_text(fence.text)
        settings = read_settings_file(path)
        for name in (*settings.ignore, *settings.select, *settings.severity, *settings.rules):
            assert match_rules(name)


def test_the_pack_of_the_pages_is_the_template(tmp_path: Path) -> None:
    text = (ROOT / "docs/plugins.md").read_text("utf-8")
    (settings,) = (fence for fence in fences(ROOT / "docs/plugins.md") if fence.language == "toml")
    (tmp_path / "verlint.toml").write_text(settings.text)
    read = read_settings_file(tmp_path / "verlint.toml")
    metadata = tomllib.loads((ROOT / "docs/rule-pack/pyproject.toml").read_text("utf-8"))["project"]
    entries = metadata["entry-points"]["verlint.rules"]
    assert (read.plugins, list(read.rules)) == (tuple(entries), ["HR101"])
    assert f'`{entries.popitem()[0]} = "house_rules"`' in text
    assert f"{metadata['name']}=={metadata['version']}" in text
    assert (ROOT / "docs/rule-pack/src/house_rules/hr101_foreign_project.py").is_file()


def test_the_settings_page_says_what_each_key_takes_and_its_default() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+?) \| (.+?) \| .+ \|$", (ROOT / "docs/settings.md").read_text(), re.M)
    usual = Settings(root=ROOT)
    for key, takes, default in rows:
        shape = ABOUT[key][0]
        words = {"array": "list", "boolean": "true or false", "string": "text"}.get(str(shape.get("type")), "")
        assert words in takes, key
        assert all(f'`"{value}"`' in takes for value in shape.get("enum", ())), key
        if shape.get("type") == "boolean":
            assert default == str(getattr(usual, key.replace("-", "_"))).lower(), key
    assert ("fail-on", '`"warning"`') in {(key, default) for key, _, default in rows}
    assert usual.fail_on is Severity.WARNING


def test_the_directives_are_listed() -> None:
    text = (ROOT / "docs/suppressing.md").read_text("utf-8")
    named = re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE)
    assert sorted(named) == sorted(DIRECTIVES)


@each_page
def test_yaml_and_json_blocks_are_valid(page: Path) -> None:
    from ruamel.yaml import YAML

    for fence in fences(page):
        if fence.language == "yaml":
            assert YAML(typ="safe", pure=True).load(fence.text)
        if fence.language == "json":
            assert json.loads(fence.text)


def test_the_themes_of_the_recipe() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| VL(\d)xx \| (.+?) \| `(\w+)` \|$", text, re.MULTILINE)
    assert {digit: theme for digit, theme, _ in rows} == THEMES
    folders = {digit: folder for digit, _, folder in rows}
    for each in load_rules():
        assert each.module.split(".")[1] == folders[each.code[2]]


# Output --------------------------------------------------------------------------------------------------------------


@cache
def output(command: str) -> list[str]:
    """The lines that a `verlint …` command prints in the root of the checkout."""
    code, lines = run(command, ROOT)
    assert code in (0, 1), lines
    return lines


def excerpts() -> Iterator[tuple[Path, str, str]]:
    for page in PAGES:
        for fence in fences(page):
            if found := re.fullmatch(r"<!-- output: (.+) -->", fence.before):
                yield page, found[1], fence.text


EXCERPTS = list(excerpts())


@pytest.mark.parametrize(("page", "command", "text"), EXCERPTS, ids=[f"{each[0].name}: {each[1]}" for each in EXCERPTS])
def test_an_excerpt_is_real_output(page: Path, command: str, text: str) -> None:
    """Every line occurs in the output, in this order; between two lines nothing is left out without a `…`."""
    line = missing_line([CUT, *text.splitlines(), CUT], output(command))
    assert line is None, f"{page.name} shows a line that `{command}` does not print there: {line}"


SESSIONS = [
    (page, found[1]) for page in PAGES for found in re.finditer(r"^<!-- session: (.+) -->$", prose(page), re.MULTILINE)
]


@pytest.mark.parametrize(("page", "folder"), SESSIONS, ids=[page.name for page, _ in SESSIONS])
def test_a_session_is_real(page: Path, folder: str, tmp_path: Path) -> None:
    """On a copy of the folder: each command prints what is shown, edits and files are made as they are shown."""
    here = Path(shutil.copytree(ROOT / folder, tmp_path / "here"))
    start, last = page.read_text("utf-8").index("<!-- session: "), 0
    for fence in fences(page):
        if fence.start < start:
            continue
        if fence.language == "diff":
            apply_diff(fence.text, here)
        elif named := re.fullmatch(r"`([\w./-]+)`", fence.before):
            (here / named[1]).write_text(fence.text, "utf-8")
        for command, shown in steps(fence.text) if fence.language == "console" else ():
            if command == "echo $?":
                assert shown == [str(last)]
                continue
            last, real = run(command, here)
            line = missing_line(shown, real)
            assert line is None, f"`{command}` differs at: {line}\n" + "\n".join(real)


def test_excerpts_are_marked() -> None:
    assert {page.name for page, _, _ in EXCERPTS} >= {"README.md", "usage.md"}


def test_the_messages_of_the_readme_are_real() -> None:
    """The table of what is found has a row for every theme with rules; its messages are said about our own files."""
    text = (ROOT / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| [^|]+ \| VL(\d)xx \| (VL\d{3}): (.+) \|$", text, re.MULTILINE)
    assert sorted(digit for digit, _, _ in rows) == sorted({each.code[2] for each in load_rules()})
    report = json.loads("\n".join(output("verlint check --output-format json fixtures/experiments/gad/broken")))
    whole = [f"{each['code']}: {each['message']}" for each in report["findings"]]
    for digit, code, message in rows:
        assert code[2] == digit
        said = "".join(expected_text(example) for example in EXAMPLES if example.code == code)
        assert f": {message}\n" in said or f"{code}: {message}" in whole, (
            "README.md quotes a message that is no longer said"
        )


# The skill -----------------------------------------------------------------------------------------------------------


def skill_lines() -> list[str]:
    return [line for fence in fences(SKILL) if fence.language == "bash" for line in fence.text.splitlines() if line]


def test_the_skill_has_its_front_matter() -> None:
    from ruamel.yaml import YAML

    _, head, body = SKILL.read_text("utf-8").split("---\n", 2)
    data = YAML(typ="safe", pure=True).load(head)
    assert set(data) == {"name", "description"}
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", data["name"])
    assert 0 < len(data["description"]) <= 1024
    assert [title.split(". ")[-1] for title in re.findall(r"^## (.+)$", body, re.MULTILINE)] == [
        "Classify", "Plan", "Check the inputs", "Lint", "Report",
    ]  # fmt: skip


@pytest.mark.parametrize("line", skill_lines())
def test_a_command_of_the_skill_works_and_does_nothing(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ends as the page says, prints something, starts nothing but git for the names of a folder's files, opens no
    connection and writes no file."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError(f"{line} opens a connection")

    def read_only(file: Any, mode: str = "r", *more: Any, **named: Any) -> Any:
        assert not set(mode) & set("wax+"), f"{line} writes {file}"
        return open_file(file, mode, *more, **named)

    class ListsFiles(subprocess.Popen[Any]):
        def __init__(self, words: list[str], *more: Any, **named: Any) -> None:
            assert words[0] == "git", f"{line} starts {words}"
            assert "ls-files" in words or "rev-parse" in words, f"{line} starts {words}"
            super().__init__(words, *more, **named)

    open_file = io.open
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(subprocess, "Popen", ListsFiles)
    monkeypatch.setattr(io, "open", read_only)
    monkeypatch.setattr(builtins, "open", read_only)
    command, _, remark = line.partition("#")
    said = re.search(r"exit code (\d)", remark)
    out = ""
    for call in command.split("|"):
        name, *words = shlex.split(call)
        assert name == "verlint"
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(out.encode()), "utf-8"))
        code = main(words)
        out, err = capsys.readouterr()
        assert (code, bool(out)) == (int(said[1]) if said else 0, True), err


# The recipe ----------------------------------------------------------------------------------------------------------

RULE = "rules/verlint_rules/evaluation/vl599_identical_answers.py"


def recipe() -> tuple[dict[str, str], list[str], str]:
    """The files that the recipe of CONTRIBUTING.md makes, the commands it runs, and the expectation it shows."""
    files: dict[str, str] = {}
    commands: list[str] = []
    expected = ""
    for fence in fences(ROOT / "CONTRIBUTING.md"):
        if found := re.fullmatch(r"`((?:rules|fixtures)/\S+)`", fence.before):
            files[found[1]] = fence.text
        elif fence.before == "<!-- run -->":
            commands += fence.text.splitlines()
        elif fence.before.endswith("expected.txt` is:"):
            expected = fence.text
    return files, commands, expected


@pytest.mark.slow
def test_the_recipe_for_a_rule_works(tmp_path: Path) -> None:
    files, commands, expected = recipe()
    assert len(files) == 4
    with pytest.raises(ValueError, match="unknown rule"):
        find_rule("VL599")
    here = copy_checkout(tmp_path / "checkout")
    for name, text in files.items():
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(text)
    done = _step("python -m pytest tests/test_fixtures.py -q -k VL599", here)
    assert done.returncode == 1, "fixtures without expectations must not pass"
    first, *rest = commands
    done = _step(first, here)
    assert "fixtures/VL599/bad-greedy/expected.txt" in done.stdout
    assert (here / "fixtures/VL599/bad-greedy/expected.txt").read_text() == expected
    for command in rest:
        narrowed = command.replace("-n 2", '-k "VL599 or up_to_date"').replace(
            "check rules && mypy", f"check {RULE} && mypy {RULE}"
        )
        done = _step(narrowed, here)
        assert done.returncode == 0, f"{narrowed}\n{done.stdout}{done.stderr}"
    assert (here / RULE).read_text() == files[RULE], "the code shown is formatted"
    assert (here / "docs/rules/VL599.md").read_text().startswith("# VL599 identical-answers\n")


def _step(command: str, here: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(here / "linter"), str(here / "rules")])
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_") and name != "CI"}
    environment |= {"PYTHONPATH": path, "PATH": programs}
    return subprocess.run(
        ["bash", "-c", command], cwd=here, env=environment, capture_output=True, text=True, check=False
    )
