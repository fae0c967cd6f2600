"""The experiment spec format `verlint/exp-v1`, as data.

`SPEC` declares every key with its type, its choices and what it means. The reader checks files against it, and
`json_schema` turns it into a JSON Schema (draft-07) for editors; neither knows a key on its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from verlint.record import dataclass, field

SCHEMA = "verlint/exp-v1"

SCHEMA_ID = "urn:verlint:exp-v1"
"""The name of the JSON Schema: one that needs no address on the network."""

OPEN = r"\$\{.+\}|^\s*<[^<>\n]+>\s*$|<[A-Z][A-Z0-9_-]*>"
"""What may stand for any value: a text with a reference `${…}`, or a placeholder for what is not decided."""

ONLY_OPEN = r"^\s*(\$\{[^{}]+\}|<[^<>]+>)\s*$"
"""One reference or placeholder and nothing else."""

BEYOND_JSON_SCHEMA: Mapping[str, str] = {
    "duplicates": "a key that is given twice in one mapping: readers of JSON Schema see one of them only (VL006)",
    "references": "`${…}` that names nothing in the file, names itself, or is never closed",
    "names": "a stage, model, checkout, approval, credential or branch that is not declared in the file",
    "resolved values": "the type of what `${…}` stands for, such as `num_nodes: ${vars.name}` where that is a text",
    "order": "a range of steps that runs backwards, such as `100..2/2`",
    "documents": "a second YAML document in the file",
    "size": "lists, mappings and references nested more than 80 deep",
}
"""What the reader finds and a JSON Schema cannot express, with what it means."""

STEP_RANGE = r"[0-9]+\.\.[0-9]+(/[1-9][0-9]*)?"


@dataclass(frozen=True, slots=True)
class Str:
    """Text. `choices` (value: meaning) are all that is allowed; `names` is the top-level key that declares the name.

    `only_open` allows nothing but references and placeholders, `fixed` allows none of them; `shell` text keeps
    `${NAME}` for the shell.
    """

    choices: Mapping[str, str] = field(default_factory=dict)
    pattern: str = ""
    expected: str = "text"
    names: str = ""
    only_open: bool = False
    fixed: bool = False
    shell: bool = False


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number, not below `least`."""

    least: int = 1
    expected: str = "a whole number"


@dataclass(frozen=True, slots=True)
class Flag:
    """`true` or `false`."""

    expected: str = "true or false"


@dataclass(frozen=True, slots=True)
class Null:
    """Nothing: the key alone says it."""

    expected: str = "nothing (null)"


@dataclass(frozen=True, slots=True)
class Steps:
    """Checkpoint steps: a number, a range `first..last/stride`, or a list of these."""

    many: bool = True
    expected: str = "a step or a range such as 50..500/50"


@dataclass(frozen=True, slots=True)
class Free:
    """Any value; with `nested` also mappings."""

    nested: bool = False
    expected: str = "one value or a list"


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of things of one type."""

    item: Shape
    expected: str = "a list"


@dataclass(frozen=True, slots=True)
class MapOf:
    """A mapping whose keys are names that the author chooses, or (`choices`) some of a fixed set."""

    value: Shape
    key: str = ""
    key_expected: str = "a name"
    choices: Mapping[str, str] = field(default_factory=dict)
    least: int = 0
    secret: bool = False
    expected: str = "a mapping"


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a record. `example` is a value as YAML, `default` says what holds without the key."""

    shape: Shape
    about: str
    required: bool = False
    example: str = ""
    default: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """A mapping with known keys; keys that start with `x-` are the author's own and not looked at.

    `exactly_one`, `at_least_one` and `at_most_one` speak of keys that are given; `needs` maps a key to the one without
    which it has no meaning.
    """

    keys: Mapping[str, Key]
    exactly_one: tuple[str, ...] = ()
    at_least_one: tuple[str, ...] = ()
    at_most_one: tuple[str, ...] = ()
    needs: Mapping[str, str] = field(default_factory=dict)
    expected: str = "a mapping"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several shapes, told apart by what is written. `refusal` replaces the message where none fits."""

    shapes: tuple[Shape, ...]
    expected: str
    refusal: str = ""
    hint: str = ""


Shape: TypeAlias = Str | Whole | Flag | Null | Steps | Free | ListOf | MapOf | Record | Choice

_ID = r"^[A-Za-z0-9][A-Za-z0-9_-]*$"
_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
_ID_EXPECTED = "a name of letters, digits, `_` and `-`"
_VARIABLE_EXPECTED = "the name of an environment variable"

FAMILIES = {
    "oel": "online experiential learning: extract, deploy, consolidate, over rounds",
    "opcd": "on-policy context distillation",
    "coach": "a language model as coach",
    "gad": "generative adversarial distillation",
    "opo": "on-policy optimisation with the optimal reward baseline",
}

KINDS = {
    "data-prep": "makes or exports datasets",
    "extract": "extracts experience from trajectories",
    "experience-list": "lists the extracted experience of chosen checkpoints",
    "deploy": "rolls a policy out to collect data",
    "consolidate": "trains experience into the weights",
    "on-policy": "trains on samples of the policy itself",
    "off-policy-data": "generates the data of off-policy training",
    "off-policy": "trains on samples of another policy",
    "train": "trains by reinforcement learning",
    "seqkd": "supervised training on the teacher's answers",
    "warmup": "trains generator and discriminator before the adversarial stage",
    "adversarial": "trains generator against discriminator",
    "generation": "writes answers of checkpoints",
    "eval": "evaluates checkpoints",
    "eval-fuzzy": "evaluates on judged tasks",
    "eval-endtask": "evaluates on an outside benchmark",
    "score": "scores generated answers",
    "config": "one configuration of the trainer",
}

INTENTS = {
    "exact": "one update per rollout batch, no KL term, no entropy bonus",
    "single-update": "one update per rollout batch; KL distillation allowed",
    "clipped": "several updates per rollout batch, with clipped ratios",
    "off-policy": "trains on samples of another policy",
}

PROFILES = {"a100-h200": "A100, H100 or H200 machines", "b200": "B200 machines"}

ROLES = {"actor": "the trained policy", "critic": "the value model, or the discriminator that takes its place"}

VERL_ROLES = {
    "actor": "trained",
    "rollout": "generates",
    "ref": "reference of the KL term",
    "critic": "value model",
    "reward_model": "reward model",
    "actor_rollout": "trained and generates",
    "actor_rollout_ref": "trained, generates, reference",
}

MODELS = {
    "policy": "the model that is trained",
    "student": "the model that is distilled into",
    "reference": "the fixed model of the KL term",
    "teacher": "the model that is distilled from",
    "experience": "the model that writes experience",
    "coach": "the model that gives feedback",
    "reward": "the model that gives rewards",
    "discriminator": "the model that tells student from teacher",
}

ROOTS = {
    "data": "where datasets are",
    "checkpoints": "where checkpoints are",
    "results": "where generated answers and scores are",
}

_ON_POLICY = Record(
    {"intent": Key(Str(INTENTS), "How closely updates follow the policy that sampled.", required=True, example="exact")}
)

_SIZE = Choice((Whole(), Str()), "a number, or text such as 8+")
_RESOURCES = Record(
    {
        "accelerators": Key(
            Choice(
                (Str(pattern=r"^[A-Za-z][A-Za-z0-9_.-]*(:[1-9][0-9]*)?$", expected="TYPE:COUNT"), MapOf(Whole())),
                "TYPE:COUNT, such as H100:8",
            ),
            "Accelerators of one node, as `TYPE:COUNT`.",
            example="H100:8",
        ),
        "num_nodes": Key(Whole(), "Number of nodes.", example="2"),
        "cpus": Key(_SIZE, "Processors of one node.", example="8+"),
        "memory": Key(_SIZE, "Memory of one node, in GB.", example="512"),
        "disk_size": Key(Whole(), "Disk of one node, in GB.", example="1024"),
        "cloud": Key(Str(), "Where the nodes come from.", example="aws"),
        "region": Key(Str(), "Region of the nodes.", example="us-east-1"),
        "zone": Key(Str(), "Zone of the nodes.", example="us-east-1a"),
        "instance_type": Key(Str(), "Kind of machine.", example="p5.48xlarge"),
        "use_spot": Key(Flag(), "Whether nodes may be taken away.", example="false"),
    }
)

_VERL = r"^(v?[0-9][0-9a-zA-Z.*+-]*|coach|oel|opcd|.*[/$].*)$"
_CHECKOUT = Record(
    {
        "url": Key(Str(), "Repository.", example="https://git.example.org/lab/verl"),
        "ref": Key(Str(), "Commit, tag or branch that is checked out.", example="v0.7.1"),
        "path": Key(Str(), "Folder, relative to the spec.", example="verl", default="the spec's folder"),
        "base": Key(
            Str(pattern=_VERL, expected="a VeRL version such as 0.7.1 or one of the forks coach, oel and opcd"),
            "VeRL version the checkout is built on.",
            example="0.7.1",
            default="found as for a launcher",
        ),
        "branches": Key(ListOf(Str()), "Branches that stages switch between.", example="[warmup, gad, eval]"),
        "provides": Key(
            ListOf(Str()), "Features that the checkout adds to its base.", example="[optimal-reward-baseline]"
        ),
    },
    at_least_one=("url", "path"),
)

_ENVIRONMENT = Record(
    {
        "setup": Key(Str(), "How the environment is made, such as docker or conda.", example="conda"),
        "image": Key(Str(), "Container image.", example="registry.example.org/verl:0.7.1"),
        "profile": Key(Str(PROFILES), "GPU class the set-up is for.", example="a100-h200"),
        "ready": Key(ListOf(Str()), "What is known to be installed and started.", example="[vllm]"),
    }
)

_MODEL = Record(
    {
        "id": Key(Str(), "Model name or path.", example="Qwen/Qwen2.5-7B-Instruct"),
        "same_as": Key(Str(names="models"), "Role whose model this role shares.", example="student"),
        "access": Key(Str(), "How the model is reached, such as black-box.", example="black-box"),
        "verl_role": Key(Str(VERL_ROLES), "Part of VeRL that holds the model.", example="critic"),
        "thinking": Key(Flag(), "Whether the model thinks before it answers.", example="false"),
    },
    exactly_one=("id", "same_as"),
)

_CREDENTIAL = Choice(
    (
        Null(),
        Str(only_open=True),
        Record(
            {
                "optional": Key(Flag(), "Whether the run works without it.", example="true", default="false"),
                "used_by": Key(
                    ListOf(Str(names="stages")),
                    "Stages that use it.",
                    example="[warmup]",
                    default="the stages that name it",
                ),
                "use": Key(Str(), "What it is used for.", example="curves of the training"),
            }
        ),
    ),
    "null or a mapping",
    refusal="a spec names credentials and never holds their values",
    hint="leave it null and supply the value at launch",
)

_APPROVAL = Record(
    {
        "granted_by": Key(Str(), "Who allowed it.", required=True, example="head of the group"),
        "sandbox": Key(Str(), "What the stage is confined in.", example="container without network"),
        "scope": Key(ListOf(Str()), "What it is allowed for.", example="[humaneval]", default="all that it is about"),
    }
)

_DEP = Record(
    {
        "from": Key(Str(names="stages"), "Stage that makes it.", required=True, example="warmup"),
        "role": Key(Str(ROLES), "Role of the checkpoint.", example="actor"),
        "step": Key(Steps(many=False), "Step of the checkpoint.", example="800"),
        "steps": Key(Steps(), "Steps of the checkpoints, such as 2..100/2.", example="850..1600/50"),
        "stage_into": Key(
            Str(),
            "Experiment the checkpoint is copied into, with its step as the last one.",
            example="lmsys-7b-gad",
            default="it is read where it is",
        ),
    },
    at_most_one=("step", "steps"),
)

_OUT = Choice(
    (
        Str(),
        Record(
            {
                "roles": Key(ListOf(Str(ROLES)), "Roles that are saved.", required=True, example="[actor, critic]"),
                "steps": Key(Steps(), "Steps that are saved, such as 2..100/2.", example="50..800/50"),
                "every": Key(Whole(), "Steps between two checkpoints.", example="50"),
                "from_step": Key(Whole(least=0), "First step that is saved.", example="850", default="0"),
            }
        ),
    ),
    "a path or a checkpoint {roles, steps, every, from_step}",
)

_STAGE = Record(
    {
        "kind": Key(Str(KINDS), "What the stage does.", required=True, example="warmup"),
        "round": Key(Whole(), "Round of the experiment the stage belongs to.", example="1"),
        "checkout": Key(
            Str(names="checkout"),
            "Checkout the stage runs in.",
            example="verl",
            default="the only one, if there is one",
        ),
        "branch": Key(Str(), "Branch of the checkout.", example="warmup"),
        "launcher": Key(Str(), "Script to run, relative to the checkout.", example="scripts/train/warmup.sh"),
        "args": Key(
            MapOf(Free()), "Arguments of the launcher, by name.", example="{exp_name: lmsys-7b-warmup, nnodes: 1}"
        ),
        "entry": Key(Str(), "Python module to run.", example="verl.trainer.main_ppo"),
        "overrides": Key(
            MapOf(Free(nested=True)), "Configuration keys of the entry.", example="{data.train_batch_size: 256}"
        ),
        "run": Key(Str(shell=True), "Shell command to run.", example="python3 tools/score.py --step 1600"),
        "needs": Key(
            Choice((Str(names="stages"), ListOf(Str(names="stages"))), "a stage or a list of stages"),
            "Stages to run before.",
            example="[data]",
            default="the stages named in `deps`",
        ),
        "deps": Key(
            MapOf(_DEP, _ID, _ID_EXPECTED),
            "What the stage consumes, by name.",
            example="{student: {from: warmup, role: actor, step: 800}}",
        ),
        "outs": Key(
            MapOf(_OUT, _ID, _ID_EXPECTED),
            "What the stage produces, by name.",
            example="{ckpt: {roles: [actor, critic], every: 50}}",
        ),
        "env": Key(
            MapOf(Free(), _VARIABLE, _VARIABLE_EXPECTED),
            "Environment variables of the stage.",
            example="{VLLM_USE_V1: 1}",
        ),
        "resources": Key(
            _RESOURCES,
            "Resources that differ from the experiment's.",
            example="{num_nodes: 1}",
            default="the experiment's",
        ),
        "approvals": Key(
            ListOf(Str(names="approvals")), "Approvals the stage relies on.", example="[unsafe-code-eval]"
        ),
        "credentials": Key(ListOf(Str(names="credentials")), "Credentials the stage uses.", example="[WANDB_API_KEY]"),
        "on_policy": Key(
            _ON_POLICY,
            "On-policy intent that differs from the experiment's.",
            example="{intent: off-policy}",
            default="the experiment's",
        ),
        "optional": Key(
            Flag(), "Whether the experiment is complete without the stage.", example="true", default="false"
        ),
    },
    exactly_one=("launcher", "entry", "run"),
    needs={"args": "launcher", "overrides": "entry"},
)

SPEC = Record(
    {
        "schema": Key(
            Str({SCHEMA: "this format"}, fixed=True), "Format of the file.", required=True, example="verlint/exp-v1"
        ),
        "name": Key(Str(), "Name of the experiment.", required=True, example="gad-lmsys-7b"),
        "family": Key(
            Str(FAMILIES), "Method the experiment follows.", example="gad", default="seen from the launchers"
        ),
        "track": Key(Str(), "Task the experiment is about, such as math or textgame.", example="lmsys"),
        "vars": Key(
            MapOf(Free(nested=True), _ID, _ID_EXPECTED),
            "Values used in several places, as `${vars.NAME}`.",
            example="{first: 800, answers: 850..1600/50}",
        ),
        "checkout": Key(
            MapOf(_CHECKOUT, _ID, _ID_EXPECTED),
            "Source checkouts that stages run in.",
            example="{verl: {path: verl, branches: [warmup, gad]}}",
        ),
        "environment": Key(_ENVIRONMENT, "What the stages run in.", example="{setup: conda, profile: a100-h200}"),
        "resources": Key(
            _RESOURCES, "What each stage needs of the cluster.", example='{accelerators: "H100:8", num_nodes: 1}'
        ),
        "models": Key(
            MapOf(_MODEL, choices=MODELS), "Models by role.", example="{student: {id: Qwen/Qwen2.5-7B-Instruct}}"
        ),
        "roots": Key(
            MapOf(Str(), choices=ROOTS),
            "Where artifacts live: environment variables or placeholders.",
            example='{data: "${oc.env:DATA_ROOT}"}',
        ),
        "credentials": Key(
            MapOf(_CREDENTIAL, _VARIABLE, _VARIABLE_EXPECTED, secret=True),
            "Credentials by variable; null means needed at launch.",
            example="{WANDB_API_KEY: null}",
        ),
        "approvals": Key(
            MapOf(_APPROVAL, _ID, _ID_EXPECTED),
            "What a person has allowed, such as unsafe-code-eval.",
            example="{unsafe-code-eval: {granted_by: head of the group}}",
        ),
        "on_policy": Key(
            _ON_POLICY,
            "On-policy intent of all stages.",
            example="{intent: exact}",
            default="that of the family (`exact` for opo)",
        ),
        "stages": Key(
            MapOf(_STAGE, _ID, _ID_EXPECTED, least=1),
            "Stages by name.",
            required=True,
            example="{warmup: {kind: warmup, launcher: warmup.sh}}",
        ),
    }
)
"""The whole format."""


def json_schema() -> dict[str, Any]:
    """The format as a JSON Schema, draft-07. `verlint check` looks also at what is beyond it."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": SCHEMA_ID,
        "$comment": "Left to `verlint check`: " + "; ".join(BEYOND_JSON_SCHEMA) + ".",
        "title": "verlint experiment",
        "description": "An RL post-training experiment: stages with their inputs, outputs, models and surroundings.",
        **_schema_of(SPEC),
        "definitions": {
            "open": {"type": "string", "pattern": OPEN, "description": "A reference ${…} or a <PLACEHOLDER>."},
            "only-open": {
                "type": "string",
                "pattern": ONLY_OPEN,
                "description": "A reference ${…} or a <PLACEHOLDER>, and no characters besides.",
            },
        },
    }


_OPEN_REF: dict[str, Any] = {"$ref": "#/definitions/open"}


def _schema_of(shape: Shape) -> dict[str, Any]:
    match shape:
        case Str():
            return _str_schema(shape)
        case Whole(least=least):
            return {"anyOf": [{"type": "integer", "minimum": least}, _OPEN_REF]}
        case Flag():
            return {"anyOf": [{"type": "boolean"}, _OPEN_REF]}
        case Null():
            return {"type": "null"}
        case Steps(many=many):
            return _steps_schema(many)
        case Free(nested=nested):
            return {} if nested else {"not": {"type": "object"}}
        case ListOf(item=item):
            return {"type": "array", "items": _schema_of(item)}
        case Choice(shapes=shapes):
            return {"anyOf": [_schema_of(each) for each in shapes]}
        case MapOf():
            return _map_schema(shape)
        case Record():
            return _record_schema(shape)


def _str_schema(shape: Str) -> dict[str, Any]:
    if shape.only_open:
        return {"$ref": "#/definitions/only-open"}
    if shape.choices:
        named = [{"const": value, "description": about} for value, about in shape.choices.items()]
        return {"anyOf": named if shape.fixed else [*named, _OPEN_REF]}
    if shape.pattern:
        return {"anyOf": [{"type": "string", "pattern": shape.pattern}, _OPEN_REF]}
    return {"type": "string"}


def _steps_schema(many: bool) -> dict[str, Any]:
    number = {"type": "integer", "minimum": 0}
    if not many:
        return {"anyOf": [number, _OPEN_REF]}
    one = [number, {"type": "string", "pattern": f"^{STEP_RANGE}$"}, _OPEN_REF]
    return {"anyOf": [*one, {"type": "array", "items": {"anyOf": one}}]}


def _map_schema(shape: MapOf) -> dict[str, Any]:
    out: dict[str, Any] = {"type": "object"}
    if shape.least:
        out["minProperties"] = shape.least
    value = _schema_of(shape.value)
    if shape.choices:
        out["properties"] = {name: {**value, "description": about} for name, about in shape.choices.items()}
        out["additionalProperties"] = False
        return out
    if shape.key:
        out["propertyNames"] = {"pattern": shape.key}
    out["additionalProperties"] = value
    return out


def _record_schema(shape: Record) -> dict[str, Any]:
    out: dict[str, Any] = {
        "type": "object",
        "properties": {name: {**_schema_of(key.shape), "description": key.about} for name, key in shape.keys.items()},
        "patternProperties": {"^x-": {}},
        "additionalProperties": False,
    }
    if required := [name for name, key in shape.keys.items() if key.required]:
        out["required"] = required
    if shape.exactly_one:
        out["oneOf"] = [{"required": [name]} for name in shape.exactly_one]
    if shape.at_least_one:
        out["anyOf"] = [{"required": [name]} for name in shape.at_least_one]
    if shape.at_most_one:
        out["not"] = {"required": list(shape.at_most_one)}
    if shape.needs:
        out["dependencies"] = {name: [other] for name, other in shape.needs.items()}
    return out
