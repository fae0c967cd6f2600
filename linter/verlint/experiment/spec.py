"""An experiment spec as it was read: every field with its value, its place and the way the value came."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Literal as OneOf
from typing import TypeAlias

from verlint.experiment.spec_schema import STEP_RANGE
from verlint.languages.yaml import YamlFile
from verlint.record import dataclass, field
from verlint.source import Source, Span
from verlint.value import Hop, State, Text, Value, whole

ProblemKind: TypeAlias = OneOf["unknown-key", "wrong-type", "missing-key", "bad-value", "bad-reference"]


@dataclass(frozen=True, slots=True)
class SpecProblem:
    """One way in which a file departs from the format.

    `path` names the place in the file ("stages.warmup.branch"); `near` are right names that look alike, best first.
    Neither `message` nor `hint` repeats what stands under `credentials`.
    """

    kind: ProblemKind
    message: str
    span: Span
    path: str
    near: tuple[str, ...] = ()
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Steps:
    """Checkpoint steps. `ranges` hold them when `known`; `text` is what is written."""

    ranges: tuple[range, ...]
    span: Span
    text: str
    known: bool = True
    hops: tuple[Hop, ...] = ()

    def __contains__(self, step: object) -> bool:
        return any(step in each for each in self.ranges)

    def __iter__(self) -> Iterator[int]:
        for each in self.ranges:
            yield from each

    @property
    def first(self) -> int | None:
        """The smallest step, or None when the steps are not known."""
        return min((each[0] for each in self.ranges), default=None)

    @property
    def last(self) -> int | None:
        """The largest step, or None when the steps are not known."""
        return max((each[-1] for each in self.ranges), default=None)

    def missing_from(self, other: Steps) -> tuple[int, ...] | None:
        """The steps that `other` lacks, in order; None when either is not known."""
        if not (self.known and other.known):
            return None
        return tuple(step for step in self if step not in other)


def step_range(text: str) -> range | None:
    """The steps of `first..last` or `first..last/stride`, both ends included; None if it is no such range or empty."""
    if not re.fullmatch(STEP_RANGE, text, re.ASCII) or len(text) > 60:
        return None
    first, last, stride = (int(part) for part in re.split(r"\.\.|/", text if "/" in text else text + "/1"))
    return range(first, last + 1, stride) if last >= first else None


def accelerators(value: Value) -> tuple[str, int] | None:
    """Type and count of `TYPE:COUNT` or `{TYPE: COUNT}`; None when not known."""
    if not value.decided:
        return None
    if isinstance(value.data, str):
        kind, _, count = value.data.partition(":")
        amount = whole(count or "1")
        return None if amount is None else (kind, amount)
    if isinstance(value.data, dict) and len(value.data) == 1:
        kind, number = next(iter(value.data.items()))
        return (kind, number) if isinstance(number, int) else None
    return None


@dataclass(frozen=True, slots=True, eq=False)
class SpecCheckout:
    """A source checkout. Fields that are not given are absent values."""

    name: str
    name_span: Span
    url: Value
    ref: Value
    path: Value
    base: Value
    branches: tuple[Value, ...]
    provides: tuple[Value, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class SpecEnvironment:
    """What the stages run in."""

    setup: Value
    image: Value
    profile: Value
    ready: tuple[Value, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class SpecModel:
    """The model of a role: its own `id`, or the one of the role `same_as`."""

    role: str
    role_span: Span
    id: Value
    same_as: Value
    access: Value
    verl_role: Value
    thinking: Value
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class SpecCredential:
    """A credential that the experiment declares. `literal` says that a value stands there, which is never kept."""

    name: str
    name_span: Span
    optional: Value
    used_by: tuple[Value, ...]
    use: Value
    literal: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class SpecApproval:
    """Something a person has allowed."""

    name: str
    name_span: Span
    granted_by: Value
    sandbox: Value
    scope: tuple[Value, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class SpecDep:
    """Something a stage consumes, and the stage that makes it."""

    name: str
    name_span: Span
    from_stage: Value
    role: Value
    step: Steps | None
    steps: Steps | None
    stage_into: Value
    span: Span

    @property
    def wanted(self) -> Steps | None:
        """The steps that are consumed, however they are written; None when none are named."""
        return self.step or self.steps


@dataclass(frozen=True, slots=True, eq=False)
class SpecOut:
    """Something a stage produces: a file (`path`) or checkpoints (`roles`, `steps`, `every`, `from_step`)."""

    name: str
    name_span: Span
    path: Value
    roles: tuple[Value, ...]
    steps: Steps | None
    every: Value
    from_step: Value
    span: Span

    @property
    def is_checkpoint(self) -> bool:
        """Whether it is a set of checkpoints."""
        return not self.path.given


@dataclass(frozen=True, slots=True, eq=False)
class SpecStage:
    """One stage. Exactly one of `launcher`, `entry` and `run` is given in a valid spec.

    `run_source` is the shell text of `run` as a source, with the spec's references as written. `places` maps a key
    within the stage ("branch", "args.model") to the place of the key.
    """

    id: str
    id_span: Span
    span: Span
    kind: Value
    round: Value
    checkout: Value
    branch: Value
    launcher: Value
    args: Mapping[str, Value]
    entry: Value
    overrides: Mapping[str, Value]
    run: Text | None
    run_source: Source | None
    needs: tuple[Value, ...]
    deps: Mapping[str, SpecDep]
    outs: Mapping[str, SpecOut]
    env: Mapping[str, Value]
    resources: Mapping[str, Value]
    approvals: tuple[Value, ...]
    credentials: tuple[Value, ...]
    on_policy: Value
    optional: Value
    places: Mapping[str, Span] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Spec:
    """A whole experiment spec. `places` maps a top-level key to its place."""

    source: Source
    span: Span
    name: Value
    family: Value
    track: Value
    vars: Mapping[str, Value]
    checkouts: Mapping[str, SpecCheckout]
    environment: SpecEnvironment | None
    resources: Mapping[str, Value]
    models: Mapping[str, SpecModel]
    roots: Mapping[str, Value]
    credentials: Mapping[str, SpecCredential]
    approvals: Mapping[str, SpecApproval]
    on_policy: Value
    stages: Mapping[str, SpecStage]
    places: Mapping[str, Span] = field(default_factory=dict)

    def intent(self, stage: SpecStage) -> Value:
        """The on-policy intent that holds for a stage: its own, else the experiment's."""
        return stage.on_policy if stage.on_policy.given else self.on_policy

    def resource(self, stage: SpecStage, name: str) -> Value:
        """A resource that holds for a stage: its own, else the experiment's, else an absent value at the stage."""
        found = stage.resources.get(name) or self.resources.get(name)
        return found or Value(State.ABSENT, name, span=stage.id_span)

    def model_id(self, role: str) -> Value | None:
        """The model of a role, through `same_as`; None for a role that is not declared."""
        seen: set[str] = set()
        while (model := self.models.get(role)) is not None and role not in seen:
            seen.add(role)
            if model.id.given or not isinstance(model.same_as.data, str):
                return model.id
            role = model.same_as.data
        return None

    @cached_property
    def stage_order(self) -> tuple[str, ...]:
        """The ids of the stages in the order written."""
        return tuple(self.stages)


@dataclass(frozen=True, eq=False)
class SpecFile:
    """A file in the spec format: its YAML, everything wrong with it, and the spec as far as it could be read.

    `spec` is None when the YAML has a syntax error, is no mapping, or declares another format.
    """

    source: Source
    yaml: YamlFile
    problems: tuple[SpecProblem, ...]
    spec: Spec | None
