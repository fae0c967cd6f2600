"""Looking through a syntax tree without running it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from verlint.languages.bash.syntax import ArrayItem, CaseArm, Lit, Node, Word


def children(node: Node | ArrayItem | CaseArm) -> Iterator[Node]:
    """The nodes directly below one, in the order they are declared."""
    for each in fields(node):
        yield from _nodes(getattr(node, each.name))


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it, outer ones first."""
    yield node
    for child in children(node):
        yield from walk(child)


def literal_word(word: object) -> str:
    """The characters of a word that holds nothing but characters, else ""."""
    if not isinstance(word, Word) or not all(isinstance(part, Lit) for part in word.parts):
        return ""
    return "".join(part.text for part in word.parts if isinstance(part, Lit))


def _nodes(value: object) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, (ArrayItem, CaseArm)):
        yield from children(value)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _nodes(each)
