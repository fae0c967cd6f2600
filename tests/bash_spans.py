"""Places of syntax nodes: inside the text, and inside the node above."""

from __future__ import annotations

from verlint.languages.bash.syntax import Lit, Node, Program, Redirect
from verlint.languages.bash.walk import children


def misplaced(program: Program, text: str) -> list[str]:
    """Nodes whose range is no range of the text or is not inside that of the node above, in words."""
    out: list[str] = []
    for group in program.groups:
        if not 0 <= group.start <= group.end <= len(text):
            out.append(f"{type(group).__name__} {group.start}:{group.end}")
        _below(group, text, out)
    problem = program.problem
    if problem is not None and not 0 <= problem.offset <= len(text):
        out.append(f"problem at {problem.offset}")
    if problem is not None and problem.opened is not None and not 0 <= problem.opened <= problem.offset:
        out.append(f"problem opened at {problem.opened}, noticed at {problem.offset}")
    return out


def _below(node: Node, text: str, out: list[str]) -> None:
    body = node.body if isinstance(node, Redirect) else None
    for child in children(node):
        low, high = (0, len(text)) if child is body else (node.start, node.end)
        if not low <= child.start <= child.end <= high:
            out.append(
                f"{type(child).__name__} {child.start}:{child.end} below {type(node).__name__} {node.start}:{node.end}"
            )
        elif (
            isinstance(child, Lit)
            and child.quote == ""
            and text[child.start : child.end].replace("\\\n", "") != child.text
        ):
            out.append(f"bare {child.text!r} is written {text[child.start : child.end]!r}")
        _below(child, text, out)
