"""Blocks of code in reStructuredText (`.. code-block:: bash`): where they stand and in which language they are."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.lazy import pattern
from verlint.record import dataclass

_DIRECTIVE = pattern(
    r"(?P<indent>[ \t]*(?:(?:[-*+]|#\.|\w{1,3}[.)])[ \t]+)*)\.\.[ \t]+"
    r"(?P<name>code-block|sourcecode|code|prompt|highlight)::[ \t]*(?P<language>[\w+-]*)"
)
_OPTION = pattern(r"[ \t]*:[\w-]+:(?:[ \t]|$)")
_LITERAL = pattern(r"(?P<indent>[ \t]*)(?!\.\.[ \t])(?:\S.*)?::[ \t]*$")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code: its language (lower case, that of the last `highlight` when it names none), the line of its
    directive, its lines (both from 0), and the columns that stand before each of them."""

    language: str
    opening: int
    lines: range
    indent: int


def blocks(lines: list[str]) -> Iterator[Block]:
    """The blocks of a document that is given in lines, in order; literal blocks (`::`) as well, which are in the
    language of the last `highlight`, "" without one."""
    usual = ""
    number = 0
    while number < len(lines):
        line = lines[number].rstrip("\r\n")
        found = _DIRECTIVE.match(line)
        literal = None if found is not None else _LITERAL.match(line)
        number += 1
        if found is not None and found["name"] == "highlight":
            usual = found["language"].lower()
        elif found is not None:
            block = _block(lines, number, len(found["indent"]), found["language"].lower() or usual, options=True)
            yield block
            number = block.lines.stop
        elif literal is not None:
            block = _block(lines, number, len(literal["indent"]), usual, options=False)
            if len(block.lines):
                yield block
            number = block.lines.stop


def _block(lines: list[str], number: int, outer: int, language: str, *, options: bool) -> Block:
    """The block below line `number - 1`, which begins behind `outer` columns: the lines that stand further in."""
    opening = number - 1
    while options and number < len(lines) and _OPTION.match(lines[number].rstrip("\r\n")):
        number += 1
    start, end, indent = number, number, 0
    for at in range(number, len(lines)):
        if not lines[at].strip():
            continue
        depth = _depth(lines[at])
        if depth <= outer:
            break
        indent = min(indent, depth) if end > start else depth
        start = start if end > start else at
        end = at + 1
    return Block(language, opening, range(start, max(start, end)), indent)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
