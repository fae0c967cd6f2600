"""A graph in the DOT language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.graph.model import EdgeKind, Node, NodeKind
from verlint.report.display import visible
from verlint.report.graphs import Options
from verlint.report.graphs.mermaid import label_lines
from verlint.report.graphs.palette import ERROR, PAINTS, UNSURE, WARNING
from verlint.report.graphs.view import View

_SHAPES = {
    NodeKind.STAGE: "box",
    NodeKind.ARTIFACT: "cylinder",
    NodeKind.ROOT: "folder",
    NodeKind.CREDENTIAL: "cds",
    NodeKind.CHECKOUT: "component",
    NodeKind.BRANCH: "parallelogram",
    NodeKind.MODEL: "oval",
    NodeKind.APPROVAL: "diamond",
}
_STYLES = {
    EdgeKind.STARTS_FROM: "bold",
    EdgeKind.COPIED: "dashed",
    EdgeKind.HOLDS: "dotted",
    EdgeKind.BEFORE: "dotted",
    EdgeKind.HAS: "dotted",
    EdgeKind.NEEDS: "dotted",
    EdgeKind.AUTHORISES: "dotted",
}
_INK = {"error": ERROR, "warning": WARNING, "info": WARNING, "unsure": UNSURE}


def render(views: Sequence[View], options: Options) -> str:
    """One digraph; several experiments are clusters of it."""
    lines = [
        "digraph verlint {",
        '  graph [fontname="Helvetica", rankdir="TB"];',
        '  node [fontname="Helvetica", fontsize="11", style="filled"];',
        '  edge [fontname="Helvetica", fontsize="9"];',
    ]
    for number, view in enumerate(views, 1):
        prefix = f"x{number}_" if len(views) > 1 else ""
        title = _quoted(view.raw(view.graph.title))
        if prefix:
            lines.append(f'  subgraph "cluster_{number}" {{')
            lines += [f"    label={title};", *(f"    {line}" for line in _body(view, prefix)), "  }"]
        else:
            lines += [f"  label={title};", *(f"  {line}" for line in _body(view, prefix))]
    return "\n".join([*lines, "}"]) + "\n"


def _body(view: View, prefix: str) -> Iterator[str]:
    for node in view.nodes():
        yield f'"{prefix}{node.id}" [{_attributes(view, node)}];'
    for edge in view.edges:
        words = view.raw(f"{edge.kind.value} {edge.label}".strip())
        style = f', style="{_STYLES[edge.kind]}"' if edge.kind in _STYLES else ""
        said = f"label={_quoted(words)}{style}, edgetooltip={_quoted(view.place(edge.span))}"
        yield f'"{prefix}{edge.source}" -> "{prefix}{edge.target}" [{said}];'


def _attributes(view: View, node: Node) -> str:
    paint = PAINTS[node.kind]
    ink = _INK.get(view.tally(node).worst, paint.line)
    tooltip = [view.place(node.span), *(f"{each.code} {view.raw(each.message)}" for each in view.findings_at(node))]
    found = {
        "label": _quoted(*label_lines(view, node)),
        "shape": f'"{_SHAPES[node.kind]}"',
        "fillcolor": f'"{paint.fill}"',
        "color": f'"{ink}"',
        "penwidth": '"3"' if ink != paint.line else '"1"',
        "tooltip": _quoted(*tooltip),
    }
    return ", ".join(f"{name}={value}" for name, value in found.items())


def _quoted(*lines: str) -> str:
    """A string of DOT; within it a backslash would start an escape such as `\\N`."""
    escaped = (visible(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
