"""A graph as a picture: stages and artifacts as boxes in rows, what belongs to a stage written on its box."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from verlint.graph.model import EdgeKind, Node, NodeKind
from verlint.record import dataclass
from verlint.report.graphs import Options
from verlint.report.graphs.layout import Box, Layout, Line, lay_out
from verlint.report.graphs.measure import broken, cut_to
from verlint.report.graphs.style import PICTURE_STYLE
from verlint.report.graphs.view import Tally, View, tally
from verlint.report.summary import counted

STAGE_WIDTH, ARTIFACT_WIDTH = 256.0, 230.0
MARGIN = 20.0
_PAD = 12.0
_LINE = 16.0
_TITLE, _PLAIN, _SMALL = 13.5, 11.5, 10.5
_ROOM, _HEAD = 24.0, 34.0
"""What margins, and the number before a name, take of a box's width."""
_SIGNS = (
    "thick line: training goes on from it; dashed line: copied; dotted line: before; dashed box: nothing here writes it"
)
_TAIL = 9
"""Letters at the end of a name that is cut: launchers often begin alike."""

_PATHS = 4
"""How many paths of artifacts that share a box are written on it."""

_SHARED = (
    (NodeKind.ROOT, "roots"),
    (NodeKind.MODEL, "models"),
    (NodeKind.CREDENTIAL, "credentials"),
    (NodeKind.CHECKOUT, "checkouts"),
    (NodeKind.BRANCH, "branches"),
    (NodeKind.APPROVAL, "approvals"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of text on a box: its class, size and text. `root` stands before it, in the colour of roots."""

    style: str
    size: float
    text: str
    root: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """The inside of a picture, and its size in pixels."""

    body: str
    width: float
    height: float


def render(views: Sequence[View], options: Options) -> str:
    """One picture that can stand alone, the experiments one below the other."""
    parts: list[str] = []
    at = MARGIN
    pictures = [picture(view, f"x{number}-" if len(views) > 1 else "") for number, view in enumerate(views, 1)]
    width = max([each.width for each in pictures] + [560.0]) + 2 * MARGIN
    for view, drawn in zip(views, pictures, strict=True):
        parts.append(f'<g transform="translate({_n(MARGIN)} {_n(at)})">')
        head, height = _head(view, width - 2 * MARGIN, checked=options.checked)
        parts += [*head, f'<g transform="translate(0 {_n(height)})">{drawn.body}</g>', "</g>"]
        at += height + drawn.height + 2 * MARGIN
    title = escape(", ".join(view.title for view in views))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" height="{_n(at)}" '
        f'viewBox="0 0 {_n(width)} {_n(at)}" role="img" class="picture">\n<title>{title}</title>\n'
        f"<style>{PICTURE_STYLE}</style>\n"
        f'<rect class="page" width="{_n(width)}" height="{_n(at)}"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def picture(view: View, prefix: str = "") -> Picture:
    """The boxes and lines of one experiment. `prefix` makes the ids of its boxes unique in a page."""
    boxes = gathered(view)
    rows = {members[0].id: _rows(view, members) for members in boxes}
    sizes = {
        members[0].id: (_width(members[0]), _PAD * 2 + _LINE * len(rows[members[0].id]) - 2.0) for members in boxes
    }
    layout = lay_out(view, sizes, {node.id: members[0].id for members in boxes for node in members})
    members_of = {members[0].id: members for members in boxes}
    parts = [_line(line, prefix) for line in layout.lines]
    parts += [_passing(box, layout, prefix) for box in layout.boxes if box.node is None]
    parts += [
        _box(view, box, members_of[box.key], rows[box.key], prefix) for box in layout.boxes if box.node is not None
    ]
    return Picture("\n".join(parts), layout.width, layout.height)


def gathered(view: View) -> list[list[Node]]:
    """The nodes of each box: a stage or an artifact, or several artifacts of one kind that the same stages write and
    read in the same ways."""
    found: dict[object, list[Node]] = {}
    for node in view.nodes():
        key: object = node.id
        if node.kind is NodeKind.ARTIFACT and "roles" not in node.facts:
            ends = [(edge.kind, other.id, edge.label) for edge, other in view.graph.into(node)]
            ends += [(edge.kind, other.id, edge.label) for edge, other in view.graph.out_of(node)]
            key = (node.label, tuple(ends)) if ends and "path" in node.facts else node.id
        if node.kind in (NodeKind.STAGE, NodeKind.ARTIFACT):
            found.setdefault(key, []).append(node)
    return list(found.values())


def _width(node: Node) -> float:
    return STAGE_WIDTH if node.kind is NodeKind.STAGE else ARTIFACT_WIDTH


# ---- what stands on a box


def _rows(view: View, members: Sequence[Node]) -> list[Row]:
    node = members[0]
    rows = _stage_rows(view, node) if node.kind is NodeKind.STAGE else _artifact_rows(view, members)
    room = _width(node) - _ROOM
    return [part for row in rows for part in _broken(row, room)]


def _broken(row: Row, room: float) -> list[Row]:
    """A row as the lines it takes on a box; the name keeps one, and is cut when the room beside it is known."""
    if row.style == "name":
        return [row]
    mono = row.style == "mono"
    texts = broken(row.root + row.text, room, row.size, mono=mono)
    first = Row(row.style, row.size, texts[0][len(row.root) :], row.root)
    return [first, *(Row(row.style, row.size, text) for text in texts[1:])]


def _stage_rows(view: View, node: Node) -> Iterator[Row]:
    facts = node.facts
    yield Row("name", _TITLE, view.shown(node.label))
    about = " / ".join(facts[name] for name in ("family", "kind") if name in facts)
    round_ = f"round {facts['round']}" if "round" in facts else ""
    optional = "optional" if "optional" in facts else ""
    details = ", ".join(each for each in (about, round_, optional) if each)
    if details:
        yield Row("about", _PLAIN, view.shown(details))
    if "run" in facts:
        yield Row("mono", _SMALL, view.shown(facts["run"]))
    for kind, words in ((EdgeKind.RUNS_ON, "on"), (EdgeKind.NEEDS, "needs"), (EdgeKind.AUTHORISES, "allowed by")):
        names = [each.label for _, each in view.graph.into(node, kind) if each.kind in view.kinds]
        if names:
            style = {EdgeKind.RUNS_ON: "branch", EdgeKind.NEEDS: "credential"}.get(kind, "approval")
            yield Row(style, _PLAIN, view.shown(f"{words} {', '.join(names)}"))
    yield from _weights(view, node)


def _weights(view: View, node: Node) -> Iterator[Row]:
    """The models and checkpoints a stage starts from or asks."""
    found: dict[tuple[str, str], list[str]] = {}
    for edge, other in view.inputs(node):
        verb = edge.kind.value
        if other.kind is NodeKind.MODEL:
            called = other.label.rsplit("/", 1)[-1]
            found.setdefault((verb, called), []).append(f"as {edge.label}" if edge.label else "")
        elif edge.label:
            found.setdefault((verb, other.label), []).append(edge.label)
    for (verb, name), labels in found.items():
        said = ", ".join(dict.fromkeys(each for each in labels if each))
        yield Row("model", _PLAIN, view.shown(" ".join(each for each in (verb, name, said) if each)))


def _artifact_rows(view: View, members: Sequence[Node]) -> Iterator[Row]:
    node = members[0]
    count = f" ({len(members)})" if len(members) > 1 else ""
    yield Row("name", 12.0, view.shown(node.label) + count)
    if node.holdings and all(each.holdings == node.holdings for each in members):
        yield Row("about", _PLAIN, view.shown(node.holdings))
    for each in members[:_PATHS]:
        if "path" in each.facts:
            yield _path_row(view, each)
    if len(members) > _PATHS:
        yield Row("about", _PLAIN, f"and {len(members) - _PATHS} more")
    if view.is_outside(node):
        yield Row("about", _PLAIN, "nothing here writes it" if len(members) == 1 else "nothing here writes them")


def _path_row(view: View, node: Node) -> Row:
    """The path of an artifact, with its root called by its name."""
    path = node.facts["path"]
    root = next((each for _, each in view.graph.into(node, EdgeKind.HOLDS)), None)
    above = "" if root is None else root.facts.get("path", "")
    if root is not None and path.startswith(above):
        return Row("mono", _SMALL, view.shown(path[len(above) :]), root=view.shown(root.label))
    return Row("mono", _SMALL, view.shown(path))


# ---- drawing


def _box(view: View, box: Box, members: Sequence[Node], rows: Sequence[Row], prefix: str) -> str:
    node = members[0]
    left, width = box.x - box.width / 2, box.width
    kind = node.kind.value
    outside = " outside" if node.kind is NodeKind.ARTIFACT and view.is_outside(node) else ""
    found = tally([finding for each in members for finding in view.findings_at(each)])
    state = f" {found.worst}" if found.worst else ""
    radius = 6 if node.kind is NodeKind.STAGE else 16
    label = escape(f"{node.kind.value} {node.facts.get('order', '')} {view.shown(node.label)}".replace("  ", " "))
    title = "\n\n".join(_title(view, each) for each in members)
    ids = " ".join(each.id for each in members)
    marks = f'class="node {kind}{outside}{state}" id="{prefix}{node.id}" data-node="{ids}"'
    place = f'x="{_n(left)}" y="{_n(box.y)}" width="{_n(width)}" height="{_n(box.height)}"'
    out = [
        f'<g {marks} tabindex="0" role="button" aria-label="{label}">',
        f"<title>{escape(title)}</title>",
        f'<rect class="box" {place} rx="{radius}"/>',
    ]
    head = 0.0
    if node.kind is NodeKind.STAGE:
        order = node.facts["order"]
        out.append(
            f'<rect class="order" x="{_n(left + 8)}" y="{_n(box.y + 8)}" width="26" height="20" rx="10"/>'
            f'<text class="number" x="{_n(left + 21)}" y="{_n(box.y + 22)}">{escape(order)}</text>'
        )
        head = _HEAD
    badge, taken = _badge(found, left + width - 8, box.y + 8)
    y = box.y + _PAD + 10
    for row in rows:
        if row.style == "name":
            room = width - _ROOM - head - taken
            row = Row(row.style, row.size, cut_to(row.text, room, row.size, bold=True, tail=_TAIL))
        out.append(_text(row, left + _PAD + (head if row.style == "name" else 0), y))
        y += _LINE + (2 if row.style == "name" else 0)
    return "".join([*out, badge, "</g>"])


def _badge(found: Tally, right: float, top: float) -> tuple[str, float]:
    """The findings of a node, counted, at its upper right corner; with the room they take."""
    counts = (("error", found.errors, "E"), ("warning", found.warnings, "W"), ("info", found.infos, "I"),
              ("unsure", found.unsure, "?"))  # fmt: skip
    parts: list[str] = []
    room = 0.0
    for style, count, letter in reversed(counts):
        if count:
            text = f"{count}{letter}"
            width = 10 + 7.5 * len(text)
            right -= width
            parts.append(
                f'<g class="badge {style}"><rect x="{_n(right)}" y="{_n(top)}" width="{_n(width)}" height="18" '
                f'rx="4"/><text x="{_n(right + width / 2)}" y="{_n(top + 13)}">{text}</text></g>'
            )
            right -= 4
            room += width + 4
    return "".join(parts), room


def _text(row: Row, x: float, y: float) -> str:
    root = f'<tspan class="root">{escape(row.root)}</tspan>' if row.root else ""
    return f'<text class="{row.style}" x="{_n(x)}" y="{_n(y)}" font-size="{row.size}">{root}{escape(row.text)}</text>'


def _line(line: Line, prefix: str) -> str:
    y1, y2 = line.start.y + line.start.height, line.end.y
    arrow = line.end.node is not None
    tip = 7.0 if arrow else 0.0
    bend = max((y2 - y1) * 0.5, 18.0)
    if line.end.row <= line.start.row:  # what is used is made only later
        bend = 60.0
    style = {EdgeKind.STARTS_FROM: "starts", EdgeKind.COPIED: "copied", EdgeKind.BEFORE: "before"}.get(line.kind, "")
    ends = " ".join(line.ends)
    path = (
        f"M{_n(line.x1)} {_n(y1)}C{_n(line.x1)} {_n(y1 + bend)} {_n(line.x2)} {_n(y2 - bend)} "
        f"{_n(line.x2)} {_n(y2 - tip)}"
    )
    head = f'<path class="tip" d="M{_n(line.x2 - 4)} {_n(y2 - 8)}h8l-4 8z"/>' if arrow else ""
    return f'<g class="line {style}" data-ends="{ends}"><path d="{path}"/>{head}</g>'.replace(' "', '"', 1)


def _passing(box: Box, layout: Layout, prefix: str) -> str:
    ends = list(dict.fromkeys(end for line in layout.lines if line.start is box for end in line.ends))
    return (
        f'<g class="line" data-ends="{" ".join(ends)}">'
        f'<path d="M{_n(box.x)} {_n(box.y)}v{_n(box.height)}"/></g>'
    )  # fmt: skip


def _title(view: View, node: Node) -> str:
    """What a box says when the pointer rests on it."""
    facts = [f"{name}: {view.shown(fact)}" for name, fact in node.facts.items() if name != "order"]
    inputs = [f"{edge.kind.value} {view.shown(f'{other.label} {edge.label}')}" for edge, other in view.inputs(node)]
    found = [f"{each.code} {view.shown(each.message)} ({view.place(each.span)})" for each in view.findings_at(node)]
    head = [view.shown(node.label), view.place(node.span)]
    return "\n".join(each.strip() for each in (*head, *facts, *inputs, *found) if each)


def _head(view: View, width: float, *, checked: bool) -> tuple[list[str], float]:
    """The lines above a picture that stands alone: its name, what it holds, and what the stages share."""
    found = view.tally().words or ("no findings" if checked else "")
    count = counted(len(view.nodes(NodeKind.STAGE)), "stage")
    path = view.path if view.path != view.title else ""
    about = "; ".join(each for each in (path, view.graph.experiment.family, count, found) if each)
    rows = [Row("title", 18.0, view.title), Row("about", 12.0, about)]
    for kind, heading in _SHARED:
        nodes = view.nodes(kind)
        if nodes:
            said = ", ".join(_shared(view, node) for node in nodes)
            rows.append(Row(kind.value, 12.0, f"{heading}: {said}"))
    rows.append(Row("about", 11.5, _SIGNS))
    out: list[str] = []
    y = 16.0
    for row in rows:
        out.append(_text(Row(row.style, row.size, cut_to(row.text, width, row.size)), 0.0, y))
        y += row.size + 8
    return out, y + 4


def _shared(view: View, node: Node) -> str:
    fact = node.facts.get("model") or node.facts.get("path", "")
    return view.shown(f"{node.label} = {fact}" if fact and node.label not in fact else node.label)


def _n(number: float) -> str:
    """A number with at most one decimal."""
    return f"{number:.1f}".removesuffix(".0")
