"""Lists of words and environments as a Python driver builds them: `[*base, "a"]`, `cmd.append(…)`, `cmd += …`,
`[f"{k}={v}" for k, v in over.items()]`, `{**os.environ, "B": "32"}`, `env["B"] = "32"`, `os.environ["B"] = "32"`.

What is done on each way to a place counts; what only may be done makes the list open, and a variable unknown."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from verlint.languages.python.names import Scope, lookup
from verlint.languages.python.syntax import arguments, children, constant, dotted, index_of, last_name
from verlint.languages.python.values import Texts, Values
from verlint.record import dataclass, field
from verlint.value import Text

_SPECIAL = frozenset("'\"\\$`*?[]{}()<>|&;~#\n")
_GROWING = frozenset(["append", "extend"])
_CHANGING = frozenset(["insert", "remove", "pop", "clear", "sort", "reverse"])
_SAME = frozenset(["shlex.join", "list", "tuple", "dict", "copy.copy", "copy.deepcopy"])
_ENVIRON = "os.environ"
_DEEPEST = 8


@dataclass(slots=True)
class Words:
    """The words of a list, each with what it may be. `open`: there may be more."""

    items: list[Texts] = field(default_factory=list)
    open: bool = False


@dataclass(slots=True)
class Environment:
    """The variables that are set for a program; `inherits` says that it has those of the driver as well."""

    given: dict[str, Text] = field(default_factory=dict)
    inherits: bool = False


@dataclass(frozen=True, slots=True)
class _Setting:
    """A variable that is put into a mapping: `NAME["KEY"] = value`; "" for one whose key is not known."""

    mapping: str
    key: str
    value: cst.BaseExpression
    node: cst.CSTNode
    scope: Scope
    default: bool = False


class Building:
    """Answers for one text."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.names = values.names
        self._settings: list[_Setting] | None = None

    # ---- words

    def words(self, node: cst.CSTNode, scope: Scope, at: cst.CSTNode, depth: int = 0) -> Words | None:
        """The words of a list as they are at a place; None for what is no list that is known."""
        if depth > _DEEPEST:
            return None
        if isinstance(node, (cst.List, cst.Tuple)):
            return self._written(node, scope, at, depth)
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
            return self._comprehended(node, scope)
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
            left = self.words(node.left, scope, at, depth + 1)
            return None if left is None else self._joined(left, self.words(node.right, scope, at, depth + 1))
        if isinstance(node, cst.Call):
            given = arguments(node).positional
            if self.names.full_name(node.func) in _SAME and given:
                return self.words(given[0], scope, at, depth + 1)
            return self._split(node, scope)
        return self._named(node, scope, at, depth)

    def _joined(self, left: Words, right: Words | None) -> Words:
        if right is None:
            return Words(left.items, True)
        return Words([*left.items, *right.items], left.open or right.open)

    def _written(self, node: cst.List | cst.Tuple, scope: Scope, at: cst.CSTNode, depth: int) -> Words:
        out = Words()
        for each in node.elements:
            if isinstance(each, cst.StarredElement):
                out = self._joined(out, self.words(each.value, scope, at, depth + 1))
            else:
                out.items.append(self.values.texts(each.value, scope))
        return out

    def _comprehended(self, node: cst.ListComp | cst.GeneratorExp, scope: Scope) -> Words | None:
        """`f"{key}={value}" for key, value in MAPPING.items()`"""
        loop, written = node.for_in, node.elt
        target = loop.target
        if loop.ifs or loop.inner_for_in is not None or not isinstance(written, cst.FormattedString):
            return None
        if not (
            isinstance(loop.iter, cst.Call) and last_name(loop.iter.func) == "items" and isinstance(target, cst.Tuple)
        ):
            return None
        assert isinstance(loop.iter.func, cst.Attribute)
        names = [dotted(each.value) for each in target.elements]
        out = Words()
        for pair in self.values.pairs(loop.iter.func.value, scope):
            text = Text()
            for part in written.parts:
                if isinstance(part, cst.FormattedStringText):
                    found: Texts = (self.values.literal(part.value, part),)
                else:
                    assert isinstance(part, cst.FormattedStringExpression)
                    name = dotted(part.expression)
                    inner = pair[names.index(name)] if name in names else part.expression
                    found = self.values.texts(inner, scope)
                one = found[0] if len(found) == 1 else self.values.hole(part)
                text = Text((*text.parts, *one.parts), self.values.parsed.span(pair[1]))
            out.items.append((text,))
        return out if out.items else None

    def _split(self, node: cst.Call, scope: Scope) -> Words | None:
        """`"python3 -m …".split()`, `shlex.split("…")`, as far as nothing in the text means anything to either."""
        given = arguments(node).positional
        inner: cst.CSTNode | None = None
        if self.names.full_name(node.func) == "shlex.split" and given:
            inner = given[0]
        elif isinstance(node.func, cst.Attribute) and node.func.attr.value == "split" and not given:
            inner = node.func.value
        found = () if inner is None else self.values.texts(inner, scope)
        if len(found) != 1:
            return None
        flat = "".join(getattr(part, "text", "\0") for part in found[0].parts)
        if not _SPECIAL.isdisjoint(flat.replace("\n", " ")):
            return None
        out, at = Words(), 0
        for word in flat.split():
            start = flat.index(word, at)
            at = start + len(word)
            out.items.append((found[0].slice(start, at),))
        return out

    def _named(self, node: cst.CSTNode, scope: Scope, at: cst.CSTNode, depth: int) -> Words | None:
        name = dotted(node)
        bindings, home = lookup(name, scope) if name else ([], None)
        values = [each for each in bindings if each.how == "value"]
        if len(values) != 1 or home is None or name in home.parameters:
            return None
        if any(each.how not in ("value", "added") for each in bindings):
            return None
        found = self.words(values[0].node, values[0].scope, values[0].node, depth + 1)
        if found is None:
            return None
        added = [(each.node, each.node, each.scope, True) for each in bindings if each.how == "added"]
        for call in self.names.calls:
            owner, _, method = dotted(call.node.func).rpartition(".")
            if owner != name or lookup(name, call.scope)[1] is not home:
                continue
            given = arguments(call.node).positional
            if method in _CHANGING or (method in _GROWING and len(given) != 1):
                return None
            if method in _GROWING:
                added.append((call.node, given[0], call.scope, method == "extend"))
        added.sort(key=lambda each: self._start(each[0]))
        for where, what, inside, several in added:
            if self.values.reaching.never_before(where, at) and inside is scope:
                continue
            if inside is not scope or not self.values.reaching.surely_before(where, at):
                more = self.words(what, inside, where, depth + 1) if several else None
                self._perhaps(found, more.items if more is not None else [self.values.texts(what, inside)], where)
            elif several:
                found = self._joined(found, self.words(what, inside, where, depth + 1))
            else:
                found.items.append(self.values.texts(what, inside))
        return found

    def _perhaps(self, found: Words, more: list[Texts], where: cst.CSTNode) -> None:
        """Add words that may be there or not: a key that they may set is unknown where it was known."""
        found.open = True
        keys = {text.prefix.partition("=")[0] for texts in more for text in texts if "=" in text.prefix}
        for number, texts in enumerate(found.items):
            key = texts[0].prefix.partition("=")[0]
            if key in keys:
                value = self.values.hole(where)
                found.items[number] = (Text((*texts[0].slice(0, len(key) + 1).parts, *value.parts), texts[0].span),)

    def _start(self, node: cst.CSTNode) -> int:
        return self.values.parsed.places[node].start

    # ---- environments

    def environment(self, node: cst.CSTNode | None, scope: Scope, at: cst.CSTNode) -> Environment | None:
        """The variables of a program that is started at a place with `env=node`; None where they are not known."""
        if node is None or dotted(node) == "None":
            return self._grown(_ENVIRON, Environment({}, True), scope, at)
        return self._mapping(node, scope, at, 0)

    def _mapping(self, node: cst.CSTNode, scope: Scope, at: cst.CSTNode, depth: int) -> Environment | None:
        if depth > _DEEPEST:
            return None
        if self.names.full_name(node) == _ENVIRON:
            return self._grown(_ENVIRON, Environment({}, True), scope, at)
        if isinstance(node, cst.Dict):
            return self._of_dict(node, scope, at, depth)
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
            left = self._mapping(node.left, scope, at, depth + 1)
            right = self._mapping(node.right, scope, at, depth + 1)
            return self._merged(left, right)
        if isinstance(node, cst.Call):
            return self._of_call(node, scope, at, depth)
        name = dotted(node)
        bindings, home = lookup(name, scope) if name else ([], None)
        if len(bindings) != 1 or bindings[0].how != "value" or home is None or name in home.parameters:
            return None
        found = self._mapping(bindings[0].node, bindings[0].scope, bindings[0].node, depth + 1)
        return None if found is None else self._grown(name, found, scope, at)

    def _merged(self, left: Environment | None, right: Environment | None) -> Environment | None:
        if left is None or right is None:
            return None
        return Environment({**left.given, **right.given}, left.inherits or right.inherits)

    def _of_dict(self, node: cst.Dict, scope: Scope, at: cst.CSTNode, depth: int) -> Environment | None:
        out: Environment | None = Environment()
        for each in node.elements:
            if isinstance(each, cst.DictElement):
                key = constant(each.key)
                if not isinstance(key, str) or not key.isidentifier() or out is None:
                    return None
                out.given[key] = self._value(each.value, scope)
            else:
                out = self._merged(out, self._mapping(each.value, scope, at, depth + 1))
        return out

    def _of_call(self, node: cst.Call, scope: Scope, at: cst.CSTNode, depth: int) -> Environment | None:
        name, given = self.names.full_name(node.func), arguments(node)
        out: Environment | None = None
        if isinstance(node.func, cst.Attribute) and node.func.attr.value == "copy" and not node.args:
            return self._mapping(node.func.value, scope, at, depth + 1)
        if name not in _SAME:
            return None
        out = Environment()
        for arg in node.args:
            if arg.keyword is None and arg.star != "*":
                out = self._merged(out, self._mapping(arg.value, scope, at, depth + 1))
        if out is not None:
            out.given.update({key: self._value(value, scope) for key, value in given.named.items()})
        return out

    def _value(self, node: cst.BaseExpression, scope: Scope) -> Text:
        found = self.values.texts(node, scope)
        return found[0] if len(found) == 1 else self.values.hole(node)

    def _grown(self, name: str, found: Environment, scope: Scope, at: cst.CSTNode) -> Environment | None:
        """A mapping with what is put into it up to a place."""
        home = lookup(name, scope)[1]
        for each in self.settings():
            if each.mapping != name or (name != _ENVIRON and lookup(name, each.scope)[1] is not home):
                continue
            order = self._order(each, scope, at, 0)
            if order == "behind":
                continue
            if not each.key:
                return None
            if order == "before":
                value = self._value(each.value, each.scope)
                found.given[each.key] = self.values.replaceable(value, each.key) if each.default else value
            else:
                found.given[each.key] = self.values.hole(each.node)
        return found

    def _order(self, setting: _Setting, scope: Scope, at: cst.CSTNode, depth: int) -> str:
        """Whether a variable is set "before" a place on every way to it, or "behind" it; "" where that cannot be told.
        A function runs where it is called."""
        reaching = self.values.reaching
        if setting.scope is scope:
            if reaching.never_before(setting.node, at):
                return "behind"
            return "before" if reaching.surely_before(setting.node, at) else ""
        sites = [] if scope.parent is None or depth > _DEEPEST else self.names.calls_of(scope)
        orders = {self._order(setting, site.scope, site.node, depth + 1) for site in sites}
        return orders.pop() if len(orders) == 1 else ""

    def settings(self) -> list[_Setting]:
        """All that is put into mappings, in the order of the text."""
        if self._settings is None:
            self._settings = []
            waiting: list[tuple[cst.CSTNode, Scope]] = [(self.names.parsed.module, self.names.module)]
            while waiting:
                node, scope = waiting.pop()
                scope = self.names.scopes.get(id(node), scope)
                self._settings += self._settings_of(node, scope)
                waiting.extend((each, scope) for each in reversed(list(children(node))))
            self._settings.sort(key=lambda each: self._start(each.node))
        return self._settings

    def _settings_of(self, node: cst.CSTNode, scope: Scope) -> Iterator[_Setting]:
        if isinstance(node, cst.Assign):
            for target in node.targets:
                if isinstance(target.target, cst.Subscript) and (name := self._mapping_name(target.target.value)):
                    key = constant(index_of(target.target))
                    yield _Setting(name, key if isinstance(key, str) else "", node.value, node.value, scope)
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            name, method, given = self._mapping_name(node.func.value), node.func.attr.value, arguments(node)
            if method == "setdefault" and len(given.positional) == 2:
                key = constant(given.positional[0])
                yield _Setting(name, key if isinstance(key, str) else "", given.positional[1], node, scope, True)
            elif method == "update":
                for key_, value in given.named.items():
                    yield _Setting(name, key_, value, node, scope)
                for each in given.positional:
                    for left, right in self.values.pairs(each, scope) or [(node, node)]:
                        key = constant(left)
                        yield _Setting(name, key if isinstance(key, str) else "", right, node, scope)
            elif method in ("pop", "clear"):
                yield _Setting(name, "", node, node, scope)

    def _mapping_name(self, node: cst.CSTNode) -> str:
        return _ENVIRON if self.names.full_name(node) == _ENVIRON else dotted(node)
