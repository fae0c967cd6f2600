"""A graph as it is shown: the nodes of the wanted kinds, texts with secrets masked, findings on the nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from verlint.finding import Finding, Severity, Verdict
from verlint.graph.model import Edge, EdgeKind, ExperimentGraph, Node, NodeKind
from verlint.languages.bash.command import Command
from verlint.record import dataclass
from verlint.report.display import one_line, visible
from verlint.secret import mask, secret_values
from verlint.source import Source, Span

INPUTS = (EdgeKind.READS, EdgeKind.STARTS_FROM, EdgeKind.USES)


@dataclass(frozen=True, slots=True)
class Tally:
    """How many findings there are: errors, warnings, infos, and those to verify."""

    errors: int = 0
    warnings: int = 0
    infos: int = 0
    unsure: int = 0

    @property
    def words(self) -> str:
        """`2 errors, 1 warning, 1 to verify`; "" for none."""
        counts = ((self.errors, "error"), (self.warnings, "warning"), (self.infos, "info"))
        parts = [f"{count} {name}{'s' if count > 1 else ''}" for count, name in counts if count]
        return ", ".join([*parts, *([f"{self.unsure} to verify"] if self.unsure else [])])

    @property
    def worst(self) -> str:
        """`error`, `warning`, `info` or `unsure`; "" for none."""
        names = ((self.errors, "error"), (self.warnings, "warning"), (self.unsure, "unsure"), (self.infos, "info"))
        return next((name for count, name in names if count), "")


class View:
    """A graph with the findings of its experiment. `kinds` are the kinds of nodes to show."""

    def __init__(
        self, graph: ExperimentGraph, findings: Sequence[Finding] = (), kinds: Collection[NodeKind] = tuple(NodeKind)
    ) -> None:
        self.graph = graph
        self.kinds = frozenset(kinds) | {NodeKind.STAGE}
        self.findings: list[Finding] = []
        self._at: dict[str, list[Finding]] = {}
        self._place_findings(findings)

    # ---- texts

    @cached_property
    def _secrets(self) -> frozenset[str]:
        sources = {id(source): source for source in _sources(self.graph, self.findings)}
        found: set[str] = set()
        for source in sources.values():
            found |= secret_values(source.text)
        return frozenset(found)

    def raw(self, text: str) -> str:
        """A text on one line with its secrets masked; the format escapes what it must."""
        return mask(one_line(text), self._secrets)

    def shown(self, text: str) -> str:
        """The same without characters that steer a terminal or hide themselves."""
        return visible(self.raw(text))

    def place(self, span: Span | None) -> str:
        """`path:line:column`, "" without a span."""
        if span is None:
            return ""
        begin = span.begin
        return f"{self.shown(span.in_file().source.path)}:{begin.line}:{begin.column}"

    @property
    def title(self) -> str:
        """The name of the experiment."""
        return self.shown(self.graph.title)

    @property
    def path(self) -> str:
        """The file it is written in."""
        return self.shown(self.graph.experiment.source.path)

    # ---- nodes and edges

    def nodes(self, kind: NodeKind | None = None) -> list[Node]:
        """The nodes that are shown, or those of a kind."""
        return [node for node in self.graph.nodes(kind) if node.kind in self.kinds]

    @cached_property
    def every_edge(self) -> list[Edge]:
        """The edges between nodes that are shown."""
        shown = {node.id for node in self.nodes()}
        return [edge for edge in self.graph.edges() if edge.source in shown and edge.target in shown]

    @cached_property
    def edges(self) -> list[Edge]:
        """The edges between nodes that are shown, without an order of stages that follows from the others."""
        every = self.every_edge
        rest = [edge for edge in every if edge.kind is not EdgeKind.BEFORE]
        return [edge for edge in every if edge.kind is not EdgeKind.BEFORE or not _leads(rest, edge)]

    def inputs(self, stage: Node) -> list[tuple[Edge, Node]]:
        """What a stage reads, starts from or asks."""
        return [(edge, node) for edge, node in self.graph.into(stage, *INPUTS) if node.kind in self.kinds]

    def outputs(self, stage: Node) -> list[tuple[Edge, Node]]:
        """What a stage writes."""
        return [(edge, node) for edge, node in self.graph.out_of(stage, EdgeKind.WRITES) if node.kind in self.kinds]

    def writers(self, artifact: Node) -> list[Node]:
        """The stages that write an artifact."""
        return [node for _, node in self.graph.into(artifact, EdgeKind.WRITES)]

    def readers(self, artifact: Node) -> list[Node]:
        """The stages that read an artifact, each once."""
        return list(dict.fromkeys(node for _, node in self.graph.out_of(artifact, *INPUTS)))

    def is_outside(self, artifact: Node) -> bool:
        """Whether nothing in the experiment makes an artifact."""
        return not self.graph.into(artifact, EdgeKind.WRITES, EdgeKind.COPIED)

    # ---- findings

    def findings_at(self, node: Node) -> list[Finding]:
        """The findings that belong to a node."""
        return self._at.get(node.id, [])

    def tally(self, node: Node | None = None) -> Tally:
        """The findings of a node, or of the whole experiment, counted."""
        return tally(self.findings if node is None else self.findings_at(node))

    @property
    def elsewhere(self) -> list[Finding]:
        """The findings of the experiment that belong to no node."""
        placed = {id(finding) for found in self._at.values() for finding in found}
        return [finding for finding in self.findings if id(finding) not in placed]

    def _place_findings(self, findings: Sequence[Finding]) -> None:
        places = [(node, span) for node in self.graph.nodes() for span in _spans_of(node)]
        files = {node.id: _files_of(node) for node in self.graph.nodes(NodeKind.STAGE)}
        home = self.graph.experiment.source
        for finding in findings:
            span = finding.span.in_file() if finding.span is not None else None
            owners = [] if span is None else _owners(places, span)
            if not owners and span is not None and span.source is not home:
                owners = [node for node in self.graph.nodes(NodeKind.STAGE) if finding.file in files[node.id]]
            if owners or finding.file == home.path:
                self.findings.append(finding)
            for node in owners:
                self._at.setdefault(node.id, []).append(finding)


def tally(findings: Sequence[Finding]) -> Tally:
    """Findings counted by what they mean."""
    sure = [finding.severity for finding in findings if finding.verdict is Verdict.FAIL]
    return Tally(
        sure.count(Severity.ERROR), sure.count(Severity.WARNING), sure.count(Severity.INFO), len(findings) - len(sure)
    )


def _owners(places: Sequence[tuple[Node, Span]], span: Span) -> list[Node]:
    """The node with the smallest place around a span: what is declared there, or the stage."""
    around = [
        (each.end - each.start, number, node)
        for number, (node, each) in enumerate(places)
        if each.source is span.source and each.start <= span.start and span.end <= each.end
    ]
    return [min(around)[2]] if around else []


def _spans_of(node: Node) -> Iterator[Span]:
    """The places that belong to a node: all of a stage, else where the thing is written."""
    if node.stage is not None and node.stage.spec is not None:
        yield node.stage.spec.id_span.in_file()
        yield node.stage.spec.span.in_file()
    elif node.span is not None and node.kind is not NodeKind.BRANCH:
        yield node.span.in_file()


def _files_of(node: Node) -> set[str]:
    """The files of a stage: of the launchers it runs, and of the launches in them."""
    stage = node.stage
    if stage is None:
        return set()
    spans = [event.span for event in stage.events if isinstance(event, Command)]
    spans += [launch.command.span for launch in stage.launches]
    files = {span.in_file().source.path for span in spans}
    home = node.span.in_file().source.path if node.span is not None else ""
    if stage.launcher and "$" not in stage.launcher:
        files.add(f"{home.rpartition('/')[0]}/{stage.launcher}".lstrip("/"))
    return files - {home}


def _sources(graph: ExperimentGraph, findings: Sequence[Finding]) -> Iterator[Source]:
    yield graph.experiment.source
    for node in graph.nodes():
        if node.span is not None:
            yield node.span.in_file().source
    for finding in findings:
        if finding.span is not None:
            yield finding.span.in_file().source


def _leads(edges: Sequence[Edge], wanted: Edge) -> bool:
    """Whether edges lead from the start of one to its end."""
    targets: dict[str, list[str]] = {}
    for edge in edges:
        targets.setdefault(edge.source, []).append(edge.target)
    seen, waiting = {wanted.source}, [wanted.source]
    while waiting:
        for target in targets.get(waiting.pop(), ()):
            if target == wanted.target:
                return True
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return False
