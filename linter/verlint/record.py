"""Data classes as `dataclasses` makes them, for a tenth of the start-up time.

The standard module costs the check of one launcher more than reading the launcher does: it imports `inspect`, and
writes and compiles all methods of a class when the class is made. Here a class keeps a list of its fields, and its
`__init__` is made when the first object is made, from one that is compiled with this module. Type checkers see the
standard functions, so all that they prove (frozen fields, types of arguments) stays proved; while the program runs
nothing stops an assignment to a frozen field.

Left out, as nothing here uses it: ordering, keyword-only and init-only fields, the introspection of `dataclasses`.
"""

from __future__ import annotations

from operator import attrgetter

TYPE_CHECKING = False  # as `typing` says it, but that module alone costs some milliseconds
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
    from typing import Any

    _PLAIN: tuple[Any, ...]
    _WITH_AFTER: tuple[Any, ...]

FIELDS = "__record_fields__"
"""Attribute of a class with its fields: each name with its default."""
VALUES = "__record_values__"
"""Attribute of a class with what gives the values of all fields, to compare by."""

_MISSING = object()

_FEW = 8
"""Objects of a class with very many fields that are made without compiling its `__init__`."""


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
    body: Mapping[str, Any] = written.__dict__
    kinds: Mapping[str, str] = body.get("__annotations__", {})
    own = [name for name in kinds if not kinds[name].startswith("ClassVar")]
    fields: dict[str, object] = {}
    for base in written.__mro__[-2:0:-1]:
        fields.update(base.__dict__.get(FIELDS, ()))
    inherited = fields.keys() & own if fields else ()
    for name in own:
        fields[name] = body.get(name, _MISSING)
    added: dict[str, Any] = {FIELDS: fields, "__match_args__": tuple(fields)}
    if repr and "__repr__" not in body:
        added["__repr__"] = _shown
    if eq:
        added[VALUES] = attrgetter(*fields) if fields else staticmethod(lambda record: ())
        if "__eq__" not in body:
            added["__eq__"] = _same
        if body.get("__hash__") is None:  # as it is too where a class has its own `__eq__`
            added["__hash__"] = _hashed if frozen else None
    if "__init__" not in body:
        added["__init__"] = _late_init(fields)
    if slots:
        return _with_slots(written, {**body, **added}, own, inherited)
    for name, item in added.items():
        setattr(written, name, item)
    for name in own:
        if isinstance(fields[name], _Factory):
            delattr(written, name)
    return written


def _with_slots(written: type, body: dict[str, Any], own: Sequence[str], inherited: Collection[str]) -> type:
    for name in ("__dict__", "__weakref__", *own):
        body.pop(name, None)
    body["__slots__"] = tuple(name for name in own if name not in inherited)
    return type(written)(written.__name__, written.__bases__, body)


def _shown(self: object) -> str:
    text = ", ".join(f"{name}={getattr(self, name)!r}" for name in names(self))
    return f"{self.__class__.__qualname__}({text})"


def _same(self: Any, other: Any) -> bool:
    if other.__class__ is not self.__class__:
        return NotImplemented  # type: ignore[no-any-return]
    values = self.__record_values__
    return self is other or bool(values(self) == values(other))


def _hashed(self: Any) -> int:
    return hash(self.__record_values__(self))


def _late_init(fields: Mapping[str, object]) -> Callable[..., None]:
    """An `__init__` that puts the real one in its place when it is first called."""

    def first(self: object, *args: object, **kwargs: object) -> None:
        made: Any = type(self)
        if made.__dict__.get(FIELDS) is not fields:
            made = next(each for each in made.__mro__ if each.__dict__.get(FIELDS) is fields)
        real = _init(fields, after=hasattr(made, "__post_init__"))
        real.__qualname__ = f"{made.__qualname__}.__init__"
        made.__init__ = real
        real(self, *args, **kwargs)

    return first


def _init(fields: Mapping[str, object], *, after: bool) -> Any:
    """The real `__init__`: one assignment a field; then what it takes to make defaults anew, and `__post_init__`."""
    made = {name: default.make for name, default in fields.items() if isinstance(default, _Factory)}
    templates = _WITH_AFTER if made or after else _PLAIN
    if not 0 < len(fields) <= len(templates):
        return _of_many(fields, after=after)
    template = templates[len(fields) - 1]
    defaults = [default for default in fields.values() if default is not _MISSING]
    given = tuple(_MISSING if isinstance(default, _Factory) else default for default in defaults)
    hook = ("_after",) if made or after else ()
    code = template.__code__.replace(co_varnames=("self", *fields), co_names=(*fields, *hook))
    return type(template)(code, {"_after": _following(made, after)}, "__init__", given)


def _following(made: Mapping[str, Callable[[], object]], after: bool) -> Callable[[Any], None]:
    """What is done behind the assignments."""
    if len(made) == 1 and not after:
        ((name, make),) = made.items()

        def fill_one(record: Any) -> None:
            if getattr(record, name) is _MISSING:
                setattr(record, name, make())

        return fill_one

    def fill(record: Any) -> None:
        for name, make in made.items():
            if getattr(record, name) is _MISSING:
                setattr(record, name, make())
        if after:
            record.__post_init__()

    return fill


def _of_many(fields: Mapping[str, object], *, after: bool) -> Any:
    """An `__init__` for more fields than there are templates for. Most such classes have one object or two, which are
    filled field by field; it is compiled for a class that has more."""
    made = 0
    compiled: Any = None

    def __init__(self: Any, *args: object, **kwargs: object) -> None:  # noqa: N807
        nonlocal made, compiled
        made += 1
        if made > _FEW:
            compiled = compiled or _compiled(fields, after=after)
            compiled(self, *args, **kwargs)
            return
        given = dict(zip(fields, args, strict=False), **kwargs)
        if len(given) < len(args) + len(kwargs) or not given.keys() <= fields.keys():
            raise TypeError(f"{type(self).__qualname__}() takes its fields, each once: {', '.join(fields)}")
        for name, default in fields.items():
            value = given.get(name, default)
            if value is _MISSING:
                raise TypeError(f"{type(self).__qualname__}() lacks {name}")
            setattr(self, name, value.make() if isinstance(value, _Factory) else value)
        if after:
            self.__post_init__()

    return __init__


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


# ---- `__init__` without compiling: functions as they would be written, whose made-up names are replaced

# ruff: noqa: E702, F821
# fmt: off
if not TYPE_CHECKING:
    def _plain_1(self, a): self.a = a
    def _plain_2(self, a, b): self.a = a; self.b = b
    def _plain_3(self, a, b, c): self.a = a; self.b = b; self.c = c
    def _plain_4(self, a, b, c, d): self.a = a; self.b = b; self.c = c; self.d = d
    def _plain_5(self, a, b, c, d, e): self.a = a; self.b = b; self.c = c; self.d = d; self.e = e
    def _plain_6(self, a, b, c, d, e, f): self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f
    def _plain_7(self, a, b, c, d, e, f, g):
        self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f; self.g = g
    def _plain_8(self, a, b, c, d, e, f, g, h):
        self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f; self.g = g; self.h = h
    def _plain_9(self, a, b, c, d, e, f, g, h, i):
        self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f; self.g = g; self.h = h; self.i = i
    def _plain_10(self, a, b, c, d, e, f, g, h, i, j):
        self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f; self.g = g; self.h = h; self.i = i
        self.j = j
    def _plain_11(self, a, b, c, d, e, f, g, h, i, j, k):
        self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f; self.g = g; self.h = h; self.i = i
        self.j = j; self.k = k
    def _plain_12(self, a, b, c, d, e, f, g, h, i, j, k, r):
        self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f; self.g = g; self.h = h; self.i = i
        self.j = j; self.k = k; self.r = r
    def _plain_13(self, a, b, c, d, e, f, g, h, i, j, k, r, m):
        self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f; self.g = g; self.h = h; self.i = i
        self.j = j; self.k = k; self.r = r; self.m = m
    def _plain_14(self, a, b, c, d, e, f, g, h, i, j, k, r, m, n):
        self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f; self.g = g; self.h = h; self.i = i
        self.j = j; self.k = k; self.r = r; self.m = m; self.n = n
    def _plain_15(self, a, b, c, d, e, f, g, h, i, j, k, r, m, n, o):
        self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f; self.g = g; self.h = h; self.i = i
        self.j = j; self.k = k; self.r = r; self.m = m; self.n = n; self.o = o
    def _plain_16(self, a, b, c, d, e, f, g, h, i, j, k, r, m, n, o, p):
        self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f; self.g = g; self.h = h; self.i = i
        self.j = j; self.k = k; self.r = r; self.m = m; self.n = n; self.o = o; self.p = p
    def _plain_17(self, a, b, c, d, e, f, g, h, i, j, k, r, m, n, o, p, q):
        self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f; self.g = g; self.h = h; self.i = i
        self.j = j; self.k = k; self.r = r; self.m = m; self.n = n; self.o = o; self.p = p; self.q = q
    def _after_1(self, a): self.a = a; _after(self)
    def _after_2(self, a, b): self.a = a; self.b = b; _after(self)
    def _after_3(self, a, b, c): self.a = a; self.b = b; self.c = c; _after(self)
    def _after_4(self, a, b, c, d): self.a = a; self.b = b; self.c = c; self.d = d; _after(self)
    def _after_5(self, a, b, c, d, e): self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; _after(self)
    def _after_6(self, a, b, c, d, e, f):
        self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f; _after(self)
    def _after_7(self, a, b, c, d, e, f, g):
        self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f; self.g = g; _after(self)
    def _after_8(self, a, b, c, d, e, f, g, h):
        self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f; self.g = g; self.h = h; _after(self)
    def _after_9(self, a, b, c, d, e, f, g, h, i):
        self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f; self.g = g; self.h = h; self.i = i
        _after(self)
    def _after_10(self, a, b, c, d, e, f, g, h, i, j):
        self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f; self.g = g; self.h = h; self.i = i
        self.j = j; _after(self)
    def _after_11(self, a, b, c, d, e, f, g, h, i, j, k):
        self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f; self.g = g; self.h = h; self.i = i
        self.j = j; self.k = k; _after(self)
    def _after_12(self, a, b, c, d, e, f, g, h, i, j, k, r):
        self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f; self.g = g; self.h = h; self.i = i
        self.j = j; self.k = k; self.r = r; _after(self)
    def _after_13(self, a, b, c, d, e, f, g, h, i, j, k, r, m):
        self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f; self.g = g; self.h = h; self.i = i
        self.j = j; self.k = k; self.r = r; self.m = m; _after(self)
    def _after_14(self, a, b, c, d, e, f, g, h, i, j, k, r, m, n):
        self.a = a; self.b = b; self.c = c; self.d = d; self.e = e; self.f = f; self.g = g; self.h = h; self.i = i
        self.j = j; self.k = k; self.r = r; self.m = m; self.n = n; _after(self)

    _PLAIN = (_plain_1, _plain_2, _plain_3, _plain_4, _plain_5, _plain_6, _plain_7, _plain_8, _plain_9, _plain_10,
              _plain_11, _plain_12, _plain_13, _plain_14, _plain_15, _plain_16, _plain_17)
    _WITH_AFTER = (_after_1, _after_2, _after_3, _after_4, _after_5, _after_6, _after_7, _after_8, _after_9, _after_10,
                   _after_11, _after_12, _after_13, _after_14)
# fmt: on


if not TYPE_CHECKING:
    dataclass, field, replace = _dataclass, _field, _replace
