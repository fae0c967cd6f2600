"""Objects as plain data, and back. Reading makes nothing but records, enumerations and containers of classes that come
with verlint, by setting their fields: nothing in what is read is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from enum import Enum
from pathlib import Path, PurePath

from verlint.record import FIELDS

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import Any

_PACKAGES = ("verlint.", "verlint_rules.")
_ATOMS = (str, int, float, bool, type(None))


class NotPlain(Exception):
    """Something that is no plain data, or that makes no object."""


def as_data(value: object, apart: Callable[[Any], Any]) -> list[Any]:
    """A value as lists of texts and numbers, in which an object that stands in several places stands once. `apart`
    gives plain data for an object that is not written out, else None. Raises NotPlain."""
    writer = _Writer(apart)
    try:
        last = writer.place(value)
    except RecursionError:
        raise NotPlain("nested too deeply") from None
    return [writer.classes, writer.rows, last]


def from_data(data: Any, apart: Callable[[Any], Any]) -> Any:
    """The value again; `apart` gives the objects that were not written out. Raises NotPlain, and what `apart`
    raises."""
    try:
        classes, rows, last = data
        known = [_class(name) for name in classes]
        made: list[Any] = []
        for kind, *parts in rows:
            made.append(_READ[kind](parts, made, known, apart))
        return _value(last, made)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise NotPlain(str(error)) from error


class _Writer:
    """Rows, each of an object whose parts stand in rows above. A part is an atom, or the number of a row in a list."""

    def __init__(self, apart: Callable[[Any], Any]) -> None:
        self.apart = apart
        self.rows: list[list[Any]] = []
        self.classes: list[str] = []
        self._rows: dict[int, tuple[object, int]] = {}
        self._classes: dict[type, int] = {}
        self._open: set[int] = set()

    def place(self, value: object) -> Any:
        """An atom, or where the object stands."""
        if type(value) in _ATOMS:
            return value
        known = self._rows.get(id(value))
        if known is None:
            if id(value) in self._open:
                raise NotPlain("objects that hold each other")
            self._open.add(id(value))
            self.rows.append(self._row(value))
            self._open.discard(id(value))
            known = self._rows[id(value)] = (value, len(self.rows) - 1)  # kept, so that no other gets its identity
        return [known[1]]

    def _row(self, value: Any) -> list[Any]:
        apart = self.apart(value)
        if apart is not None:
            return ["apart", apart]
        made = type(value)
        if made in (tuple, list, set, frozenset):
            return [made.__name__, *map(self.place, value)]
        if made in (dict, Counter):
            return [made.__name__, *(self.place(each) for pair in value.items() for each in pair)]
        if isinstance(value, Enum):
            return ["enum", self._class(made), value.name]
        if isinstance(value, PurePath):
            return ["path", str(value)]
        if made is bytes:
            return ["bytes", value.hex()]
        if FIELDS in made.__dict__:
            return ["record", self._class(made), *(self.place(getattr(value, name)) for name in getattr(made, FIELDS))]
        if isinstance(value, tuple) and hasattr(made, "_fields"):
            return ["named", self._class(made), *map(self.place, value)]
        raise NotPlain(made.__qualname__)

    def _class(self, made: type) -> int:
        if made not in self._classes:
            name = f"{made.__module__}:{made.__qualname__}"
            if _class(name) is not made:
                raise NotPlain(name)
            self._classes[made] = len(self.classes)
            self.classes.append(name)
        return self._classes[made]


def _class(name: Any) -> Any:
    """A class of verlint that holds plain data."""
    module, _, own = name.partition(":")
    if not module.startswith(_PACKAGES) or "__" in name or "." in own:
        raise NotPlain(name)
    try:
        made = getattr(__import__(module, fromlist=[own]), own)
    except ImportError:
        raise NotPlain(name) from None
    is_plain = isinstance(made, type) and made.__module__ == module
    if not is_plain or not (FIELDS in made.__dict__ or issubclass(made, Enum) or hasattr(made, "_fields")):
        raise NotPlain(name)
    return made


def _value(part: Any, made: list[Any]) -> Any:
    if type(part) is not list:
        return part
    (number,) = part
    if number < 0:
        raise NotPlain("a row that is not there")
    return made[number]


def _values(parts: list[Any], made: list[Any]) -> list[Any]:
    return [_value(part, made) for part in parts]


def _record(parts: list[Any], made: list[Any], classes: list[Any]) -> Any:
    number, *values = parts
    kind = classes[number]
    fields = kind.__dict__[FIELDS]
    record = kind.__new__(kind)
    for name, value in zip(fields, _values(values, made), strict=True):
        setattr(record, name, value)
    return record


def _dict(parts: list[Any], made: list[Any]) -> dict[Any, Any]:
    values = _values(parts, made)
    return dict(zip(values[::2], values[1::2], strict=True))


def _named(parts: list[Any], made: list[Any], classes: list[Any]) -> Any:
    kind = classes[parts[0]]
    if not issubclass(kind, tuple) or len(parts) - 1 != len(kind._fields):
        raise NotPlain(kind.__qualname__)
    return tuple.__new__(kind, _values(parts[1:], made))


def _enum(parts: list[Any], classes: list[Any]) -> Any:
    kind = classes[parts[0]]
    if not issubclass(kind, Enum):
        raise NotPlain(kind.__qualname__)
    return kind[parts[1]]


_READ: dict[Any, Callable[[list[Any], list[Any], list[Any], Callable[[Any], Any]], Any]] = {
    "apart": lambda parts, made, classes, apart: apart(parts[0]),
    "tuple": lambda parts, made, classes, apart: tuple(_values(parts, made)),
    "list": lambda parts, made, classes, apart: _values(parts, made),
    "set": lambda parts, made, classes, apart: set(_values(parts, made)),
    "frozenset": lambda parts, made, classes, apart: frozenset(_values(parts, made)),
    "dict": lambda parts, made, classes, apart: _dict(parts, made),
    "Counter": lambda parts, made, classes, apart: Counter(_dict(parts, made)),
    "enum": lambda parts, made, classes, apart: _enum(parts, classes),
    "path": lambda parts, made, classes, apart: Path(parts[0]),
    "bytes": lambda parts, made, classes, apart: bytes.fromhex(parts[0]),
    "record": lambda parts, made, classes, apart: _record(parts, made, classes),
    "named": lambda parts, made, classes, apart: _named(parts, made, classes),
}
