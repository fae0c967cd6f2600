"""Compares the nodes of a spec with its declaration and says everything that does not fit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Sequence as Names
from difflib import get_close_matches

from verlint.experiment.spec import ProblemKind, SpecProblem, step_range
from verlint.experiment.spec_references import is_open
from verlint.experiment.spec_schema import (
    SPEC,
    Choice,
    Flag,
    Free,
    ListOf,
    MapOf,
    Null,
    Record,
    Shape,
    Steps,
    Str,
    Whole,
)
from verlint.experiment.spec_values import Resolver, Scope, entries_of
from verlint.languages.yaml import Mapping, Node, Scalar, Sequence
from verlint.lazy import pattern
from verlint.record import dataclass, replace
from verlint.source import Span
from verlint.value import Literal, State, Value

_VARIABLE_LIKE = pattern(r"[A-Z][A-Z0-9_]*")
# Keys that may be repeated where secrets are near: names of variables and the format's own.
_SAFE_KEY = pattern(r"[A-Z][A-Z0-9_]*|optional|used_by|use")
_YES_NO = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}
_LONGEST_ECHO = 60
_NO_SECRETS = "a spec names credentials and never holds their values"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the check is: path in the file, the key's place, the stage around it, and whether values are secret."""

    path: str
    span: Span
    scope: Scope | None = None
    secret: bool = False

    def at(self, key: str, span: Span) -> _Place:
        if self.secret and not _SAFE_KEY.fullmatch(key):
            key = "?"
        return replace(self, path=f"{self.path}.{key}" if self.path else key, span=span)


class Checker:
    """Collects the problems of one spec."""

    def __init__(self, root: Mapping, resolver: Resolver) -> None:
        self.problems: list[SpecProblem] = []
        self._root = root
        self._resolver = resolver

    def run(self, start: Span) -> None:
        """Check the whole file; `start` stands for the file where nothing better is to be pointed at."""
        self._check(self._root, SPEC, _Place("", start))

    def _report(
        self, kind: ProblemKind, message: str, span: Span, path: str, near: Iterable[str] = (), hint: str = ""
    ) -> None:
        self.problems.append(SpecProblem(kind, message, span, path, tuple(near), hint))

    def _check(self, node: Node, shape: Shape, place: _Place) -> None:
        match shape:
            case Record() if isinstance(node, Mapping):
                self._record(node, shape, place)
            case MapOf() if isinstance(node, Mapping):
                self._map(node, shape, replace(place, secret=place.secret or shape.secret))
            case ListOf(item=item) if isinstance(node, Sequence):
                for index, each in enumerate(node.items):
                    self._check(each, item, replace(place, path=f"{place.path}[{index}]", span=each.span))
            case Steps(many=True) if isinstance(node, Sequence):
                for index, each in enumerate(node.items):
                    self._check(each, Steps(), replace(place, path=f"{place.path}[{index}]", span=each.span))
            case Choice():
                self._choice(node, shape, place)
            case Free(nested=nested) if nested or not isinstance(node, Mapping):
                self._resolver.value(node, place.path, place.scope)
            case Null() if isinstance(node, Scalar) and node.value is None:
                pass
            case Str() | Whole() | Flag() | Steps() if isinstance(node, Scalar):
                self._scalar(node, shape, place)
            case _:
                self._wrong_type(node, shape, place)

    def _record(self, node: Mapping, shape: Record, place: _Place) -> None:
        meant: set[str] = set()
        for key, entry in node.flat.items():
            if key.startswith("x-"):
                continue
            here = place.at(key, entry.key.span)
            if (declared := shape.keys.get(key)) is not None:
                self._check(entry.value, declared.shape, here)
                continue
            near = get_close_matches(key, [name for name in shape.keys if name not in node.flat], n=3)
            meant.update(near[:1])
            shown, hint = (f"key `{_short(key)}`", "") if not place.secret else ("key", _NO_SECRETS)
            message = f"unknown {shown} in {_title(place.path)}"
            self._report("unknown-key", message, entry.key.span, here.path, near, hint)
        # A misspelt key is not reported as a missing one too.
        given = [name for name in shape.keys if name in node.flat or name in meant]
        for name, declared in shape.keys.items():
            if declared.required and name not in given:
                self._missing(f"no `{name}`", place, name)
        self._groups(node, shape, given, place)

    def _groups(self, node: Mapping, shape: Record, given: list[str], place: _Place) -> None:
        for group in (shape.exactly_one, shape.at_least_one):
            if group and not any(name in given for name in group):
                self._missing(f"none of {_quoted(group, 'and')}", place, group[0])
        for group in (shape.exactly_one, shape.at_most_one):
            if len(both := [name for name in group if name in node.flat]) > 1:
                extra = max((node.flat[name].key.span for name in both), key=lambda span: span.start)
                message = f"{_title(place.path)} has {_quoted(both, 'and')}; give one of them"
                self._report("bad-value", message, extra, place.path)
        for name, other in shape.needs.items():
            if name in node.flat and other not in given and any(each in given for each in shape.exactly_one):
                message = f"`{name}` goes with `{other}`, which is not given"
                self._report("bad-value", message, node.flat[name].key.span, place.at(name, place.span).path)

    def _missing(self, what: str, place: _Place, name: str) -> None:
        path = f"{place.path}.{name}" if place.path else name
        self._report("missing-key", f"{_title(place.path)} has {what}", place.span, path)

    def _map(self, node: Mapping, shape: MapOf, place: _Place) -> None:
        if len(node.flat) < shape.least:
            self._report("bad-value", f"`{place.path}` is empty", place.span, place.path)
        for key, entry in node.flat.items():
            here = place.at(key, entry.key.span)
            if place.path == "stages" and isinstance(entry.value, Mapping):
                here = replace(here, scope=Scope(key, entry.value))
            if shape.choices and key not in shape.choices:
                near = get_close_matches(key, [name for name in shape.choices if name not in node.flat], n=3)
                allowed = f"it may hold {_quoted(tuple(shape.choices), 'and')}"
                message = f"unknown key `{_short(key)}` in {_title(place.path)}"
                self._report("unknown-key", message, entry.key.span, here.path, near, "" if near else allowed)
                continue
            if shape.key and not re.search(shape.key, key):
                shown = "this key" if place.secret else f"`{_short(key)}`"
                self._report("bad-value", f"{shown} is not {shape.key_expected}", entry.key.span, here.path)
            self._check(entry.value, shape.value, here)

    def _choice(self, node: Node, shape: Choice, place: _Place) -> None:
        for each in shape.shapes:
            if self._fits(node, each):
                self._check(node, each, place)
                return
        self._wrong_type(node, shape, place)

    def _fits(self, node: Node, shape: Shape) -> bool:
        """Whether a node has the form of a shape, so that its own problems are the ones to report."""
        match shape:
            case Record() | MapOf():
                return isinstance(node, Mapping)
            case ListOf():
                return isinstance(node, Sequence)
            case Null():
                return isinstance(node, Scalar) and node.value is None
            case Str(only_open=True):
                return isinstance(node, Scalar) and isinstance(node.value, str) and is_open(node.text)
            case Str():
                return isinstance(node, Scalar) and isinstance(node.value, str)
            case Whole():
                return isinstance(node, Scalar) and _is_number(node.value)
            case _:
                return isinstance(node, Scalar)

    def _scalar(self, node: Scalar, shape: Str | Whole | Flag | Steps, place: _Place) -> None:
        shell = isinstance(shape, Str) and shape.shell
        if isinstance(shape, Str) and not isinstance(node.value, str):
            self._wrong_type(node, shape, place)
            return
        if place.secret:
            value = Value(State.KNOWN, data=node.value) if not is_open(node.text) else Value(State.UNKNOWN)
        else:
            value = self._resolver.value(node, place.path, place.scope, shell=shell)
        if value.state is not State.KNOWN or (not isinstance(shape, Str) and _is_default(value, shape)):
            return
        if isinstance(shape, Str):
            self._text(node, shape, value, place)
        elif isinstance(shape, Steps):
            self._steps(node, shape, value, place)
        elif isinstance(shape, Flag):
            if not isinstance(value.data, bool):
                self._wrong_type(node, shape, place, value)
        elif not _is_whole(value.data):
            self._wrong_type(node, shape, place, value)
        elif isinstance(value.data, (int, float)) and value.data < shape.least:
            self._report("bad-value", f"{_subject(place)} must be {shape.least} or more", node.span, place.path)

    def _text(self, node: Scalar, shape: Str, value: Value, place: _Place) -> None:
        if not isinstance(value.data, str):
            self._wrong_type(node, shape, place, value)
        elif shape.choices and value.data not in shape.choices:
            near = get_close_matches(value.data.lower(), list(shape.choices), n=3)
            shown = "this value" if place.secret else f"`{_short(value.data)}`"
            message = f"{shown} is not a value of {_subject(place)}"
            hint = f"it may be {_quoted(tuple(shape.choices), 'or')}"
            self._report("bad-value", message, node.span, place.path, near, hint)
        elif shape.pattern and not re.search(shape.pattern, value.data):
            self._report("bad-value", f"{_subject(place)} is not {shape.expected}", node.span, place.path)
        elif shape.names:
            self._name(node, shape.names, value.data, place)

    def _name(self, node: Scalar, section: str, name: str, place: _Place) -> None:
        """A name must be declared under a top-level key."""
        declared = [key for key, _ in entries_of(self._root.get(section)) if not key.startswith("x-")]
        if name in declared:
            return
        public = not place.secret and (section != "credentials" or _VARIABLE_LIKE.fullmatch(name) is not None)
        shown = f"`{_short(name)}`" if public else "this name"
        near = get_close_matches(name, declared, n=3)
        if section == "credentials":
            near = [each for each in near if _VARIABLE_LIKE.fullmatch(each)]
        self._report("bad-reference", f"{shown} is not declared under `{section}`", node.span, place.path, near)

    def _steps(self, node: Scalar, shape: Steps, value: Value, place: _Place) -> None:
        data = value.data
        if _is_whole(data) and isinstance(data, (int, float)):
            if data < 0:
                self._report("bad-value", f"{_subject(place)} must be 0 or more", node.span, place.path)
        elif isinstance(data, str) and ".." in data and not node.quoted | (not shape.many):
            if step_range(data) is None:
                hint = "write first..last/stride, with the smaller step first"
                self._report("bad-value", f"{_subject(place)} is no range of steps", node.span, place.path, (), hint)
        elif not (shape.many and isinstance(data, str) and step_range(data)) and not isinstance(data, list):
            self._wrong_type(node, replace(shape, expected=shape.expected if shape.many else "one step"), place, value)

    def _wrong_type(self, node: Node, shape: Shape, place: _Place, value: Value | None = None) -> None:
        if isinstance(shape, Choice) and shape.refusal:
            self._report("wrong-type", shape.refusal, node.span, place.path, (), shape.hint)
            return
        hint = "" if place.secret else _mend(node, shape)
        found = _found(node) if value is None else _found_data(value.data)
        hidden = place.secret or place.path.partition(".")[0] == "credentials"
        if isinstance(node, Scalar) and found == "text" and node.text and "${" not in node.text and not hidden:
            found = f"the text `{_short(node.text)}`"
            key = place.path.rpartition(".")[2]
            hint = hint or (f"write a number: {key}: 1" if isinstance(shape, Whole) and key.isidentifier() else "")
        through = ""
        if value is not None and isinstance(node, Scalar) and "${" in node.text and not place.secret:
            through = f" `{node.text}` stands for"
            message = f"{_subject(place)} must be {shape.expected}, and{through} {found}"
        else:
            message = f"{_subject(place)} must be {shape.expected}, not {found}"
        self._report("wrong-type", message, node.span if node.span.text else place.span, place.path, (), hint)


def _is_default(value: Value, shape: Shape) -> bool:
    """Whether a value is the default of an environment variable, which is a text, and says what the shape wants."""
    parts = value.text.parts if value.text is not None else ()
    if len(parts) != 1 or not isinstance(parts[0], Literal) or not parts[0].overridable:
        return False
    text = parts[0].text
    if isinstance(shape, Flag):
        return text in ("true", "false")
    if isinstance(shape, Steps) and shape.many and step_range(text) is not None:
        return True
    return re.fullmatch(r"[0-9]+", text) is not None and int(text) >= (shape.least if isinstance(shape, Whole) else 0)


def _is_number(data: object) -> bool:
    return isinstance(data, (int, float)) and not isinstance(data, bool)


def _is_whole(data: object) -> bool:
    return _is_number(data) and (isinstance(data, int) or (isinstance(data, float) and data.is_integer()))


def _title(path: str) -> str:
    """What a path is called in a message."""
    if not path:
        return "the spec"
    if path.startswith("stages.") and path.count(".") == 1:
        return f"stage `{_short(path.removeprefix('stages.'))}`"
    return f"`{_short(path)}`"


def _subject(place: _Place) -> str:
    """The key a message is about, without the names that a credential may be hidden in."""
    last = place.path.rsplit(".", 1)[-1].partition("[")[0]
    return "this value" if place.secret else f"`{_short(last)}`"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_ECHO else line[:_LONGEST_ECHO] + "…"


def _quoted(names: Names[str], word: str) -> str:
    """Names in words: `a`, `b` and `c`."""
    *first, last = (f"`{name}`" for name in names)
    return f"{', '.join(first)} {word} {last}" if first else last


def _found(node: Node) -> str:
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list"
    return _found_data(node.value)


def _found_data(data: object) -> str:
    if data is None:
        return "empty"
    if isinstance(data, bool):
        return "true or false"
    if isinstance(data, (int, float)):
        return "a number"
    return "a list" if isinstance(data, list) else "text"


def _mend(node: Node, shape: Shape) -> str:
    """What to write instead, where it is plain."""
    if not isinstance(node, Scalar) or "${" in node.text:
        return ""
    text = _short(node.text)
    if isinstance(shape, Str) and node.value is not None:
        return f'quote it: "{text}"'
    if isinstance(shape, Flag) and node.text.lower() in _YES_NO:
        return f"YAML 1.2 reads `{text}` as text; write {_YES_NO[node.text.lower()]}"
    if isinstance(shape, (Whole, Steps)) and node.quoted and node.text.isdecimal():
        return "remove the quotes"
    if isinstance(shape, ListOf) and node.value is not None:
        return f"write a list: [{text}]"
    return ""
