"""The JSON Schema of a settings file, for editors. What the readers of the settings take is said here for each key."""

from __future__ import annotations

from collections.abc import Mapping

from verlint.families import FAMILIES
from verlint.families.taught import CONFIG_KEY, CONVENTIONS, KEYS, MEANINGS, SYNONYMS
from verlint.settings import FAIL_ON, LEVELS, SCOPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA_ID = "urn:verlint:settings"

_TEXT = {"type": "string"}
_FLAG = {"type": "boolean"}
_TEXTS = {"type": "array", "items": _TEXT}
_TABLE = {"type": "object", "additionalProperties": {"type": "object"}}

ABOUT: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "select": (_TEXTS, "Only these rules: codes, beginnings of codes, names, or ALL."),
    "extend-select": (_TEXTS, "These rules as well."),
    "ignore": (_TEXTS, "All but these rules."),
    "exclude": (_TEXTS, "Globs of files and folders that are left out."),
    "severity": (
        {"type": "object", "additionalProperties": {"enum": list(LEVELS)}},
        "Severity by rule; the longest matching name counts.",
    ),
    "fail-on": ({"enum": list(FAIL_ON)}, "The least severity that gives exit code 1."),
    "strict": (_FLAG, "Findings that need verification fail the run too."),
    "ready": (_FLAG, "The experiment is to start now: nothing may be left open."),
    "verl": (_TEXT, "The VeRL that the launchers are for: a version, a fork or the path of a checkout."),
    "model-config": (_TEXT, "The config.json of the model, or its folder, relative to the settings file."),
    "baseline": (_TEXT, "The baseline of known findings, relative to the settings file."),
    "per-path-ignores": ({"type": "object", "additionalProperties": _TEXTS}, "Rules that are off, by glob."),
    "launchers": ({}, "Own launchers, by path or glob: which stage they run and what their words mean."),
    "rules": (_TABLE, "Options of single rules, each in its own table."),
    "output-format": ({"anyOf": [_TEXT, _TEXTS]}, "As --output-format."),
    "show-files": (_FLAG, "As --show-files."),
    "scope": ({"enum": list(SCOPES)}, "As --scope: what is reported when files are named."),
    "plugins": (_TEXTS, "Installed rule packs whose rules are taken as well."),
    "cache": (_FLAG, "Whether what was found is kept for later runs (default: true)."),
}
"""Each key of the settings: what it holds and what it means."""


def json_schema() -> dict[str, Any]:
    """The schema, draft-07. Names of rules and their options are beyond it: they depend on the rules installed."""
    properties = {name: {**held, "description": about} for name, (held, about) in ABOUT.items()}
    properties["launchers"] |= {"type": "object", "additionalProperties": _launcher()}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": SCHEMA_ID,
        "$comment": "Left to `verlint check`: names of rules, options of rules, VeRL versions, stages of a family, "
        "and which keys of a launcher go together.",
        "title": "verlint settings",
        "description": "What a project asks of verlint: verlint.toml, or [tool.verlint] in pyproject.toml.",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


def _launcher() -> dict[str, Any]:
    meaning = {
        "anyOf": [
            *({"const": name, "description": about} for name, about in MEANINGS.items()),
            *({"const": name, "description": f"short for {whole}"} for name, whole in SYNONYMS.items()),
            {"type": "string", "pattern": CONFIG_KEY, "description": "a configuration key of VeRL"},
        ]
    }
    held: Mapping[str, Mapping[str, Any]] = {
        "family": {"anyOf": [{"const": each.name, "description": each.title} for each in FAMILIES.values()]},
        "stage": _TEXT,
        "convention": {"anyOf": [{"const": name, "description": about} for name, about in CONVENTIONS.items()]},
        "options": {"type": "object", "propertyNames": {"pattern": "^-"}, "additionalProperties": meaning},
        "fields": {"type": "array", "items": {"anyOf": [{"const": ""}, meaning]}},
        "verbs": {"type": "object", "additionalProperties": _TEXT},
    }
    return {
        "type": "object",
        "properties": {name: {**held[name], "description": about} for name, about in KEYS.items()},
        "additionalProperties": False,
        "dependencies": {"stage": ["family"], "verbs": ["family"]},
    }
