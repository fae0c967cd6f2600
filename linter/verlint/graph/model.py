"""The graph of one experiment: typed nodes and edges in a `networkx.MultiDiGraph`.

Every edge goes from what must be there first to what hangs on it, so that all that a stage needs are its ancestors.
Nodes and edges stand in the order of the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

from verlint.experiment.stage import Experiment, Stage
from verlint.record import dataclass, field
from verlint.source import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class NodeKind(Enum):
    """What a node stands for. The values are the words of all formats."""

    STAGE = "stage"
    ARTIFACT = "artifact"
    ROOT = "root"
    CREDENTIAL = "credential"
    CHECKOUT = "checkout"
    BRANCH = "branch"
    MODEL = "model"
    APPROVAL = "approval"


class EdgeKind(Enum):
    """How the target of an edge hangs on its source."""

    READS = "reads"
    """artifact -> stage"""
    STARTS_FROM = "starts from"
    """artifact or model -> stage that trains from it"""
    USES = "uses"
    """artifact or model -> stage that asks it"""
    WRITES = "writes"
    """stage -> artifact"""
    COPIED = "copied to"
    """artifact -> artifact"""
    HOLDS = "holds"
    """root -> artifact"""
    NEEDS = "needs"
    """credential -> stage"""
    RUNS_ON = "runs on"
    """branch or checkout -> stage"""
    HAS = "has"
    """checkout -> branch"""
    AUTHORISES = "authorises"
    """approval -> stage"""
    BEFORE = "before"
    """stage -> stage"""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One node. `id` is its kind's letter with a number, unique in the graph; `label` what to call it, `span` where it
    is written first. `facts` are further things known of it, by name, in the order to show them."""

    id: str
    kind: NodeKind
    label: str
    span: Span | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    stage: Stage | None = None

    @property
    def holdings(self) -> str:
        """What an artifact has of checkpoints: `actor and critic, every 50`, `steps 10..100/10`; "" for no such."""
        steps = self.facts.get("steps", "")
        if steps and not steps.startswith(("every", "last")):
            steps = f"{'steps' if set('., ') & set(steps) else 'step'} {steps}"
        return ", ".join(each for each in (self.facts.get("roles", "").replace(", ", " and "), steps) if each)


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """One edge. `label` says more of it (`actor step 800`), `span` is where it is written."""

    source: str
    target: str
    kind: EdgeKind
    span: Span | None = None
    label: str = ""


class ExperimentGraph:
    """The graph of an experiment. `graph` holds each node under its id as `node=Node`, each edge as `edge=Edge`."""

    def __init__(self, experiment: Experiment, title: str, graph: Any) -> None:
        self.experiment = experiment
        self.title = title
        self.graph = graph

    def node(self, id: str) -> Node:
        """The node of an id."""
        found: Node = self.graph.nodes[id]["node"]
        return found

    def nodes(self, kind: NodeKind | None = None) -> list[Node]:
        """All nodes, or those of a kind, in order."""
        every: list[Node] = [data["node"] for _, data in self.graph.nodes(data=True)]
        return [each for each in every if kind is None or each.kind is kind]

    def edges(self, *kinds: EdgeKind) -> list[Edge]:
        """All edges, or those of some kinds, in order."""
        every = sorted((data["number"], data["edge"]) for _, _, data in self.graph.edges(data=True))
        return [edge for _, edge in every if not kinds or edge.kind in kinds]

    def into(self, node: Node, *kinds: EdgeKind) -> list[tuple[Edge, Node]]:
        """The edges that end at a node, each with where it starts."""
        return [(edge, self.node(edge.source)) for edge in self._at(self.graph.in_edges(node.id, data=True), kinds)]

    def out_of(self, node: Node, *kinds: EdgeKind) -> list[tuple[Edge, Node]]:
        """The edges that start at a node, each with where it ends."""
        return [(edge, self.node(edge.target)) for edge in self._at(self.graph.out_edges(node.id, data=True), kinds)]

    @staticmethod
    def _at(found: Any, kinds: Sequence[EdgeKind]) -> Iterator[Edge]:
        for _, edge in sorted((data["number"], data["edge"]) for _, _, data in found):
            if not kinds or edge.kind in kinds:
                yield edge
