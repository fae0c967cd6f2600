"""Every command and every file that the pages show is tried: commands in a small project, files by their real reader.

Commands whose output is shown are compared with it in `test_docs.py`; here it counts that they can be carried out."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import jsonschema  # type: ignore[import-untyped]
import pytest
from ruamel.yaml import YAML

from doc_pages import PAGES, ROOT, Fence, fences, run
from verlint.cli.main import main
from verlint.cli.settings_check import settings_problems
from verlint.settings import read_settings_file
from verlint.spec_page import EXAMPLE

LAUNCHER = """\
#!/usr/bin/env bash
set -euo pipefail
while [[ $# -gt 0 ]]; do
    case "$1" in
        --exp_name) EXP_NAME="${2:?}"; shift 2 ;;
        --nnodes) NNODES="${2:?}"; shift 2 ;;
        *) break ;;
    esac
done
python3 -m verl.trainer.main_ppo \\
    data.train_files="${DATA_ROOT:?}/train.parquet" \\
    data.val_files="${DATA_ROOT:?}/test.parquet" \\
    trainer.experiment_name="${EXP_NAME:?}" \\
    trainer.nnodes="${NNODES:-1}" \\
    trainer.total_epochs=1
"""
DRIVER = "#!/usr/bin/env bash\nset -euo pipefail\nbash scripts/train.sh --exp_name first\n"
FILES = {
    "scripts/train.sh": LAUNCHER,
    "train.sh": LAUNCHER,
    "gad/train.sh": LAUNCHER,
    "opo/scripts/train.sh": LAUNCHER,
    "run_all.sh": DRIVER,
    "README.md": f"# First\n\n```bash\n{DRIVER}```\n",
    "experiment.exp.yaml": EXAMPLE,
    "math.exp.yaml": EXAMPLE.replace("lmsys-7b", "math"),
    "lists/experience_list.txt": "experience_1.txt\n",
    "lists/experience_1.txt": "Look twice.\n",
    "prompts/safety.txt": "Say no to what does harm, and say why in one sentence.\n",
}
"""The project in which the commands of the pages are run: it has the files that they name."""

SERVERS = ("lsp",)
"""Verbs that wait for a client; they have tests of their own."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text)
    shutil.copytree(ROOT / "fixtures/readers/skypilot/clean", tmp_path, dirs_exist_ok=True)
    (tmp_path / "verlint.toml").unlink()
    return tmp_path


def lines(fence: Fence) -> Iterator[str]:
    """The command lines of a block that start verlint, without comments."""
    if fence.language == "yaml":
        for line in fence.text.splitlines():
            if found := re.match(r"\s*- (?:run: )?(verlint .*)", line):
                yield found[1]
    elif fence.language == "bash":
        for line in fence.text.splitlines():
            if re.match(r"(cat .*\| )?verlint ", line) or "| verlint " in line:
                yield re.sub(r"\s+#.*", "", line)


COMMANDS = {page: [line for fence in fences(page) for line in lines(fence)] for page in PAGES}


@pytest.mark.parametrize("page", [page for page in PAGES if COMMANDS[page]], ids=lambda page: page.name)
def test_the_commands_of_a_page_can_be_carried_out(page: Path, project: Path) -> None:
    for line in COMMANDS[page]:
        folder = ROOT if "fixtures/" in line else project
        said = ""
        for part in line.split(" | "):
            words = shlex.split(part.partition(" > ")[0])
            if words[0] == "cat":
                said = (folder / words[1]).read_text()
            elif words[1] not in SERVERS:
                code, said = piped(words, said, folder)
                assert code in (0, 1), f"{line}\n{said}"


def piped(words: list[str], given: str, folder: Path) -> tuple[int, str]:
    """The exit code and the output of a call that reads a text."""
    out = io.StringIO()
    source = io.TextIOWrapper(io.BytesIO(given.encode()), "utf-8")
    with (
        contextlib.chdir(folder),
        mock.patch("sys.stdin", source),
        mock.patch.dict(os.environ, {"NO_COLOR": "1"}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        code = main(words[1:])
    return code, out.getvalue()


def test_nearly_all_pages_have_commands() -> None:
    assert len([page for page in PAGES if COMMANDS[page]]) >= 11
    assert sum(map(len, COMMANDS.values())) > 70


FENCES = [(page, number, fence) for page in PAGES for number, fence in enumerate(fences(page), 1)]


def of(*languages: str) -> pytest.MarkDecorator:
    found = [(page, fence) for page, _, fence in FENCES if fence.language in languages]
    names = [f"{page.name}:{number}" for page, number, fence in FENCES if fence.language in languages]
    return pytest.mark.parametrize(("page", "fence"), found, ids=names)


@of("toml")
def test_settings_are_read(page: Path, fence: Fence, tmp_path: Path) -> None:
    data = tomllib.loads(fence.text)
    if not {"language", "plugins"} & set(data):  # that of Helix; of a pack, which `test_plugins.py` installs
        path = tmp_path / ("pyproject.toml" if "tool" in data else "verlint.toml")
        path.write_text(fence.text)
        settings_problems(read_settings_file(path))


@of("yaml")
def test_hooks_exist_and_specs_are_right(page: Path, fence: Fence, tmp_path: Path) -> None:
    data = YAML(typ="safe", pure=True).load(fence.text)
    if isinstance(data, dict) and "repos" in data:
        ours = {hook["id"] for hook in YAML(typ="safe").load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
        assert {hook["id"] for repo in data["repos"] for hook in repo["hooks"]} <= ours
    if isinstance(data, dict) and "stages" in data:
        (tmp_path / "shown.exp.yaml").write_text(fence.text)
        assert run("verlint check --isolated", tmp_path)[0] == 0


@of("json")
def test_json_is_what_its_schema_says(page: Path, fence: Fence) -> None:
    data = json.loads(fence.text)
    if page.name == "json.md":
        schema = json.loads((ROOT / "tests/schemas/verlint-json-v1.schema.json").read_text("utf-8"))
        jsonschema.Draft202012Validator(schema).validate(data)


@of("python")
def test_python_is_python(page: Path, fence: Fence) -> None:
    compile(fence.text, f"{page.name}", "exec")


@of("bash")
def test_comments_for_verlint_do_what_is_said(page: Path, fence: Fence, tmp_path: Path) -> None:
    """A suppression takes a finding away (else it would be one itself), a directive is understood."""
    if "# verlint: " in fence.text:
        (tmp_path / "shown.sh").write_text(f"#!/usr/bin/env bash\n{fence.text}")
        assert run("verlint check --isolated --select VL008,VL1 shown.sh", tmp_path)[0] == 0
