"""What the texts of a spec stand for: references followed to what they name, the rest left open with its identity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from verlint.experiment.spec import ProblemKind, SpecProblem
from verlint.experiment.spec_references import Part, parts_of
from verlint.languages.yaml import Entry, Mapping, Node, Scalar, Sequence, embedded
from verlint.record import dataclass, replace
from verlint.source import Span
from verlint.value import Data, Hole, Hop, Literal, State, Text, Value
from verlint.value import Part as TextPart

LONGEST = 20_000
"""Characters that one value may grow to by references."""

DEEPEST = 80
"""Lists, mappings and references that one value may lead through, one in the other."""


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The stage whose `deps` and `outs` a reference may name."""

    id: str
    body: Mapping


@dataclass(frozen=True, slots=True)
class _Target:
    """What a reference leads to: a node in a scope, or something that only exists once a stage has run."""

    node: Node | None
    scope: Scope | None
    hole: Hole | None = None


@dataclass(frozen=True, slots=True)
class _Lost:
    """Why a reference leads nowhere."""

    message: str
    near: tuple[str, ...] = ()
    hint: str = ""


class Resolver:
    """Resolves the values of one spec and collects the references that lead nowhere."""

    def __init__(self, root: Mapping) -> None:
        self._root = root
        self._known: dict[tuple[int, int, bool], Value] = {}
        self._open: set[tuple[int, int]] = set()
        self._depth = 0
        self._problems: dict[tuple[ProblemKind, int, int, str], SpecProblem] = {}

    @property
    def problems(self) -> tuple[SpecProblem, ...]:
        """References that lead nowhere, each once."""
        return tuple(self._problems.values())

    def value(
        self, node: Node, key: str, scope: Scope | None = None, *, merged: Span | None = None, shell: bool = False
    ) -> Value:
        """The value of a node. `merged` is where it came in through `<<`, `shell` says that it is a shell command."""
        value = replace(self._value(node, key, scope, shell), key=key)
        if merged is not None:
            value = replace(value, hops=(*(value.hops or (Hop(node.span),)), Hop(merged)))
        return value

    def _value(self, node: Node, path: str, scope: Scope | None, shell: bool) -> Value:
        known = (id(node), id(scope.body) if scope else 0, shell)
        if known in self._known:
            return self._known[known]
        if self._depth >= DEEPEST:
            self._report("bad-value", node.span, path, _Lost(f"more than {DEEPEST} levels of lists and references"))
            return Value(State.UNKNOWN, span=node.span, reason="nested too deeply")
        self._depth += 1
        try:
            if isinstance(node, Scalar):
                found = self._scalar(node, path, scope, shell)
            else:
                found = self._collection(node, path, scope)
        finally:
            self._depth -= 1
        self._known[known] = found
        return found

    def _collection(self, node: Sequence | Mapping, path: str, scope: Scope | None) -> Value:
        """A list or mapping of values; symbolic when one of them is."""
        if isinstance(node, Sequence):
            values = [self._value(item, f"{path}[{index}]", scope, False) for index, item in enumerate(node.items)]
            data: Data = [value.data for value in values]
            text = _enclosed("[", "]", [("", value) for value in values], node.span)
        else:
            named = {key: self._value(each.value, f"{path}.{key}", scope, False) for key, each in node.flat.items()}
            values = list(named.values())
            data = {key: value.data for key, value in named.items()}
            text = _enclosed("{", "}", [(key + ": ", value) for key, value in named.items()], node.span)
        if text is None:
            return Value(State.UNKNOWN, span=node.span, reason="too large")
        if all(value.state is State.KNOWN for value in values):
            return Value(State.KNOWN, data=data, text=text, span=node.span)
        return Value(State.SYMBOLIC, text=text, span=node.span, reason="holds parts that are not known")

    def _scalar(self, node: Scalar, path: str, scope: Scope | None, shell: bool) -> Value:
        if "${" not in node.text and "<" not in node.text:
            return _literal(node)
        parts = list(parts_of(node.text, shell=shell))
        if len(parts) == 1 and parts[0].kind == "text" and parts[0].text == node.text:
            return _literal(node)
        inner = embedded(node)
        results = [self._part(part, inner.span(part.start, part.end).in_file(), node, path, scope) for part in parts]
        if len(results) == 1 and results[0].state is not State.SYMBOLIC:
            return replace(results[0], span=node.span)
        return self._joined(results, node, path)

    def _joined(self, results: list[Value], node: Scalar, path: str) -> Value:
        texts = [value.text for value in results]
        if any(isinstance(value.data, (list, dict)) for value in results):
            self._report("bad-reference", node.span, path, _Lost("a list or mapping cannot be part of a text"))
            return Value(State.UNKNOWN, span=node.span, reason="holds a list or mapping")
        joined: list[TextPart] = [part for text in texts if text is not None for part in text.parts]
        if None in texts or _length(joined) > LONGEST:
            return Value(State.UNKNOWN, span=node.span, reason="not known")
        text = Text(tuple(joined), results[0].span if len(results) == 1 else node.span)
        trail = text.trail()
        hops = trail if len(trail) > 1 else ()
        if (characters := text.known) is not None:
            return Value(State.KNOWN, data=characters, text=text, span=node.span, hops=hops)
        reason = text.holes[0].reason
        return Value(State.SYMBOLIC, text=text, span=node.span, hops=hops, reason=reason)

    def _part(self, part: Part, span: Span, node: Scalar, path: str, scope: Scope | None) -> Value:
        """The value of one part; `span` is its place in the file."""
        if part.kind == "text":
            text = Text((Literal(part.text, span, quoted=node.quoted),), span)
            return Value(State.KNOWN, data=part.text, text=text, span=span)
        if part.kind == "placeholder":
            name = part.text
            return _hole(Hole(("placeholder", name), f"<{name}>", "placeholder", span), span)
        if part.kind == "env":
            return self._environment(part, span)
        if part.kind == "path":
            return self._reference(part.text, span, path, scope)
        lost = _Lost("the `${` is never closed", hint=r"add `}`, or write `\${` for the characters")
        if part.kind == "resolver":
            lost = _Lost("this reference is not one of the format", hint="write ${path.in.this.file} or ${oc.env:NAME}")
        return self._unresolved(lost, part.text, span, path)

    def _environment(self, part: Part, span: Span) -> Value:
        if part.default is None or "${" in part.default:
            return _hole(Hole(("env", part.text), part.text, "environment variable", span), span)
        text = Text((Literal(part.default, span, overridable=part.text),), span)
        return Value(State.KNOWN, data=part.default, text=text, span=span)

    def _reference(self, name: str, span: Span, path: str, scope: Scope | None) -> Value:
        target = self._target(name.split("."), scope)
        if isinstance(target, _Lost):
            return self._unresolved(target, name, span, path)
        if target.hole is not None:
            return _hole(replace(target.hole, span=span), span)
        assert target.node is not None
        if isinstance(target.node, Mapping):
            return self._unresolved(_Lost(f"`{name}` is a mapping, not one value"), name, span, path)
        marker = (id(target.node), id(target.scope.body) if target.scope else 0)
        if marker in self._open:
            return self._unresolved(_Lost(f"`{name}` refers to itself"), name, span, path)
        self._open.add(marker)
        try:
            value = self._value(target.node, name, target.scope, False)
        finally:
            self._open.discard(marker)
        return _through(value, span)

    def _target(self, names: list[str], scope: Scope | None) -> _Target | _Lost:
        if names[0] in {"deps", "outs"}:
            return self._stage_local(names, scope)
        if names[0] == "credentials":
            return _Lost("a credential has no value in a spec", hint="use ${oc.env:NAME} where the run reads it")
        found = self._walk(self._root, names, 0)
        if isinstance(found, _Lost):
            return self._guess(names, found)
        if names[0] == "models" and isinstance(found, Mapping):
            return self._model(names, found)
        own = self._scope_of(names)
        return _Target(found, own)

    def _scope_of(self, names: list[str]) -> Scope | None:
        stages = self._root.get("stages")
        if names[0] != "stages" or len(names) < 2 or not isinstance(stages, Mapping):
            return None
        body = stages.get(names[1])
        return Scope(names[1], body) if isinstance(body, Mapping) else None

    def _walk(self, start: Mapping, names: list[str], done: int) -> Node | _Lost:
        """Follow names into nested mappings; `done` of them were followed before."""
        node: Node = start
        for index in range(done, len(names)):
            if not isinstance(node, Mapping):
                return _Lost(f"`{'.'.join(names[:index])}` has no keys")
            found = node.get(names[index])
            if found is None:
                before = ".".join(names[:index])
                likely = get_close_matches(names[index], list(node.flat), n=3)
                near = tuple(".".join([*names[:index], each, *names[index + 1 :]]) for each in likely)
                where = f"`{before}` has no `{names[index]}`" if before else f"`{names[0]}` names nothing in this file"
                return _Lost(where, near)
            node = found
        return node

    def _guess(self, names: list[str], lost: _Lost) -> _Lost:
        """Where a plain name leads nowhere, what is likely meant."""
        if len(names) > 1 or lost.near:
            return lost
        name = names[0]
        held = [
            f"{section}.{name}"
            for section in ("vars", "roots", "models", "resources")
            if isinstance(part := self._root.get(section), Mapping) and name in part.flat
        ]
        if held:
            return replace(lost, near=tuple(held))
        if name.isupper():
            return replace(lost, hint=f"an environment variable is written ${{oc.env:{name}}}")
        return lost

    def _model(self, names: list[str], found: Mapping) -> _Target:
        """`${models.ROLE}` stands for the model's id, through `same_as`; a role without one is reported elsewhere."""
        models = self._root.get("models")
        if len(names) != 2 or not isinstance(models, Mapping):
            return _Target(found, None)
        seen: set[int] = set()
        model: Node | None = found
        while isinstance(model, Mapping) and id(model) not in seen:
            seen.add(id(model))
            if (own := model.get("id")) is not None:
                return _Target(own, None)
            same = model.get("same_as")
            model = models.get(same.text) if isinstance(same, Scalar) else None
        name = ".".join(names)
        return _Target(None, None, Hole(("unresolved", name), name, "a role without a model"))

    def _stage_local(self, names: list[str], scope: Scope | None) -> _Target | _Lost:
        if scope is None:
            return _Lost(f"`{names[0]}` has a meaning within a stage only")
        found = self._walk(scope.body, names, 0)
        if isinstance(found, _Lost) or len(names) != 2:
            if isinstance(found, _Lost) and scope.body.get(names[0]) is None:
                return _Lost(f"this stage has no `{names[0]}`")
            return found if isinstance(found, _Lost) else _Target(found, scope)
        if names[0] == "outs":
            return _out(found, scope, names[1])
        return self._dependency(found, names[1])

    def _dependency(self, dep: Node, name: str) -> _Target | _Lost:
        """What a stage consumes: the path that the other stage gives it, else an artifact without a name yet."""
        maker = dep.get("from") if isinstance(dep, Mapping) else None
        if not isinstance(maker, Scalar) or not isinstance(dep, Mapping):
            return _Lost(f"`deps.{name}` names no stage")
        stages = self._root.get("stages")
        body = stages.get(maker.text) if isinstance(stages, Mapping) else None
        outs = body.get("outs") if isinstance(body, Mapping) else None
        made = outs.get(name) if isinstance(outs, Mapping) else None
        if isinstance(made, Scalar) and isinstance(body, Mapping):
            return _Target(made, Scope(maker.text, body))
        role, step = (part.text if isinstance(part := dep.get(key), Scalar) else "" for key in ("role", "step"))
        key = ("artifact", maker.text, role or name, step)
        return _Target(None, None, Hole(key, f"deps.{name}", f"artifact of stage {maker.text}"))

    def _unresolved(self, lost: _Lost, name: str, span: Span, path: str) -> Value:
        self._report("bad-reference", span, path, lost)
        return _hole(Hole(("unresolved", span.start), name, "names nothing in the spec", span), span)

    def _report(self, kind: ProblemKind, span: Span, path: str, lost: _Lost) -> None:
        key = (kind, span.start, span.end, lost.message)
        self._problems.setdefault(key, SpecProblem(kind, lost.message, span, path, lost.near, lost.hint))


def _literal(node: Scalar) -> Value:
    """A scalar without references; an alias adds the step from the anchored characters to its own place."""
    hops = (Hop(node.span),) if node.span is not node.written else ()
    text = Text((Literal(node.text, node.written, hops, quoted=node.quoted),), node.span)
    way = (Hop(node.written), *hops) if hops else ()
    return Value(State.KNOWN, data=node.value, text=text, span=node.span, hops=way)


def _hole(hole: Hole, span: Span) -> Value:
    return Value(State.SYMBOLIC, text=Text((hole,), span), span=span, reason=hole.reason)


def _through(value: Value, span: Span) -> Value:
    """The value of a reference's target, after the step to the place of the reference."""
    text = replace(value.text.with_hop(Hop(span)), span=span) if value.text is not None else None
    hops = (*(value.hops or ((Hop(value.span),) if value.span else ())), Hop(span))
    return replace(value, text=text, span=span, hops=hops)


def _out(found: Node, scope: Scope, name: str) -> _Target:
    if isinstance(found, Scalar):
        return _Target(found, scope)
    return _Target(None, None, Hole(("artifact", scope.id, name, ""), f"outs.{name}", f"artifact of stage {scope.id}"))


def _enclosed(opener: str, closer: str, values: list[tuple[str, Value]], span: Span) -> Text | None:
    """The text of a collection, None when a part has none or it grows too large."""
    parts: list[TextPart] = [Literal(opener)]
    for index, (label, value) in enumerate(values):
        if value.text is None:
            return None
        parts.append(Literal((", " if index else "") + label))
        parts.extend(value.text.parts)
    parts.append(Literal(closer))
    return Text(tuple(parts), span) if _length(parts) <= LONGEST else None


def _length(parts: Iterable[TextPart]) -> int:
    return sum(len(part.text) if isinstance(part, Literal) else 1 for part in parts)


def entries_of(node: Node | None) -> Iterator[tuple[str, Entry]]:
    """The entries of a mapping as a look-up sees them; nothing for other nodes."""
    if isinstance(node, Mapping):
        yield from node.flat.items()
