"""Reads files in the format `verlint/exp-v1`: all problems at once, and the spec as far as it goes."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from verlint.experiment.spec import (
    Spec,
    SpecApproval,
    SpecCheckout,
    SpecCredential,
    SpecDep,
    SpecEnvironment,
    SpecFile,
    SpecModel,
    SpecOut,
    SpecProblem,
    SpecStage,
    Steps,
    step_range,
)
from verlint.experiment.spec_check import Checker
from verlint.experiment.spec_references import is_open
from verlint.experiment.spec_schema import SCHEMA
from verlint.experiment.spec_values import Resolver, Scope, entries_of
from verlint.languages.yaml import Mapping, Node, Scalar, Sequence, YamlFile, embedded, parse_yaml
from verlint.record import dataclass, replace
from verlint.source import Source, Span
from verlint.value import State, Value, is_quantity

_MOST_STEPS = 100_000
"""Of more steps under one key none is known: nobody saves so many checkpoints."""


def read_spec(source: Source) -> SpecFile:
    """Read a spec. Never raises: what does not fit is in `SpecFile.problems`, broken YAML in `SpecFile.yaml`."""
    file = parse_yaml(source)
    if file.error is not None:
        return SpecFile(source, file, (), None)
    root = file.root
    start = _start_of(source, root)
    if not isinstance(root, Mapping):
        what = "empty" if root is None or (isinstance(root, Scalar) and root.value is None) else "no mapping"
        return SpecFile(source, file, (SpecProblem("wrong-type", f"the spec is {what}", start, ""),), None)
    if (other := _other_format(root)) is not None:
        return SpecFile(source, file, (other,), None)
    resolver = Resolver(root)
    checker = Checker(root, resolver)
    checker.run(start)
    spec = _build(source, root, resolver)
    problems = [*_more_documents(file), *checker.problems, *resolver.problems, *_branches(spec), *_loops(spec)]
    return SpecFile(source, file, _in_order(problems), spec)


def _start_of(source: Source, root: Node | None) -> Span:
    """What to point at for the whole file: its first key, or its first character."""
    if isinstance(root, Mapping) and root.entries:
        return root.entries[0].key.span
    at = root.span.start if root is not None else 0
    return source.span(at, min(at + 1, len(source.text)))


def _other_format(root: Mapping) -> SpecProblem | None:
    """A file that declares a format of another version is judged by nothing else."""
    schema = root.get("schema")
    if not isinstance(schema, Scalar) or not isinstance(schema.value, str) or schema.value == SCHEMA:
        return None
    message = f"`schema` names a format that is not known here; this is {SCHEMA}"
    return SpecProblem("bad-value", message, schema.span, "schema", (SCHEMA,))


def _more_documents(file: YamlFile) -> list[SpecProblem]:
    return [
        SpecProblem("bad-value", "a spec is one document; this one is not read", _start_of(file.source, extra), "")
        for extra in file.documents[1:]
    ]


def _branches(spec: Spec) -> list[SpecProblem]:
    """A stage's branch must be one of its checkout's, where those are listed."""
    found: list[SpecProblem] = []
    for stage in spec.stages.values():
        checkout = spec.checkouts.get(str(stage.checkout.data)) if stage.checkout.decided else None
        branch = stage.branch.data
        if checkout is None or not checkout.branches or not isinstance(branch, str):
            continue
        listed = [each.data for each in checkout.branches]
        names = [each for each in listed if isinstance(each, str)]
        if len(names) < len(listed) or branch in names or stage.branch.span is None:
            continue
        message = f"checkout `{checkout.name}` has no branch `{branch}`"
        near = tuple(get_close_matches(branch, names, n=3))
        found.append(SpecProblem("bad-reference", message, stage.branch.span, f"stages.{stage.id}.branch", near))
    return found


def _loops(spec: Spec) -> list[SpecProblem]:
    """A role that is the same as itself, directly or through others, names no model. One problem a loop."""
    found: list[SpecProblem] = []
    done: set[str] = set()
    for role in spec.models:
        way: list[str] = []
        while role in spec.models and role not in done:
            done.add(role)
            way.append(role)
            same = spec.models[role].same_as
            role = same.data if isinstance(same.data, str) and not spec.models[role].id.given else ""
            if role in way and same.span is not None:
                path = f"models.{way[-1]}.same_as"
                found.append(SpecProblem("bad-reference", f"`{role}` is the same as itself", same.span, path))
    return found


def _in_order(problems: list[SpecProblem]) -> tuple[SpecProblem, ...]:
    """By place; the same thing at the same place, as seen through several merges, once."""
    once: dict[tuple[int, int, str, str], SpecProblem] = {}
    for problem in problems:
        seen = problem.message if problem.kind != "unknown-key" else ""
        once.setdefault((problem.span.start, problem.span.end, problem.kind, seen), problem)
    return tuple(sorted(once.values(), key=lambda each: (each.span.start, each.span.end, each.message)))


@dataclass(frozen=True, slots=True)
class _Fields:
    """The keys of one mapping as values. Nodes of a wrong type give unknown values or nothing.

    `place` is what absent keys point at, `path` names the mapping in the file, `scope` is the stage around it.
    """

    resolver: Resolver
    node: Mapping
    path: str
    place: Span
    scope: Scope | None = None

    def value(self, key: str) -> Value:
        """The value of a key; absent without it."""
        entry = self.node.flat.get(key)
        if entry is None:
            return Value(State.ABSENT, self._full(key), span=self.place)
        return self.resolver.value(entry.value, self._full(key), self.scope, merged=entry.merged)

    def values(self, key: str) -> dict[str, Value]:
        """The values of the mapping under a key, by their keys."""
        full = self._full(key)
        return {
            name: self.resolver.value(entry.value, f"{full}.{name}", self.scope, merged=entry.merged)
            for name, entry in entries_of(self.node.get(key))
        }

    def list(self, key: str) -> tuple[Value, ...]:
        """The items of the list under a key; one value counts as a list of one."""
        node = self.node.get(key)
        items = node.items if isinstance(node, Sequence) else (node,) if isinstance(node, Scalar) else ()
        return tuple(
            self.resolver.value(item, f"{self._full(key)}[{index}]", self.scope)
            for index, item in enumerate(items)
            if not (isinstance(item, Scalar) and item.value is None)
        )

    def steps(self, key: str) -> Steps | None:
        """The checkpoint steps under a key, None without it."""
        node = self.node.get(key)
        if node is None or isinstance(node, Mapping):
            return None
        value = self.resolver.value(node, self._full(key), self.scope)
        text = value.text.shown if value.text is not None else node.span.text
        parts = value.data if isinstance(value.data, list) else [value.data]
        ranges = [_as_range(part) for part in parts] if value.state is State.KNOWN else [None]
        known = tuple(each for each in ranges if each is not None)
        complete = len(known) == len(ranges) and sum(map(len, known)) <= _MOST_STEPS
        return Steps(known if complete else (), node.span, text, complete, value.hops)

    def intent(self) -> Value:
        """The on-policy intent of the mapping."""
        held = self.child("on_policy")
        return held.value("intent") if held else Value(State.ABSENT, self._full("on_policy.intent"), span=self.place)

    def child(self, key: str) -> _Fields | None:
        """The fields of the mapping under a key."""
        entry = self.node.flat.get(key)
        if entry is None or not isinstance(entry.value, Mapping):
            return None
        return replace(self, node=entry.value, path=self._full(key), place=entry.key.span)

    def children(self, key: str) -> Iterator[tuple[str, _Fields]]:
        """The fields of each mapping in the mapping under a key."""
        if (held := self.child(key)) is not None:
            for name in held.node.flat:
                if (found := held.child(name)) is not None:
                    yield name, found

    def _full(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key


def _build(source: Source, root: Mapping, resolver: Resolver) -> Spec:
    """The model of a spec's nodes."""
    top = _Fields(resolver, root, "", _start_of(source, root))
    environment = top.child("environment")
    return Spec(
        source=source,
        span=root.span,
        name=top.value("name"),
        family=top.value("family"),
        track=top.value("track"),
        vars=top.values("vars"),
        checkouts={name: _checkout(name, fields) for name, fields in top.children("checkout")},
        environment=_environment(environment) if environment else None,
        resources=top.values("resources"),
        models={role: _model(role, fields) for role, fields in top.children("models")},
        roots=top.values("roots"),
        credentials=_credentials(top),
        approvals={name: _approval(name, fields) for name, fields in top.children("approvals")},
        on_policy=top.intent(),
        stages={
            name: _stage(name, replace(fields, scope=Scope(name, fields.node)))
            for name, fields in top.children("stages")
        },
        places={key: entry.key.span for key, entry in entries_of(root)},
    )


def _checkout(name: str, fields: _Fields) -> SpecCheckout:
    return SpecCheckout(
        name=name,
        name_span=fields.place,
        url=fields.value("url"),
        ref=fields.value("ref"),
        path=fields.value("path"),
        base=fields.value("base"),
        branches=fields.list("branches"),
        provides=fields.list("provides"),
        span=fields.node.span,
    )


def _environment(fields: _Fields) -> SpecEnvironment:
    return SpecEnvironment(
        setup=fields.value("setup"),
        image=fields.value("image"),
        profile=fields.value("profile"),
        ready=fields.list("ready"),
        span=fields.node.span,
    )


def _model(role: str, fields: _Fields) -> SpecModel:
    return SpecModel(
        role=role,
        role_span=fields.place,
        id=fields.value("id"),
        same_as=fields.value("same_as"),
        access=fields.value("access"),
        verl_role=fields.value("verl_role"),
        thinking=fields.value("thinking"),
        span=fields.node.span,
    )


def _credentials(top: _Fields) -> dict[str, SpecCredential]:
    """The declared credentials; a value that stands where none may is noted and left out."""
    found: dict[str, SpecCredential] = {}
    records = dict(top.children("credentials"))
    for name, entry in entries_of(top.node.get("credentials")):
        place, node = entry.key.span, entry.value
        if (fields := records.get(name)) is not None:
            optional, use = fields.value("optional"), fields.value("use")
            found[name] = SpecCredential(name, place, optional, fields.list("used_by"), use, False, node.span)
            continue
        literal = not (isinstance(node, Scalar) and (node.value is None or is_open(node.text)))
        absent = Value(State.ABSENT, f"credentials.{name}", span=place)
        found[name] = SpecCredential(name, place, absent, (), absent, literal, node.span)
    return found


def _approval(name: str, fields: _Fields) -> SpecApproval:
    return SpecApproval(
        name=name,
        name_span=fields.place,
        granted_by=fields.value("granted_by"),
        sandbox=fields.value("sandbox"),
        scope=fields.list("scope"),
        span=fields.node.span,
    )


def _stage(name: str, fields: _Fields) -> SpecStage:
    node, resolver = fields.node, fields.resolver
    run = node.get("run")
    command = run if isinstance(run, Scalar) and isinstance(run.value, str) else None
    return SpecStage(
        id=name,
        id_span=fields.place,
        span=node.span,
        kind=fields.value("kind"),
        round=fields.value("round"),
        checkout=fields.value("checkout"),
        branch=fields.value("branch"),
        launcher=fields.value("launcher"),
        args=fields.values("args"),
        entry=fields.value("entry"),
        overrides=fields.values("overrides"),
        run=resolver.value(command, f"{fields.path}.run", fields.scope, shell=True).text if command else None,
        run_source=embedded(command) if command else None,
        needs=fields.list("needs"),
        deps={key: _dep(key, each) for key, each in fields.children("deps")},
        outs=_outs(fields),
        env=fields.values("env"),
        resources=fields.values("resources"),
        approvals=fields.list("approvals"),
        credentials=fields.list("credentials"),
        on_policy=fields.intent(),
        optional=fields.value("optional"),
        places=_places(node),
    )


def _dep(name: str, fields: _Fields) -> SpecDep:
    return SpecDep(
        name=name,
        name_span=fields.place,
        from_stage=fields.value("from"),
        role=fields.value("role"),
        step=fields.steps("step"),
        steps=fields.steps("steps"),
        stage_into=fields.value("stage_into"),
        span=fields.node.span,
    )


def _outs(stage: _Fields) -> dict[str, SpecOut]:
    """The outputs of a stage: paths and checkpoints."""
    found: dict[str, SpecOut] = {}
    records = dict(stage.children("outs"))
    values = stage.values("outs")
    for name, entry in entries_of(stage.node.get("outs")):
        value = values[name]
        place, span = entry.key.span, entry.value.span
        absent = Value(State.ABSENT, value.key, span=place)
        if (fields := records.get(name)) is None:
            found[name] = SpecOut(name, place, value, (), None, absent, absent, span)
            continue
        roles, steps = fields.list("roles"), fields.steps("steps")
        every, from_step = fields.value("every"), fields.value("from_step")
        found[name] = SpecOut(name, place, absent, roles, steps, every, from_step, span)
    return found


def _as_range(data: object) -> range | None:
    if isinstance(data, str):
        found = step_range(data)
        return found if found is not None and is_quantity(found[-1]) else None
    if not is_quantity(data) or data != int(data) or data < 0:
        return None
    return range(int(data), int(data) + 1)


def _places(node: Mapping) -> dict[str, Span]:
    """The places of a stage's keys and of the keys one level below."""
    places: dict[str, Span] = {}
    for key, entry in node.flat.items():
        places[key] = entry.key.span
        places.update({f"{key}.{inner}": below.key.span for inner, below in entries_of(entry.value)})
    return places
