"""A plan as text, as Markdown and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from verlint.plan.model import VERSION, Plan, Prerequisite, Step, as_data, from_data


def label_of(step: Step) -> str:
    """What stands beside a step: that it is not executed, and what it would touch."""
    return f"{step.label}: {', '.join(step.touches)}" if step.touches else f"{step.label}: files only"


def to_json(plan: Plan) -> str:
    """The plan as JSON, version 1."""
    return json.dumps({"version": VERSION, **as_data(plan)}, indent=2, ensure_ascii=False) + "\n"


def from_json(text: str) -> Plan:
    """The plan that `to_json` wrote."""
    data: dict[str, Any] = json.loads(text)
    return from_data(data)


def to_text(plan: Plan) -> str:
    """The plan for a terminal."""
    lines = [plan.title, "", plan.summary, ""]
    lines += _block("Open", (_open_line(each) for each in plan.unresolved))
    lines += _block("Settled", (f"{each.name}: {each.value}" for each in plan.resolved))
    lines += _block("Warnings", plan.warnings)
    lines += _block("Before the first step", plan.checks)
    told: set[object] = set()  # a trap or note is told at the first step that has it
    for number, step in enumerate(plan.steps, 1):
        lines += [f"{number}. {step.name}  [{label_of(step)}]", f"   {step.title}"]
        lines += [f"   {line}" for line in _facts(step)]
        lines += [f"   $ {line}" for command in step.commands for line in _continued(command)]
        lines += [f"   ! {trap.what}: {trap.symptom}" for trap in step.traps if trap not in told]
        lines += [f"   - {note}" for note in step.notes if note not in told]
        told.update(step.traps, step.notes)
        lines.append("")
    lines += _block("Notes", plan.notes)
    return "\n".join(lines).rstrip() + "\n"


def _continued(command: str) -> list[str]:
    return command.replace("\n    ", "\n     ").split("\n") if "\n" in command else [command]


def _block(title: str, items: Iterable[str]) -> list[str]:
    lines = [f"  - {item}" for item in items]
    return [title, *lines, ""] if lines else []


def _open_line(each: Prerequisite) -> str:
    stages = f" (needed by {', '.join(each.stages)})" if each.stages else ""
    example = f", such as {each.example}" if each.example else ""
    return f"{each.name}: {each.decide}{example}{stages}"


def _facts(step: Step) -> Iterator[str]:
    if step.optional:
        yield "optional"
    for title, items in (
        ("after", step.after),
        ("in", (step.folder,) if step.folder else ()),
        ("branch", (step.branch,) if step.branch else ()),
        ("needs", tuple(each for each in (step.resources, *step.credentials) if each)),
        ("approval", step.approvals),
        ("reads", step.reads),
        ("writes", step.writes),
        ("check", step.checks),
    ):
        if items:
            yield f"{title + ':':<10}{f'{chr(10)}             '.join(items) if title == 'check' else ', '.join(items)}"


def to_markdown(plan: Plan) -> str:
    """The plan as a Markdown page."""
    lines = [f"# {plan.title}", "", plan.summary, ""]
    if plan.unresolved:
        rows = [(each.name, each.decide, each.example, ", ".join(each.stages)) for each in plan.unresolved]
        lines += ["## Open", "", *_table(("prerequisite", "to decide", "example", "needed by"), rows), ""]
    if plan.resolved:
        settled = [(each.name, each.value) for each in plan.resolved]
        lines += ["## Settled", "", *_table(("fact", "value"), settled), ""]
    for title, items in (("Warnings", plan.warnings), ("Before the first step", plan.checks)):
        if items:
            lines += [f"## {title}", "", *(f"- {_cell(each)}" for each in items), ""]
    lines += ["## Steps", ""]
    for number, step in enumerate(plan.steps, 1):
        lines += [f"### {number}. {step.name}", "", f"{step.title}. **{label_of(step)}**", ""]
        for fact in _facts(step):
            name, _, rest = fact.partition(":")
            lines.append(f"- {name}{': ' if rest else ''}{_cell(' '.join(rest.split()))}")
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
