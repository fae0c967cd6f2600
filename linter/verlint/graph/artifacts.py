"""Artifacts by their places: one node for what lies at one path, below the root that holds it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verlint.experiment.paths import absolute, shown
from verlint.graph.builder import Builder
from verlint.graph.model import EdgeKind, Node, NodeKind
from verlint.graph.steps import without_steps
from verlint.languages.bash.pieces import flat
from verlint.lazy import pattern
from verlint.source import Span
from verlint.value import Literal, Text, Value, literal

_PLACES = pattern(r"[^\[\],'\"\s]+")
_ROOT = pattern(r"(\$\{\w+\}|/[^/]+)(?=/|$)")
_CHECKPOINT = pattern(r"^(?P<folder>.+)/global_step_(?P<step>[^/]+)(?:/(?P<role>actor|critic))?(?:/|$)")


class Artifacts:
    """Knows the artifacts of a graph by path. `roots` are declared roots: name and path of each."""

    def __init__(self, builder: Builder, roots: dict[str, tuple[str, Span | None]] | None = None) -> None:
        self.builder = builder
        self.roots = roots or {}
        for name, (path, span) in self.roots.items():
            builder.node(NodeKind.ROOT, path, name, span, path=path)
        self._by_path: dict[str, Node] = {}

    def place(self, path: str, role: str, span: Span | None, *, label: str = "", **facts: str) -> Node:
        """The node of what lies at a path; steps in it stand for all."""
        general, steps = without_steps(path)
        node = self._by_path.get(general)
        if node is None:
            node = self.builder.node(
                NodeKind.ARTIFACT, general, label or role, span, role=role if label else "", path=general, **facts
            )
            self._by_path[general] = node
            self._held(node, general, span)
        self.builder.steps_of(node, steps)
        return node

    def checkpoints(
        self, folder: str, span: Span | None, *, key: object = None, label: str = "checkpoints", **facts: str
    ) -> Node:
        """The node of the checkpoints in a run's folder; with a key, those of one way they come there."""
        node = self.builder.node(NodeKind.ARTIFACT, ("checkpoints", folder, key), label, span, path=folder, **facts)
        self._held(node, folder, span)
        return node

    def unplaced(self, key: object, label: str, span: Span | None, **facts: str) -> Node:
        """The node of something whose path is not known."""
        return self.builder.node(NodeKind.ARTIFACT, ("unplaced", key), label, span, **facts)

    def at(self, path: str) -> Node | None:
        """What lies at a path, or the nearest folder above it that is an artifact."""
        general, _ = without_steps(path)
        while general and general not in self._by_path:
            general = general.rpartition("/")[0]
        return self._by_path.get(general)

    def below(self, folder: str) -> list[tuple[str, Node]]:
        """The artifacts in a folder, with their paths."""
        start = folder.rstrip("/") + "/"
        return [(path, node) for path, node in self._by_path.items() if path.startswith(start)]

    def _held(self, node: Node, path: str, span: Span | None) -> None:
        root = self._root_of(path)
        if root is not None:
            self.builder.edge(root, node, EdgeKind.HOLDS, span)

    def _root_of(self, path: str) -> Node | None:
        declared = [root for root, _ in self.roots.values() if path == root or path.startswith(f"{root.rstrip('/')}/")]
        if declared:
            return self.builder.find(NodeKind.ROOT, max(declared, key=len))
        match = _ROOT.match(path)
        if match is None or match.group() == path:
            return None
        return self.builder.node(NodeKind.ROOT, match.group(), match.group().strip("${}"), path=match.group())


def path_text(text: Text, cwd: Text) -> str:
    """A path as people write it, seen from the folder it is used in."""
    return shown(absolute(text, cwd)).rstrip("/")


def places_of(value: Value) -> Iterator[Text]:
    """The paths that a value lists."""
    text = value.text
    if value.decided and isinstance(value.data, str):
        text = text if text is not None else literal(value.data, value.span)
    elif value.decided and isinstance(value.data, list):
        yield from (Text((Literal(str(each), value.span),), value.span) for each in value.data)
        return
    if text is None or (value.decided and value.data is None):
        return
    for match in _PLACES.finditer(flat(text.parts)):
        yield text.slice(match.start(), match.end())


def checkpoint_at(path: str) -> tuple[str, str, int | None] | None:
    """Folder, role and step of a path to a checkpoint; None for other paths."""
    match = _CHECKPOINT.match(path)
    if match is None:
        return None
    step = match.group("step")
    return match.group("folder"), match.group("role") or "", int(step) if re.fullmatch(r"\d{1,12}", step) else None
