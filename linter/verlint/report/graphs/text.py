"""A graph as a tree of lines: the stages in order with what each takes and gives, then what they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from verlint.finding import Finding, Verdict
from verlint.graph.model import EdgeKind, Node, NodeKind
from verlint.report.ansi import Style
from verlint.report.display import columns, cut
from verlint.report.graphs import Options
from verlint.report.graphs.view import View
from verlint.report.summary import counted

_SHARED = (
    (NodeKind.ROOT, "roots", EdgeKind.HOLDS),
    (NodeKind.MODEL, "models", None),
    (NodeKind.CREDENTIAL, "credentials", EdgeKind.NEEDS),
    (NodeKind.CHECKOUT, "checkouts", EdgeKind.RUNS_ON),
    (NodeKind.BRANCH, "branches", EdgeKind.RUNS_ON),
    (NodeKind.APPROVAL, "approvals", EdgeKind.AUTHORISES),
)
_VERB = 12
_NAMED = 2
"""How many readers of an artifact are called by name."""

_Branch: TypeAlias = "tuple[str, Node | None]"
"""A line, and the node whose findings belong below it."""


def render(views: Sequence[View], options: Options) -> str:
    """The trees of all experiments, with an empty line between them."""
    return "\n\n".join("\n".join(_Tree(view, options).lines()) for view in views) + "\n"


class _Tree:
    def __init__(self, view: View, options: Options) -> None:
        self.view = view
        self.style = Style(options.color)
        self.width = options.width
        self.checked = options.checked
        self.told: set[str] = set()

    def lines(self) -> Iterator[str]:
        view = self.view
        where = f"  {view.path}" if view.path != view.title else ""
        yield self.style.paint("bold", view.title) + self.style.paint("place", where)
        yield self._summary()
        for stage in view.nodes(NodeKind.STAGE):
            yield ""
            yield from self._stage(stage)
        for kind, heading, edge in _SHARED:
            nodes = view.nodes(kind)
            if nodes:
                yield ""
                yield self.style.paint("bold", heading)
                yield from self._branches([(self._shared(node, edge), node) for node in nodes])
        if view.elsewhere:
            yield ""
            yield self.style.paint("bold", "findings on no node")
            yield from self._branches([(self._finding(each), None) for each in view.elsewhere])

    def _summary(self) -> str:
        view = self.view
        counts = [counted(len(view.nodes(NodeKind.STAGE)), "stage")]
        artifacts = len(view.nodes(NodeKind.ARTIFACT))
        if artifacts:
            counts.append(counted(artifacts, "artifact"))
        family = view.graph.experiment.family
        found = view.tally().words or ("no findings" if self.checked else "")
        return "; ".join(each for each in (family, ", ".join(counts), found) if each)

    def _stage(self, stage: Node) -> Iterator[str]:
        view, facts = self.view, stage.facts
        about = " / ".join(facts[name] for name in ("family", "kind") if name in facts)
        round_ = f"round {facts['round']}" if "round" in facts else ""
        optional = "optional" if "optional" in facts else ""
        run = facts.get("run", "") if stage.stage is None or stage.stage.spec is None else ""
        details = ", ".join(each for each in (about, round_, run, optional) if each)
        name = self.style.paint("bold", f"{facts['order']:>2} {view.shown(stage.label)}")
        yield f"{name}  {view.shown(details)}  ".rstrip() + "  " + self.style.paint("place", view.place(stage.span))
        lines: list[_Branch] = []
        program = facts.get("launcher") or facts.get("entry", "")
        if program and program.rsplit("/", 1)[-1] != stage.label:
            lines.append((self._line("runs", view.shown(program)), None))
        for kind in (EdgeKind.RUNS_ON, EdgeKind.NEEDS, EdgeKind.AUTHORISES, EdgeKind.BEFORE):
            verb = {EdgeKind.AUTHORISES: "allowed by", EdgeKind.BEFORE: "after"}.get(kind, kind.value)
            found = [node for _, node in view.graph.into(stage, kind) if node.kind in view.kinds]
            if kind is EdgeKind.BEFORE:
                shown = {edge.source for edge in view.edges if edge.kind is kind and edge.target == stage.id}
                found = [node for node in found if node.id in shown]
            if found:
                lines.append((self._line(verb, ", ".join(self._name(node) for node in found)), None))
        for edge, node in view.inputs(stage):
            line = self._input(edge.kind.value, edge.label, node)
            lines.append((line, self._told_once(node) if node.kind is NodeKind.ARTIFACT else None))
        lines += [(self._output(node), self._told_once(node)) for _, node in view.outputs(stage)]
        lines += [(self._finding(each), None) for each in view.findings_at(stage)]
        yield from self._branches(lines)

    def _told_once(self, artifact: Node) -> Node | None:
        """The artifact where its findings are to be shown: where it is met first."""
        if artifact.id in self.told:
            return None
        self.told.add(artifact.id)
        return artifact

    def _branches(self, lines: Sequence[_Branch]) -> Iterator[str]:
        """Lines under a heading, the findings of the node of each below it."""
        for number, (line, node) in enumerate(lines):
            last = number == len(lines) - 1
            yield ("   └─ " if last else "   ├─ ") + line
            for each in self.view.findings_at(node) if node is not None else ():
                yield ("      " if last else "   │  ") + "└─ " + self._finding(each)

    @staticmethod
    def _line(verb: str, text: str) -> str:
        return f"{verb:<{_VERB}}{text}"

    def _name(self, node: Node) -> str:
        order = f"{node.facts['order']} " if node.kind is NodeKind.STAGE else ""
        return self.view.shown(f"{order}{node.label}")

    def _input(self, verb: str, label: str, node: Node) -> str:
        if node.kind is NodeKind.MODEL:
            model = node.facts.get("model", "")
            return self._line(
                verb, self.view.shown(" ".join(each for each in (node.label, model) if each)) + self._in(label)
            )
        return self._line(verb, self._artifact(node, label) + self._origin(node))

    def _in(self, label: str) -> str:
        return self.style.paint("dim", f" (as {label})") if label else ""

    def _artifact(self, node: Node, label: str = "") -> str:
        path = node.facts.get("path", "")
        return self.view.shown(" ".join(each for each in (node.label, label, path) if each))

    def _origin(self, node: Node) -> str:
        writers = self.view.writers(node)
        copied = [each for _, each in self.view.graph.into(node, EdgeKind.COPIED)]
        if writers:
            text = "from " + ", ".join(self._name(each) for each in writers)
        elif copied:
            sources = list(dict.fromkeys(each for node in copied for each in self.view.writers(node)))
            text = "copied from " + (", ".join(self._name(each) for each in sources) or "outside")
        else:
            text = "nothing here writes it"
        return self.style.paint("dim", f" ({text})")

    def _output(self, node: Node) -> str:
        readers = self.view.readers(node)
        if len(readers) > _NAMED:
            users = f"for stages {', '.join(each.facts['order'] for each in readers)}"
        else:
            users = f"for {', '.join(self._name(each) for each in readers)}"
        line = self._line("writes", self._artifact(node, node.holdings))
        return line + (self.style.paint("dim", f" ({users})") if readers else "")

    def _shared(self, node: Node, edge: EdgeKind | None) -> str:
        view = self.view
        facts = [_fact(name, fact) for name, fact in node.facts.items() if _tells(fact, node)]
        users = [each for _, each in (view.graph.out_of(node, edge) if edge is not None else view.graph.out_of(node))]
        stages = list(dict.fromkeys(each.facts["order"] for each in users if each.kind is NodeKind.STAGE))
        used = f" (stage{'s' if len(stages) > 1 else ''} {', '.join(stages)})" if stages else ""
        text = view.shown("  ".join([node.label, *facts]))
        return text + self.style.paint("dim", used)

    def _finding(self, finding: Finding) -> str:
        kind = "unsure" if finding.verdict is Verdict.UNSURE else finding.severity.label
        word = "to verify" if kind == "unsure" else kind
        place = self.view.place(finding.span) or self.view.shown(finding.path)
        head = f"{word:<{_VERB}}{finding.code} "
        room = max(self.width - columns(head) - columns(place) - 8, 60)
        message = cut(self.view.shown(finding.message), room)
        return f"{self.style.paint(kind, head.rstrip())} {message}  {self.style.paint('place', place)}"


def _fact(name: str, fact: str) -> str:
    return fact if name in ("path", "model") else f"{name} {fact}"


def _tells(fact: str, node: Node) -> bool:
    """Whether a fact says more than the name of a node."""
    return fact not in node.label and fact.strip("${}") != node.label
