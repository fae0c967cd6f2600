"""Looking through a syntax tree without running it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from verlint.languages.bash.syntax import ArrayItem, CaseArm, Lit, Node, Param, Word
from verlint.record import names

_FREQUENT = frozenset([Lit, Word, Param])
"""The most frequent nodes of lists, to be told without a look at their bases."""


def children(node: Node | ArrayItem | CaseArm) -> list[Node]:
    """The nodes directly below one, in the order they are declared."""
    found: list[Node] = []
    kind: type = node.__class__
    for name in _fields(kind):
        value = getattr(node, name)
        if value.__class__ in _FREQUENT:
            found.append(value)  # type: ignore[arg-type]
        elif value:  # nodes are true, and most fields are empty
            _gather(value, found)
    return found


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it, outer ones first, in the order of the text."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        kind = node.__class__
        if kind is Word:
            waiting += node.parts[::-1]  # type: ignore[attr-defined]
        elif kind is not Lit:
            waiting += reversed(children(node))


def literal_word(word: object) -> str:
    """The characters of a word that holds nothing but characters, else ""."""
    if not isinstance(word, Word) or not all(isinstance(part, Lit) for part in word.parts):
        return ""
    return "".join(part.text for part in word.parts if isinstance(part, Lit))


@cache
def _fields(kind: type) -> tuple[str, ...]:
    """The fields that may hold nodes."""
    written: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        written |= getattr(base, "__annotations__", {})
    return tuple(name for name in names(kind) if written[name] not in ("str", "int", "bool"))


def _gather(value: object, found: list[Node]) -> None:
    kind = value.__class__
    if kind is list or kind is tuple:
        for each in value:  # type: ignore[attr-defined]
            if each.__class__ in _FREQUENT:
                found.append(each)  # type: ignore[arg-type]
            else:
                _gather(each, found)
    elif isinstance(value, Node):
        found.append(value)
    elif isinstance(value, (ArrayItem, CaseArm)):
        found += children(value)
