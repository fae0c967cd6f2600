"""`verlint check --show-settings`: every setting that holds for the paths of a call, and where it comes from."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from verlint.cli.call import FORMAT_VARIABLE, Arguments
from verlint.finding import Severity
from verlint.settings import READERS, Settings

_OF_CALL = {"verl": "verl_of_call"}
"""Settings whose value of the call is kept under another name."""
_EMPTY = {"select": ("ALL",), "output-format": ("full",)}
"""What is meant where nothing is said, and an empty list would look like something else."""


def settings_text(settings: Settings, arguments: Arguments) -> str:
    """A TOML document that means the same as the settings and the call together."""
    source = os.path.relpath(settings.path) if settings.path is not None else "no settings file"
    lines = [f"# {source}"]
    written = _written(settings)
    tables: list[str] = []
    for key in READERS:
        value = _value(settings, key)
        if isinstance(value, Mapping):
            tables += _table(key, value)
            continue
        origin = "call" if _given(arguments, key) else "settings" if key in written else "default"
        shown = "# " if value == "" else ""
        lines.append(f"{shown}{key} = {_toml(value)}  # {origin}")
    return "\n".join([*lines, *tables]) + "\n"


def _value(settings: Settings, key: str) -> Any:
    name = key.replace("-", "_")
    value = getattr(settings, _OF_CALL.get(key, name)) or getattr(settings, name)
    if key == "fail-on" and value is None:
        return "never"
    return value or _EMPTY.get(key, value)


def _written(settings: Settings) -> frozenset[str]:
    """The keys of the settings that differ from the defaults: what the file, or the call, has set."""
    plain = Settings(root=settings.root)
    return frozenset(key for key in READERS if _value(settings, key) != _value(plain, key))


def _given(arguments: Arguments, key: str) -> bool:
    value = getattr(arguments, key.replace("-", "_"), None)
    return value is not None or (key == "output-format" and bool(os.environ.get(FORMAT_VARIABLE)))


def _table(key: str, values: Mapping[str, Any]) -> Iterator[str]:
    if not values:
        return
    nested = {name: value for name, value in values.items() if isinstance(value, Mapping)}
    yield ""
    if len(nested) < len(values):
        yield f"[{key}]"
        yield from (f"{json.dumps(name)} = {_toml(value)}" for name, value in values.items() if name not in nested)
    for name, value in nested.items():
        yield f"[{key}.{json.dumps(name)}]"
        yield from (f"{json.dumps(each)} = {_toml(item)}" for each, item in value.items())


def _toml(value: Any) -> str:
    if isinstance(value, Severity):
        return json.dumps(value.label)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(name)} = {_toml(item)}" for name, item in value.items()) + " }"
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
