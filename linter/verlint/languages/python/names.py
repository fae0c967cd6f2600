"""Scopes of a Python text, and what its names are bound to. Order is not looked at: a name has each value it ever
gets."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from verlint.languages.python.syntax import Parsed, arguments, children, dotted
from verlint.record import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

ScopeNode: TypeAlias = "cst.Module | cst.FunctionDef | cst.ClassDef | cst.Lambda"


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """One way a name gets a value.

    `how` is "value" (it is `node`), "item" (an element of it), "part" (its element number `place`), "opened" (the file
    that the call opens) or "added" (`+=` with it)."""

    how: str
    node: cst.BaseExpression
    scope: Scope
    place: int = 0


@dataclass(slots=True, eq=False)
class Scope:
    """A module, class or function. `parameters` are the names of a function's parameters in order, with default."""

    node: ScopeNode
    parent: Scope | None = None
    name: str = ""
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    parameters: dict[str, cst.Param] = field(default_factory=dict)
    outer: set[str] = field(default_factory=set)

    @property
    def is_method(self) -> bool:
        """Whether it is a function of a class."""
        return self.parent is not None and isinstance(self.parent.node, cst.ClassDef)


@dataclass(frozen=True, slots=True, eq=False)
class Called:
    """A call, and the scope it stands in."""

    node: cst.Call
    scope: Scope


@dataclass(slots=True, eq=False)
class Names:
    """All scopes of a text. `imported` gives the full name of what an import brings, `functions` the scopes of
    functions by name."""

    parsed: Parsed
    module: Scope
    scopes: dict[int, Scope] = field(default_factory=dict)
    calls: list[Called] = field(default_factory=list)
    functions: dict[str, list[Scope]] = field(default_factory=dict)
    classes: dict[str, cst.ClassDef] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)
    returned: dict[int, list[cst.BaseExpression]] = field(default_factory=dict)
    inside: dict[int, Scope] = field(default_factory=dict)
    """The scope of each expression that is called or assigned, by identity of the node."""
    by_name: dict[str, list[Called]] = field(default_factory=dict)

    def full_name(self, node: cst.CSTNode) -> str:
        """The dotted name of a function with imports resolved: `sp.run` is `subprocess.run`; "" when it has none."""
        name = dotted(node)
        head, dot, rest = name.partition(".")
        return self.imported.get(head, head) + dot + rest if name else ""

    def calls_of(self, function: Scope) -> list[Called]:
        """The calls of a function by its name, also of a method."""
        return self.by_name.get(function.name, [])


def names_of(parsed: Parsed) -> Names:
    """The scopes and names of a text."""
    module = Scope(parsed.module)
    found = Names(parsed, module)
    waiting: list[tuple[cst.CSTNode, Scope]] = [(parsed.module, module)]
    while waiting:
        node, scope = waiting.pop()
        inner = _enter(node, scope, found)
        _read(node, scope, found)
        below = children(node)
        if inner is not scope and isinstance(node, cst.FunctionDef):
            # defaults and decorators are looked at outside
            waiting.extend((each, scope) for each in reversed(node.decorators))
            waiting.append((node.params, scope))
            waiting.append((node.body, inner))
            continue
        waiting.extend((each, inner) for each in reversed(list(below)))
    found.calls.sort(key=lambda each: parsed.places[each.node].start if each.node in parsed.places else 0)
    for call in found.calls:
        name = dotted(call.node.func).rsplit(".", 1)[-1] or _attribute(call.node.func)
        found.by_name.setdefault(name, []).append(call)
    return found


def _attribute(node: cst.CSTNode) -> str:
    return node.attr.value if isinstance(node, cst.Attribute) else ""


def _enter(node: cst.CSTNode, scope: Scope, found: Names) -> Scope:
    if isinstance(node, cst.FunctionDef):
        made = Scope(node, scope, node.name.value)
        made.parameters = {each.name.value: each for each in _parameters(node.params)}
        found.functions.setdefault(made.name, []).append(made)
    elif isinstance(node, cst.ClassDef):
        made = Scope(node, scope, node.name.value)
        found.classes[made.name] = node
    else:
        return scope
    found.scopes[id(node)] = made
    return made


def _parameters(node: cst.Parameters) -> Iterator[cst.Param]:
    yield from node.posonly_params
    yield from node.params
    yield from node.kwonly_params


def _read(node: cst.CSTNode, scope: Scope, found: Names) -> None:
    if isinstance(node, cst.Call):
        found.calls.append(Called(node, scope))
        found.inside[id(node)] = scope
    elif isinstance(node, cst.Return) and node.value is not None:
        found.returned.setdefault(id(scope), []).append(node.value)
    elif isinstance(node, cst.Global):
        scope.outer.update(each.name.value for each in node.names)
    elif isinstance(node, cst.Import):
        _import(node, found)
    elif isinstance(node, cst.ImportFrom):
        _import_from(node, found)
    else:
        _assign(node, scope)


def _assign(node: cst.CSTNode, scope: Scope) -> None:
    if isinstance(node, cst.Assign):
        for target in node.targets:
            _bind(target.target, "value", node.value, scope)
    elif isinstance(node, (cst.AnnAssign, cst.NamedExpr)) and node.value is not None:
        _bind(node.target, "value", node.value, scope)
    elif isinstance(node, cst.AugAssign):
        _bind(node.target, "added", node.value, scope)
    elif isinstance(node, (cst.For, cst.CompFor)):
        _bind(node.target, "item", node.iter, scope)
    elif isinstance(node, cst.With):
        for item in node.items:
            if item.asname is not None:
                _bind(item.asname.name, "opened", item.item, scope)


def _bind(target: cst.CSTNode, how: str, value: cst.BaseExpression, scope: Scope, place: int = 0) -> None:
    if isinstance(target, cst.Name):
        home = scope
        if target.value in scope.outer:
            while home.parent is not None:
                home = home.parent
        home.bindings.setdefault(target.value, []).append(Binding(how, value, scope, place))
    elif isinstance(target, cst.Attribute) and dotted(target):
        _bind_attribute(target, how, value, scope)
    elif isinstance(target, (cst.Tuple, cst.List)):
        for number, each in enumerate(target.elements):
            inner = {"value": "part", "item": "item-part"}.get(how, how)
            _bind(each.value, inner, value, scope, number)


def _bind_attribute(target: cst.Attribute, how: str, value: cst.BaseExpression, scope: Scope) -> None:
    """`self.path = …` is a name of its class, `args.path = …` one of the scope."""
    name = dotted(target)
    home = scope
    if name.startswith("self.") and scope.is_method and scope.parent is not None:
        home = scope.parent
    home.bindings.setdefault(name, []).append(Binding(how, value, scope))


def _import(node: cst.Import, found: Names) -> None:
    for each in node.names:
        name = dotted(each.name)
        if each.asname is not None and isinstance(each.asname.name, cst.Name):
            found.imported[each.asname.name.value] = name
        else:
            found.imported[name.split(".", 1)[0]] = name.split(".", 1)[0]


def _import_from(node: cst.ImportFrom, found: Names) -> None:
    if isinstance(node.names, cst.ImportStar):
        return
    module = "." * len(node.relative) + dotted(node.module)
    for each in node.names:
        alias = each.asname.name if each.asname is not None else each.name
        if isinstance(alias, cst.Name):
            found.imported[alias.value] = f"{module}.{dotted(each.name)}"


def lookup(name: str, scope: Scope) -> tuple[list[Binding], Scope | None]:
    """The bindings of a name seen from a scope, and the scope that has it: the nearest one, classes left out.

    A parameter has no bindings of its own but a scope."""
    at: Scope | None = scope
    while at is not None:
        own = not isinstance(at.node, cst.ClassDef) or at is scope or name.startswith("self.")
        if own and (name in at.bindings or name in at.parameters):
            return at.bindings.get(name, []), at
        at = at.parent
    return [], None


def passed(names: Names, function: Scope, parameter: str) -> list[tuple[cst.BaseExpression, Scope]]:
    """What the calls of a function pass for a parameter, with the scope each stands in; the default where they leave it
    out."""
    order = list(function.parameters)
    shift = 1 if function.is_method and order[:1] in (["self"], ["cls"]) else 0
    place = order.index(parameter) - shift
    found: list[tuple[cst.BaseExpression, Scope]] = []
    left_out = False
    for call in names.calls_of(function):
        given = arguments(call.node).get(place, parameter)
        if given is not None:
            found.append((given, call.scope))
        else:
            left_out = True
    default = function.parameters[parameter].default
    if default is not None and (left_out or not found):
        found.append((default, function.parent or function))
    return found
