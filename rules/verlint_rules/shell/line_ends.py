"""Line ends of other systems."""

from __future__ import annotations

from verlint.languages.bash.syntax import DoubleQuoted, Lit, Node, Program, Redirect
from verlint.languages.bash.walk import walk


def has_windows_lines(text: str) -> bool:
    """Whether a text ends its lines, or those that it continues, with carriage returns."""
    ends = text.count("\r\n")
    return ends > 0 and (2 * ends >= text.count("\n") or "\\\r\n" in text)


def may_be_meant(text: str, program: Program) -> bool:
    """Whether only some lines end so, and some of these within a quoted text or a here-document: it may be for
    a program that wants them (the head of a request)."""
    if text.count("\r\n") == text.count("\n"):
        return False
    nodes = [node for group in program.groups for node in walk(group)]
    quoted: list[Node] = [n for n in nodes if isinstance(n, DoubleQuoted) or (isinstance(n, Lit) and n.quote == "'")]
    quoted += [node.body for node in nodes if isinstance(node, Redirect) and node.body is not None]
    return any("\r\n" in text[node.start : node.end] for node in quoted)
