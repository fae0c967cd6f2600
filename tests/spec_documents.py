"""Makes specs from the declaration of the format, and damages them: both readers must judge each alike."""

from __future__ import annotations

import json
import string
from typing import Any

from hypothesis import strategies as st

from verlint.experiment.spec_schema import (
    SCHEMA,
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

OPEN = st.sampled_from(["${oc.env:A_ROOT}", "<NOT_DECIDED>", "<to be decided>"])
WORDS = st.sampled_from(["train", "alpha-1", "b_2", "/data/x.parquet", "H100:8", "0.7.1", "1e-6", "yes", "", "2..8/2"])
NAMES = st.sampled_from(["one", "two", "three-3"])
VARIABLES = st.sampled_from(["HF_TOKEN", "WANDB_API_KEY", "lower_case"])
NUMBERS = st.sampled_from([0, 1, 2, 64, 2.0, 0.5, -1])
TEXTS = st.sampled_from(
    [
        "part<X>",
        "${vars.nothing}",
        "a${oc.env:B}",
        "${mul:2,3}",
        "${oc.env:N,4}",
        "${open",
        "\\${kept}",
        "9..2",
        "2...4",
        "1..2/0",
        "010",
    ]
)
"""Texts that need a second look: references, half of one, ranges that are none."""
ANYTHING = st.one_of(
    TEXTS,
    WORDS,
    OPEN,
    NUMBERS,
    st.booleans(),
    st.none(),
    st.just([]),
    st.just({}),
    st.just(["x", 1]),
    st.just({"k": "v"}),
)
DECLARED = {"stages": "train", "models": "policy", "checkout": "here", "approvals": "one", "credentials": "HF_TOKEN"}
STRAY = st.sampled_from(["x-own", "nmae", "stage", "x", "0", "bad name", "é", *sorted(SPEC.keys)])


def documents() -> st.SearchStrategy[Any]:
    """Specs, most of them right, some with one or two faults."""
    return st.tuples(
        _specs(), st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 4), ANYTHING, STRAY), max_size=2)
    ).map(lambda made: _damaged(*made))


def as_yaml(document: Any) -> str:
    """A document as YAML: JSON is YAML, and `${…}` is text in it."""
    return json.dumps(document, ensure_ascii=False)


def _specs() -> st.SearchStrategy[dict[str, Any]]:
    return _value(SPEC).map(_with_declared_names)


def _with_declared_names(spec: dict[str, Any]) -> dict[str, Any]:
    """The spec with the names declared that its parts may use."""
    spec.setdefault("stages", {}).setdefault("train", {"kind": "train", "launcher": "train.sh"})
    spec.setdefault("models", {}).setdefault("policy", {"id": "a/b"})
    spec.setdefault("checkout", {}).setdefault("here", {"path": "."})
    spec.setdefault("approvals", {}).setdefault("one", {"granted_by": "<WHO>"})
    spec.setdefault("credentials", {}).setdefault("HF_TOKEN", None)
    return spec


def _value(shape: Shape) -> st.SearchStrategy[Any]:
    match shape:
        case Str():
            return _text(shape)
        case Whole(least=least):
            return st.one_of(st.integers(least, 9), OPEN)
        case Flag():
            return st.one_of(st.booleans(), OPEN)
        case Null():
            return st.none()
        case Steps(many=many):
            one = st.one_of(st.integers(0, 900), OPEN, *([st.just("2..10/2"), st.just("5..9")] if many else []))
            return st.one_of(one, st.lists(one, max_size=2)) if many else one
        case Free(nested=nested):
            return st.one_of(WORDS, NUMBERS, st.booleans(), *([st.just({"deep": {"k": 1}})] if nested else []))
        case ListOf(item=item):
            return st.lists(_value(item), max_size=2)
        case Choice(shapes=shapes):
            return st.one_of([_value(each) for each in shapes])
        case MapOf():
            return _mapping(shape)
        case Record():
            return _record(shape)


def _text(shape: Str) -> st.SearchStrategy[str]:
    if shape.only_open:
        return OPEN
    if shape.names:
        return st.just(DECLARED[shape.names])
    if shape.choices:
        named = st.sampled_from(sorted(shape.choices))
        return named if shape.fixed else st.one_of(named, OPEN)
    if shape.pattern:
        return st.sampled_from(["A100:8", "0.7.1"]).filter(lambda text: (":" in text) == ("TYPE" in shape.expected))
    return st.one_of(WORDS, st.text(string.ascii_letters + "/._- é", max_size=8), OPEN)


def _mapping(shape: MapOf) -> st.SearchStrategy[dict[str, Any]]:
    if shape.choices:
        keys: st.SearchStrategy[str] = st.sampled_from(sorted(shape.choices))
    else:
        keys = VARIABLES if "variable" in shape.key_expected else NAMES
    return st.dictionaries(keys, _value(shape.value), min_size=shape.least, max_size=2)


def _record(shape: Record) -> st.SearchStrategy[dict[str, Any]]:
    grouped = {*shape.exactly_one, *shape.at_least_one, *shape.at_most_one, *shape.needs}
    required = {name: _value(key.shape) for name, key in shape.keys.items() if key.required}
    if "schema" in required:
        required["schema"] = st.just(SCHEMA)
    free = {name: _value(key.shape) for name, key in shape.keys.items() if not key.required and name not in grouped}
    plain = st.fixed_dictionaries(required, optional=free)
    choices = [*shape.exactly_one, *shape.at_least_one]
    if shape.at_most_one:
        choices += ["", *shape.at_most_one]
    if not choices:
        return plain
    return st.sampled_from(choices).flatmap(lambda name: _with_one(plain, name, shape))


def _with_one(plain: st.SearchStrategy[dict[str, Any]], name: str, shape: Record) -> st.SearchStrategy[dict[str, Any]]:
    """The record with one key of a group, and what goes with that key."""
    if not name:
        return plain
    goes_with = [each for each, other in shape.needs.items() if other == name]
    more = st.fixed_dictionaries(
        {name: _value(shape.keys[name].shape)},
        optional={each: _value(shape.keys[each].shape) for each in goes_with},
    )
    return st.tuples(plain, more).map(lambda parts: {**parts[0], **parts[1]})


def _damaged(spec: dict[str, Any], faults: list[tuple[int, int, Any, str]]) -> dict[str, Any]:
    for where, what, value, name in faults:
        places = _places(spec)
        holder, key = places[where % len(places)]
        if what == 0:
            holder[key] = value
        elif what == 1 and isinstance(holder, dict):
            del holder[key]
        elif what == 2 and isinstance(holder, dict):
            holder[name] = value
        elif what == 3 and isinstance(holder, dict):
            holder[name] = holder.pop(key)
        elif isinstance(holder[key], str):
            holder[key] = holder[key][1:] + "x"
    return spec


def _places(node: Any) -> list[tuple[Any, Any]]:
    """Each place of a document that holds something, as its holder and the key in it."""
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else []
    return [place for key in keys for place in [(node, key), *_places(node[key])]]
