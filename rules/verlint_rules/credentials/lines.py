"""Statements that have their lines for themselves, so that lines can be written around them."""

from __future__ import annotations

from verlint.source import Span


def own_lines(statement: Span, *, to_the_end: bool = True) -> str | None:
    """The indentation of a statement in its own text (that of a block of YAML has no margin), None where something
    else stands on its first line, or, `to_the_end`, on its last one."""
    outer = statement.in_file()
    text = outer.source.text
    start = text.rfind("\n", 0, outer.start) + 1
    end = text.find("\n", outer.end)
    behind = text[outer.end : end if end >= 0 else len(text)] if to_the_end else ""
    if text[start : outer.start].strip() or behind.strip():
        return None
    own = statement.source.text
    return own[own.rfind("\n", 0, statement.start) + 1 : statement.start]
