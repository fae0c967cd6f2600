"""Putting a graph together: nodes by what they stand for, edges with the steps that flow over them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from verlint.experiment.stage import Experiment, Stage
from verlint.graph.model import Edge, EdgeKind, ExperimentGraph, Node, NodeKind
from verlint.graph.steps import steps_text
from verlint.record import dataclass, field
from verlint.source import Span

_LETTERS = {
    NodeKind.STAGE: "s",
    NodeKind.ARTIFACT: "a",
    NodeKind.ROOT: "r",
    NodeKind.CREDENTIAL: "k",
    NodeKind.CHECKOUT: "c",
    NodeKind.BRANCH: "b",
    NodeKind.MODEL: "m",
    NodeKind.APPROVAL: "p",
}


@dataclass(slots=True)
class _Line:
    """An edge in the making. `steps` are those of the checkpoints that flow over it."""

    source: Node
    target: Node
    kind: EdgeKind
    span: Span | None
    label: str
    steps: set[int] = field(default_factory=set)


class Builder:
    """Collects the nodes and edges of an experiment; the same thing asked for twice is one node, the same edge one
    edge."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self._nodes: dict[tuple[NodeKind, Hashable], Node] = {}
        self._facts: dict[str, dict[str, str]] = {}
        self._counts: dict[NodeKind, int] = {}
        self._lines: dict[object, _Line] = {}
        self._steps: dict[str, set[int]] = {}

    def find(self, kind: NodeKind, key: Hashable) -> Node | None:
        """The node of a thing, None when it has none."""
        return self._nodes.get((kind, key))

    def node(
        self, kind: NodeKind, key: Hashable, label: str, span: Span | None = None, stage: Stage | None = None, /,
        **facts: str,
    ) -> Node:  # fmt: skip
        """The node of a thing, made when it has none; facts that are not known yet are added, empty ones left out."""
        node = self._nodes.get((kind, key))
        if node is None:
            self._counts[kind] = number = self._counts.get(kind, 0) + 1
            id = f"{_LETTERS[kind]}{number}"
            self._facts[id] = {}
            node = self._nodes[kind, key] = Node(id, kind, label, span, self._facts[id], stage)
        for name, fact in facts.items():
            if fact:
                self._facts[node.id].setdefault(name, fact)
        return node

    def steps_of(self, node: Node, steps: Iterable[int]) -> None:
        """More steps that an artifact has."""
        self._steps.setdefault(node.id, set()).update(steps)

    def edge(
        self, source: Node, target: Node, kind: EdgeKind, span: Span | None = None, label: str = "",
        steps: Iterable[int] = (),
    ) -> None:  # fmt: skip
        """An edge; steps of the same edge are gathered."""
        line = self._lines.setdefault((source.id, target.id, kind, label), _Line(source, target, kind, span, label))
        line.steps.update(steps)

    def has_edge(self, source: Node, target: Node) -> bool:
        """Whether one leads to the other, in whatever way."""
        return any(line.source is source and line.target is target for line in self._lines.values())

    def lines(self, *, source: Node | None = None, target: Node | None = None, kind: EdgeKind) -> list[Node]:
        """What the edges of a kind that start or end at a node have at their other end."""
        return [
            line.target if target is None else line.source
            for line in self._lines.values()
            if line.kind is kind and (source is None or line.source is source)
            and (target is None or line.target is target)
        ]  # fmt: skip

    def nodes(self, kind: NodeKind) -> list[Node]:
        """The nodes of a kind, in order."""
        return [node for node in self._nodes.values() if node.kind is kind]

    def finish(self, title: str) -> ExperimentGraph:
        """The graph."""
        import networkx

        graph = networkx.MultiDiGraph()
        for id, steps in self._steps.items():
            if steps:
                self._facts[id].setdefault("steps", steps_text(steps))
        for node in self._nodes.values():
            graph.add_node(node.id, node=node)
        for number, line in enumerate(self._lines.values()):
            words = [line.label] if line.label else []
            if line.steps:
                words.append(f"{'step' if len(line.steps) == 1 else 'steps'} {steps_text(line.steps)}")
            edge = Edge(line.source.id, line.target.id, line.kind, line.span, " ".join(words))
            graph.add_edge(edge.source, edge.target, number=number, edge=edge)
        return ExperimentGraph(self.experiment, title, graph)
