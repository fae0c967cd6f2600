"""What is known of words, assignments and commands before they run. It is found once, whatever the number of paths and
of turns of loops they run in."""

from __future__ import annotations

from verlint.languages.bash.pieces import Parts
from verlint.languages.bash.syntax import ArrayItem, ArrayLit, Assign, Lit, Node, Simple, Word
from verlint.record import dataclass
from verlint.source import Source, Span
from verlint.value import Hop, Literal, Text

CARE = frozenset("~{*?[(")
"""Bare characters that may be expanded; `+(` and its kin have parentheses."""


@dataclass(slots=True)
class PreparedAssign:
    """An assignment of a source: its place, that of its right side, and what values pass when they are assigned.
    `elements` are those of an array, None for one that has something to expand."""

    assign: Assign
    source: Source
    span: Span
    value_span: Span
    hop: Hop
    elements: tuple[Parts | None, ...] = ()


@dataclass(slots=True)
class PreparedCommand:
    """A simple command of a source: its place, its words, those without anything to expand as texts, and their
    places."""

    node: Simple
    source: Source
    span: Span
    words: tuple[Text | Word | Assign, ...]
    raw: tuple[Span, ...]


class Prepared:
    """What is known of the nodes of all texts that are run, by their identity."""

    __slots__ = ("_assigns", "_commands", "_texts")

    def __init__(self) -> None:
        self._texts: dict[int, tuple[Word, Source, Text]] = {}
        self._assigns: dict[int, PreparedAssign] = {}
        self._commands: dict[int, PreparedCommand] = {}

    def text(self, word: Word, source: Source) -> Text | None:
        """The text of a word without anything to expand, None for others."""
        only = _characters(word)
        if only is None:
            return None
        found = self._texts.get(id(word))
        if found is None or found[1] is not source or found[0] is not word:
            span = Span(source, word.start, word.end)
            found = self._texts[id(word)] = (word, source, Text((literal(only, source),), span))
        return found[2]

    def assign(self, assign: Assign, source: Source) -> PreparedAssign:
        """What is known of an assignment."""
        found = self._assigns.get(id(assign))
        if found is None or found.source is not source or found.assign is not assign:
            value, span = assign.value, span_of(source, assign)
            found = self._assigns[id(assign)] = PreparedAssign(assign, source, span, span_of(source, value), Hop(span))
            if isinstance(value, ArrayLit):
                found.elements = tuple([_element(item, source, found.hop) for item in value.items])
        return found

    def command(self, node: Simple, source: Source) -> PreparedCommand:
        """What is known of a simple command."""
        found = self._commands.get(id(node))
        if found is None or found.source is not source or found.node is not node:
            words: list[Text | Word | Assign] = []
            raw: list[Span] = []
            for word in node.words:
                text = self.text(word, source) if isinstance(word, Word) else None
                words.append(word if text is None else text)
                raw.append(Span(source, word.start, word.end) if text is None or text.span is None else text.span)
            span = span_of(source, node)
            found = self._commands[id(node)] = PreparedCommand(node, source, span, tuple(words), tuple(raw))
        return found


def _characters(word: Word) -> Lit | None:
    """What a word consists of that has nothing to expand."""
    parts = word.parts
    only = parts[0] if len(parts) == 1 else None
    return only if isinstance(only, Lit) and (only.quote or CARE.isdisjoint(only.text)) else None


def _element(item: ArrayItem, source: Source, hop: Hop) -> Parts | None:
    """An element of an array that has nothing to expand."""
    only = _characters(item.word) if item.index is None else None
    if only is None:
        return None
    return (literal(only, source, (hop,)),)


def span_of(source: Source, node: Node) -> Span:
    """The place of a node."""
    return Span(source, node.start, node.end)


def literal(lit: Lit, source: Source, hops: tuple[Hop, ...] = ()) -> Literal:
    """The piece of characters as they are written."""
    return Literal(lit.text, Span(source, lit.start, lit.end), hops, "", lit.quote != "")
