"""The reference of the spec format: every key has an example that the format takes, and the whole example is clean."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from ruamel.yaml import YAML

from doc_pages import ROOT, run
from verlint.experiment.spec_schema import SPEC, Choice, Key, ListOf, MapOf, Record, Shape, json_schema
from verlint.spec_page import EXAMPLE, spec_page


def keys(shape: Shape, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Key]]:
    match shape:
        case Record():
            for name, key in shape.keys.items():
                yield (*path, name), key
                yield from keys(key.shape, (*path, name))
        case MapOf(value=value):
            yield from keys(value, (*path, "*"))
        case ListOf(item=item):
            yield from keys(item, path)
        case Choice(shapes=shapes):
            for each in shapes:
                yield from keys(each, path)


KEYS = list(keys(SPEC))


def schema_at(path: tuple[str, ...]) -> list[dict[str, Any]]:
    """What the JSON Schema says of the value at a place."""
    found = [json_schema()]
    for name in path:
        wider = [inner for each in found for inner in (each, *each.get("anyOf", []))]
        step = "additionalProperties" if name == "*" else "properties"
        found = [each[step] if name == "*" else each[step][name] for each in wider if holds(each, name)]
        found = found or [next(iter(each["properties"].values())) for each in wider if "properties" in each]
    return found


def holds(schema: dict[str, Any], name: str) -> bool:
    if name == "*":
        return isinstance(schema.get("additionalProperties"), dict)
    return name in schema.get("properties", {})


@pytest.mark.parametrize(("path", "key"), KEYS, ids=[".".join(path) for path, _ in KEYS])
def test_the_example_of_a_key_is_valid(path: tuple[str, ...], key: Key) -> None:
    value = YAML(typ="safe", pure=True).load(f"{path[-1]}: {key.example}\n")[path[-1]]
    (schema,) = schema_at(path)
    jsonschema.Draft7Validator({**schema, "definitions": json_schema()["definitions"]}).validate(value)


def test_the_whole_example_is_clean_and_has_most_keys(tmp_path: Path) -> None:
    (tmp_path / "example.exp.yaml").write_text(EXAMPLE)
    assert run("verlint check --strict", tmp_path) == (
        0,
        ["checked 1 experiment, 3 stages in 1 file", "All checks passed!"],
    )
    assert {name for name in SPEC.keys if f"\n{name}:" in f"\n{EXAMPLE}"} >= set(SPEC.keys) - {"approvals", "on_policy"}


def test_the_page_has_every_key_once_in_its_table() -> None:
    rows = [line.split(" | ")[0] for line in spec_page().splitlines() if line.count(" | ") == 4]
    tables = {id(record): record for _, record in _records(SPEC)}
    wanted = [f"| `{name}`" for record in tables.values() for name in record.keys]
    assert sorted(row for row in rows if row != "| key") == sorted(wanted)
    assert (ROOT / "docs/spec.md").read_text("utf-8") == spec_page()


def _records(shape: Shape) -> Iterator[tuple[int, Record]]:
    match shape:
        case Record():
            yield id(shape), shape
            for key in shape.keys.values():
                yield from _records(key.shape)
        case MapOf(value=inner) | ListOf(item=inner):
            yield from _records(inner)
        case Choice(shapes=shapes):
            for each in shapes:
                yield from _records(each)
