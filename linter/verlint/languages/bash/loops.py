"""Loops: turns, counters nobody knows, and proof that a loop never ends."""

from __future__ import annotations

import re

from verlint.languages.bash.command import Guard
from verlint.languages.bash.elastic import is_many, unmarked
from verlint.languages.bash.options import option_case, option_loop
from verlint.languages.bash.pieces import EMPTY, Parts, flat, identity, known
from verlint.languages.bash.run import (
    MAX_LOOP,
    MAX_LOOP_STEPS,
    DiscardLine,
    Endless,
    Exit,
    LoopControl,
    ReadOnly,
)
from verlint.languages.bash.simple import SimpleCommands
from verlint.languages.bash.storage import Array, Stream, Variable
from verlint.languages.bash.syntax import Case, For, ForArith, Sequence, While, Word
from verlint.lazy import pattern
from verlint.value import Hole, Literal, Text, whole

_STAND_IN = pattern("[\U00100000-\U0010ffff]")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


_State: TypeAlias = tuple[list[dict[str, object]], list[str], object, "list[int | None]", int, int]


class Loops(SimpleCommands):
    """Runs loops."""

    __slots__ = ()

    def _holds(self, test: Sequence) -> tuple[bool | None, tuple[Guard, ...]]:
        """Whether a condition holds (None: a program decides) and the guards it rests on."""
        before = len(self.run.consulted)
        self.unchecked += 1
        try:
            self.sequence(test)
        finally:
            self.unchecked -= 1
        guards = tuple(self.run.consulted[before:])
        return (None if self.status is None else self.status == 0), guards

    def _each(self, body: Sequence) -> bool:
        """One turn of a loop; False when the loop is to end."""
        try:
            self.sequence(body)
        except LoopControl as control:
            self.status = 0
            if control.levels > 1:
                raise LoopControl(control.levels - 1, control.again) from None
            return control.again
        return True

    def _for(self, node: For) -> None:
        options = option_case(node) if self.open_arguments else None
        if options is not None:
            values = [Text(each) for each in self.positional]
        elif node.words is None:
            values = [Text(each) for each in self.list_values("@", node)]
        else:
            values = [text for word in node.words for text in self.fields(word)]
        if not values:
            self.status = 0
        elif not node.name.isidentifier():
            self.status = 1
            return
        if node.select:
            self._select(node, [unmarked(value.parts) for value in values])
            return
        begun = self.run.done()
        self.loops += 1
        try:
            for number, value in enumerate(values):
                self.run.step()
                if self._takes_too_long(number, begun):
                    self.run.over_budget = True
                    break
                try:
                    if not self.refer_again(node.name, unmarked(value.parts)):
                        self.assign_value(node.name, None, unmarked(value.parts))
                except ReadOnly:
                    self.status = 1
                    return
                if not self._each(node.body):
                    break
            else:
                if options is not None:
                    option_loop(self, node, *options)
                    self.status = 0
        finally:
            self.loops -= 1

    def _select(self, node: For, choices: list[Parts]) -> None:
        """A menu: the numbers are read from the input; where that is not known, one choice nobody knows is made."""
        stream = self.input
        if stream is None and not self.run.closed and choices:
            hole = self.hole(node.name, "choice of the user", node)
            stream = Stream((hole, Literal("\n")))
        self.loops += 1
        try:
            while choices:
                self.run.step()
                reply, found = (EMPTY, False) if stream is None else stream.line()
                if not found:
                    self.status = 1
                    return
                text = known(reply)
                if text == "":
                    continue
                self.assign_value("REPLY", None, reply)
                chosen = (
                    choices[number - 1]
                    if text is not None and (number := whole(text)) is not None and 0 < number <= len(choices)
                    else EMPTY
                )
                self.assign_value(node.name, None, reply if text is None else chosen)
                if not self._each(node.body) or text is None:
                    return
        finally:
            self.loops -= 1

    def _for_arith(self, node: ForArith) -> None:
        counter = _counter(node.first, self.source.text)
        self.loops += 1
        try:
            if self._expression(node.first, node, 0) is None:
                return
            turns, begun = 0, self.run.done()
            while True:
                self.run.step()
                value = self._expression(node.test, node, 1)
                unknown = isinstance(value, Hole)
                if unknown:
                    self._unknown_counter(node)
                elif not value:
                    self.status = self.status if turns else 0
                    return
                turns += 1
                if self._takes_too_long(turns, begun):
                    self.run.over_budget = True
                    self._unknown_counter(node)
                    return
                if not self._each(node.body) or unknown:
                    return
                before = self._counted(counter)
                step = self._expression(node.step, node, 0)
                if step is None or isinstance(step, Hole):
                    return
                if turns >= 3 and before is not None and before == self._counted(counter):
                    from verlint.languages.bash.endless import names_looked_at

                    looked_at = names_looked_at(node.test, self.source.text)
                    raise self._stuck(node, same_state=looked_at == (counter,))
                if turns == 4:
                    self._look_for_proof(node)
        finally:
            self.loops -= 1

    def _expression(self, word: Word, node: ForArith, empty: int) -> int | Hole | None:
        """One of the three expressions of `for ((…))`; `empty` is the value of none, None means that bash rejects it,
        which ends the loop."""
        text = self.string(word)
        if not flat(text).strip():
            return empty
        try:
            return self.arithmetic(text, node)
        except DiscardLine:
            self.status = 1
            return None

    def _counted(self, counter: str) -> object:
        variable = self.lookup(counter) if counter else None
        return None if variable is None else variable.value

    def _unknown_counter(self, node: ForArith) -> None:
        """With bounds nobody knows the body runs once, for any value of its counter."""
        counter = _counter(node.first, self.source.text)
        if counter:
            hole = Hole(
                ("counter", self.source.known_as, node.start), counter, "counter of a loop", self.span(node.first)
            )
            self.set_plain(counter, (hole,))

    def _while(self, node: While) -> None:
        many = next((at for at, each in enumerate(self.positional) if is_many(each)), None)
        options = option_case(node) if self.open_arguments or many is not None else None
        if options is None:
            self._turns(node)
            return
        if many is not None:
            self._options_among(node, options, many)
            return
        if self.positional:  # the given arguments first
            self.open_arguments = False
            try:
                self._turns(node)
            finally:
                self.open_arguments = True
        if not self.positional:
            option_loop(self, node, *options)
            self.status = 0

    def _options_among(self, node: While, options: tuple[Case, str], many: int) -> None:
        """An argument loop over words of which an unknown number may be options: those before it first."""
        behind = self.positional[many:]
        self.positional, outer, self.open_arguments = self.positional[:many], self.open_arguments, False
        try:
            if self.positional:
                self._turns(node)
            if not self.positional:
                option_loop(self, node, *options)
                behind = behind[:1]
                self.status = 0
        finally:
            self.positional = [*self.positional, *behind]
            self.open_arguments = outer

    def _turns(self, node: While) -> None:
        self.loops += 1
        status: int | None = 0
        turns, begun = 0, self.run.done()
        first: _State | None = None
        seen: _State | None = None
        sizes: tuple[int, int, int] | None = None
        try:
            while True:
                self.run.step()
                asked = len(self.run.consulted)
                holds, guards = self._holds(node.test)
                if holds is None:
                    holds = node.until or turns == 0  # waiting for something ends at once
                    guards = (*guards, Guard(one_line(self.span(node.test).text), self.span(node.test), True))
                if holds == node.until:
                    break
                turns += 1
                outer = self.guards
                self.guards = (*outer, *guards)
                goes_on = self._each(node.body)
                self.guards = outer
                status = self.status
                if not goes_on or guards:
                    if goes_on:
                        self._note_unchanged(node)
                    break
                if self._takes_too_long(turns, begun):
                    self.run.over_budget = True
                    self._forget_changes(first or self._state(), node)
                    status = None
                    break
                before, sizes = sizes, self._sizes()
                worth = first is None or sizes == before  # a loop that takes its arguments away goes on
                if turns >= 3 and worth and (turns < 50 or turns % 100 < 2):  # comparing is slow, most show it soon
                    state = self._state()
                    if state == seen:
                        ended = self._stuck(node, same_state=asked == len(self.run.consulted))
                        if isinstance(ended, Endless) or self._ends_with_its_loop(node):
                            raise ended
                        status = None
                        break
                    if seen is not None and _without_serials(state) == _without_serials(seen):
                        raise Exit(None)  # waits for the outside: the paths on which it stops are other ones
                    seen = state
                    first = first or state
                if turns == 4:
                    self._look_for_proof(node)
        finally:
            self.loops -= 1
        self.status = status

    def _takes_too_long(self, turns: int, begun: int) -> bool:
        """Whether a loop is to be left, so that what stands behind it is still looked at."""
        return turns >= MAX_LOOP or self.run.done() - begun > MAX_LOOP_STEPS

    def _look_for_proof(self, node: While | ForArith) -> None:
        """Leave a loop whose text alone proves that it never ends."""
        from verlint.languages.bash.endless import proof

        if proof(node, self.source, self.functions, same_state=False):
            raise self._stuck(node, same_state=False)

    def _note_unchanged(self, node: While) -> None:
        """Put on record that a counting loop whose bounds are open never ends once it has begun."""
        from verlint.languages.bash.endless import counts, proof

        if not self.unattended and counts(node, self.source.text):
            found = proof(node, self.source, self.functions, same_state=False)
            if found == "unchanged":
                self.note("endless", found, node)

    def _stuck(self, node: While | ForArith, *, same_state: bool) -> Exit:
        """Put on record that a loop goes on for ever, and give what ends the shell. `set -e` may still end one that
        starts programs, a time limit or the end of a pipe one that nobody waits for: then its caller goes on."""
        from verlint.languages.bash.endless import proof, waits_or_works

        found = proof(node, self.source, self.functions, same_state=same_state)
        self.note("endless", found if found and not self.unattended else "loop", node)
        stoppable = "e" in self.options and waits_or_works(node, self.functions)
        return Endless() if found and not self.unattended and not stoppable else Exit(None)

    def _ends_with_its_loop(self, node: While) -> bool:
        """Whether nothing is looked at behind a loop that seems to hang: in a closed world nothing else can end it, and
        an argument loop that hangs is at fault itself."""
        from verlint.languages.bash.endless import proof

        found = proof(node, self.source, self.functions, same_state=True)
        return self.run.closed or bool(found) or option_case(node) is not None

    def _forget_changes(self, first: _State, node: While) -> None:
        """After a loop that was left early, what it changes is not known."""
        scopes = (self.globals, *self.scopes)
        for scope, old, new in zip(scopes, first[0], self._state()[0], strict=False):
            for name in new:
                if old.get(name) != new[name]:
                    self.own(name, scope[name]).value = (self.hole(name, "changed by a loop of many turns", node),)
        self.changed()

    def _sizes(self) -> tuple[int, int, int]:
        """The part of the state that is compared at once."""
        return len(self.positional), self.option_offset, len(self.run.written)

    def _state(self) -> _State:
        """What a loop may change; equal before and after a turn proves that it never ends."""
        scopes = [
            {name: _content(variable) for name, variable in scope.items()} for scope in (self.globals, *self.scopes)
        ]
        arguments = [flat(each) for each in self.positional]
        streams = [None if each is None else each.size() for each in (self.input, *self.descriptors.values())]
        return scopes, arguments, identity(self.cwd), streams, self.option_offset, len(self.run.written)


def _without_serials(state: object) -> object:
    """A state with all unknowns that are new in each turn taken for the same ones."""
    if isinstance(state, dict):
        return {name: _without_serials(each) for name, each in state.items()}
    if isinstance(state, (list, tuple)):
        return "unique" if state[:1] == ("unique",) else [_without_serials(each) for each in state]
    return state


def _content(variable: Variable) -> object:
    value = variable.value
    if isinstance(value, Array):
        return [(key, identity(each)) for key, each in value.items.items()]
    return None if value is None else identity(value)


def _counter(first: Word, text: str) -> str:
    """Name of the variable that a `for ((…))` counts in, or ""."""
    match = re.match(r"\s*([A-Za-z_]\w*)\s*=", text[first.start : first.end])
    return match.group(1) if match else ""


def one_line(text: str) -> str:
    """A text written over several lines as one."""
    return _STAND_IN.sub("…", " ".join(text.replace("\\\n", " ").split()).rstrip("; "))
