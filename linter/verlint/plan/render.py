"""A plan as text, as Markdown and as JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from verlint.lazy import pattern
from verlint.plan.artifacts import is_model
from verlint.plan.model import LATER, OPTION, SPEC, VERSION, Artifact, Plan, Prerequisite, Step, as_data, from_data
from verlint.plan.wording import stages_said

OPEN = {
    OPTION: "Open: give as an option, or write into the spec",
    SPEC: "Open: write into the spec",
    LATER: "Open: known only after a step, then written into the spec",
}
"""The headings of what is open, by how it is settled."""

INPUTS = "Must be there before (no step makes it)"

_WIDEST = 110
_OPTIONS = pattern(r" (?=--\w)")
"""Where a call may be broken, outside of quotes."""


def label_of(step: Step) -> str:
    """What stands beside a step: that it is not executed, and what it would touch."""
    return f"{step.label}; uses {', '.join(step.touches)}" if step.touches else f"{step.label}; files only"


def to_json(plan: Plan) -> str:
    """The plan as JSON, version 1."""
    return json.dumps({"version": VERSION, **as_data(plan)}, indent=2, ensure_ascii=False) + "\n"


def from_json(text: str) -> Plan:
    """The plan that `to_json` wrote."""
    data: dict[str, Any] = json.loads(text)
    return from_data(data)


def to_text(plan: Plan) -> str:
    """The plan for a terminal."""
    every = [step.name for step in plan.steps]
    lines = [plan.title, "", plan.summary, "In each step the lines of `check` come first, then those with `$`.", ""]
    for how, title in OPEN.items():
        lines += _block(title, (_open_line(each, every) for each in plan.unresolved if each.how == how))
    lines += _block("Settled", (f"{each.name}: {each.value}" for each in plan.resolved))
    lines += _block(INPUTS, (_input_line(each, every) for each in plan.inputs))
    lines += _block("Warnings", plan.warnings)
    lines += _block("Before the first step", plan.checks)
    told: dict[object, str] = {}  # a trap or note is told at the first step that has it
    optional = _optional(plan)
    for number, step in enumerate(plan.steps, 1):
        lines += [f"{number}. {step.name}  [{label_of(step)}]", f"   {step.title}"]
        for title, items in _facts(step, optional):
            lines += [f"   {f'{title}:' if not at else '':<10}{item}" for at, item in enumerate(items)]
        lines += [f"   {line}" for command in step.commands for line in _continued(_wrapped(command))]
        lines += _known_failures(step, told)
        lines += [f"   - {note}" for note in step.notes if note not in told]
        told = {**dict.fromkeys((*step.traps, *step.notes), step.name), **told}
        lines.append("")
    lines += _block("Notes", plan.notes)
    return "\n".join(lines).rstrip() + "\n"


def _known_failures(step: Step, told: Mapping[object, str]) -> list[str]:
    """The known failures of a step; those of an earlier one by its name only."""
    new = [f"   ! if {trap.what}: {trap.symptom}" for trap in step.traps if trap not in told]
    lines = ["   may go wrong:", *new] if new else []
    if earlier := dict.fromkeys(told[trap] for trap in step.traps if trap in told):
        lines.append(f"   {'! and' if new else 'may go wrong:'} as in {', '.join(earlier)}")
    return lines


def _wrapped(command: str) -> str:
    """A long call with its options on lines of their own, as far as they fit."""
    if "\n" in command or len(command) <= _WIDEST:
        return command
    rows = [""]
    for piece in _pieces(command):
        if rows[-1] and len(rows[-1]) + len(piece) > _WIDEST - 10:
            rows.append("")
        rows[-1] += f" {piece}" if rows[-1] else piece
    return " \\\n    ".join(rows)


def _pieces(command: str) -> Iterator[str]:
    """A call in pieces that may stand on lines of their own."""
    waiting = ""
    for piece in _OPTIONS.split(command):
        waiting = f"{waiting} {piece}" if waiting else piece
        try:
            shlex.split(waiting)
        except ValueError:  # a quotation goes on
            continue
        yield waiting
        waiting = ""
    if waiting:
        yield waiting


def _continued(command: str) -> list[str]:
    first, *more = command.split("\n")
    return [f"$ {first}", *(f"  {line}" for line in more)]


def _block(title: str, items: Iterable[str]) -> list[str]:
    lines = [f"  - {item}" for item in items]
    return [title, *lines, ""] if lines else []


def _open_line(each: Prerequisite, every: Sequence[str]) -> str:
    stages = f" (needed by {stages_said(each.stages, every)})" if each.stages else ""
    example = f", such as {each.example}" if each.example else ""
    return f"{each.name}: {each.decide}{example}{stages}"


def _input_line(each: Prerequisite, every: Sequence[str]) -> str:
    return f"{each.name}: {each.decide} (read by {stages_said(each.stages, every)})"


def _artifact(each: Artifact) -> str:
    """`dataset (train): $ROOT/train.parquet (from data-prep)`."""
    if each.source:
        return f"{each.label}: {each.path} (from {each.source})"
    return f"{each.label}: {each.path}"


def _read(each: Artifact) -> str:
    return _artifact(each) if each.source or is_model(each) else f"{_artifact(each)} (must be there)"


def _optional(plan: Plan) -> frozenset[str]:
    """The credentials that the stages can do without."""
    return frozenset(each.name for each in plan.resolved if each.fact == 6 and each.value.startswith("optional"))


def _facts(step: Step, optional: Set[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is known of a step: titles, each with its items."""
    keys = [f"{each} (optional)" if each in optional else each for each in step.credentials]
    for title, items in (
        ("optional", ("the stages after it do not need it",) if step.optional else ()),
        ("after", (", ".join(step.after),) if step.after else ()),
        ("in", (step.folder,) if step.folder else ()),
        ("branch", (step.branch,) if step.branch else ()),
        ("needs", (", ".join(each for each in (step.resources, *keys) if each),)),
        ("approval", step.approvals),
        ("reads", tuple(_read(each) for each in step.reads)),
        ("writes", tuple(_artifact(each) for each in step.writes)),
        ("check", step.checks),
    ):
        if any(items):
            yield title, items


def to_markdown(plan: Plan) -> str:
    """The plan as a Markdown page."""
    every = [step.name for step in plan.steps]
    lines = [f"# {plan.title}", "", plan.summary, ""]
    if plan.unresolved:
        rows = [
            (each.name, each.decide, each.example, each.how, stages_said(each.stages, every))
            for each in plan.unresolved
        ]
        lines += ["## Open", "", *_table(("prerequisite", "to decide", "example", "how", "needed by"), rows), ""]
    if plan.resolved:
        settled = [(each.name, each.value) for each in plan.resolved]
        lines += ["## Settled", "", *_table(("fact", "value"), settled), ""]
    if plan.inputs:
        given = [(each.name, each.decide, stages_said(each.stages, every)) for each in plan.inputs]
        lines += [f"## {INPUTS}", "", *_table(("input", "what it is", "read by"), given), ""]
    if plan.warnings:
        lines += ["## Warnings", "", *(f"- {_cell(each)}" for each in plan.warnings), ""]
    if plan.checks:
        lines += ["## Before the first step", "", "```bash", *plan.checks, "```", ""]
    lines += ["## Steps", ""]
    for number, step in enumerate(plan.steps, 1):
        lines += [f"### {number}. {step.name}", "", f"{step.title}. **{label_of(step)}**", ""]
        for title, facts in _facts(step, _optional(plan)):
            code = title == "check"
            lines += [f"- {title}: {f'`{fact}`' if code else _cell(fact)}" for fact in facts]
        if step.commands:
            lines += ["", "```bash", *step.commands, "```"]
        lines.append("")
        if step.traps:
            lines += [*_table(("known failure", "symptom"), [(trap.what, trap.symptom) for trap in step.traps]), ""]
        if step.notes:
            lines += [*(f"- {_cell(note)}" for note in step.notes), ""]
    if plan.notes:
        lines += ["## Notes", "", *(f"- {_cell(each)}" for each in plan.notes), ""]
    return "\n".join(lines).rstrip() + "\n"


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    return [
        "| " + " | ".join(heads) + " |",
        "|" + "---|" * len(heads),
        *("| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows),
    ]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<").replace("\n", " ")
