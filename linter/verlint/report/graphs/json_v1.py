"""Graphs as JSON, version 1; `docs/graph.md` describes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from verlint import __version__
from verlint.graph.model import Edge, Node
from verlint.report.display import json_text
from verlint.report.graphs import Options
from verlint.report.graphs.view import View
from verlint.report.json_v1 import finding_json
from verlint.report.redaction import Redactor
from verlint.source import Position, Span

VERSION = 1


def render(views: Sequence[View], options: Options) -> str:
    """All experiments with their nodes, edges and findings."""
    data = {
        "version": VERSION,
        "tool": {"name": "verlint", "version": __version__},
        "checked": options.checked,
        "experiments": [_experiment(view) for view in views],
    }
    return json_text(data)


def _experiment(view: View) -> dict[str, Any]:
    redactor = Redactor(view.findings)
    number = {id(finding): at for at, finding in enumerate(view.findings)}
    return {
        "title": view.raw(view.graph.title),
        "path": view.raw(view.graph.experiment.source.path),
        "family": view.graph.experiment.family,
        "spec": view.graph.experiment.is_spec,
        "nodes": [
            {**_node(view, node), "findings": [number[id(each)] for each in view.findings_at(node)]}
            for node in view.nodes()
        ],
        "edges": [_edge(view, edge) for edge in view.every_edge],
        "findings": [finding_json(finding, redactor) for finding in view.findings],
    }


def _node(view: View, node: Node) -> dict[str, Any]:
    return {
        "id": node.id,
        "kind": node.kind.value,
        "label": view.raw(node.label),
        "facts": {name: view.raw(fact) for name, fact in node.facts.items()},
        "place": _place(view, node.span),
    }


def _edge(view: View, edge: Edge) -> dict[str, Any]:
    return {
        "source": edge.source,
        "target": edge.target,
        "kind": edge.kind.value,
        "label": view.raw(edge.label),
        "place": _place(view, edge.span),
    }


def _place(view: View, span: Span | None) -> dict[str, Any] | None:
    if span is None:
        return None
    path = view.raw(span.in_file().source.path)
    return {"path": path, "start": _position(span.begin), "end": _position(span.finish)}


def _position(position: Position) -> dict[str, int]:
    return {"line": position.line, "column": position.column}
