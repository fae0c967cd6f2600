"""A graph as a Mermaid flowchart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.graph.model import Edge, EdgeKind, Node, NodeKind
from verlint.report.graphs import Options
from verlint.report.graphs.palette import ERROR, PAINTS, UNSURE, WARNING
from verlint.report.graphs.view import View

_SHAPES = {
    NodeKind.STAGE: ("[", "]"),
    NodeKind.ARTIFACT: ("[(", ")]"),
    NodeKind.ROOT: ("{{", "}}"),
    NodeKind.CREDENTIAL: (">", "]"),
    NodeKind.CHECKOUT: ("[[", "]]"),
    NodeKind.BRANCH: ("[/", "/]"),
    NodeKind.MODEL: ("([", "])"),
    NodeKind.APPROVAL: ("{", "}"),
}
_ARROWS = {
    EdgeKind.STARTS_FROM: "==>",
    EdgeKind.HOLDS: "-.->",
    EdgeKind.BEFORE: "-.->",
    EdgeKind.HAS: "-.->",
    EdgeKind.NEEDS: "-.->",
    EdgeKind.AUTHORISES: "-.->",
}
_ENTITIES = {
    **{character: f"#{ord(character)};" for character in "#`$\\|{}[]()@;:~*_%"},
    '"': "#quot;",
    "&": "#amp;",
    "<": "#lt;",
    ">": "#gt;",
}
_PLAIN = frozenset("/._-:()@*~%;")
"""Characters that stand for themselves within quotes."""

_INK = {"error": ERROR, "warning": WARNING, "info": WARNING, "unsure": UNSURE}


def render(views: Sequence[View], options: Options) -> str:
    """One flowchart; several experiments are parts of it."""
    lines = ["flowchart TD"]
    for number, view in enumerate(views, 1):
        prefix = f"x{number}" if len(views) > 1 else ""
        if prefix:
            lines.append(f"  subgraph {prefix}[{_quoted(view.raw(view.graph.title))}]")
        lines += [f"  {'  ' if prefix else ''}{line}" for line in _body(view, prefix)]
        if prefix:
            lines.append("  end")
    lines += [f"  {line}" for line in _classes(views)]
    return "\n".join(lines) + "\n"


def _body(view: View, prefix: str) -> Iterator[str]:
    for node in view.nodes():
        opening, closing = _SHAPES[node.kind]
        worst = view.tally(node).worst
        state = f":::{worst}" if worst else f":::{node.kind.value}"
        yield f"{prefix}{node.id}{opening}{_quoted(*label_lines(view, node))}{closing}{state}"
    for edge in view.edges:
        arrow = f"{_ARROWS.get(edge.kind, '-->')}|{_quoted(_words(view, edge))}|"
        yield f"{prefix}{edge.source} {arrow} {prefix}{edge.target}"


def label_lines(view: View, node: Node) -> list[str]:
    """What a node is called, in lines, with secrets masked."""
    facts = node.facts
    if node.kind is NodeKind.STAGE:
        about = " / ".join(facts[name] for name in ("family", "kind") if name in facts)
        run = facts.get("run", "") if node.stage is None or node.stage.spec is None else ""
        lines = [f"{facts['order']} {node.label}", about, run, view.tally(node).words]
    elif node.kind is NodeKind.ARTIFACT:
        lines = [node.label, node.holdings, facts.get("path", ""), view.tally(node).words]
    else:
        fact = facts.get("model") or facts.get("path", "")
        lines = [node.label, fact if fact.strip("${}") != node.label else "", view.tally(node).words]
    return [view.raw(line) for line in dict.fromkeys(lines) if line]


def _words(view: View, edge: Edge) -> str:
    return view.raw(f"{edge.kind.value} {edge.label}".strip())


def _quoted(*lines: str) -> str:
    return '"' + "<br>".join(_escaped(line) for line in lines) + '"'


def _escaped(text: str) -> str:
    """The text with entity codes for all that Mermaid, Markdown or HTML could read."""
    return "".join(_character(character) for character in text)


def _character(character: str) -> str:
    if character in _PLAIN:
        return character
    if character in _ENTITIES:
        return _ENTITIES[character]
    return character if character.isprintable() else f"#{ord(character)};"


def _classes(views: Sequence[View]) -> Iterator[str]:
    """The classes that the nodes use."""
    kinds = {node.kind for view in views for node in view.nodes() if not view.tally(node).worst}
    for kind, paint in PAINTS.items():
        if kind in kinds:
            yield f"classDef {kind.value} fill:{paint.fill},stroke:{paint.line},color:#1a1a1a"
    states = {view.tally(node).worst for view in views for node in view.nodes()}
    for state, ink in _INK.items():
        if state in states:
            yield f"classDef {state} fill:#ffffff,stroke:{ink},stroke-width:3px,color:#1a1a1a"
