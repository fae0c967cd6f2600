"""The JSON Schema of the spec format and the reader are made of one declaration: they must judge every file alike, but
for what is listed as beyond a JSON Schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, given, settings

from spec_documents import as_yaml, documents
from verlint.cli.main import main
from verlint.experiment.spec import SpecFile, SpecProblem
from verlint.experiment.spec_reader import read_spec
from verlint.experiment.spec_schema import BEYOND_JSON_SCHEMA, SPEC, json_schema
from verlint.languages.yaml import plain
from verlint.source import Source

ROOT = Path(__file__).resolve().parent.parent
SPECS = sorted(
    path for folder in ("fixtures", "tests/specs") for path in (ROOT / folder).rglob("*.exp.y*ml") if path.is_file()
)
VALIDATOR = jsonschema.Draft7Validator(json_schema())


def beyond(problem: SpecProblem) -> str:
    """The part of `BEYOND_JSON_SCHEMA` that a problem belongs to, "" for none."""
    if problem.kind == "bad-reference":
        return "names" if "declared under" in problem.message or "has no branch" in problem.message else "references"
    if "is no range of steps" in problem.message and "..." not in problem.span.text:
        return "order"
    if "is one document" in problem.message:
        return "documents"
    if "levels of lists and references" in problem.message:
        return "size"
    return "resolved values" if "${" in problem.span.text else ""


def disagreement(file: SpecFile, document: Any) -> str:
    """How the two readers differ about a file, "" when they do not, or may."""
    errors = [f"{'.'.join(map(str, each.absolute_path))}: {each.message}" for each in VALIDATOR.iter_errors(document)]
    problems = [each for each in file.problems if not beyond(each)]
    if bool(errors) == bool(problems) or (errors and file.problems):
        return ""
    return f"schema: {errors[:3]}; reader: {[each.message for each in problems][:3]}"


def test_it_is_a_schema_with_a_name_of_its_own() -> None:
    schema = json_schema()
    jsonschema.Draft7Validator.check_schema(schema)
    assert (schema["$schema"], schema["$id"]) == ("http://json-schema.org/draft-07/schema#", "urn:verlint:exp-v1")
    assert all(name in schema["$comment"] for name in BEYOND_JSON_SCHEMA)


def test_every_key_and_choice_is_described() -> None:
    def undescribed(node: Any, path: str) -> list[str]:
        if not isinstance(node, dict):
            return [each for item in node for each in undescribed(item, path)] if isinstance(node, list) else []
        missing = [f"{path}.{name}" for name, held in node.get("properties", {}).items() if not held.get("description")]
        missing += [path] if "const" in node and "description" not in node else []
        return missing + [each for key, held in node.items() for each in undescribed(held, f"{path}.{key}")]

    assert undescribed(json_schema(), "") == []


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_spec_here_is_valid_in_both_or_in_none(path: Path) -> None:
    file = read_spec(Source(path.name, path.read_text("utf-8")))
    if file.yaml.error is not None or file.yaml.root is None:
        pytest.skip("no YAML")
    assert disagreement(file, plain(file.yaml.root)) == ""


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents())
def test_made_specs_are_valid_in_both_or_in_none(document: Any) -> None:
    file = read_spec(Source("made.exp.yaml", as_yaml(document)))
    assert file.yaml.root is not None
    assert disagreement(file, plain(file.yaml.root)) == ""


HEAD = "schema: verlint/exp-v1\nname: n\n"
STAGE = "stages: {train: {kind: train, launcher: train.sh}}\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("references", HEAD + 'vars: {a: "${vars.b}"}\n' + STAGE),
        ("names", HEAD + "stages: {train: {kind: train, launcher: train.sh, needs: [warmup]}}\n"),
        ("resolved values", HEAD + 'vars: {n: two}\nresources: {num_nodes: "${vars.n}"}\n' + STAGE),
        ("order", HEAD + "stages: {eval: {kind: eval, run: ls, outs: {c: {roles: [actor], steps: 9..2}}}}\n"),
        ("documents", HEAD + STAGE + "---\na: 1\n"),
        ("size", HEAD + "vars: {deep: " + "[" * 90 + "]" * 90 + "}\n" + STAGE),
    ],
)
def test_what_is_beyond_a_json_schema_is_found_by_the_reader(name: str, text: str) -> None:
    file = read_spec(Source("made.exp.yaml", text))
    assert file.yaml.root is not None
    assert [beyond(each) for each in file.problems] == [name]
    assert VALIDATOR.is_valid(plain(file.yaml.root))


def test_a_key_given_twice_is_beyond_it_too() -> None:
    file = read_spec(Source("made.exp.yaml", HEAD + "name: m\n" + STAGE))
    assert file.yaml.root is not None
    assert len(file.yaml.duplicates) == 1
    assert VALIDATOR.is_valid(plain(file.yaml.root))
    assert set(BEYOND_JSON_SCHEMA) == {
        *("duplicates", "references", "names", "resolved values", "order", "documents", "size")
    }


def test_the_verb_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == json_schema()


def test_the_declaration_names_every_key_of_the_format() -> None:
    stage = SPEC.keys["stages"].shape.value.keys  # type: ignore[union-attr]
    assert list(SPEC.keys) == [
        *("schema", "name", "family", "track", "vars", "checkout", "environment", "resources", "models", "roots"),
        *("credentials", "approvals", "on_policy", "stages"),
    ]
    assert list(stage) == [
        *("kind", "round", "checkout", "branch", "launcher", "args", "entry", "overrides", "run", "needs", "deps"),
        *("outs", "env", "resources", "approvals", "credentials", "on_policy", "optional"),
    ]
