"""Assignments as they are written: strings, elements, arrays; and their record."""

from __future__ import annotations

from verlint.languages.bash.builtins import Builtins
from verlint.languages.bash.command import Assignment
from verlint.languages.bash.pieces import flat, known, plain, with_hop
from verlint.languages.bash.state import Array
from verlint.languages.bash.syntax import ArrayLit, Assign, Simple
from verlint.source import Span
from verlint.value import Hole, Hop, Text


class Assigning(Builtins):
    """Carries out assignments."""

    def assign(self, assign: Assign, *, exported: bool | None = None) -> None:
        """Carry out an assignment."""
        hop = Hop(self.span(assign))
        if isinstance(assign.value, ArrayLit):
            self._assign_array(assign, assign.value, hop)
        else:
            index = None
            if assign.index is not None:
                index = known(self.string(assign.index)) or "0"
            value = with_hop(self.string(assign.value, assignment=True), hop)
            self.assign_value(assign.name, index, value, append=assign.append)
        if exported:
            self.ensure(assign.name).exported = True
            self.changed()

    def _assign_array(self, assign: Assign, literal: ArrayLit, hop: Hop) -> None:
        variable = self.lookup(assign.name)
        associative = variable is not None and isinstance(variable.value, Array) and variable.value.associative
        array = Array(associative=associative)
        place = 0
        pending: str | None = None
        for item in literal.items:
            if item.index is not None:
                key = flat(self.string(item.index))
                number: int | str | Hole = key if associative else self.arithmetic(plain(key), item.index)
                value = with_hop(self.string(item.word), hop)
                if not isinstance(number, Hole):
                    array.items[number] = value
                    place = number + 1 if isinstance(number, int) else place
                continue
            for text in self.fields(item.word):
                if associative:
                    if pending is None:
                        pending = flat(text.parts)
                    else:
                        array.items[pending] = text.parts
                        pending = None
                    continue
                array.items[place] = with_hop(text.parts, hop)
                place += 1
        self.changed()
        target = self.ensure(assign.name)
        if not assign.append or target.value is None:
            target.value = array
            return
        if not isinstance(target.value, Array):
            target.value = Array({0: target.value})
        start = target.value.next_index() if not associative else 0
        for key2, value in array.items.items():
            target.value.items[key2 if isinstance(key2, str) else start + key2] = value

    def record_assignment(self, name: str, assign: Assign | None, simple: Simple, *, exported: bool) -> None:
        """Put an assignment on record with the value it gave."""
        variable = self.lookup(name)
        if variable is None or assign is None:
            return
        value = variable.value
        span = self.span(assign)
        value_span = self.span(assign.value)
        items = tuple(Text(each, value_span) for each in value.values()) if isinstance(value, Array) else ()
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

    def _assignment_word(self, word: Assign) -> Text:
        """`NAME=value` as `export` and kin get it."""
        span = self.span(word)
        if isinstance(word.value, ArrayLit):
            return Text(plain(span.text, span), span)
        head = plain(word.name + ("+=" if word.append else "="), Span(self.source, word.start, word.value.start))
        return Text((*head, *self.string(word.value, assignment=True)), span)
