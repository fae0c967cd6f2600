"""Graphs as test cases: the experiments, what `verlint graph` prints about them, and grammars of what it prints."""

from __future__ import annotations

import re
from contextlib import chdir
from functools import cache
from pathlib import Path

from fixture_cases import FIXTURES, ROOT
from verlint.cli.main import main
from verlint.engine import check_loaded
from verlint.experiment.project import Project
from verlint.files.loading import load
from verlint.graph.build import graph_of
from verlint.graph.model import ExperimentGraph
from verlint.report.graphs import GRAPH_FORMATS, Options, render_graphs
from verlint.report.graphs.view import View
from verlint.settings import Settings

EXPERIMENTS = FIXTURES / "experiments"
EXPECTED = ROOT / "tests/graphs"

SMALL = {
    "oel": "oel-lake.exp.yaml",
    "gad": "gad-short.exp.yaml",
    "coach": "rl-only.exp.yaml",
    "opcd": "short.exp.yaml",
    "opo": "run_all.sh",
}
"""One small clean experiment of each family."""

DOCUMENTS = {"oel": "README.md", "gad": "README.md", "coach": "README.md", "opcd": "README.md"}
"""The documents, whose graphs are made from commands alone."""

ENDINGS = {"text": "txt", "mermaid": "mmd", "dot": "dot", "json": "json"}


def written(tmp_path: Path, *arguments: str) -> str:
    """What `verlint graph` writes into a file."""
    target = tmp_path / "graph.out"
    assert main(["graph", *arguments, "--output", str(target)]) == 0
    return target.read_text("utf-8")


@cache
def views(folder: str, name: str) -> list[View]:
    """The graphs of one file of the experiments, with what the rules say, as `verlint graph` shows them there."""
    here = EXPERIMENTS / folder
    with chdir(here):
        settings = Settings(root=here)
        loading = load([name], settings)
        project = Project(loading.files, settings, here)
        found = [graph_of(each, project) for each in project.experiments if each.source.path == name]
        findings = check_loaded(project, settings).findings
        return [View(each, findings) for each in found if each is not None]


def graph(folder: str, name: str) -> ExperimentGraph:
    """The graph of one file of the experiments."""
    (view,) = views(folder, name)
    return view.graph


def drawn(folder: str, name: str, format: str) -> str:
    """That graph in a format, 100 columns wide."""
    return render_graphs(views(folder, name), format, Options())


def all_formats() -> str:
    """An experiment with faults in every format."""
    return "\n".join(drawn("gad/broken", "README.md", format) for format in GRAPH_FORMATS)


# ---- Mermaid

_STRING = r'"[^"\n]*"'
_NODE = re.compile(
    rf" +(?P<id>\w+)(?:\[{_STRING}\]|\[\({_STRING}\)\]|\{{\{{{_STRING}\}}\}}|>{_STRING}\]|\[\[{_STRING}\]\]"
    rf"|\[/{_STRING}/\]|\(\[{_STRING}\]\)|\{{{_STRING}\}}):::(?P<style>[a-z]+)"
)
_ARROW = re.compile(rf" +(?P<source>\w+) (?:-->|==>|-\.->)\|{_STRING}\| (?P<target>\w+)")
_STYLE = re.compile(r" +classDef (?P<name>[a-z]+) (?:[a-z-]+:[#\w]+,?)+")
_PART = re.compile(rf" +subgraph (?P<id>\w+)\[{_STRING}\]")
_ENTITY = re.compile(r"#(?:quot|amp|lt|gt|\d+);")


def mermaid_problems(text: str) -> list[str]:
    """Lines that are none of a flowchart, and ends of arrows and classes that nothing declares.

    Stricter than Mermaid: labels are quoted, and hold no character that it or Markdown reads, but as an entity."""
    first, *lines = text.splitlines()
    out = [] if first == "flowchart TD" else [first]
    nodes: set[str] = set()
    used: list[str] = []
    styles: list[str] = []
    known: set[str] = set()
    for line in lines:
        if node := _NODE.fullmatch(line):
            nodes.add(node["id"])
            styles.append(node["style"])
        elif arrow := _ARROW.fullmatch(line):
            used += [arrow["source"], arrow["target"]]
        elif style := _STYLE.fullmatch(line):
            known.add(style["name"])
        elif not _PART.fullmatch(line) and line != "  end":
            out.append(line)
        for label in re.findall(r'"([^"]*)"', line):
            rest = _ENTITY.sub("", label.replace("<br>", ""))
            if re.search(r"[#<>&`\\|{}\[\]$\x00-\x1f]", rest):
                out.append(f"label {label!r}")
    out += [f"nothing declares {id}" for id in used if id not in nodes]
    return out + [f"no class {name}" for name in styles if name not in known]


# ---- DOT

_QUOTED = r'"(?:[^"\\\n]|\\.)*"'
_ATTRIBUTES = rf"\[\w+={_QUOTED}(?:, \w+={_QUOTED})*\]"
_DOT_LINES = (
    re.compile(rf" *(?P<id>{_QUOTED}) {_ATTRIBUTES};"),
    re.compile(rf" *(?P<source>{_QUOTED}) -> (?P<target>{_QUOTED}) {_ATTRIBUTES};"),
    re.compile(rf" *(?:graph|node|edge) {_ATTRIBUTES};"),
    re.compile(rf" *label={_QUOTED};"),
    re.compile(rf" *subgraph {_QUOTED} \{{"),
    re.compile(r" *\}"),
)


def dot_problems(text: str) -> list[str]:
    """Lines that are none of a digraph, and ends of edges that nothing declares."""
    first, *lines = text.splitlines()
    out = [] if first == "digraph verlint {" else [first]
    nodes: set[str] = set()
    used: list[str] = []
    for line in lines:
        match = next((found for each in _DOT_LINES if (found := each.fullmatch(line))), None)
        if match is None:
            out.append(line)
            continue
        groups = match.groupdict()
        if "id" in groups:
            nodes.add(groups["id"])
        used += [groups[name] for name in ("source", "target") if name in groups]
    return out + [f"nothing declares {id}" for id in used if id not in nodes]
