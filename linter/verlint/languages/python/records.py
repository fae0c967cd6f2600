"""Comma records that a Python tool takes as one word: `fields = text.split(","); assert len(fields) == 6`."""

from __future__ import annotations

import libcst as cst

from verlint.languages.python.names import Binding
from verlint.languages.python.syntax import arguments, constant, dotted, index_of, walk
from verlint.languages.python.values import Values
from verlint.record import dataclass
from verlint.source import Span
from verlint.value import Text


@dataclass(frozen=True, slots=True)
class RecordShape:
    """`fields` are the names that the tool gives them ("" where it gives none), `numbers` the places of those that it
    makes whole numbers of."""

    fields: tuple[str, ...]
    numbers: frozenset[int]
    span: Span


def record_shape(values: Values, first: str) -> RecordShape | None:
    """The record that a tool splits into a number of fields on which it insists; None when there is not just one.

    `first` is what the tool calls its first argument by place, "" when it declares none."""
    found: dict[object, RecordShape] = {}
    names = values.names
    for scope in (names.module, *names.scopes.values()):
        for name, bindings in scope.bindings.items():
            bound = bindings[0]
            if len(bindings) == 1 and bound.how in ("value", "part") and _splits(bound, values, first):
                shape = _shape(name, bound, values) if bound.how == "value" else _unpacked(bound, values)
                if shape is not None:
                    found[id(bound.node)] = shape
    return next(iter(found.values())) if len(found) == 1 else None


def _splits(binding: Binding, values: Values, first: str) -> bool:
    """Whether a value is the first argument of the call, cut at its commas."""
    node = binding.node
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or node.func.attr.value != "split":
        return False
    given = arguments(node).positional
    if not given or constant(given[0]) != ",":
        return False
    texts = values.texts(node.func.value, binding.scope)
    return bool(texts) and all(_is_first_argument(each, first) for each in texts)


def _is_first_argument(text: Text, first: str) -> bool:
    holes = text.holes
    if len(text.parts) != 1 or len(holes) != 1:
        return False
    key = holes[0].key
    if not isinstance(key, tuple):
        return False
    return bool((key[0] == "argument" and key[2] == 1) or (key[0] == "option" and key[2] == first))


def _shape(name: str, binding: Binding, values: Values) -> RecordShape | None:
    count, place = 0, None
    for node in walk(binding.scope.node):
        if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
            written = values.parsed.written(node.left).replace(" ", "")
            compared = node.comparisons[0]
            number = constant(compared.comparator)
            if (
                written == f"len({name})"
                and isinstance(number, int)
                and isinstance(compared.operator, (cst.Equal, cst.NotEqual))
            ):
                count, place = number, values.parsed.span(node)
    if not count or place is None or count > 64:
        return None
    fields, numbers = [""] * count, set[int]()
    for other, bindings in binding.scope.bindings.items():
        for each in bindings:
            at, number = _index(each.node, name)
            if 0 <= at < count and each.how == "value":
                fields[at] = other
                if number:
                    numbers.add(at)
    return RecordShape(tuple(fields), frozenset(numbers), place)


def _index(node: cst.CSTNode, name: str) -> tuple[int, bool]:
    """The place of `fields[3]`, and whether a number is made of it; -1 for anything else."""
    number = False
    if isinstance(node, cst.Call) and dotted(node.func) == "int":
        given = arguments(node).positional
        node, number = (given[0] if given else node), True
    if isinstance(node, cst.Subscript) and dotted(node.value) == name:
        index = index_of(node)
        at = constant(index) if index is not None else ...
        return (at, number) if isinstance(at, int) else (-1, False)
    return -1, False


def _unpacked(binding: Binding, values: Values) -> RecordShape | None:
    """`a, b, c = text.split(",")`."""
    places = {
        each.place: name
        for name, bindings in binding.scope.bindings.items()
        for each in bindings
        if each.node is binding.node and each.how == "part"
    }
    count = len(places)
    if count < 2 or sorted(places) != list(range(count)):
        return None
    for node in walk(binding.scope.node):
        if isinstance(node, cst.Assign) and node.value is binding.node:
            target = node.targets[0].target
            if isinstance(target, cst.Tuple) and any(isinstance(each, cst.StarredElement) for each in target.elements):
                return None
    return RecordShape(tuple(places[at] for at in range(count)), frozenset(), values.parsed.span(binding.node))
