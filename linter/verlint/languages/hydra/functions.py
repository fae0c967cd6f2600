"""The functions of Hydra's override grammar (hydra-core 1.3): casts, sweeps, `sort`, `shuffle`, `tag`, `glob`.

They compute on what is known. A `Pending.HOLE` among the arguments fits every parameter and makes the result a hole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from verlint.record import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, TypeAlias

# Element trees are checked where they are used: recursive unions make every step a cast and find nothing.
Element: TypeAlias = "Any"
"""What Hydra's parser makes of an element: a scalar, `Quoted`, list, dict, sweep, `Glob` or `Pending`."""


class Pending(Enum):
    """An element that is not known before the run."""

    HOLE = "hole"


@dataclass(frozen=True)
class Quoted:
    """A string that was quoted; unlike a bare one it has no order."""

    text: str


class Shuffled(list[Element]):
    """A list whose order is drawn at run time."""


@dataclass
class Choice:
    """A sweep over listed values; `simple` for `a,b` and what casts make of several arguments."""

    items: list[Element]
    simple: bool = False


@dataclass
class Range:
    """A sweep over numbers."""

    start: Element
    stop: Element
    step: Element


@dataclass
class Interval:
    """A continuous sweep."""

    start: Element
    end: Element


@dataclass
class Glob:
    """A selection of the options of a config group."""

    include: Element
    exclude: Element


SWEEPS: Final = (Choice, Range, Interval)


class CallError(ValueError):
    """A call that Hydra refuses; the text says why."""


@dataclass(frozen=True)
class Function:
    """A function and what it takes: `positional` names (the first `required` must be given), or any number of arguments
    of the types `rest`; `types` are those of the named parameters."""

    run: Callable[..., Element]
    types: dict[str, tuple[type, ...]]
    positional: tuple[str, ...] = ()
    required: int = 0
    rest: tuple[type, ...] = ()


def call(name: str, args: Sequence[Element], named: dict[str, Element]) -> Element:
    """The element that a call gives; raises `CallError` when Hydra refuses it."""
    function = FUNCTIONS.get(name)
    if function is None:
        raise CallError(f'Hydra has no function "{name}" (it has {", ".join(sorted(FUNCTIONS))})')
    plain = [arg.text if isinstance(arg, Quoted) else arg for arg in args]
    named = {key: value.text if isinstance(value, Quoted) else value for key, value in named.items()}
    _bind(name, function, plain, named)
    if Pending.HOLE in named.values():
        return Pending.HOLE
    try:
        return function.run(*plain, **named)
    except CallError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise CallError(f"{name}(): {error}") from error


def holds_hole(element: Element) -> bool:
    """Whether a part of the element is not known before the run."""
    if isinstance(element, (list, tuple)):
        return any(map(holds_hole, element))
    if isinstance(element, dict):
        return any(map(holds_hole, element)) or any(map(holds_hole, element.values()))
    if isinstance(element, Choice):
        return holds_hole(element.items)
    if isinstance(element, Range):
        return holds_hole((element.start, element.stop, element.step))
    return element is Pending.HOLE


def _bind(name: str, function: Function, args: Sequence[Element], named: dict[str, Element]) -> None:
    if not function.rest and len(args) > len(function.positional):
        raise CallError(f"{name}() takes at most {len(function.positional)} arguments")
    given = dict(zip(function.positional, args, strict=False))
    for key, value in named.items():
        if key not in function.types:
            raise CallError(f'{name}() has no parameter "{key}"')
        if key in given:
            raise CallError(f'{name}() is given "{key}" twice')
        given[key] = value
    for key in function.positional[: function.required]:
        if key not in given:
            raise CallError(f'{name}() needs "{key}"')
    for key, value in given.items():
        _check(name, key, value, function.types[key])
    if function.rest:
        for value in args:
            _check(name, "its argument", value, function.rest)


def _check(name: str, what: str, value: Element, types: tuple[type, ...]) -> None:
    fits = type(value) is bool if types == (bool,) else isinstance(value, types)
    if not fits and value is not Pending.HOLE:
        raise CallError(f"{name}() does not take {_kind(value)} as {what}")


def _kind(value: Element) -> str:
    return "null" if value is None else f"a {type(value).__name__.lower()}"


def _simple_choice(args: Sequence[Element]) -> Choice:
    for arg in args:
        if isinstance(arg, (*SWEEPS, Glob)):
            raise CallError("a sweep cannot stand among several arguments")
    return Choice(list(args), simple=True)


def _caster(name: str, scalar: Callable[[Element], Element]) -> Callable[..., Element]:
    def cast(*args: Element, value: Element = None) -> Element:
        if args and value is not None:
            raise CallError(f"{name}() takes its argument by place or by name, not both")
        if value is None:
            if not args:
                raise CallError(f"{name}() needs an argument")
            value = args[0] if len(args) == 1 else _simple_choice(args)
        return _cast(name, scalar, value)

    return cast


def _cast(name: str, scalar: Callable[[Element], Element], value: Element) -> Element:
    if isinstance(value, Pending):
        return value
    if isinstance(value, Quoted):
        return _cast(name, scalar, value.text)
    if isinstance(value, dict):
        return {key: _cast(name, scalar, item) for key, item in value.items()}
    if isinstance(value, list):
        return type(value)(_cast(name, scalar, item) for item in value)
    if isinstance(value, Choice):
        items = [_cast(name, scalar, item) for item in value.items]
        if not all(isinstance(item, (str, int, float, list, dict, Pending)) for item in items):
            raise CallError(f"{name}() cannot cast a sweep inside a sweep")
        return Choice(items, value.simple)
    if isinstance(value, (Range, Interval)):
        if name not in ("int", "float"):
            raise CallError(f"a {_kind(value)[2:]} cannot be cast to {name}")
        if isinstance(value, Interval):
            return Interval(_cast(name, scalar, value.start), _cast(name, scalar, value.end))
        return Range(*(_cast(name, scalar, end) for end in (value.start, value.stop, value.step)))
    if name != "bool" and (value is None or isinstance(value, Glob)):
        raise CallError(f"{name}() does not take {_kind(value)}")
    return scalar(value)


def _to_str(value: Element) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _to_bool(value: Element) -> bool:
    if isinstance(value, str):
        if value.lower() not in ("true", "false"):
            raise CallError(f'bool() takes true or false, not "{value}"')
        return value.lower() == "true"
    return bool(value)


def _choice(*args: Element) -> Choice:
    if not args:
        raise CallError("choice() needs a value")
    if len(args) == 1 and isinstance(first := args[0], Choice):
        if not first.simple:
            raise CallError("choice() cannot stand in choice()")
        first.simple = False
        return first
    return Choice(list(args))


def _range(start: Element, stop: Element = None, step: Element = 1) -> Range:
    return Range(0, start, step) if stop is None else Range(start, stop, step)


def _interval(start: Element, end: Element) -> Interval:
    return Interval(*(limit if limit is Pending.HOLE else float(limit) for limit in (start, end)))


def _tag(*args: Element, sweep: Element = None) -> Element:
    if not args:
        raise CallError("tag() needs a sweep as its last argument")
    tags, last = (args[:-1], args[-1]) if sweep is None else (args, sweep)
    if last is Pending.HOLE:
        return last
    if not isinstance(last, SWEEPS):
        raise CallError("the last argument of tag() must be choice(), range() or interval()")
    if not all(isinstance(tag, (str, Pending)) for tag in tags):
        raise CallError("the tags of tag() must be strings")
    return last


def _shuffle(*args: Element, sweep: Element = None, list: Element = None) -> Element:
    if list is not None:
        return Shuffled(list)
    if sweep is not None:
        return sweep
    if len(args) != 1:
        return _simple_choice(args)
    only = args[0]
    if isinstance(only, (Choice, Range, Pending)):
        return only
    return Shuffled(only) if isinstance(only, _LIST) else [only]


def _sort(*args: Element, sweep: Element = None, list: Element = None, reverse: bool = False) -> Element:
    if list is None and sweep is None and not args:
        raise CallError("sort() needs an argument")
    if list is None and sweep is None and len(args) > 1:
        if not all(isinstance(arg, (int, float, str, Pending)) for arg in args):
            raise CallError("sort() takes several arguments only if they are scalars")
        sweep = _simple_choice(args)
    subject = next(item for item in (list, sweep, *args) if item is not None)
    if isinstance(subject, Range):
        return _sort_range(subject, reverse)
    if isinstance(subject, Choice):
        return subject if holds_hole(subject) else Choice(sorted(subject.items, reverse=reverse), subject.simple)
    if isinstance(subject, _LIST):
        return Pending.HOLE if holds_hole(subject) else sorted(subject, reverse=reverse)
    return subject


def _sort_range(sweep: Range, reverse: bool) -> Range:
    start, stop, step = sweep.start, sweep.stop, sweep.step
    if holds_hole(sweep):
        return sweep
    if not reverse and start > stop:
        return Range(stop + abs(step), start + abs(step), -step)
    if reverse and start < stop:
        return Range(stop - abs(step), start - abs(step), -step)
    return sweep


def _glob(include: Element, exclude: Element = None) -> Glob:
    return Glob(include, exclude)


_LIST: Final = list
_NONE: Final = type(None)
_NUMBER: Final = (int, float)
_SCALAR: Final = (str, int, float, bool)
_ANY: Final = (*_SCALAR, list, dict, _NONE, Quoted, *SWEEPS)
_ORDERED: Final = (*_SCALAR, list, dict, Choice, Range)
_ORDER: Final[dict[str, tuple[type, ...]]] = {"sweep": (Choice, Range, _NONE), "list": (list, _NONE)}

FUNCTIONS: Final[dict[str, Function]] = {
    "int": Function(_caster("int", int), {"value": _ANY}, rest=_ANY),
    "float": Function(_caster("float", float), {"value": _ANY}, rest=_ANY),
    "str": Function(_caster("str", _to_str), {"value": _ANY}, rest=_ANY),
    "bool": Function(_caster("bool", _to_bool), {"value": _ANY}, rest=_ANY),
    "choice": Function(_choice, {}, rest=(*_SCALAR, dict, list, Choice)),
    "range": Function(
        _range,
        {"start": _NUMBER, "stop": (*_NUMBER, _NONE), "step": _NUMBER},
        ("start", "stop", "step"),
        required=1,
    ),
    "interval": Function(_interval, {"start": _NUMBER, "end": _NUMBER}, ("start", "end"), required=2),
    "tag": Function(_tag, {"sweep": (*SWEEPS, _NONE)}, rest=(str, *SWEEPS)),
    "sort": Function(_sort, {**_ORDER, "reverse": (bool,)}, rest=_ORDERED),
    "shuffle": Function(_shuffle, _ORDER, rest=_ORDERED),
    "glob": Function(
        _glob, {"include": (list, str), "exclude": (list, str, _NONE)}, ("include", "exclude"), required=1
    ),
}
"""Registered in hydra-core 1.3, `hydra/core/override_parser/overrides_parser.py`, `create_functions`."""
