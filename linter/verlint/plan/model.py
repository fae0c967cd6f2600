"""What a plan is: prerequisites, steps with their commands, and what to know beside them. Nothing of it is run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verlint.record import dataclass, names

NOT_EXECUTED = "not executed"
VERSION = 1

OPTION, SPEC, LATER = "option", "spec", "later"
"""How an open fact is settled: by an option of the call, by writing it into the spec, or only after a step."""


@dataclass(frozen=True, slots=True)
class Prerequisite:
    """A fact that must be settled. `value` is "" while it is open; then `decide` says what to decide, `example` shows a
    value, `stages` are those that need it, and `how` is `OPTION`, `SPEC` or `LATER`. `fact` is its number among the six
    facts of a plan."""

    name: str
    fact: int
    value: str = ""
    decide: str = ""
    example: str = ""
    stages: tuple[str, ...] = ()
    how: str = ""


@dataclass(frozen=True, slots=True)
class Trap:
    """A known failure and how it shows."""

    what: str
    symptom: str


@dataclass(frozen=True, slots=True)
class Artifact:
    """Something that a step reads or writes: what it is, where, and the step that makes it ("" for what must be there
    before the first one). `note` says how it comes to be there."""

    label: str
    path: str
    source: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `commands` are lines of a shell, started in `folder`; `label` says that nothing runs them here,
    `touches` what they would touch. `checks` are calls to make before."""

    name: str
    kind: str
    title: str
    commands: tuple[str, ...]
    round: int = 0
    folder: str = ""
    label: str = NOT_EXECUTED
    touches: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    reads: tuple[Artifact, ...] = ()
    writes: tuple[Artifact, ...] = ()
    credentials: tuple[str, ...] = ()
    branch: str = ""
    resources: str = ""
    approvals: tuple[str, ...] = ()
    optional: bool = False
    checks: tuple[str, ...] = ()
    traps: tuple[Trap, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """A staged plan. `inputs` are what its steps read and none of them makes, as prerequisites named by their place."""

    family: str
    track: str
    stage: str
    title: str
    summary: str
    resolved: tuple[Prerequisite, ...]
    unresolved: tuple[Prerequisite, ...]
    inputs: tuple[Prerequisite, ...]
    steps: tuple[Step, ...]
    checks: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def as_data(record: Any) -> Any:
    """A plan, or a part of it, as mappings, lists and scalars."""
    if isinstance(record, (Plan, Step, Artifact, Prerequisite, Trap)):
        return {name: as_data(getattr(record, name)) for name in names(record)}
    return [as_data(each) for each in record] if isinstance(record, tuple) else record


def from_data(data: Mapping[str, Any]) -> Plan:
    """The plan that `as_data` gave this of."""
    given: dict[str, Any] = {name: data[name] for name in names(Plan)}
    for name in ("resolved", "unresolved", "inputs"):
        given[name] = tuple(_record(Prerequisite, each) for each in given[name])
    given["steps"] = tuple(_record(Step, each) for each in given["steps"])
    for name in ("checks", "warnings", "notes"):
        given[name] = tuple(given[name])
    return Plan(**given)


def _record(kind: Any, data: Mapping[str, Any]) -> Any:
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
    for name, part in (("traps", Trap), ("reads", Artifact), ("writes", Artifact)):
        if name in given:
            given[name] = tuple(part(**each) for each in given[name])
    return kind(**given)
