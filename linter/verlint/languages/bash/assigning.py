"""Assignments as they are written: strings, elements, arrays; and their record."""

from __future__ import annotations

from verlint.languages.bash.braces import expand_braces
from verlint.languages.bash.builtins import Builtins
from verlint.languages.bash.command import Assignment
from verlint.languages.bash.elastic import MANY, any_many, mark_of, marked, unmarked
from verlint.languages.bash.pieces import EMPTY, Parts, flat, plain, with_hop
from verlint.languages.bash.prepared import PreparedAssign
from verlint.languages.bash.printing import Argument, Declared
from verlint.languages.bash.storage import Array
from verlint.languages.bash.syntax import ArrayLit, Assign, Lit, Part, Simple, Word
from verlint.record import replace
from verlint.source import Span
from verlint.value import Hole, Hop, Text

MAX_ITEMS = 256
"""So many elements of an array are put on record."""


class Assigning(Builtins):
    """Carries out assignments."""

    __slots__ = ()

    def assign(self, assign: Assign, value: Parts | None = None, *, exported: bool = False) -> None:
        """Carry out an assignment; `value` is its right side where that is expanded already."""
        known = self.run.prepared.assign(assign, self.source)
        if isinstance(assign.value, ArrayLit):
            self._assign_array(assign, assign.value, known)
        else:
            index = None
            if assign.index is not None:
                index = flat(self.string(assign.index))
            hop = known.hop
            passed = self.passed_string(assign.value, hop) if value is None else with_hop(value, hop)
            self.assign_value(assign.name, index, passed, append=assign.append)
        if exported:
            self.export(assign.name)

    def _assign_array(self, assign: Assign, literal: ArrayLit, known: PreparedAssign) -> None:
        old = self.ensure(assign.name)
        self.check_writable(assign.name, old)
        value = old.value
        array = Array(associative=isinstance(value, Array) and value.associative)
        if assign.append and value is not None:
            array = value if isinstance(value, Array) else Array({0: value})
        place = array.next_index()
        elements = self._pairs(literal, known.hop) if array.associative else self._numbered(literal, known, place)
        if array.associative or old.integer or old.case:
            for key, element in elements:
                array.put(key, self.joined(old, EMPTY, element, append=False))
        else:
            array.fill(elements)
        array.many = array.many or any_many(element for _, element in elements)
        self.changed()
        old.value = array

    def _numbered(self, literal: ArrayLit, known: PreparedAssign, place: int) -> list[tuple[int | str, Parts]]:
        out: list[tuple[int | str, Parts]] = []
        for item, constant in zip(literal.items, known.elements, strict=True):
            if constant is not None:
                out.append((place, constant))
                place += 1
                continue
            if item.index is None:
                for text in self.expanded(item.word, element=True):
                    out.append((place, with_hop(marked(text, MANY), known.hop)))
                    place += 1
                continue
            index = self.arithmetic(self.string(item.index), item.index)
            value = with_hop(self.string(item.word, assignment=True), known.hop)
            if not isinstance(index, Hole):
                out.append((index, value))
                place = index + 1
        return out

    def _pairs(self, literal: ArrayLit, hop: Hop) -> list[tuple[int | str, Parts]]:
        out: list[tuple[int | str, Parts]] = []
        pending: str | None = None
        for item in literal.items:
            if item.index is not None:
                out.append((flat(self.string(item.index)), with_hop(self.string(_without_home(item.word)), hop)))
                continue
            for text in self.fields(_without_home(item.word), element=True):
                if pending is None:
                    pending = flat(text.parts)
                else:
                    out.append((pending, with_hop(text.parts, hop)))
                    pending = None
        return out

    def record_assignment(self, name: str, assign: Assign, simple: Simple, *, exported: bool) -> None:
        """Put an assignment on record with the value it gave."""
        variable = self.lookup(name)
        if variable is None:
            return
        known = self.run.prepared.assign(assign, self.source)
        value, place = variable.value, known.value_span
        items: tuple[Text, ...] = ()
        text = None
        if isinstance(value, Array):
            items = tuple([_item(each, place) for each in value.values()[:MAX_ITEMS]])
        elif value is not None:
            text = Text(value, place)
        around = self.surroundings()
        self.run.events.append(Assignment(name, text, known.span, place, around, exported or variable.exported, items))

    def declared(self, assign: Assign) -> list[Argument]:
        """`NAME=value` as `export` and kin get it. It is an argument, so its braces are expanded."""
        value = assign.value
        if isinstance(value, ArrayLit):
            span = self.span(assign)
            return [Declared(assign, None, Text(plain(span.text, span), span))]
        return [self._declared_word(assign, value, parts) for parts in expand_braces(value.parts)]

    def _declared_word(self, assign: Assign, value: Word, parts: list[Part]) -> Declared:
        written = value if parts is value.parts else Word(value.start, value.end, parts)
        found = self.string(written, assignment=True)
        head = plain(assign.name + ("+=" if assign.append else "="), Span(self.source, assign.start, value.start))
        return Declared(assign, found, Text((*head, *found), self.span(assign)))


def _item(parts: Parts, place: Span) -> Text:
    """An element for the record."""
    for part in parts:
        if isinstance(part, Hole):
            return Text(unmarked(parts), place, bool(mark_of(parts)))
    return Text(parts, place)


def _without_home(word: Word) -> Word:
    """A word of an associative array, where a `~` at the beginning stands for itself."""
    first = word.parts[0] if word.parts else None
    if not isinstance(first, Lit) or first.quote or not first.text.startswith("~"):
        return word
    return Word(word.start, word.end, [replace(first, quote="\\"), *word.parts[1:]])
