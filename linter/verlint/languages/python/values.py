"""What expressions of a Python tool may be: texts in pieces, with holes for what the call or the host decides.

Nothing is run. A name has each value that is ever assigned to it, a parameter each that is passed for it; a path joined
from several such parts has several texts, up to a limit.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Hashable, Iterable, Sequence

import libcst as cst

from verlint.languages.python.names import Binding, Names, Scope, lookup, passed
from verlint.languages.python.reaching import Reaching
from verlint.languages.python.syntax import (
    arguments,
    characters,
    constant,
    dotted,
    elements,
    index_of,
    last_name,
    string,
)
from verlint.record import replace
from verlint.source import Source
from verlint.value import Hole, Literal, Part, Text, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

Texts: TypeAlias = "tuple[Text, ...]"

MAX_TEXTS = 16
"""How many values of one expression are kept."""
MAX_STEPS = 30_000
MAX_DEPTH = 30

PARSES = frozenset(
    [
        "parse_args",
        "parse_known_args",
        "parse_intermixed_args",
        "parse_args_into_dataclasses",
        "parse_known_intermixed_args",
    ]
)
"""Methods that give the options of a call."""

_SAME_PATH = frozenset(
    ["str", "os.fspath", "os.path.abspath", "os.path.realpath", "os.path.normpath", "os.path.expanduser", "repr", "int",
     "os.path.expandvars", "pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "copy.deepcopy"]
)  # fmt: skip
_SAME_METHODS = frozenset(
    ["as_posix", "resolve", "absolute", "expanduser", "strip", "rstrip", "lstrip", "copy", "decode", "encode"]
)
_ENVIRONMENT = frozenset(["os.environ.get", "os.getenv", "environ.get", "os.environ.setdefault"])
_WRAPPERS = frozenset(["sorted", "list", "tuple", "set", "reversed", "tqdm", "tqdm.tqdm", "tqdm.auto.tqdm", "iter"])
_FIELD = re.compile(r"\{(\w*)(?:![rsa])?(?::[^{}]*)?\}|(\{\{|\}\})")
_PERCENT = re.compile(r"%(?:\((\w+)\))?[-+ #0]*\d*(?:\.\d+)?([sdifgr%])")


class OutOfSteps(Exception):
    """The text asks for more work than a tool is worth."""


class Values:
    """Evaluates expressions of one text. `entries` are the functions whose parameters are options of the call."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.parsed = names.parsed
        self.reaching = Reaching(names.parsed)
        self.entries: set[int] = set()
        self._steps = 0
        self._busy: set[object] = set()
        self._known: dict[tuple[int, int], Texts] = {}

    # ---- texts

    def texts(self, node: cst.CSTNode, scope: Scope) -> Texts:
        """What an expression may be. Raises OutOfSteps."""
        key = (id(node), id(scope))
        known = self._known.get(key)
        if known is not None:
            return known
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise OutOfSteps
        if key in self._busy or len(self._busy) > MAX_DEPTH:
            return (self.hole(node),)
        self._busy.add(key)
        try:
            found = self._texts(node, scope)
        finally:
            self._busy.discard(key)
        span = self.parsed.span(node)
        out = tuple(replace(each, span=span) for each in _distinct(found)[:MAX_TEXTS])
        if not self._busy:
            self._known[key] = out
        return out

    def text(self, node: cst.CSTNode | None, scope: Scope) -> Text | None:
        """What an expression is when it can only be one thing without unknown pieces."""
        found = () if node is None else self.texts(node, scope)
        return found[0] if len(found) == 1 and found[0].known is not None else None

    def hole(self, node: cst.CSTNode, key: Hashable = None, name: str = "", reason: str = "") -> Text:
        """An unknown that is written at a node."""
        span = self.parsed.span(node)
        if not name:
            written = " ".join(span.text.split())
            name = f"<{written if len(written) <= 40 else written[:37] + '...'}>"
        key = key or ("python", self.parsed.source.known_as, span.start)
        return Text((Hole(key, name, reason or "known only when the tool runs", span),), span)

    def option(self, node: cst.CSTNode, dest: str) -> Text:
        """The value of an option of the call."""
        return self.hole(node, option_key(self.parsed.source, dest), f"--{dest}", f"option --{dest}")

    def _texts(self, node: cst.CSTNode, scope: Scope) -> Sequence[Text]:
        if isinstance(node, cst.SimpleString):
            return [self._string(node)]
        if isinstance(node, cst.ConcatenatedString):
            return self._joined([self.texts(node.left, scope), self.texts(node.right, scope)])
        if isinstance(node, cst.FormattedString):
            return self._formatted(node, scope)
        if isinstance(node, (cst.Integer, cst.Float, cst.UnaryOperation)) and constant(node) is not ...:
            return [self._literal(str(constant(node)), node)]
        if isinstance(node, cst.Name):
            return self._name(node, scope)
        if isinstance(node, cst.Attribute):
            return self._attribute(node, scope)
        if isinstance(node, cst.BinaryOperation):
            return self._operation(node, scope)
        if isinstance(node, cst.Subscript):
            return self._subscript(node, scope)
        if isinstance(node, cst.IfExp):
            return [*self.texts(node.body, scope), *self.texts(node.orelse, scope)]
        if isinstance(node, cst.BooleanOperation):
            return [*self.texts(node.left, scope), *self.texts(node.right, scope)]
        if isinstance(node, cst.Call):
            return self._call(node, scope)
        if isinstance(node, cst.Await):
            return self.texts(node.expression, scope)
        if isinstance(node, cst.NamedExpr):
            return self.texts(node.value, scope)
        return [self.hole(node)]

    def replaceable(self, text: Text, name: str) -> Text:
        """A text that counts unless the environment gives the variable another."""
        return _overridable(text, name)

    def literal(self, text: str, node: cst.CSTNode) -> Text:
        """Characters that are written at a node."""
        return self._literal(text, node)

    def _literal(self, text: str, node: cst.CSTNode) -> Text:
        span = self.parsed.span(node)
        return Text((Literal(text, span),), span)

    def _string(self, node: cst.SimpleString) -> Text:
        value = characters(node)
        if value is None:
            return self.hole(node)
        whole = self.parsed.span(node)
        start = whole.start + len(node.prefix) + len(node.quote)
        span = self.parsed.source.span(start, whole.end - len(node.quote))
        return Text((Literal(value, span),), whole)

    def _formatted(self, node: cst.FormattedString, scope: Scope) -> Sequence[Text]:
        pieces: list[Texts] = []
        for part in node.parts:
            if isinstance(part, cst.FormattedStringText):
                text = part.value.replace("{{", "{").replace("}}", "}")
                pieces.append((self._literal(text, part),))
            elif isinstance(part, cst.FormattedStringExpression):
                pieces.append(self.texts(part.expression, scope))
        return self._joined(pieces)

    def _joined(self, pieces: Iterable[Texts]) -> Sequence[Text]:
        out: list[Text] = [Text()]
        for alternatives in pieces:
            out = [Text(left.parts + right.parts) for left in out for right in alternatives][:MAX_TEXTS]
        return out

    # ---- names

    def _name(self, node: cst.Name, scope: Scope) -> Sequence[Text]:
        if node.value in ("True", "False", "None"):
            return [self._literal(node.value, node)]
        return self._named(node.value, node, scope)

    def _named(self, name: str, node: cst.CSTNode, scope: Scope) -> Sequence[Text]:
        bindings, home = lookup(name, scope)
        out: list[Text] = []
        if len(bindings) > 1 and all(each.scope is scope for each in bindings):
            bindings = list(self.reaching.of(bindings, node))
        if home is not None and name in home.parameters:
            if id(home.node) in self.entries:
                return [self.option(node, name)]
            for given, where in passed(self.names, home, name)[:MAX_TEXTS]:
                out.extend(self.texts(given, where))
        for binding in bindings[:MAX_TEXTS]:
            if binding.how == "added":
                return [self.hole(node)]
            out.extend(self._bound(binding))
        return out or [self.hole(node)]

    def _bound(self, binding: Binding) -> Sequence[Text]:
        node, scope = binding.node, binding.scope
        if binding.how == "value":
            return self.texts(node, scope)
        if binding.how == "item":
            return self.items(node, scope) or [self.hole(node)]
        if binding.how == "part":
            return self._part(node, scope, binding.place)
        if binding.how == "item-part":
            return self._item_part(node, scope, binding.place)
        return [self.hole(node)]

    def _part(self, node: cst.BaseExpression, scope: Scope, place: int) -> Sequence[Text]:
        parts = elements(node)
        if parts is not None and place < len(parts):
            return self.texts(parts[place], scope)
        if isinstance(node, cst.Call):
            name = self.names.full_name(node.func)
            given = arguments(node).positional
            split = {"os.path.splitext": posixpath.splitext, "os.path.split": posixpath.split}.get(name)
            if split is not None and given and place < 2:
                return [self._of_known(each, lambda text: split(text)[place]) for each in self.texts(given[0], scope)]
        return [self.hole(node)]

    def _item_part(self, node: cst.BaseExpression, scope: Scope, place: int) -> Sequence[Text]:
        if isinstance(node, cst.Call):
            given = arguments(node).positional
            if last_name(node.func) == "enumerate" and given and place == 1:
                return self.items(given[0], scope) or [self.hole(node)]
            if last_name(node.func) == "items" and isinstance(node.func, cst.Attribute):
                pairs = self.pairs(node.func.value, scope)
                return [text for pair in pairs for text in self.texts(pair[place > 0], scope)] or [self.hole(node)]
            return [self.hole(node)]
        rows = [elements(each) for each in self._elements(node, scope) or ()]
        found = [text for row in rows if row and place < len(row) for text in self.texts(row[place], scope)]
        return found or [self.hole(node)]

    def is_parsed(self, node: cst.CSTNode, scope: Scope) -> bool:
        """Whether an expression is what the parser of options has made of the call."""
        if isinstance(node, cst.Call):
            return last_name(node.func) in PARSES or self.names.full_name(node.func) == "tyro.cli"
        name = dotted(node)
        key = ("parsed", name, id(scope))
        if not name or key in self._busy:
            return False
        self._busy.add(key)
        try:
            bindings, home = lookup(name, scope)
            if any(each.how in ("value", "part") and self.is_parsed(each.node, each.scope) for each in bindings):
                return True
            if home is None or name not in home.parameters:
                return False
            return any(self.is_parsed(given, where) for given, where in passed(self.names, home, name)[:4])
        finally:
            self._busy.discard(key)

    def _attribute(self, node: cst.Attribute, scope: Scope) -> Sequence[Text]:
        name = dotted(node)
        if name == "sys.executable":
            return [self._literal("python3", node)]
        if name:
            bindings, _ = lookup(name, scope)
            if bindings:
                return self._named(name, node, scope)
        if self.is_parsed(node.value, scope):
            return [self.option(node, node.attr.value)]
        if node.attr.value == "parent":
            return [self._of_known(each, posixpath.dirname) for each in self.texts(node.value, scope)]
        if node.attr.value in ("name", "stem"):
            cut = (
                posixpath.basename
                if node.attr.value == "name"
                else lambda text: posixpath.splitext(posixpath.basename(text))[0]
            )
            return [self._of_known(each, cut) for each in self.texts(node.value, scope)]
        return [self.hole(node)]

    def _of_known(self, text: Text, change: Callable[[str], str]) -> Text:
        """A text that is known, changed; an unknown one is another unknown afterwards."""
        known = text.known
        if known is not None:
            span = next((part.span for part in text.parts if part.span is not None), text.span)
            return Text((Literal(change(known), span),), text.span)
        name = text.shown.removeprefix("<").removesuffix(">")
        key = ("changed", text.identity(), id(change))
        return Text(
            (Hole(key, f"<{name[:37]}>", "made of what is known only when the tool runs", text.span),), text.span
        )

    # ---- operations

    def _operation(self, node: cst.BinaryOperation, scope: Scope) -> Sequence[Text]:
        if isinstance(node.operator, cst.Add):
            return self._joined([self.texts(node.left, scope), self.texts(node.right, scope)])
        if isinstance(node.operator, cst.Divide):
            return self._paths([self.texts(node.left, scope), self.texts(node.right, scope)])
        if isinstance(node.operator, cst.Modulo):
            template = self.text(node.left, scope)
            if template is not None and string(node.left) is not None:
                return self._percent(template, node.right, scope)
        return [self.hole(node)]

    def _percent(self, template: Text, right: cst.BaseExpression, scope: Scope) -> Sequence[Text]:
        given = elements(right) if isinstance(right, cst.Tuple) else [right]
        known = template.known or ""
        pieces: list[Texts] = []
        at, number = 0, 0
        for match in _PERCENT.finditer(known):
            pieces.append((template.slice(at, match.start()),))
            at = match.end()
            if match[2] == "%":
                pieces.append((Text((Literal("%"),)),))
            elif match[1] or given is None or number >= len(given):
                pieces.append((self.hole(right),))
            else:
                pieces.append(self.texts(given[number], scope))
                number += 1
        return self._joined([*pieces, (template.slice(at, len(known)),)])

    def _paths(self, pieces: Sequence[Texts]) -> Sequence[Text]:
        out: list[Text] = list(pieces[0]) if pieces else []
        for alternatives in pieces[1:]:
            out = [_path(left, right) for left in out for right in alternatives][:MAX_TEXTS]
        return out

    def _subscript(self, node: cst.Subscript, scope: Scope) -> Sequence[Text]:
        index = index_of(node)
        if index is None:
            return [self.hole(node)]
        name = self.names.full_name(node.value)
        key = constant(index)
        if name in ("os.environ", "environ") and isinstance(key, str):
            return [self._variable(key, node)]
        if name == "sys.argv" and isinstance(key, int):
            return [
                self.hole(node, ("argument", self.parsed.source.known_as, key), f"<argument {key}>", f"argument {key}")
            ]
        found = self._split(node.value, key, scope)
        if found:
            return found
        pairs = self.pairs(node.value, scope)
        if pairs:
            same = [value for name, value in pairs if constant(name) == key and key is not ...]
            values = same or ([value for _, value in pairs] if key is ... else [])
            return [text for value in values[:MAX_TEXTS] for text in self.texts(value, scope)] or [self.hole(node)]
        if isinstance(key, int):
            parts = self._elements(node.value, scope)
            if parts is not None and -len(parts) <= key < len(parts):
                return self.texts(parts[key], scope)
        if self.is_parsed(node.value, scope) and isinstance(key, str):
            return [self.option(node, key)]
        return [self.hole(node)]

    def _split(self, node: cst.CSTNode, key: object, scope: Scope) -> Sequence[Text]:
        """`name.split("/")[-1]` and `os.path.splitext(name)[0]`, also where the pieces have a name."""
        if not isinstance(key, int):
            return []
        if isinstance(node, cst.Name):
            bindings, _ = lookup(node.value, scope)
            if len(bindings) == 1 and bindings[0].how == "value" and isinstance(bindings[0].node, cst.Call):
                return self._split(bindings[0].node, key, bindings[0].scope)
        if not isinstance(node, cst.Call):
            return []
        given = arguments(node).positional
        name = self.names.full_name(node.func)
        if name == "os.path.splitext" and given:
            return self._cut_known(self.texts(given[0], scope), lambda text: list(posixpath.splitext(text)), key)
        if isinstance(node.func, cst.Attribute) and node.func.attr.value in ("split", "rsplit"):
            separator = constant(given[0]) if given else None
            texts = self.texts(node.func.value, scope)
            if separator == "," and len(texts) == 1 and _argument(texts[0]) is not None:
                place = ("field", self.parsed.source.known_as, _argument(texts[0]), key)
                return [self.hole(node, place, f"<field {key + 1}>", f"field {key + 1} of the record")]
            if separator is None or (isinstance(separator, str) and separator):
                return self._cut_known(texts, lambda text: text.split(separator), key)
        return []

    def _cut_known(self, texts: Texts, cut: Callable[[str], list[str]], key: int) -> Sequence[Text]:
        def change(text: str) -> str:
            pieces = cut(text)
            return pieces[key] if -len(pieces) <= key < len(pieces) else ""

        return [self._of_known(each, change) for each in texts]

    # ---- calls

    def _call(self, node: cst.Call, scope: Scope) -> Sequence[Text]:
        name = self.names.full_name(node.func)
        given = arguments(node)
        if name in _ENVIRONMENT and given.positional:
            return self._environment(node, given.positional, scope)
        if name in ("os.path.join", "pathlib.Path", "pathlib.PurePath") and given.positional and not given.open:
            return self._paths([self.texts(each, scope) for each in given.positional])
        if name in _SAME_PATH and given.positional:
            return self.texts(given.positional[0], scope)
        if name in ("os.path.basename", "os.path.dirname") and given.positional:
            cut = posixpath.basename if name.endswith("basename") else posixpath.dirname
            return [self._of_known(each, cut) for each in self.texts(given.positional[0], scope)]
        if isinstance(node.func, cst.Attribute):
            found = self._method(node, node.func, scope)
            if found:
                return found
        return self._of_function(node) or [self.hole(node)]

    def _environment(self, node: cst.Call, given: Sequence[cst.BaseExpression], scope: Scope) -> Sequence[Text]:
        key = self.text(given[0], scope)
        if key is None or key.known is None:
            return [self.hole(node)]
        variable = self._variable(key.known, node)
        default = given[1] if len(given) > 1 else None
        if default is None or constant(default) in (None, ""):
            return [variable]
        return [_overridable(each, key.known) for each in self.texts(default, scope)]

    def _variable(self, name: str, node: cst.CSTNode) -> Text:
        return self.hole(node, ("env", name), name, "environment variable")

    def _method(self, node: cst.Call, func: cst.Attribute, scope: Scope) -> Sequence[Text]:
        method, given = func.attr.value, arguments(node)
        if method == "joinpath":
            return self._paths([self.texts(func.value, scope), *(self.texts(each, scope) for each in given.positional)])
        if method == "format" and string(func.value) is not None:
            return self._format(func.value, node, scope)
        if method == "join" and string(func.value) is not None and given.positional:
            parts = self._elements(given.positional[0], scope)
            if parts is not None:
                separator = self.texts(func.value, scope)
                pieces = [each for part in parts for each in (separator, self.texts(part, scope))]
                return self._joined(pieces[1:])
        if method == "with_suffix" and given.positional:
            suffix = constant(given.positional[0])
            return [
                self._of_known(each, lambda text: posixpath.splitext(text)[0] + str(suffix))
                for each in self.texts(func.value, scope)
            ]
        if method in _SAME_METHODS:
            plain = not given.positional and method in ("strip", "lstrip", "rstrip")
            return [
                self._of_known(each, str.strip) if plain and each.known else each
                for each in self.texts(func.value, scope)
            ]
        if method in ("lower", "upper", "title", "capitalize"):
            change = {"lower": str.lower, "upper": str.upper, "title": str.title, "capitalize": str.capitalize}[method]
            return [self._of_known(each, change) for each in self.texts(func.value, scope)]
        if method in ("replace", "removesuffix", "removeprefix"):
            words = [constant(each) for each in given.positional]
            if words and all(isinstance(each, str) for each in words):
                return [
                    self._of_known(each, lambda text: str(getattr(text, method)(*words)))
                    for each in self.texts(func.value, scope)
                ]
        if method == "get" and self.pairs(func.value, scope) and given.positional:
            key = constant(given.positional[0])
            values = [value for name, value in self.pairs(func.value, scope) if key is ... or constant(name) == key]
            values.extend(given.positional[1:2])
            return [text for value in values[:MAX_TEXTS] for text in self.texts(value, scope)]
        return []

    def _format(self, template: cst.BaseExpression, node: cst.Call, scope: Scope) -> Sequence[Text]:
        text = self.texts(template, scope)[0]
        known, given = text.known or "", arguments(node)
        pieces: list[Texts] = []
        at, number = 0, 0
        for match in _FIELD.finditer(known):
            pieces.append((text.slice(at, match.start()),))
            at = match.end()
            if match[2]:
                pieces.append((Text((Literal(match[2][0]),)),))
                continue
            name = match[1]
            place = number if not name else whole(name)
            number += not name
            value = given.get(-1 if place is None else place, name)
            pieces.append((self.hole(node),) if value is None else self.texts(value, scope))
        return self._joined([*pieces, (text.slice(at, len(known)),)])

    def _of_function(self, node: cst.Call) -> Sequence[Text]:
        """What a function of this text may return."""
        functions = self.names.functions.get(last_name(node.func), [])
        if len(functions) != 1:
            return []
        returned = self.names.returned.get(id(functions[0]), [])
        return [text for each in returned[:MAX_TEXTS] for text in self.texts(each, functions[0])]

    # ---- collections

    def items(self, node: cst.CSTNode, scope: Scope) -> Sequence[Text]:
        """What the elements of an expression may be; none when nothing is known of them."""
        found = self._elements(node, scope)
        return [text for each in (found or ())[: MAX_TEXTS * 4] for text in self.texts(each, scope)]

    def words(self, node: cst.CSTNode, scope: Scope) -> list[Texts] | None:
        """The elements of a list in order, each with what it may be; None for a list that is not written out."""
        found = self._elements(node, scope)
        return None if found is None else [self.texts(each, scope) for each in found]

    def _elements(self, node: cst.CSTNode, scope: Scope, depth: int = 0) -> Sequence[cst.BaseExpression] | None:
        if depth > 6:
            return None
        own = elements(node)
        if own is not None:
            return own
        if isinstance(node, cst.Dict):
            return [key for key, _ in self.pairs(node, scope)] or None
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
            left, right = (self._elements(each, scope, depth + 1) for each in (node.left, node.right))
            return None if left is None or right is None else [*left, *right]
        if isinstance(node, cst.Call):
            return self._elements_of_call(node, scope, depth)
        name = dotted(node)
        bindings, home = lookup(name, scope) if name else ([], None)
        if home is not None and name in home.parameters and not bindings and id(home.node) not in self.entries:
            given = passed(self.names, home, name)
            return self._elements(given[0][0], given[0][1], depth + 1) if len(given) == 1 else None
        if len(bindings) == 1 and bindings[0].how == "value":
            return self._elements(bindings[0].node, bindings[0].scope, depth + 1)
        if bindings and bindings[0].how == "value" and all(each.how == "added" for each in bindings[1:]):
            return self._elements(bindings[0].node, bindings[0].scope, depth + 1)
        return None

    def _elements_of_call(self, node: cst.Call, scope: Scope, depth: int) -> Sequence[cst.BaseExpression] | None:
        given = arguments(node).positional
        if self.names.full_name(node.func) in _WRAPPERS and given:
            return self._elements(given[0], scope, depth + 1)
        if isinstance(node.func, cst.Attribute) and node.func.attr.value in ("keys", "values"):
            pairs = self.pairs(node.func.value, scope)
            return [pair[node.func.attr.value == "values"] for pair in pairs] or None
        return None

    def pairs(self, node: cst.CSTNode, scope: Scope) -> list[tuple[cst.BaseExpression, cst.BaseExpression]]:
        """Keys and values of a dictionary that is written out, also under a name; none for anything else."""
        if isinstance(node, cst.Dict):
            return [(each.key, each.value) for each in node.elements if isinstance(each, cst.DictElement)]
        name = dotted(node)
        bindings, _ = lookup(name, scope) if name else ([], None)
        if len(bindings) == 1 and bindings[0].how == "value" and isinstance(bindings[0].node, cst.Dict):
            return self.pairs(bindings[0].node, bindings[0].scope)
        return []


def option_key(source: Source, dest: str) -> Hashable:
    """The identity of the unknown that stands for an option of a tool."""
    return ("option", source.known_as, dest)


def _argument(text: Text) -> int | None:
    """The number of the argument that a text is, None for any other text."""
    key = text.parts[0].key if len(text.parts) == 1 and isinstance(text.parts[0], Hole) else None
    return key[2] if isinstance(key, tuple) and key[0] == "argument" else None


def _path(left: Text, right: Text) -> Text:
    """`os.path.join` of two parts."""
    if right.prefix.startswith("/") or not left.parts:
        return right
    known = left.known
    if known == "":
        return right
    if left.suffix.endswith("/"):
        return Text(left.parts + right.parts)
    return Text((*left.parts, Literal("/"), *right.parts))


def _overridable(text: Text, name: str) -> Text:
    parts: list[Part] = [replace(part, overridable=name) if isinstance(part, Literal) else part for part in text.parts]
    return Text(tuple(parts), text.span)


def _distinct(texts: Iterable[Text]) -> list[Text]:
    found: dict[object, Text] = {}
    for each in texts:
        found.setdefault(each.identity(), each)
    return list(found.values())
