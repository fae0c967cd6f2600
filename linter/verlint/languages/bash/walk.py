"""Looking through a syntax tree without running it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from verlint.languages.bash.syntax import (
    AndOr,
    ArrayItem,
    Assign,
    CaseArm,
    DoubleQuoted,
    Lit,
    Node,
    Param,
    Pipeline,
    Simple,
    Word,
)
from verlint.languages.bash.syntax import Sequence as Commands
from verlint.record import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FREQUENT = frozenset([Lit, Word, Param])
"""The most frequent nodes of lists, to be told without a look at their bases."""

_BELOW: Mapping[type, Callable[[Any], Sequence[Node]]] = {
    Lit: lambda node: (),
    Word: lambda node: node.parts,
    DoubleQuoted: lambda node: node.parts,
    Param: lambda node: [each for each in (node.index, node.arg, node.arg2) if each is not None],
    Assign: lambda node: (node.value,) if node.index is None else (node.index, node.value),
    Simple: lambda node: [*node.assigns, *node.words, *node.redirects],
    Pipeline: lambda node: node.commands,
    AndOr: lambda node: [pipeline for _, pipeline in node.items],
    Commands: lambda node: [item for item, _ in node.items],
}
"""How to get at what is below the most frequent nodes."""


def children(node: Node | ArrayItem | CaseArm) -> Sequence[Node]:
    """The nodes directly below one, in the order they are declared."""
    kind: type = node.__class__
    below = _BELOW.get(kind)
    if below is not None:
        return below(node)
    found: list[Node] = []
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
        if node.__class__ is not Lit:
            waiting += children(node)[::-1]


def move(node: Node, offsets: Sequence[int]) -> None:
    """Give what was read in a derived text (back quotes, `<<-`) its places in the text that is derived from: `offsets`
    are those of the characters there, and of the end."""
    last = len(offsets) - 1
    for each in walk(node):
        each.start, each.end = offsets[min(each.start, last)], offsets[min(each.end, last)]


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
