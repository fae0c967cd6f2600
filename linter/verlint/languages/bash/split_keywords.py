"""Reserved words that a continued line splits (`do⏎ne`), which bash joins before it reads them."""

from __future__ import annotations

from re import Match

from verlint.languages.bash.parser import RESERVED
from verlint.languages.bash.syntax import Lit, Program
from verlint.languages.bash.walk import walk
from verlint.lazy import pattern

_SPLIT = pattern(r"(?<![^\s;&|<>()])([a-z]+)((?:\\\n)+)([a-z]+)(?![^\s;&|<>()])")


def with_whole_keywords(text: str) -> tuple[str, dict[tuple[int, int], int]]:
    """The text with a continued line inside a reserved word moved behind that word; nothing else moves. And the places
    of these words, each with the number of characters that were moved."""
    moved: dict[tuple[int, int], int] = {}

    def rejoined(found: Match[str]) -> str:
        before, between, behind = found.groups()
        if not RESERVED.fullmatch(before + behind):
            return found.group()
        moved[found.start(), found.end() - len(between)] = len(between)
        return str(before + behind + between)

    return _SPLIT.sub(rejoined, text), moved


def put_back(program: Program, moved: dict[tuple[int, int], int]) -> None:
    """Where such a word is an argument, its characters end behind the continued line."""
    if not moved:
        return
    for group in program.groups:
        for node in walk(group):
            if isinstance(node, Lit) and (node.start, node.end) in moved:
                node.end += moved[node.start, node.end]
