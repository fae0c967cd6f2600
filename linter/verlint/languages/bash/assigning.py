"""Assignments as they are written: strings, elements, arrays; and their record."""

from __future__ import annotations

from verlint.languages.bash.braces import expand_braces
from verlint.languages.bash.builtins import Builtins
from verlint.languages.bash.command import Assignment
from verlint.languages.bash.elastic import MANY, any_many, mark_of, marked, unmarked
from verlint.languages.bash.pieces import EMPTY, Parts, flat, plain, with_hop
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

    def assign(self, assign: Assign, value: Parts | None = None, *, exported: bool = False) -> None:
        """Carry out an assignment; `value` is its right side where that is expanded already."""
        hop = Hop(self.span(assign))
        if isinstance(assign.value, ArrayLit):
            self._assign_array(assign, assign.value, hop)
        else:
            index = None
            if assign.index is not None:
                index = flat(self.string(assign.index))
            found = self.string(assign.value, assignment=True) if value is None else value
            self.assign_value(assign.name, index, with_hop(found, hop), append=assign.append)
        if exported:
            self.export(assign.name)

    def _assign_array(self, assign: Assign, literal: ArrayLit, hop: Hop) -> None:
        old = self.ensure(assign.name)
        self.check_writable(assign.name, old)
        value = old.value
        array = Array(associative=isinstance(value, Array) and value.associative)
        if assign.append and value is not None:
            array = value if isinstance(value, Array) else Array({0: value})
        place = array.next_index()
        elements = self._pairs(literal, hop) if array.associative else self._numbered(literal, hop, place)
        for key, element in elements:
            array.put(key, self.joined(old, EMPTY, element, append=False))
        array.many = array.many or any_many(element for _, element in elements)
        self.changed()
        old.value = array

    def _numbered(self, literal: ArrayLit, hop: Hop, place: int) -> list[tuple[int | str, Parts]]:
        out: list[tuple[int | str, Parts]] = []
        for item in literal.items:
            if item.index is None:
                for text in self.fields(item.word, element=True):
                    out.append((place, with_hop(marked(text, MANY), hop)))
                    place += 1
                continue
            index = self.arithmetic(self.string(item.index), item.index)
            value = with_hop(self.string(item.word, assignment=True), hop)
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
        value = variable.value
        span = self.span(assign)
        value_span = self.span(assign.value)
        values = value.values()[:MAX_ITEMS] if isinstance(value, Array) else []
        items = tuple(Text(unmarked(each), value_span, bool(mark_of(each))) for each in values)
        self.run.events.append(
            Assignment(
                name=name,
                value=None if isinstance(value, Array) or value is None else Text(value, value_span),
                span=span,
                value_span=value_span,
                around=self.surroundings(),
                exported=exported or variable.exported,
                items=items,
            )
        )

    def declared(self, assign: Assign) -> list[Argument]:
        """`NAME=value` as `export` and kin get it. It is an argument, so its braces are expanded."""
        value = assign.value
        if isinstance(value, ArrayLit):
            span = self.span(assign)
            return [Declared(assign, None, Text(plain(span.text, span), span))]
        return [self._declared_word(assign, value, parts) for parts in expand_braces(value.parts)]

    def _declared_word(self, assign: Assign, value: Word, parts: list[Part]) -> Declared:
        found = self.string(Word(value.start, value.end, parts), assignment=True)
        head = plain(assign.name + ("+=" if assign.append else "="), Span(self.source, assign.start, value.start))
        return Declared(assign, found, Text((*head, *found), self.span(assign)))


def _without_home(word: Word) -> Word:
    """A word of an associative array, where a `~` at the beginning stands for itself."""
    first = word.parts[0] if word.parts else None
    if not isinstance(first, Lit) or first.quote or not first.text.startswith("~"):
        return word
    return Word(word.start, word.end, [replace(first, quote="\\"), *word.parts[1:]])
