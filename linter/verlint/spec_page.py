"""The reference page of the spec format, generated from its declaration: every key with what it takes and means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from verlint.experiment import spec_schema as schema
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

EXAMPLE = """\
schema: verlint/exp-v1
name: gad-lmsys-7b
family: gad
track: lmsys
vars: {start: 800}                          # used below as ${vars.start}
checkout:
  verl: {path: verl, branches: [warmup, gad]}
environment: {setup: conda, profile: a100-h200, ready: [vllm]}
resources: {accelerators: "A100:8", num_nodes: 1}
models:
  student: {id: Qwen/Qwen2.5-7B-Instruct}
  discriminator: {same_as: student, verl_role: critic}
  teacher: {id: gpt-5-chat, access: black-box}
roots:                                      # from the environment, never a path of one machine
  data: "${oc.env:DATA_ROOT}"
  checkpoints: "${oc.env:CKPT_ROOT}"
credentials: {WANDB_API_KEY: null}          # named here, given at launch
stages:
  data:
    kind: data-prep
    run: python3 tools/export.py --out_dir "${roots.data}"
    outs: {train: "${roots.data}/train.parquet"}
  warmup:
    kind: warmup
    checkout: verl
    branch: warmup
    launcher: scripts/train/warmup.sh
    args: {model: "${models.student}", exp_name: lmsys-7b-warmup}
    deps: {train: {from: data}}
    outs: {ckpt: {roles: [actor, critic], every: 50}}
    on_policy: {intent: off-policy}
  adversarial:
    kind: adversarial
    checkout: verl
    branch: gad
    launcher: scripts/train/adversarial.sh
    args: {exp_name: lmsys-7b-gad, resume_step: "${vars.start}"}
    deps:
      student: {from: warmup, role: actor, step: "${vars.start}", stage_into: lmsys-7b-gad}
      discriminator: {from: warmup, role: critic, step: "${vars.start}", stage_into: lmsys-7b-gad}
      train: {from: data}
    outs: {ckpt: {roles: [actor, critic], every: 50, from_step: 850}}
    on_policy: {intent: clipped}
"""
"""A whole spec in which every kind of thing occurs."""

_HEAD = f"""\
# The spec format `{SCHEMA}`

A spec says in YAML what an experiment is made of: its stages, what each reads and writes, on which branch and machines
it runs, which models and credentials it needs. verlint checks it together with the launchers it names, draws its
[graph](graph.md), makes a [plan](planning.md) of it, and checks its [inputs](inputs.md). Nothing has to be said twice:
what a launcher shows need not be in the spec, and what both say must agree.

A file is a spec when it is called `*.exp.yaml`, or when it has the top-level key `schema: {SCHEMA}`. `verlint init`
drafts one from the launchers of a checkout, `verlint plan --family NAME --format spec` from options. There is a whole
one for every family: [GAD](../fixtures/experiments/gad/clean/gad.exp.yaml),
[OEL](../fixtures/experiments/oel/clean/oel-lake.exp.yaml), [OPCD](../fixtures/experiments/opcd/clean/math.exp.yaml),
[LLM-as-a-Coach](../fixtures/experiments/coach/clean/coach.exp.yaml) and
[OPO](../fixtures/experiments/opo/clean/opo.exp.yaml).

This page is generated from the declaration that verlint reads specs with; `verlint schema` prints the same
[for editors](schema.md)."""

_WRITTEN = (
    (
        "`${vars.NAME}`, `${roots.data}`, `${models.student}`, `${stages.ID.args.KEY}`",
        "the value at that place of the spec; within `{…}` and `[…]` it must be quoted",
    ),
    ("`${oc.env:NAME}`, `${oc.env:NAME,DEFAULT}`", "the environment variable at launch"),
    ("`<NAME>`", "a placeholder: a note of VL005, with `--ready` an error unless a stage must be done first"),
    ("`800`, `50..800/50`, `[100, 200..400/100]`", "steps: one, from the first to the last by the stride, several"),
    ("`x-…`", "a key of your own, at any level; verlint does not look at it"),
)
_UNKNOWN = """\
In `run` a `${NAME}` without a dot or colon is left to the shell. Keys that are not listed here are reported, with the
key that was probably meant (VL004)."""

_CHOICES: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("Families", schema.FAMILIES),
    ("Kinds of stages", schema.KINDS),
    ("Intents", schema.INTENTS),
    ("GPU classes", schema.PROFILES),
    ("Roles of checkpoints", schema.ROLES),
    ("Roles of models", schema.MODELS),
    ("Parts of VeRL", schema.VERL_ROLES),
    ("Roots", schema.ROOTS),
)
_TITLES: Mapping[int, str] = {id(choices): title for title, choices in _CHOICES}


def spec_page() -> str:
    """The page as Markdown."""
    sections = list(_sections())
    titles = {id(record): title for title, record in sections}
    parts = [_HEAD, f"```yaml\n{EXAMPLE}```", "## How values are written", _rows("written", _WRITTEN), _UNKNOWN]
    for title, record in sections:
        parts += [f"## {title}", _table(record, titles), *_rules(record)]
    parts += ["## Values", *_value_tables()]
    return "\n\n".join(parts) + "\n"


def _sections() -> Iterator[tuple[str, Record]]:
    """Every record of the format once, with the place where it first stands."""
    seen: set[int] = set()
    waiting: list[tuple[str, Shape]] = [("Top level", SPEC)]
    while waiting:
        title, shape = waiting.pop(0)
        for record, at in _records(shape, title):
            if id(record) in seen:
                continue
            seen.add(id(record))
            yield at, record
            prefix = "" if record is SPEC else f"{at.strip('`')}."
            waiting += [(f"`{prefix}{name}`", key.shape) for name, key in record.keys.items()]


def _records(shape: Shape, title: str) -> Iterator[tuple[Record, str]]:
    match shape:
        case Record():
            yield shape, title
        case MapOf(value=value):
            yield from _records(value, f"`{title.strip('`')}.NAME`")
        case ListOf(item=item):
            yield from _records(item, title)
        case Choice(shapes=shapes):
            for each in shapes:
                yield from _records(each, title)


def _table(record: Record, titles: Mapping[int, str]) -> str:
    rows = ["| key | value | without it | meaning | example |", "|---|---|---|---|---|"]
    for name, key in record.keys.items():
        without = "**must be given**" if key.required else key.default
        cells = [f"`{name}`", _value(key.shape, titles), without, key.about, f"`{name}: {key.example}`"]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def _rules(record: Record) -> Iterator[str]:
    """What holds between the keys of a record, as sentences."""
    said = [f"`{name}` goes with `{other}`." for name, other in record.needs.items()]
    if record.exactly_one:
        said.insert(0, f"Exactly one of {_listed(record.exactly_one)} must be given.")
    if record.at_least_one:
        said.append(f"At least one of {_listed(record.at_least_one)} must be given.")
    if record.at_most_one:
        said.append(f"At most one of {_listed(record.at_most_one)} may be given.")
    if said:
        yield " ".join(said)


def _listed(names: tuple[str, ...]) -> str:
    *first, last = (f"`{name}`" for name in names)
    return f"{', '.join(first)} and {last}"


def _value(shape: Shape, titles: Mapping[int, str]) -> str:
    """What a key takes, in words, with a link to where more is said."""
    match shape:
        case Record():
            return _link(titles[id(shape)], titles[id(shape)])
        case Str():
            return _text(shape)
        case Whole(least=least):
            return f"whole number, {least} or more"
        case Flag():
            return "`true` or `false`"
        case Null():
            return "`null`"
        case Steps(many=many):
            return "steps" if many else "one step"
        case Free(nested=nested):
            return "anything" if nested else "one value or a list"
        case ListOf(item=item):
            return f"list of {_plural(_value(item, titles))}"
        case MapOf(value=value, choices=choices):
            names = _link(_TITLES[id(choices)], _TITLES[id(choices)].lower()) if choices else "names"
            return f"{names}, each with {_article(_value(value, titles))}"
        case Choice(shapes=shapes, expected=expected):
            words = list(dict.fromkeys(_value(each, titles) for each in shapes))
            return " or ".join(words) if "](" in "".join(words) else expected


def _text(shape: Str) -> str:
    if id(shape.choices) in _TITLES:
        title = _TITLES[id(shape.choices)]
        return f"one of the [{title[0].lower() if title[1].islower() else title[0]}{title[1:]}](#{_anchor(title)})"
    if shape.choices:
        return " or ".join(f"`{each}`" for each in shape.choices)
    if shape.names:
        return f"a name under `{shape.names}`"
    if shape.only_open:
        return "`${oc.env:NAME}`"
    if shape.pattern:
        return shape.expected
    return "shell text" if shape.shell else "text"


def _plural(value: str) -> str:
    if value.startswith("one of the "):
        return value.removeprefix("one of the ")
    return value.replace("a name under", "names under") if value.startswith("a name") else f"{value}s"


def _article(value: str) -> str:
    return f"a {value}" if value.startswith(("text", "whole")) else value


def _link(title: str, text: str) -> str:
    return f"[{text}](#{_anchor(title)})"


def _anchor(title: str) -> str:
    """The anchor of a heading, as readers of Markdown make it."""
    return title.lower().replace("`", "").replace(".", "").replace(" ", "-")


def _value_tables() -> Iterator[str]:
    for title, choices in _CHOICES:
        yield f"### {title}"
        yield _rows("value", [(f"`{name}`", about) for name, about in choices.items()])


def _rows(first: str, pairs: Iterable[tuple[str, str]]) -> str:
    return "\n".join([f"| {first} | meaning |", "|---|---|", *(f"| {name} | {about} |" for name, about in pairs)])
