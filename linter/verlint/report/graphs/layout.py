"""Where the boxes of a graph stand and how its lines run: in rows from top to bottom, no later stage above an earlier
one, what a stage writes below it and what it reads above it.

Lines that pass rows go through places of their own there; all lines from one box share them, as a trunk with branches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from verlint.graph.model import EdgeKind, Node, NodeKind
from verlint.record import dataclass, field
from verlint.report.graphs.view import INPUTS, View

GAP, NARROW_GAP, ROW_GAP = 22.0, 14.0, 44.0
STAGES_IN_A_ROW, ARTIFACTS_IN_A_ROW = 4, 4
_SWEEPS, _PLACINGS = 12, 60
_PORT = 30.0
_PULL = 0.97
"""How much of its way from the middle a box keeps at each placing, so that parts without lines stay together."""


@dataclass(slots=True)
class Box:
    """A box, or a place where a line passes a row (`node` is None). `x` is its middle, `y` its top."""

    key: str
    width: float
    height: float
    row: int
    node: Node | None = None
    x: float = 0.0
    y: float = 0.0
    above: list[Box] = field(default_factory=list)
    below: list[Box] = field(default_factory=list)


@dataclass(slots=True)
class Line:
    """One piece of a line, from the foot of a box to the head of another. `kind` is that of the edge where the piece
    ends at a box; `ends` are the boxes that the lines through it join."""

    start: Box
    end: Box
    kind: EdgeKind
    ends: list[str]
    x1: float = 0.0
    x2: float = 0.0


@dataclass(slots=True)
class Layout:
    """Boxes and lines with their places, and how much room they take."""

    boxes: list[Box]
    lines: list[Line]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class _Link:
    source: str
    target: str
    kind: EdgeKind


def lay_out(view: View, sizes: Mapping[str, tuple[float, float]], shown_in: Mapping[str, str]) -> Layout:
    """The layout of the stages and artifacts of a graph; `sizes` gives width and height of each box, `shown_in` the
    box that a node is shown in."""
    nodes = {node.id: node for node in view.nodes() if node.id in sizes}
    links = _links(view, shown_in)
    rows = _rows(view, nodes, links)
    boxes = {id: Box(id, *sizes[id], rows[id], node) for id, node in nodes.items()}
    passing: list[Box] = []
    lines = _lines(boxes, links, passing)
    every = [*boxes.values(), *passing]
    by_row: list[list[Box]] = [[] for _ in range(max(rows.values(), default=0) + 1)]
    for box in every:
        by_row[box.row].append(box)
    for line in lines:
        if line.start.row < line.end.row:
            line.start.below.append(line.end)
            line.end.above.append(line.start)
    _order(by_row)
    _place(by_row)
    height = _stack(by_row)
    left = min((box.x - box.width / 2 for box in every), default=0.0)
    for box in every:
        box.x -= left
    _ports(lines)
    return Layout(every, lines, max((box.x + box.width / 2 for box in every), default=0.0), height)


def _links(view: View, shown_in: Mapping[str, str]) -> list[_Link]:
    """What is drawn as a line, each pair of boxes once. The order of a script's commands is seen by the rows."""
    kinds = {*INPUTS, EdgeKind.WRITES, EdgeKind.COPIED}
    if view.graph.experiment.is_spec:
        kinds.add(EdgeKind.BEFORE)
    found: dict[tuple[str, str], _Link] = {}
    for edge in view.edges:
        if edge.kind in kinds and edge.source in shown_in and edge.target in shown_in:
            pair = (shown_in[edge.source], shown_in[edge.target])
            if pair not in found or edge.kind is EdgeKind.STARTS_FROM:
                found[pair] = _Link(*pair, edge.kind)
    return list(found.values())


# ---- rows


def _rows(view: View, nodes: Mapping[str, Node], links: Sequence[_Link]) -> dict[str, int]:
    """The row of each box, the top one 0."""
    sources: dict[str, list[str]] = {id: [] for id in nodes}
    targets: dict[str, list[str]] = {id: [] for id in nodes}
    for link in links:
        sources[link.target].append(link.source)
        targets[link.source].append(link.target)
    rows: dict[str, int] = {}
    full: dict[int, int] = {}
    lonely: dict[int, bool] = {}
    current = 0
    for stage in view.nodes(NodeKind.STAGE):
        row = max([current, *(rows[each] + 1 for each in sources[stage.id] if each in rows)])
        if full.get(row, 0) >= STAGES_IN_A_ROW:
            row += 2
        alone = not (sources[stage.id] or targets[stage.id])
        if lonely.setdefault(row, alone) is not alone:  # what has no lines would push the others aside
            row += 1 if lonely[row] else 2
            lonely[row] = alone
        full[row] = full.get(row, 0) + 1
        rows[stage.id] = current = row
        for source in sources[stage.id]:
            if source not in rows and nodes[source].kind is NodeKind.ARTIFACT:
                rows[source] = row - 1
        _below(stage.id, row, nodes, targets, rows)
    for id in nodes:
        rows.setdefault(id, current + 1)
    _relieve(nodes, targets, rows)
    top = min(rows.values(), default=0)
    return {id: row - top for id, row in rows.items()}


def _below(
    id: str, row: int, nodes: Mapping[str, Node], targets: Mapping[str, list[str]], rows: dict[str, int]
) -> None:
    """Artifacts that a stage writes, and copies of them."""
    for target in targets[id]:
        if target not in rows and nodes[target].kind is NodeKind.ARTIFACT:
            rows[target] = row + 1
            _below(target, row + 1, nodes, targets, rows)


def _relieve(nodes: Mapping[str, Node], targets: Mapping[str, list[str]], rows: dict[str, int]) -> None:
    """Move artifacts of a crowded row down, to where they are first read."""
    for row in range(min(rows.values(), default=0), max(rows.values(), default=0)):
        here = [id for id, at in rows.items() if at == row and nodes[id].kind is NodeKind.ARTIFACT]
        last = {id: min((rows[each] for each in targets[id]), default=0) - 1 for id in here}
        for id in sorted(here, key=lambda id: -last[id])[: max(len(here) - ARTIFACTS_IN_A_ROW, 0)]:
            rows[id] = max(last[id], row)


def _lines(boxes: Mapping[str, Box], links: Sequence[_Link], passing: list[Box]) -> list[Line]:
    """The pieces of all lines; where they pass rows, boxes of no height are added."""
    lines: list[Line] = []
    trunks: dict[tuple[str, int], Box] = {}
    pieces: dict[tuple[str, str], Line] = {}
    for link in links:
        start, end = boxes[link.source], boxes[link.target]
        at = start
        for row in range(start.row + 1, end.row):
            trunk = trunks.get((link.source, row))
            if trunk is None:
                trunk = trunks[link.source, row] = Box(f"{link.source}~{row}", 8.0, 0.0, row)
                passing.append(trunk)
            piece = pieces.get((at.key, trunk.key))
            if piece is None:
                piece = pieces[at.key, trunk.key] = Line(at, trunk, EdgeKind.READS, [link.source])
                lines.append(piece)
            piece.ends.append(link.target)
            at = trunk
        lines.append(Line(at, end, link.kind, [link.source, link.target]))
    return lines


# ---- order in a row


def _order(rows: Sequence[list[Box]]) -> None:
    """Boxes of each row in an order with few crossings: again and again each near the middle of its neighbours."""
    best = [list(row) for row in rows]
    least = _crossings(rows)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for row in rows[1:] if down else rows[-2::-1]:
            middles = {
                box.key: _middle(box.above if down else box.below, rows, number) for number, box in enumerate(row)
            }
            row.sort(key=lambda box: middles[box.key])
        crossings = _crossings(rows)
        if crossings < least:
            best, least = [list(row) for row in rows], crossings
    for row, order in zip(rows, best, strict=True):
        row[:] = order


def _middle(neighbours: Sequence[Box], rows: Sequence[list[Box]], own: int) -> float:
    if not neighbours:
        return float(own)
    places = [rows[box.row].index(box) for box in neighbours]
    return sum(places) / len(places)


def _crossings(rows: Sequence[list[Box]]) -> int:
    count = 0
    for row, following in pairwise(rows):
        place = {box.key: number for number, box in enumerate(following)}
        ends = [
            (number, place[other.key])
            for number, box in enumerate(row)
            for other in box.below
            if other.key in place
        ]  # fmt: skip
        pairs = ((first, other) for at, first in enumerate(ends) for other in ends[at + 1 :])
        count += sum((a1 - a2) * (b1 - b2) < 0 for (a1, b1), (a2, b2) in pairs)
    return count


# ---- places


def _place(rows: Sequence[list[Box]]) -> None:
    """The middle of each box: as near to its neighbours' as the order and the gaps allow."""
    for row in rows:
        at = 0.0
        for box in row:
            box.x = at + box.width / 2
            at += box.width + GAP
        for box in row:
            box.x -= (at - GAP) / 2
    for sweep in range(_PLACINGS):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            wanted = [_wanted(box, down=down, both=sweep >= _SWEEPS) for box in row]
            _settle(row, wanted)
    _centre([row for row in rows if row and all(not (box.above or box.below) for box in row)], rows)


def _centre(alone: Sequence[list[Box]], rows: Sequence[list[Box]]) -> None:
    """Put rows without lines in the middle of the others."""
    joined = [box for row in rows for box in row if box.above or box.below]
    if not joined:
        return
    middle = (min(box.x - box.width / 2 for box in joined) + max(box.x + box.width / 2 for box in joined)) / 2
    for row in alone:
        shift = middle - (row[0].x - row[0].width / 2 + row[-1].x + row[-1].width / 2) / 2
        for box in row:
            box.x += shift


def _wanted(box: Box, *, down: bool, both: bool) -> float:
    neighbours = [*box.above, *box.below] if both else box.above if down else box.below
    if not neighbours:
        return box.x * _PULL if box.above or box.below else 0.0
    return sum(each.x for each in neighbours) / len(neighbours) * _PULL


def _settle(row: Sequence[Box], wanted: Sequence[float]) -> None:
    """Places in order and with gaps that differ least from the wanted ones (pool adjacent violators)."""
    offsets: list[float] = []
    at = 0.0
    for number, box in enumerate(row):
        if number:
            before = row[number - 1]
            gap = GAP if before.node is not None and box.node is not None else NARROW_GAP
            at += (before.width + box.width) / 2 + gap
        offsets.append(at)
    groups: list[tuple[float, float, int]] = []  # sum of weighted places, weight, number of boxes
    for box, place, offset in zip(row, wanted, offsets, strict=True):
        alone = not (box.above or box.below)
        weight = 3.0 if box.node is None else 0.01 if alone else 1.0
        groups.append(((place - offset) * weight, weight, 1))
        while len(groups) > 1 and groups[-2][0] / groups[-2][1] > groups[-1][0] / groups[-1][1]:
            last, other = groups.pop(), groups.pop()
            groups.append((last[0] + other[0], last[1] + other[1], last[2] + other[2]))
    number = 0
    for total, weight, count in groups:
        for _ in range(count):
            row[number].x = total / weight + offsets[number]
            number += 1


def _stack(rows: Sequence[list[Box]]) -> float:
    """The top of each row; returns the height of all."""
    at = 0.0
    for row in rows:
        height = max((box.height for box in row), default=0.0)
        for box in row:
            box.y = at
            if box.node is None:
                box.height = height
        at += height + ROW_GAP
    return at - ROW_GAP if rows else 0.0


def _ports(lines: Iterable[Line]) -> None:
    """Where lines leave and meet a box: side by side, in the order of their other ends."""
    leaving: dict[str, list[Line]] = {}
    meeting: dict[str, list[Line]] = {}
    for line in lines:
        leaving.setdefault(line.start.key, []).append(line)
        meeting.setdefault(line.end.key, []).append(line)
    for group in leaving.values():
        group.sort(key=lambda line: line.end.x)
        for line, x in zip(group, _spread(group[0].start, len(group)), strict=True):
            line.x1 = x
    for group in meeting.values():
        group.sort(key=lambda line: line.start.x)
        for line, x in zip(group, _spread(group[0].end, len(group)), strict=True):
            line.x2 = x


def _spread(box: Box, count: int) -> list[float]:
    if box.node is None:
        return [box.x] * count
    step = min(_PORT, (box.width - 48) / max(count - 1, 1))
    return [box.x + (number - (count - 1) / 2) * step for number in range(count)]
