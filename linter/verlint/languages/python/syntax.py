"""The syntax tree of a Python text, with the exact place of every node.

The text is looked at with `ast` first: it is fast, and refuses what would make the parser of libcst run out of stack.
libcst knows the place of each piece of an f-string, whatever Python runs verlint.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from functools import cache

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, CodeSpan, MetadataWrapper

from verlint.languages.python.tree import tree
from verlint.record import dataclass
from verlint.source import Source, Span

MAX_LENGTH = 400_000
"""Characters of a text that is still read; a tool of that size does not exist."""
MAX_DEPTH = 120
"""How deep expressions and blocks may be nested."""

_NO_CODE = frozenset(
    ["lpar", "rpar", "lbracket", "rbracket", "lbrace", "rbrace", "comma", "semicolon", "leading_lines", "header"]
)
_ANYWHERE = ("whitespace", "trailing_whitespace", "lines_after", "footer", "encoding", "default_", "has_trailing")


@dataclass(frozen=True, eq=False)
class Parsed:
    """A text with its tree and the places of the nodes. `starts` are the offsets of UTF-8 bytes that begin a character,
    None for a text of ASCII only."""

    source: Source
    module: cst.Module
    places: Mapping[cst.CSTNode, CodeSpan]
    starts: Mapping[int, int] | None

    def span(self, node: cst.CSTNode) -> Span:
        """Where a node is written."""
        place = self.places.get(node)
        if place is None:
            return self.source.span(0, 0)
        start, end = place.start, place.start + place.length
        if self.starts is not None:
            start, end = self.starts.get(start, 0), self.starts.get(end, len(self.source.text))
        return self.source.span(start, end)

    def written(self, node: cst.CSTNode) -> str:
        """A node as it is written."""
        return self.span(node).text


def parse(source: Source) -> Parsed | None:
    """The tree of a text; None for one that is no Python of the present, too long, or nested too deeply."""
    if not _is_sound(source.text):
        return None
    try:
        module = cst.parse_module(source.text)
        wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
        places = wrapper.resolve(ByteSpanPositionProvider)
    except (cst.ParserSyntaxError, cst.CSTValidationError, RecursionError, ValueError, UnicodeError):
        return None
    return Parsed(source, module, places, _starts(source.text))


def _is_sound(text: str) -> bool:
    if len(text) > MAX_LENGTH or "\0" in text:
        return False
    module = tree(text)
    if module is None:
        return False
    level: list[ast.AST] = [module]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return True
    return False


def _starts(text: str) -> Mapping[int, int] | None:
    if text.isascii():
        return None
    starts: dict[int, int] = {}
    at = 0
    for offset, character in enumerate(text):
        starts[at] = offset
        at += len(character.encode("utf-8", "surrogatepass"))
    starts[at] = len(text)
    return starts


# ---- walking


@cache
def _fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    names = kind.__dataclass_fields__
    return tuple(name for name in names if name not in _NO_CODE and not name.startswith(_ANYWHERE))


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes below a node that are code, in the order of the text as far as their fields are."""
    for name in _fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from (each for each in value if isinstance(each, cst.CSTNode))


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and all below it, in the order of the text."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(reversed(list(children(each))))


# ---- small questions


def dotted(node: cst.CSTNode | None) -> str:
    """`os.path.join` for such an expression, "" for any other."""
    names: list[str] = []
    while isinstance(node, cst.Attribute):
        names.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return ""
    return ".".join([node.value, *reversed(names)])


def last_name(node: cst.CSTNode | None) -> str:
    """The name behind the last dot: `create` of `client(1).chat.completions.create`."""
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""


def characters(node: cst.SimpleString) -> str | None:
    """The characters of a string literal, None for bytes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = node.evaluated_value
    return value if isinstance(value, str) else None


def string(node: cst.CSTNode | None) -> str | None:
    """The characters of a plain string, None for any other expression."""
    if isinstance(node, cst.SimpleString):
        return characters(node)
    if isinstance(node, cst.ConcatenatedString):
        left, right = string(node.left), string(node.right)
        return None if left is None or right is None else left + right
    return None


def constant(node: cst.CSTNode | None) -> object:
    """True, False, None, a number or a string; `...` for anything else."""
    if isinstance(node, cst.Name):
        return {"True": True, "False": False, "None": None}.get(node.value, ...)
    if isinstance(node, (cst.Integer, cst.Float)):
        return node.evaluated_value
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        inner = constant(node.expression)
        return -inner if isinstance(inner, (int, float)) else ...
    text = string(node)
    return ... if text is None else text


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a call passes. `open` says that there are more, in a list or mapping that is unpacked."""

    positional: tuple[cst.BaseExpression, ...]
    named: Mapping[str, cst.BaseExpression]
    open: bool

    def get(self, place: int, name: str) -> cst.BaseExpression | None:
        """An argument by its place or its name."""
        if name in self.named:
            return self.named[name]
        return self.positional[place] if 0 <= place < len(self.positional) else None


def arguments(call: cst.Call) -> Arguments:
    """The arguments of a call."""
    positional = tuple(each.value for each in call.args if not each.star and each.keyword is None)
    named = {each.keyword.value: each.value for each in call.args if each.keyword is not None}
    return Arguments(positional, named, any(each.star for each in call.args))


def elements(node: cst.CSTNode | None) -> list[cst.BaseExpression] | None:
    """The elements of a list, tuple or set that is written out, None for anything else."""
    if not isinstance(node, (cst.List, cst.Tuple, cst.Set)):
        return None
    if any(isinstance(each, cst.StarredElement) for each in node.elements):
        return None
    return [each.value for each in node.elements]


def index_of(node: cst.Subscript) -> cst.BaseExpression | None:
    """The one index of a subscript, None for slices and several."""
    if len(node.slice) != 1:
        return None
    inner = node.slice[0].slice
    return inner.value if isinstance(inner, cst.Index) else None
