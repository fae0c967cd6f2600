"""The graph of an experiment, and `verlint graph` in every format."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import networkx
import pytest

from fixture_cases import ROOT
from graph_cases import (
    DOCUMENTS,
    ENDINGS,
    EXPECTED,
    EXPERIMENTS,
    SMALL,
    all_formats,
    dot_problems,
    drawn,
    graph,
    mermaid_problems,
    views,
    written,
)
from verlint.cli.main import main
from verlint.graph.model import EdgeKind, NodeKind
from verlint.graph.steps import steps_text, without_steps
from verlint.report.graphs import GRAPH_FORMATS, Options, render_graphs
from verlint.report.graphs.layout import Box
from verlint.report.graphs.measure import broken, cut_to, text_width

Bless = Callable[[Path, str], None]

WHOLE = [(family, name) for families in (SMALL, DOCUMENTS) for family, name in families.items()]


DRAWN = [
    *((f"{family}/clean", name) for family, name in WHOLE),
    *((f"{family}/broken", name) for family, name in WHOLE if name != "gad-short.exp.yaml"),
]
"""All of them, whole and with faults; one is broken so that it cannot be read."""

each_drawn = pytest.mark.parametrize(("folder", "name"), DRAWN, ids=[f"{folder}/{name}" for folder, name in DRAWN])


@pytest.fixture
def expect(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Bless:
    """Compare with a file of `tests/graphs`; with `--bless`, write it."""

    def compare(path: Path, text: str) -> None:
        if request.config.getoption("--bless") and (not path.is_file() or path.read_text("utf-8") != text):
            path.write_text(text, "utf-8", newline="\n")
            record_property("blessed", path.relative_to(ROOT).as_posix())
        assert text == path.read_text("utf-8")

    return compare


# Whole outputs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ENDINGS)
@pytest.mark.parametrize(("family", "name"), SMALL.items(), ids=list(SMALL))
def test_a_small_experiment(family: str, name: str, format: str, expect: Bless) -> None:
    text = drawn(f"{family}/clean", name, format)
    expect(EXPECTED / f"{family}.{ENDINGS[format]}", re.sub(r'"version": "[^"]+"', '"version": "VERSION"', text))


@pytest.mark.parametrize(("family", "name"), DOCUMENTS.items(), ids=list(DOCUMENTS))
def test_a_document(family: str, name: str, expect: Bless) -> None:
    expect(EXPECTED / f"{family}-document.txt", drawn(f"{family}/clean", name, "text"))


def test_the_command_prints_the_same(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(EXPERIMENTS / "gad/clean")
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["graph", "gad-short.exp.yaml"]) == 0
    assert capsys.readouterr().out == (EXPECTED / "gad.txt").read_text("utf-8")


@each_drawn
def test_every_format_is_well_formed(folder: str, name: str) -> None:
    assert mermaid_problems(drawn(folder, name, "mermaid")) == []
    assert dot_problems(drawn(folder, name, "dot")) == []
    ElementTree.fromstring(drawn(folder, name, "svg"))
    assert Page(drawn(folder, name, "html")).open == []


@each_drawn
def test_the_json_is_as_its_schema_says(folder: str, name: str) -> None:
    schema = json.loads((ROOT / "tests/schemas/verlint-graph-v1.schema.json").read_text("utf-8"))
    data = json.loads(drawn(folder, name, "json"))
    jsonschema.Draft7Validator(schema).validate(data)
    (experiment,) = data["experiments"]
    ids = [node["id"] for node in experiment["nodes"]]
    assert len(ids) == len(set(ids))
    assert {edge[end] for edge in experiment["edges"] for end in ("source", "target")} <= set(ids)
    assert {at for node in experiment["nodes"] for at in node["findings"]} <= set(range(len(experiment["findings"])))


def test_a_folder_shows_all_its_experiments(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(EXPERIMENTS / "opcd/clean")
    assert main(["graph", ".", "--no-check", "-o", str(tmp_path / "all.json")]) == 0
    titles = [each["title"] for each in json.loads((tmp_path / "all.json").read_text("utf-8"))["experiments"]]
    assert titles == ["opcd-math-q3-8b", "opcd-math-short", "README.md", "run_all.sh"]


def test_several_experiments_in_one_output() -> None:
    both = [*views("gad/clean", "gad-short.exp.yaml"), *views("opcd/clean", "short.exp.yaml")]
    assert mermaid_problems(render_graphs(both, "mermaid", Options())) == []
    assert dot_problems(render_graphs(both, "dot", Options())) == []
    ElementTree.fromstring(render_graphs(both, "svg", Options()))
    page = render_graphs(both, "html", Options())
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert page.count('<section class="experiment">') == 2


# The graph -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("family", "name"), WHOLE, ids=[f"{family}-{name}" for family, name in WHOLE])
def test_a_clean_experiment_has_no_circle_and_every_input_has_a_maker(family: str, name: str) -> None:
    found = graph(f"{family}/clean", name)
    assert networkx.is_directed_acyclic_graph(found.graph)
    for artifact in found.nodes(NodeKind.ARTIFACT):
        assert found.into(artifact, EdgeKind.WRITES, EdgeKind.COPIED), artifact.label


def test_what_a_stage_hangs_on_are_its_ancestors() -> None:
    found = graph("oel/clean", "oel-sokoban.exp.yaml")
    stages = {node.label: node.id for node in found.nodes(NodeKind.STAGE)}
    labels = {found.node(id).label for id in networkx.ancestors(found.graph, stages["r2-eval"])}
    assert {"r1-extract", "r1-list", "r1-deploy", "r1-consolidate", "r2-extract", "policy", "OEL_ROOT"} - labels == {
        "OEL_ROOT"
    }
    assert "r1-eval" not in labels


@pytest.mark.parametrize("name", ["gad.exp.yaml", "README.md"])
def test_the_branches_of_gad(name: str) -> None:
    found = graph("gad/clean", name)
    on = {
        node.facts["kind"]: branch.facts["branch"]
        for node in found.nodes(NodeKind.STAGE)
        for _, branch in found.into(node, EdgeKind.RUNS_ON)
    }
    assert on == {"seqkd": "seqkd", "warmup": "warmup", "adversarial": "gad", "generation": "eval"}


def test_a_copied_checkpoint_is_one_of_its_own() -> None:
    found = graph("gad/clean", "README.md")
    copied = found.edges(EdgeKind.COPIED)
    assert [(found.node(each.source).facts["path"], each.label) for each in copied] == [
        ("${GAD_CKPT_ROOT}/lmsys-7b-warmup", "step 800")
    ]
    copy = found.node(copied[0].target)
    assert [(edge.kind, edge.label, stage.facts["kind"]) for edge, stage in found.out_of(copy)] == [
        (EdgeKind.STARTS_FROM, "actor step 800", "adversarial"),
        (EdgeKind.STARTS_FROM, "critic step 800", "adversarial"),
    ]


def test_edges_join_what_their_kinds_say() -> None:
    ends: dict[EdgeKind, set[tuple[str, str]]] = {}
    for family, name in WHOLE:
        found = graph(f"{family}/clean", name)
        for edge in found.edges():
            pair = (found.node(edge.source).kind.value, found.node(edge.target).kind.value)
            ends.setdefault(edge.kind, set()).add(pair)
    assert ends == {
        EdgeKind.READS: {("artifact", "stage")},
        EdgeKind.WRITES: {("stage", "artifact")},
        EdgeKind.COPIED: {("artifact", "artifact")},
        EdgeKind.HOLDS: {("root", "artifact")},
        EdgeKind.NEEDS: {("credential", "stage")},
        EdgeKind.RUNS_ON: {("branch", "stage")},
        EdgeKind.HAS: {("checkout", "branch")},
        EdgeKind.STARTS_FROM: {("artifact", "stage"), ("model", "stage")},
        EdgeKind.USES: {("model", "stage")},
        EdgeKind.BEFORE: {("stage", "stage")},
    }


def test_approvals_and_needs_of_a_spec(tmp_path: Path) -> None:
    (tmp_path / "a.exp.yaml").write_text(
        "schema: verlint/exp-v1\nname: a\nfamily: gad\ncheckout: {verl: {path: verl}}\n"
        "credentials: {OPENAI_API_KEY: {used_by: [score]}}\n"
        "approvals: {run-code: {granted_by: lead, sandbox: docker}}\nmodels: {student: {id: Qwen/Qwen2.5-7B}}\n"
        "stages:\n  one: {kind: warmup, launcher: one.sh}\n"
        "  two: {kind: eval, launcher: two.sh, needs: [one], approvals: [run-code]}\n"
        "  score: {kind: score, launcher: three.sh, needs: [one, two]}\n"
    )
    (found,) = [view.graph for view in views(str(tmp_path), "a.exp.yaml")]
    shown = [(found.node(e.source).label, e.kind.value, found.node(e.target).label) for e in found.edges()]
    assert shown == [
        ("one", "before", "two"),
        ("run-code", "authorises", "two"),
        ("one", "before", "score"),
        ("two", "before", "score"),
        ("OPENAI_API_KEY", "needs", "score"),
    ]


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ([800], "800"),
        ([10, 20, 30], "10..30/10"),
        ([1, 2, 3], "1..3"),
        ([50, 100], "50, 100"),
        ([3, 1, 1], "1, 3"),
        ([1, 2, 4, 8, 16], "1 … 16 (5)"),
    ],
)
def test_steps_in_words(steps: list[int], text: str) -> None:
    assert steps_text(steps) == text


def test_a_path_without_its_steps() -> None:
    assert without_steps("/a/global_step_50/x/global_step_7") == ("/a/global_step_*/x/global_step_*", [50, 7])
    assert without_steps("/a/global_step_${N}") == ("/a/global_step_${N}", [])


# Findings on nodes ---------------------------------------------------------------------------------------------------


def test_findings_stand_on_the_nodes_they_are_about() -> None:
    (experiment,) = json.loads(drawn("oel/broken", "README.md", "json"))["experiments"]
    codes = [each["code"] for each in experiment["findings"]]
    on = {node["id"]: sorted(codes[at] for at in node["findings"]) for node in experiment["nodes"] if node["findings"]}
    labels = {node["id"]: node["label"] for node in experiment["nodes"]}
    assert {id: labels[id] for id in on if not id.startswith("s")} == {"a3": "experience list", "a9": "checkpoints"}
    assert {"VL809"} <= set(on["s1"])
    assert on["s8"] == ["VL201"]
    assert "VL802" in on["s9"]
    assert on["a9"] == ["VL203"]


def test_every_finding_is_told_once_in_the_text() -> None:
    """A finding in a launcher that several stages run is told at each of them."""
    text = drawn("oel/broken", "README.md", "text")
    (view,) = views("oel/broken", "README.md")
    for finding in view.findings:
        owners = [node for node in view.nodes() if finding in view.findings_at(node)]
        assert text.count(f"{finding.code} {finding.message[:40]}") == max(len(owners), 1)


def test_findings_can_be_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(EXPERIMENTS / "opo/broken")
    data = json.loads(written(tmp_path, "run_all.sh", "--format", "json", "--no-check"))
    assert data["checked"] is False
    assert data["experiments"][0]["findings"] == []
    assert "findings" not in written(tmp_path, "run_all.sh", "--no-check")


# Determinism, escapes, secrets ---------------------------------------------------------------------------------------


def test_the_same_every_time() -> None:
    path = os.pathsep.join(str(ROOT / name) for name in ("linter", "rules", "tests"))
    code = "import sys, graph_cases; sys.stdout.write(graph_cases.all_formats())"
    outputs = []
    for seed in ("0", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
        outputs.append(done.stdout.decode())
    assert outputs[0] == outputs[1] == all_formats()


EVIL = 'x"]; end <script>alert(1)</script> `a` #quot; \\N &lt; \x1b[31m\u202e $$ ]]> --> | {b}'
"""A name with what every format could take for its own."""


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An experiment whose name, models, paths and run names are evil."""
    said = json.dumps(EVIL)
    (tmp_path / "evil.exp.yaml").write_text(
        f"schema: verlint/exp-v1\nname: {said}\nfamily: gad\nmodels: {{student: {{id: {said}}}}}\n"
        f"roots: {{data: {json.dumps('/' + EVIL)}}}\ncheckout: {{verl: {{path: {said}, branches: [warmup]}}}}\n"
        "stages:\n  one: {kind: warmup, checkout: verl, branch: warmup, launcher: one.sh, "
        f'args: {{exp_name: {said}, model: "${{models.student}}"}}, outs: {{ckpt: {{roles: [actor], every: 50}}, '
        f"data: {json.dumps('${roots.data}/' + EVIL)}}}}}\n"
        "  two: {kind: eval, launcher: two.sh, deps: {ckpt: {from: one, role: actor, step: 50}, data: {from: one}}}\n",
        "utf-8",
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_evil_names_in_text(evil: Path, tmp_path: Path) -> None:
    text = written(tmp_path, "evil.exp.yaml")
    assert "\\x1b[31m\\u202e" in text
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", text)


def test_evil_names_in_mermaid_and_dot(evil: Path, tmp_path: Path) -> None:
    text = written(tmp_path, "evil.exp.yaml", "--format", "mermaid")
    assert mermaid_problems(text) == []
    assert "<script" not in text
    text = written(tmp_path, "evil.exp.yaml", "--format", "dot")
    assert dot_problems(text) == []
    assert "\x1b" not in text


def test_evil_names_in_svg(evil: Path, tmp_path: Path) -> None:
    tree = ElementTree.fromstring(written(tmp_path, "evil.exp.yaml", "--format", "svg"))
    tags = {each.tag.rpartition("}")[2] for each in tree.iter()}
    assert tags == {"svg", "title", "style", "rect", "g", "path", "text", "tspan"}
    assert any("<script>alert(1)</script>" in (each.text or "") for each in tree.iter())


def test_evil_names_in_html(evil: Path, tmp_path: Path) -> None:
    page = Page(written(tmp_path, "evil.exp.yaml", "--format", "html"))
    assert page.tags.count("script") == 1
    assert page.open == []
    assert not any(name.startswith("on") for name in page.attributes)


def test_evil_names_in_json(evil: Path, tmp_path: Path) -> None:
    data = json.loads(written(tmp_path, "evil.exp.yaml", "--format", "json"))
    assert data["experiments"][0]["title"] == EVIL


@pytest.mark.parametrize("format", GRAPH_FORMATS)
def test_secrets_are_masked(format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = "hf_" + "0a1b2c3d" * 5
    (tmp_path / "run.sh").write_text(
        f"export HF_TOKEN={token}\n"
        f"python3 -m verl.trainer.main_ppo data.train_files=/data/{token}/train.parquet "
        f"trainer.experiment_name=run-{token} trainer.default_local_dir=/ckpt/{token}\n"
        f"python3 -m verl.trainer.main_ppo data.train_files=/data/{token}/b.parquet\n"
    )
    monkeypatch.chdir(tmp_path)
    text = written(tmp_path, "run.sh", "--format", format)
    assert token not in text
    assert "main_ppo" in text


# The page ------------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """The tags and attributes of a page, and the tags that are not closed."""

    VOID = frozenset(["meta", "br", "link", "img", "input", "hr"])

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, []).append(value or "")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            self.open.append(f"/{tag}")


def test_the_page_needs_nothing_else() -> None:
    text = drawn("gad/broken", "README.md", "html")
    assert not re.search(r"https?://|//[a-z]|@import|url\(", text)
    page = Page(text)
    assert {"src", "href", "xlink:href", "action"} & page.attributes.keys() == set()
    assert {"link", "img", "iframe", "object", "form"} & set(page.tags) == set()
    assert page.attributes["content"][0] == "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def test_every_box_has_its_details() -> None:
    text = drawn("gad/clean", "README.md", "html")
    boxes = {id for ids in re.findall(r'data-node="([^"]+)"', text) for id in ids.split()}
    details = set(re.findall(r'data-detail="([^"]+)"', text))
    assert boxes < details
    assert set(re.findall(r'data-open="([^"]+)"', text)) <= details
    assert {id for ids in re.findall(r'data-ends="([^"]+)"', text) for id in ids.split()} <= boxes


@each_drawn
def test_boxes_do_not_overlap_and_stages_go_down(folder: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from verlint.report.graphs import svg
    from verlint.report.graphs.view import View

    seen: list[list[Box]] = []
    real = svg.lay_out

    def watched(*arguments: object) -> object:
        layout = real(*arguments)  # type: ignore[arg-type]
        seen.append([box for box in layout.boxes if box.node is not None])
        return layout

    monkeypatch.setattr(svg, "lay_out", watched)
    picture = svg.picture(View(graph(folder, name)))
    (boxes,) = seen
    for at, box in enumerate(boxes):
        assert box.x - box.width / 2 >= -0.01
        assert box.x + box.width / 2 <= picture.width + 0.01
        for other in boxes[at + 1 :]:
            apart = abs(box.x - other.x) >= (box.width + other.width) / 2
            assert apart or box.y + box.height < other.y or other.y + other.height < box.y
    stages = sorted((int(box.node.facts["order"]), box.y) for box in boxes if box.node and box.node.stage)
    assert [y for _, y in stages] == sorted(y for _, y in stages)


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("oel/clean", "oel-sokoban.exp.yaml"),
        ("oel/clean", "README.md"),
        ("gad/clean", "gad.exp.yaml"),
        ("gad/clean", "README.md"),
        ("gad/broken", "README.md"),
    ],
)
def test_the_pictures_of_the_experiments_fit_a_page(folder: str, name: str) -> None:
    """Beside the panel there are 1,076 pixels on a screen of 1,440; a picture may shrink a little."""
    least = re.search(r"min-width:(\d+)px", drawn(folder, name, "html"))
    assert least is not None
    assert int(least[1]) <= 1076


def test_texts_are_cut_and_broken_to_fit() -> None:
    path = "GAD_DATA_ROOT/lmsys_gpt5_chat_filtered_train.parquet"
    lines = broken(path, 206, 10.5, mono=True)
    assert lines == ["GAD_DATA_ROOT/lmsys_gpt5_chat_", "filtered_train.parquet"]
    assert all(text_width(line, 10.5, mono=True) <= 206 for line in lines)
    assert cut_to("textgame_generate_deploy.sh", 150, 13.5, bold=True, tail=9) == "textgam…deploy.sh"
    assert cut_to("short", 150, 13.5) == "short"
    assert broken("one two three four five six", 40, 10)[1].endswith("…")


# The call ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["graph"], "the following arguments are required: PATH"),
        (["graph", "none.sh"], "verlint: error: none.sh: there is no such file or folder"),
        (["graph", "run.sh", "--format", "png"], "argument --format: invalid choice: 'png'"),
        (["graph", "run.sh", "--show", "stages,cake"], "--show: 'cake' is no kind of node; kinds: stage, artifact,"),
        (["graph", "run.sh", "--verl", "no/such"], "--verl: "),
        (["graph", "run.sh", "-o", "no/such/folder.svg"], "verlint: error: cannot write no/such/folder.svg: No such file"),
        (["graph", "plain.sh"], "plain.sh: no experiment here (found 1 launcher). An experiment is a spec"),
        (["graph", "notes.txt"], "notes.txt: no experiment here (found nothing to read). An experiment is"),
        (["graph", "bad.exp.yaml"], "bad.exp.yaml could not be read (`verlint check bad.exp.yaml` says why)"),
    ],
)  # fmt: skip
def test_wrong_calls_exit_2(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "run.sh").write_text("python3 -m verl.trainer.main_ppo data.train_files=/d/a.parquet\n")
    (tmp_path / "plain.sh").write_text("#!/bin/bash\nls\n")
    (tmp_path / "notes.txt").write_text("nothing\n")
    (tmp_path / "bad.exp.yaml").write_text("schema: verlint/exp-v1\nstages: {a: [\n")
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_a_single_launcher_is_an_experiment_of_one_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.sh").write_text(
        "python3 -m verl.trainer.main_ppo data.train_files=/d/a.parquet trainer.logger=[console,wandb]\n"
    )
    monkeypatch.chdir(tmp_path)
    assert main(["graph", "run.sh", "--no-check", "--color", "never"]) == 0
    assert capsys.readouterr().out == (
        "run.sh\n1 stage, 1 artifact\n\n"
        " 1 verl.trainer.main_ppo  run.sh:1:1\n"
        "   ├─ needs       WANDB_API_KEY\n"
        "   └─ reads       training data /d/a.parquet (nothing here writes it)\n\n"
        "roots\n   └─ /d\n\ncredentials\n   └─ WANDB_API_KEY (stage 1)\n"
    )


def test_a_named_file_without_an_experiment_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plain.sh").write_text("#!/bin/bash\nls\n")
    monkeypatch.chdir(EXPERIMENTS / "gad/clean")
    written(tmp_path, "gad-short.exp.yaml", str(tmp_path / "plain.sh"), "--no-check")
    assert capsys.readouterr().err.endswith("plain.sh: no experiment here\n")


def test_the_ending_of_the_file_chooses_the_format(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(EXPERIMENTS / "gad/clean")
    starts = {
        "a.mmd": "flowchart",
        "a.dot": "digraph",
        "a.json": "{",
        "a.svg": "<svg",
        "a.html": "<!doctype",
        "a": "gad-",
    }
    for name, start in starts.items():
        assert main(["graph", "gad-short.exp.yaml", "--no-check", "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_text("utf-8").startswith(start)


def test_checking_does_not_load_graphs(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom verlint.cli.main import main\n"
        f"main(['check', {str(EXPERIMENTS / 'gad/clean')!r}])\n"
        "print([name for name in sys.modules if name.startswith(('networkx', 'verlint.graph', 'verlint.report.graphs'))])"
    )
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'linter'}{os.pathsep}{ROOT / 'rules'}"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_picture_of_the_page_is_current(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, expect: Bless) -> None:
    page = ROOT / "docs/graph.md"
    text = page.read_text("utf-8")
    found = re.search(r"<!-- output: verlint (graph .*) -->\n```mermaid\n(.*?)```", text, re.DOTALL)
    assert found is not None
    monkeypatch.chdir(ROOT)
    expect(page, text[: found.start(2)] + written(tmp_path, *found[1].split()[1:]) + text[found.end(2) :])


def test_the_fixtures_of_the_graphs_exist() -> None:
    wanted = {f"{family}.{ending}" for family in SMALL for ending in ENDINGS.values()}
    wanted |= {f"{family}-document.txt" for family in DOCUMENTS}
    assert {path.name for path in EXPECTED.iterdir()} == wanted
