"""Taking an argument, an element of a list or a statement out of a Python text, and nothing else with it."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from verlint.languages.python.syntax import Parsed, parse, walk
from verlint.source import Span


def without(span: Span) -> tuple[Span, str] | None:
    """What to write where, so that the argument, element or statement at a place is gone; None where there is none at
    that place, or a comment would go with it.

    A statement that is alone in its block becomes `pass`."""
    parsed = parse(span.source)
    if parsed is None:
        return None
    for node in walk(parsed.module):
        if isinstance(node, (cst.Call, cst.List)):
            items: Sequence[cst.CSTNode] = node.args if isinstance(node, cst.Call) else node.elements
            for at, item in enumerate(items):
                if _place(parsed, item) == span:
                    return _without_item(parsed, items, at)
        elif isinstance(node, (cst.Module, cst.IndentedBlock)):
            for statement in node.body:
                if isinstance(statement, cst.SimpleStatementLine) and _place(parsed, statement.body[0]) == span:
                    return _without_statement(span, statement, alone=_is_alone(node))
    return None


def _place(parsed: Parsed, node: cst.CSTNode) -> Span:
    """A node without the comma behind it."""
    if isinstance(node, cst.Arg) and node.keyword is not None:
        return parsed.span(node.keyword).join(parsed.span(node.value))
    return parsed.span(node.value) if isinstance(node, (cst.Arg, cst.Element)) else parsed.span(node)


def _without_item(parsed: Parsed, items: Sequence[cst.CSTNode], at: int) -> tuple[Span, str] | None:
    span = _place(parsed, items[at])
    source, text = span.source, span.source.text
    line_start = text.rfind("\n", 0, span.start) + 1
    line_end = text.find("\n", span.end)
    rest = text[span.end : line_end] if line_end >= 0 else ""
    if not text[line_start : span.start].strip() and rest.strip() == ",":
        return Span(source, line_start, line_end + 1), ""
    if at + 1 < len(items):
        gone = Span(source, span.start, _place(parsed, items[at + 1]).start)
    elif at:
        gone = Span(source, _place(parsed, items[at - 1]).end, span.end)
    else:
        behind = text[span.end :]
        comma = len(behind) - len(behind.lstrip()) + 1 if behind.lstrip()[:1] == "," else 0
        gone = Span(source, span.start, span.end + comma)
    between = gone.text.replace(span.text, "", 1)
    return None if "#" in between else (gone, "")


def _is_alone(block: cst.Module | cst.IndentedBlock) -> bool:
    return isinstance(block, cst.IndentedBlock) and len(block.body) == 1


def _without_statement(span: Span, line: cst.SimpleStatementLine, *, alone: bool) -> tuple[Span, str] | None:
    if len(line.body) > 1 or line.trailing_whitespace.comment is not None:
        return None
    if alone:
        return span, "pass"
    text = span.source.text
    start, end = text.rfind("\n", 0, span.start) + 1, text.find("\n", span.end)
    if text[start : span.start].strip():
        return None
    if end < 0 and start:  # the last line, which has no end: so has the one before it then
        start -= 2 if text[start - 2 : start] == "\r\n" else 1
    return Span(span.source, start, len(text) if end < 0 else end + 1), ""
