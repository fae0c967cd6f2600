"""The keys that a mapping of a spec may have, by where it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verlint.experiment.spec_schema import SPEC, Choice, Key, ListOf, MapOf, Record, Shape


def keys_at(path: Sequence[str]) -> Mapping[str, Key]:
    """The keys of the mapping below these keys, outermost first; none where the author chooses them."""
    shapes: list[Shape] = [SPEC]
    for name in path:
        shapes = [inner for shape in shapes for inner in _below(shape, name)]
    return {name: key for shape in shapes for record in _records(shape) for name, key in record.keys.items()}


def _below(shape: Shape, name: str) -> list[Shape]:
    match shape:
        case Record():
            return [shape.keys[name].shape] if name in shape.keys else []
        case MapOf():
            return [shape.value]
        case ListOf():
            return _below(shape.item, name)
        case Choice():
            return [inner for option in shape.shapes for inner in _below(option, name)]
    return []


def _records(shape: Shape) -> list[Record]:
    match shape:
        case Record():
            return [shape]
        case ListOf():
            return _records(shape.item)
        case Choice():
            return [record for option in shape.shapes for record in _records(option)]
    return []
