"""Job files: their shell texts with true places, what their shells are given, and what is said about them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verlint.experiment.job_edits import _edit
from verlint.experiment.job_scripts import job_scripts
from verlint.files.job_formats import format_of
from verlint.files.tree import Tree
from verlint.languages.jobs.expressions import parse_block
from verlint.languages.jobs.job import Block
from verlint.languages.yaml import Mapping, Scalar, embedded, parse_yaml
from verlint.source import Source

# Offset maps ---------------------------------------------------------------------------------------------------------

WORDS = st.text("abc=/.-_$\"'\\{}#:,|&;()<>*!?%@`~[]é😀 ", min_size=1, max_size=14).map(
    lambda text: text.strip() or "x"
)
LINES = st.lists(st.tuples(st.integers(0, 3), WORDS, st.sampled_from(["", " ", "\t"])), min_size=1, max_size=6)


def in_block(header: str, lines: list[tuple[int, str, str]], blanks: list[int], indent: int, end: str) -> str:
    out = [f"job:{end}", f"{' ' * 2}run: {header}{end}"]
    for number, (more, word, behind) in enumerate(lines):
        out += [end] * blanks.count(number)
        out.append(" " * (indent + (more if number else 0)) + word + behind + end)
    return "".join([*out, f"after: 1{end}"])


def run_of(text: str) -> Scalar | None:
    """The scalar `job.run`; None when the text is no YAML."""
    file = parse_yaml(Source("job.yaml", text))
    job = file.root.get("job") if file.error is None and isinstance(file.root, Mapping) else None
    node = job.get("run") if isinstance(job, Mapping) else None
    return node if isinstance(node, Scalar) else None


def check_places(text: str) -> None:
    node = run_of(text)
    if node is None:
        return
    inner = embedded(node)
    for at, char in enumerate(inner.text):
        written = text[inner.outer(at)]
        if at < inner.pieces[0].inner:
            assert char == "\n"  # empty lines at the start stand for the first word
        elif char in " \n":  # folding, line ends of Windows and chomping change these only
            assert written.isspace() or (node.style == '"' and written == "\\"), (at, char, written)
        elif node.style == '"' and written == "\\":
            continue
        else:
            assert written == char, (at, char, written, text)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["|", "|-", "|+", ">", ">-", ">+", "|  # note", "|2", ">2-"]),
    LINES,
    st.lists(st.integers(0, 6), max_size=3),
    st.integers(3, 7),
    st.sampled_from(["\n", "\r\n"]),
)
def test_every_character_of_a_block_scalar_has_its_place(
    header: str, lines: list[tuple[int, str, str]], blanks: list[int], indent: int, end: str
) -> None:
    check_places(in_block(header, lines, blanks, 4 if "2" in header else indent, end))


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["'", '"', ""]),
    st.lists(WORDS, min_size=1, max_size=5),
    st.sampled_from([" ", "\n    ", "\n\n    ", " \n      "]),
)
def test_every_character_of_a_flow_scalar_has_its_place(quote: str, words: list[str], between: str) -> None:
    if quote == "'":
        words = [word.replace("'", "''") for word in words]
    elif quote:
        words = [json.dumps(word, ensure_ascii=False)[1:-1] for word in words]
    else:
        words = ["x" + word for word in words]
    check_places(f"job:\n  run: {quote}{between.join(words)}{quote}\nafter: 1\n")


@settings(max_examples=100, deadline=None)
@given(
    st.lists(WORDS | st.sampled_from(["${{ a.b }}", "'${{ a }}'", '"x ${{ b }} y"', "$(( ${{ n }} ))", "\n"])).map(
        " ".join
    )
)
def test_any_text_with_expressions_is_parsed(text: str) -> None:
    program = parse_block(text)
    assert all(0 <= node.start <= node.end <= len(text) for node in program.nodes)


# Edits ---------------------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(st.data(), st.sampled_from(["|", "|-", ">", "'", '"', ""]), LINES, st.sampled_from(["\n", "\r\n"]))
def test_an_edit_that_is_offered_does_to_the_text_what_it_would_do_to_a_script(
    data: st.DataObject, style: str, lines: list[tuple[int, str, str]], end: str
) -> None:
    if style[:1] in ("|", ">"):
        text = in_block(style, lines, [], 4, end)
    else:
        text = f"job:\n  run: {style}x{' '.join(word for _, word, _ in lines)}{style}\nafter: 1\n"
    node = run_of(text)
    if node is None or not node.text:
        return
    block = Block(embedded(node), node, "run")
    start = data.draw(st.integers(0, len(node.text)))
    stop = data.draw(st.integers(start, len(node.text)))
    new = data.draw(st.sampled_from(["", "x", "new", '"$A"', "a b", "one\ntwo", "  \\\n  --x", "#", "'", "a: b"]))
    edit = _edit(block.source.span(start, stop).in_file(), new, [block])
    if edit is None:
        return
    edited = text[: edit.span.start] + edit.text + text[edit.span.end :]
    found = run_of(edited)
    assert found is not None, edited
    expected = node.text[:start] + new + node.text[stop:]
    assert found.text.rstrip("\n") == expected.rstrip("\n"), (text, edited)


# Formats -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "text", "format"),
    [
        ("sky.yaml", "resources: {}\nrun: |\n  ls\n", "SkyPilot task"),
        ("sky.yaml", "workdir: .\nsetup: ls\n", "SkyPilot task"),
        ("x.yaml", "setup: ls\nother: 1\n", ""),
        ("x.yaml", "num_nodes: 1\nrun: [a, b]\n", ""),
        ("x.yaml", "num_nodes: 1\nrun: {a: b}\n", ""),
        ("x.yaml", "type: task\ncommands:\n  - ls\n", "dstack configuration"),
        ("x.yaml", "type: dev-environment\nide: vscode\n", "dstack configuration"),
        ("x.yaml", "type: image\ncommands: 3\n", ""),
        ("a.dstack.yml", "ls: 1\n", "dstack configuration"),
        ("x.yaml", "apiVersion: ray.io/v1\nkind: RayJob\n", "Kubernetes object"),
        ("x.yaml", "apiVersion: v1\n", ""),
        ("x.yml", "on: push\njobs:\n  a: 1\n", "GitHub workflow"),
        ("x.yml", "'on': push\n\"jobs\":\n  a: 1\n", "GitHub workflow"),
        ("x.yml", "jobs: 3\n", ""),
        ("action.yml", "name: x\nruns:\n  steps:\n", "GitHub action"),
        (".github/workflows/x.yml", "a: 1\n", "GitHub workflow"),
        (".gitlab-ci.yml", "a: {script: ls}\n", "GitLab pipeline"),
        ("ci.yml", "stages: [a]\nx:\n  script: ls\n", "GitLab pipeline"),
        ("x.yaml", "stages: {a: {cmd: ls}}\n", ""),
        ("docker-compose.yml", "a: 1\n", "Compose file"),
        ("x.yml", "services:\n  a:\n    image: x\n", "Compose file"),
        ("x.yml", "services: [a]\n", ""),
        ("x.yaml", "defaults: [ppo_trainer]\nactor_rollout_ref: {}\n", ""),
    ],
)
def test_content_decides_the_format(path: str, text: str, format: str) -> None:
    assert format_of(path, text) == format


KEYS = st.sampled_from(
    """resources num_nodes setup run secrets envs file_mounts workdir type commands env nodes init working_dir apiVersion kind
    metadata spec entrypoint runtimeEnvYAML rayClusterSpec headGroupSpec template containers command args name value
    jobs on steps uses with shell working-directory strategy matrix defaults runs services image script before_script
    stages variables accelerators gpu count path repository""".split()
)
LEAVES = st.sampled_from(
    [None, True, 3, 1.5, "", "task", "RayJob", "ray.io/v1", "bash", "-c", "H100:8", "a=b", "A", "${{ matrix.a }}", "ls (", ".",
     "actions/checkout@v4", "echo ${{ env.A }} | tee x\ncd y", "~/x", "env_vars: {A: [1]}", "env_vars: [", "🙂"]
)  # fmt: skip
TREES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6), max_leaves=40
)
PATHS = st.sampled_from(["a.yaml", "a.dstack.yml", ".github/workflows/a.yml", ".gitlab-ci.yml", "docker-compose.yml"])


@settings(max_examples=150, deadline=None)
@given(PATHS, st.dictionaries(KEYS, TREES, max_size=8), st.text(max_size=4))
def test_no_job_file_makes_a_reader_fail(path: str, data: dict[str, object], behind: str) -> None:
    text = "\n".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in data.items()) + behind
    tree = Tree(Path("/nonexistent"))
    for script in job_scripts(Source(path, text), path, tree, {}):
        for command in (each for way in script.resolution.paths for each in way.commands):
            span = command.span.in_file()
            assert 0 <= span.start <= span.end <= len(text)


def test_a_run_without_job_files_imports_no_reader(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("python3 -m verl.trainer.main_ppo data.train_batch_size=8\n")
    program = (
        "import sys; from verlint.cli.main import main\n"
        "try: main(['check', '--isolated', 'run.sh'])\n"
        "except SystemExit: pass\n"
        "print(sorted(name for name in sys.modules if name.startswith(('verlint.languages.jobs', 'verlint.languages.yaml',"
        " 'verlint.languages.slurm', 'verlint.files.job', 'verlint.experiment.job', 'verlint.experiment.config_f',"
        " 'ruamel'))))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
