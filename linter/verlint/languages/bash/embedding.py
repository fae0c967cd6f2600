"""Texts with holes that are run as commands: in the tree each hole becomes an expansion of its own."""

from __future__ import annotations

from verlint.languages.bash.run import FIRST_STAND_IN
from verlint.languages.bash.syntax import DoubleQuoted, Lit, Node, Param, Part, Program
from verlint.languages.bash.walk import walk
from verlint.lazy import pattern

_STAND_IN = pattern(f"[{chr(FIRST_STAND_IN)}-\U0010fffe]")


def with_holes(program: Program) -> Program:
    """The tree with every character that stands for a hole replaced by a parameter of that name. Changes the tree."""
    for group in program.groups:
        for node in walk(group):
            parts = getattr(node, "parts", None)
            if parts and any(isinstance(part, Lit) and _STAND_IN.search(part.text) for part in parts):
                quoted = isinstance(node, DoubleQuoted)
                parts[:] = [piece for part in parts for piece in _pieces(part, in_quotes=quoted)]
    return program


def _pieces(part: Part, *, in_quotes: bool) -> list[Part]:
    """A run of characters cut at the holes; a hole in a quoted run is quoted too."""
    if not isinstance(part, Lit):
        return [part]
    out: list[Part] = []
    at = 0
    for match in _STAND_IN.finditer(part.text):
        if match.start() > at:
            out.append(Lit(part.start, part.end, part.text[at : match.start()], part.quote))
        param = Param(part.start, part.end, match.group())
        bare: Node = param if in_quotes or part.quote in ("", '"') else DoubleQuoted(part.start, part.end, [param])
        out.append(bare)  # type: ignore[arg-type]
        at = match.end()
    if at < len(part.text):
        out.append(Lit(part.start, part.end, part.text[at:], part.quote))
    return out
