"""Data classes as `dataclasses` makes them, for a tenth of the start-up time.

The standard module costs the check of one launcher more than reading the launcher does: it imports `inspect`, and
writes and compiles all methods of a class when the class is made. Here a class keeps a list of its fields, and its
`__init__` is compiled when the first object is made. Type checkers see the standard functions, so all that they prove
(frozen fields, types of arguments) stays proved; while the program runs nothing stops an assignment to a frozen field.

Left out, as nothing here uses it: ordering, keyword-only and init-only fields, the introspection of `dataclasses`.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter

TYPE_CHECKING = False  # as `typing` says it, but that module alone costs some milliseconds
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
    from typing import Any

FIELDS = "__record_fields__"
"""Attribute of a class with its fields: each name with its default."""

_MISSING = object()


class _Factory:
    """A default that is made anew for each object."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], object]) -> None:
        self.make = make


def names(record: object | type) -> tuple[str, ...]:
    """The names of the fields of a record or its class, in the order they are declared."""
    return tuple(getattr(record, FIELDS))


def _field(*, default: Any = _MISSING, default_factory: Callable[[], object] | None = None) -> Any:
    return default if default_factory is None else _Factory(default_factory)


def _replace(record: Any, /, **changes: object) -> Any:
    """A new record with other values for the named fields."""
    for name in getattr(record, FIELDS):
        if name not in changes:
            changes[name] = getattr(record, name)
    return record.__class__(**changes)


def _dataclass(
    made: type | None = None, /, *, frozen: bool = False, eq: bool = True, slots: bool = False, repr: bool = True
) -> Any:
    if made is None:
        return lambda written: _record(written, frozen, eq, slots, repr)
    return _record(made, frozen, eq, slots, repr)


def _record(written: type, frozen: bool, eq: bool, slots: bool, repr: bool) -> type:
    """The class with its methods. One with slots is made anew, as slots are laid out when a class is made."""
    body = dict(written.__dict__)
    own = [name for name, kind in getattr(written, "__annotations__", {}).items() if not kind.startswith("ClassVar")]
    fields: dict[str, object] = {}
    for base in reversed(written.__mro__[1:]):
        fields.update(base.__dict__.get(FIELDS, {}))
    inherited = fields.keys() & own
    for name in own:
        fields[name] = body.get(name, _MISSING)
    added = {FIELDS: fields, "__match_args__": tuple(fields), **_methods(fields, frozen, eq, repr)}
    for name in added.keys() & body.keys():
        if name != "__hash__" or body[name] is not None:  # a class with its own `__eq__` has `__hash__ = None`
            del added[name]
    defaults = [name for name in own if name in body]
    if slots:
        for name in ("__dict__", "__weakref__", *defaults):
            body.pop(name, None)
        body |= added
        body["__slots__"] = tuple(name for name in own if name not in inherited)
        made = type(written)(written.__name__, written.__bases__, body)
    else:
        made = written
        for name, item in added.items():
            setattr(made, name, item)
        for name in defaults:
            if isinstance(fields[name], _Factory):
                delattr(made, name)
    if "__init__" not in written.__dict__:
        made.__init__ = _late_init(made, fields)  # type: ignore[misc]
    return made


def _methods(fields: Mapping[str, object], frozen: bool, eq: bool, repr: bool) -> dict[str, Any]:
    every = tuple(fields)
    values: Callable[[object], object] = attrgetter(*every) if every else lambda record: ()
    found: dict[str, Any] = {}

    def shown(self: object) -> str:
        text = ", ".join(f"{name}={getattr(self, name)!r}" for name in every)
        return f"{self.__class__.__qualname__}({text})"

    def same(self: object, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented  # type: ignore[no-any-return]
        return self is other or values(self) == values(other)

    def hashed(self: object) -> int:
        return hash(values(self))

    if repr:
        found["__repr__"] = shown
    if eq:
        found["__eq__"] = same
        found["__hash__"] = hashed if frozen else None
    return found


def _late_init(made: type, fields: Mapping[str, object]) -> Callable[..., None]:
    """An `__init__` that puts the real one in its place when it is first called."""

    def first(self: object, *args: object, **kwargs: object) -> None:
        real = _init(fields, after=hasattr(made, "__post_init__"))
        real.__qualname__ = f"{made.__qualname__}.__init__"
        made.__init__ = real  # type: ignore[misc]
        real(self, *args, **kwargs)

    return first


def _init(fields: Mapping[str, object], *, after: bool) -> Any:
    """The real `__init__`: one assignment a field."""
    given = tuple(default for default in fields.values() if default is not _MISSING)
    if after or any(isinstance(default, _Factory) for default in given):
        return _compiled(fields, after=after)
    function = type(_assigning(len(fields)))
    code = _assigning(len(fields)).__code__.replace(co_varnames=("self", *fields), co_names=tuple(fields))
    return function(code, {}, "__init__", given)


@cache
def _assigning(count: int) -> Any:
    """An `__init__` of so many fields with made-up names, for all classes with as many: renaming is far cheaper than
    compiling."""
    return _compiled({f"_{number}": _MISSING for number in range(count)}, after=False)


def _compiled(fields: Mapping[str, object], *, after: bool) -> Any:
    scope: dict[str, object] = {"_MISSING": _MISSING}
    arguments, lines = ["self"], []
    for name, default in fields.items():
        value = name
        if isinstance(default, _Factory):
            scope[f"_make_{name}"] = default.make
            arguments.append(f"{name}=_MISSING")
            value = f"_make_{name}() if {name} is _MISSING else {name}"
        elif default is not _MISSING:
            scope[f"_default_{name}"] = default
            arguments.append(f"{name}=_default_{name}")
        else:
            arguments.append(name)
        lines.append(f" self.{name} = {value}")
    if after:
        lines.append(" self.__post_init__()")
    exec(f"def __init__({', '.join(arguments)}):\n" + "\n".join(lines or [" pass"]), scope)
    return scope["__init__"]


if not TYPE_CHECKING:
    dataclass, field, replace = _dataclass, _field, _replace
