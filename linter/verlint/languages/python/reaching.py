"""Which assignments of a name can reach a place of its function: those of other branches, and those that a later one
replaces, cannot."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from verlint.languages.python.names import Binding
from verlint.languages.python.syntax import Parsed, walk
from verlint.record import dataclass


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    end: int
    loop: bool


class Reaching:
    """Answers for one text."""

    def __init__(self, parsed: Parsed) -> None:
        self.places = parsed.places
        self._blocks = sorted(self._found(parsed), key=lambda block: block.start)

    def _found(self, parsed: Parsed) -> list[_Block]:
        out: list[_Block] = []
        for node in walk(parsed.module):
            if isinstance(node, (cst.If, cst.Else, cst.For, cst.While, cst.Try, cst.ExceptHandler)):
                place = self.places.get(node.body)
                if place is not None:
                    loop = isinstance(node, (cst.For, cst.While))
                    out.append(_Block(place.start, place.start + place.length, loop))
        return out

    def of(self, bindings: Sequence[Binding], node: cst.CSTNode) -> Sequence[Binding]:
        """The bindings of a name, all in the function that uses it, that can reach `node`; all of them where that
        cannot be told."""
        if len(bindings) < 2 or node not in self.places:
            return bindings
        at = self.places[node].start
        before = [each for each in bindings if self._end(each) <= at]
        chain = [block for block in self._blocks if block.start <= at < block.end]
        certain = [each for each in before if self._always(each, chain)]
        last = max(certain, key=self._end, default=None)
        loops = [block for block in chain if block.loop]
        outer = loops[0] if loops else None
        out = []
        for each in bindings:
            start = self._start(each)
            if each in before:
                if last is None or self._end(each) >= self._end(last):
                    out.append(each)
            elif (
                outer is not None
                and outer.start <= start < outer.end  # in an earlier turn of the loop
                and (last is None or self._end(last) < outer.start)
            ):
                out.append(each)
        return out or bindings

    def surely_before(self, node: cst.CSTNode, at: cst.CSTNode) -> bool:
        """Whether a node is passed on every way to a later place of its function."""
        if node not in self.places or at not in self.places:
            return False
        start, place = self.places[node], self.places[at].start
        around = [block for block in self._blocks if block.start <= start.start < block.end]
        return start.start + start.length <= place and all(block.start <= place < block.end for block in around)

    def never_before(self, node: cst.CSTNode, at: cst.CSTNode) -> bool:
        """Whether a node comes behind a place of its function, and no loop leads back to that."""
        if node not in self.places or at not in self.places:
            return False
        start, place = self.places[node].start, self.places[at].start
        return start > place and not any(
            each.loop and each.start <= place and start < each.end for each in self._blocks
        )

    def _start(self, binding: Binding) -> int:
        place = self.places.get(binding.node)
        return 0 if place is None else place.start

    def _end(self, binding: Binding) -> int:
        place = self.places.get(binding.node)
        return 0 if place is None else place.start + place.length

    def _always(self, binding: Binding, chain: Sequence[_Block]) -> bool:
        """Whether what comes before a place in `chain` always passes a binding: each block around it is around the
        place as well."""
        start = self._start(binding)
        return all(block in chain for block in self._blocks if block.start <= start < block.end)
