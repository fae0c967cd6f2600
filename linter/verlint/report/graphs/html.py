"""Graphs as one page that needs nothing else: the picture, and beside it what the chosen box is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from verlint.finding import Finding, Verdict
from verlint.graph.model import EdgeKind, Node, NodeKind
from verlint.report.graphs import Options
from verlint.report.graphs.script import PAGE_SCRIPT
from verlint.report.graphs.style import PAGE_STYLE
from verlint.report.graphs.svg import MARGIN, gathered, picture
from verlint.report.graphs.view import View
from verlint.report.summary import counted

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""What a browser may load for the page: nothing but what stands in it."""

_LISTS = (
    (NodeKind.ROOT, "Roots"),
    (NodeKind.CHECKOUT, "Checkouts"),
    (NodeKind.BRANCH, "Branches"),
    (NodeKind.MODEL, "Models"),
    (NodeKind.CREDENTIAL, "Credentials"),
    (NodeKind.APPROVAL, "Approvals"),
)
_INWARD = {
    EdgeKind.RUNS_ON: "runs on",
    EdgeKind.NEEDS: "needs",
    EdgeKind.AUTHORISES: "allowed by",
    EdgeKind.BEFORE: "after",
    EdgeKind.WRITES: "written by",
    EdgeKind.COPIED: "copied from",
    EdgeKind.HOLDS: "under",
}
_OUTWARD = {
    EdgeKind.READS: "read by",
    EdgeKind.STARTS_FROM: "start of",
    EdgeKind.USES: "used by",
    EdgeKind.WRITES: "writes",
    EdgeKind.COPIED: "copied to",
}
_LEAST = 0.85
"""How far a picture may shrink to fit beside the panel before it is scrolled."""

_LEGEND = (
    ("", "reads or writes"),
    ("starts", "training goes on from it"),
    ("copied", "is copied to"),
    ("before", "must run before"),
)


def render(views: Sequence[View], options: Options) -> str:
    """The page; several experiments stand one below the other."""
    title = escape(", ".join(view.title for view in views))
    sections = "\n".join(_section(view, number, options) for number, view in enumerate(views, 1))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{title}</title>\n<style>{PAGE_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"{sections}\n</main>\n<script>{PAGE_SCRIPT}</script>\n</body>\n</html>\n"
    )


def _section(view: View, number: int, options: Options) -> str:
    prefix = f"x{number}-"
    drawn = picture(view, prefix)
    width, height = drawn.width + 2 * MARGIN, drawn.height + 2 * MARGIN
    together = {node.id: members for members in gathered(view) for node in members}
    details = "\n".join(_detail(view, node, together.get(node.id, [])) for node in view.nodes())
    box = f"{-MARGIN:.0f} {-MARGIN:.0f} {width:.0f} {height:.0f}"
    size = f"max-width:{width:.0f}px;min-width:{width * _LEAST:.0f}px"
    return (
        f'<section class="experiment">\n{_header(view, options)}\n<div class="columns">\n<div class="drawing">\n'
        f'<svg class="picture" viewBox="{box}" style="{size}" role="group" aria-label="{escape(view.title)}">\n'
        f"{drawn.body}\n</svg>\n</div>\n<aside>\n{_overview(view)}\n{details}\n</aside>\n</div>\n</section>"
    )


def _header(view: View, options: Options) -> str:
    found = view.tally().words or ("no findings" if options.checked else "findings left out")
    parts = [
        view.path if view.path != view.title else "",
        view.graph.experiment.family,
        counted(len(view.nodes(NodeKind.STAGE)), "stage"),
        counted(len(view.nodes(NodeKind.ARTIFACT)), "artifact"),
        found,
    ]
    kinds = {edge.kind for edge in view.edges}
    drawn = {"": True, "starts": EdgeKind.STARTS_FROM in kinds, "copied": EdgeKind.COPIED in kinds,
             "before": EdgeKind.BEFORE in kinds and view.graph.experiment.is_spec}  # fmt: skip
    legend = "".join(
        f'<span><svg class="picture" width="30" height="10" aria-hidden="true"><g class="line {style}">'
        f'<path d="M0 5h30"/></g></svg>{words}</span>'
        for style, words in _LEGEND
        if drawn[style]
    )
    text = escape(", ".join(part for part in parts if part))
    return (
        f"<header><h1>{escape(view.title)}</h1><p>{text}</p>"
        f'<p class="legend">{legend}<span>dashed box: nothing here writes it</span></p></header>'
    )


# ---- the side: what is shared, and the findings


def _overview(view: View) -> str:
    parts = ['<div class="overview">']
    for kind, heading in _LISTS:
        nodes = view.nodes(kind)
        if nodes:
            items = "".join(_item(view, node) for node in nodes)
            parts.append(f"<h2>{heading}</h2><ul>{items}</ul>")
    if view.findings:
        parts.append(f"<h2>Findings</h2>{_all_findings(view)}")
    parts.append('<p class="soft">Point at a box to see what belongs to it, click it for details.</p></div>')
    return "".join(parts)


def _item(view: View, node: Node) -> str:
    """Something that stages share; the stages and artifacts it belongs to are its `data-for`."""
    related = list(dict.fromkeys(other.id for _, other in _around(view, node)))
    fact = node.facts.get("model") or node.facts.get("path", "")
    fact = f' <span class="soft">{escape(view.shown(fact))}</span>' if fact and node.label not in fact else ""
    tally = view.tally(node).words
    found = f' <b class="soft">({escape(tally)})</b>' if tally else ""
    return (
        f'<li data-for="{" ".join(related)}"><span class="mark {node.kind.value}"></span>'
        f'<button data-open="{node.id}">{escape(view.shown(node.label))}</button>{fact}{found}</li>'
    )


def _around(view: View, node: Node) -> Iterator[tuple[EdgeKind, Node]]:
    """What hangs on a node: of a checkout, also what hangs on its branches."""
    for edge, other in view.graph.out_of(node):
        yield edge.kind, other
        if edge.kind is EdgeKind.HAS:
            yield from _around(view, other)


def _all_findings(view: View) -> str:
    out: list[str] = []
    for finding in view.findings:
        owners = [node for node in view.nodes() if any(each is finding for each in view.findings_at(node))]
        ids = " ".join(node.id for node in owners)
        out.append(_finding(view, finding, ids, open_=ids.split(" ")[0]))
    return "".join(out)


def _finding(view: View, finding: Finding, related: str = "", open_: str = "") -> str:
    kind = "unsure" if finding.verdict is Verdict.UNSURE else finding.severity.label
    word = "to verify" if kind == "unsure" else kind
    place = view.place(finding.span) or view.shown(finding.path)
    code = f'<button data-open="{open_}">{finding.code}</button>' if open_ else finding.code
    extra = "".join(
        f'<div class="soft">{name}: {escape(view.shown(text))}</div>'
        for name, text in (("value", finding.value), ("near", finding.near), ("help", finding.help),
                           ("verify", finding.verify))
        if text
    )  # fmt: skip
    ends = "".join(
        f'<div class="soft">{escape(view.shown(each.label))}: <code>{escape(view.place(each.span))}</code></div>'
        for each in finding.related
    )
    if related:  # the list of all findings is short, the details of a box tell everything
        extra = ends = ""
    return (
        f'<div class="finding {kind}" data-for="{related}"><b>{code}</b> <span class="soft">{word}</span> '
        f"{escape(view.shown(finding.message))}<br><code>{escape(place)}</code>{extra}{ends}</div>"
    )


# ---- the side: one node


def _detail(view: View, node: Node, members: Sequence[Node]) -> str:
    order = f"{node.facts['order']}. " if node.kind is NodeKind.STAGE else ""
    rows = [("place", f"<code>{escape(view.place(node.span))}</code>")] if node.span is not None else []
    for name, fact in node.facts.items():
        if name != "order":
            text = escape(view.shown(fact))
            rows.append((name, f'<span class="mono">{text}</span>' if name in ("path", "launcher", "run") else text))
    if len(members) > 1:
        others = [_link(view, each, each.facts.get("path", "")) for each in members if each is not node]
        rows.append(("together with", "<br>".join(others)))
    groups: dict[str, list[str]] = {}
    for edge, other in view.graph.into(node):
        if other.kind in view.kinds:
            name = _INWARD.get(edge.kind, edge.kind.value)
            groups.setdefault(name, []).append(_link(view, other, edge.label))
    for edge, other in view.graph.out_of(node):
        if other.kind in view.kinds and edge.kind in _OUTWARD:
            groups.setdefault(_OUTWARD[edge.kind], []).append(_link(view, other, edge.label))
    rows += [(name, "<br>".join(dict.fromkeys(links))) for name, links in groups.items()]
    if node.kind not in (NodeKind.STAGE, NodeKind.ARTIFACT):
        users = list(dict.fromkeys(other for _, other in _around(view, node) if other.kind is not NodeKind.BRANCH))
        links = [_link(view, other, "") for other in users if other.kind in view.kinds]
        if links:
            rows.append(("for", "<br>".join(links)))
    terms = "".join(f"<dt>{escape(name)}</dt><dd>{text}</dd>" for name, text in rows)
    found = "".join(_finding(view, each) for each in view.findings_at(node))
    return (
        f'<section class="detail" data-detail="{node.id}"><h2><span class="mark {node.kind.value}"></span>'
        f'{order}{escape(view.shown(node.label))} <span class="soft">{node.kind.value}</span></h2>'
        f'<dl>{terms}</dl>{found}<p><button data-open="">back to the overview</button></p></section>'
    )


def _link(view: View, node: Node, label: str) -> str:
    order = f"{node.facts['order']} " if node.kind is NodeKind.STAGE else ""
    said = f' <span class="soft">{escape(view.shown(label))}</span>' if label else ""
    return f'<button data-open="{node.id}">{escape(view.shown(order + node.label))}</button>{said}'
