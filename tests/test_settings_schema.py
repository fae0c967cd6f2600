"""The JSON Schema of the settings and their readers judge files alike, but for names that only the rules know."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from verlint.cli.main import main
from verlint.cli.settings_check import settings_problems
from verlint.cli.settings_schema import ABOUT, json_schema
from verlint.settings import READERS, SettingsError, read_settings_file

VALIDATOR = jsonschema.Draft7Validator(json_schema())
DOCS = Path(__file__).resolve().parent.parent / "docs"

VALID = [
    "",
    'select = ["ALL"]\nignore = ["VL404"]\n[severity]\nVL1 = "info"\n[per-path-ignores]\n"a/**" = ["VL1"]\n',
    'output-format = "json"\nstrict = true\nverl = "0.7.1"\nfail-on = "never"\n',
    'output-format = ["full", "json:x.json"]\n[rules.VL101]\nallow = ["/mnt"]\n',
    '[launchers."a.sh"]\nfamily = "opo"\nstage = "train"\noptions = { "--n" = "run", "--b" = "data.seed" }\n',
    '[launchers."a.sh"]\nconvention = "record"\nfields = ["run", ""]\n',
]
INVALID = [
    'selct = ["ALL"]\n',
    'select = "ALL"\n',
    'strict = "yes"\n',
    'fail-on = "warn"\n',
    '[severity]\nVL101 = "fatal"\n',
    '[per-path-ignores]\n"a" = "VL1"\n',
    "output-format = 1\n",
    "rules = 1\n",
    'launchers = ["a.sh"]\n',
    '[launchers]\n"a.sh" = "opo"\n',
    '[launchers."a.sh"]\nfamly = "opo"\n',
    '[launchers."a.sh"]\nfamily = "opoo"\n',
    '[launchers."a.sh"]\nstage = "train"\n',
    '[launchers."a.sh"]\nconvention = "flags"\n',
    '[launchers."a.sh"]\noptions = { n = "run" }\n',
    '[launchers."a.sh"]\noptions = { "--n" = "runs" }\n',
    '[launchers."a.sh"]\nfields = "run"\n',
]


def accepted(path: Path) -> bool:
    try:
        settings_problems(read_settings_file(path))
    except SettingsError:
        return False
    return True


@pytest.mark.parametrize(("text", "valid"), [*((each, True) for each in VALID), *((each, False) for each in INVALID)])
def test_both_judge_alike(text: str, valid: bool, tmp_path: Path) -> None:
    path = tmp_path / "verlint.toml"
    path.write_text(text, "utf-8")
    assert (VALIDATOR.is_valid(tomllib.loads(text)), accepted(path)) == (valid, valid)


@pytest.mark.parametrize("page", ["settings.md", "launchers.md"])
def test_the_examples_of_the_pages_are_valid(page: str, tmp_path: Path) -> None:
    examples = [each.split("```")[0] for each in (DOCS / page).read_text("utf-8").split("```toml\n")[1:]]
    path = tmp_path / "verlint.toml"
    for text in examples:
        held: dict[str, Any] = tomllib.loads(text)
        path.write_text(text if "tool" not in held else "", "utf-8")
        assert VALIDATOR.is_valid(held.get("tool", {}).get("verlint", held))
        assert accepted(path)


def test_it_has_every_key_with_its_meaning() -> None:
    schema = json_schema()
    jsonschema.Draft7Validator.check_schema(schema)
    assert set(ABOUT) == set(READERS) == set(schema["properties"])
    assert all(each["description"].endswith(".") for each in schema["properties"].values())
    assert schema["$id"] == "urn:verlint:settings"


def test_the_verb_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "--settings"]) == 0
    assert json.loads(capsys.readouterr().out) == json_schema()
