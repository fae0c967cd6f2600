"""Fields of job files: strings, numbers and environments out of located nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from verlint.languages.amounts import Amount
from verlint.languages.jobs.expressions import Meaning, replaced
from verlint.languages.yaml import Mapping as Node_
from verlint.languages.yaml import Node, Scalar, embedded
from verlint.languages.yaml import Sequence as List
from verlint.lazy import pattern
from verlint.source import Piece, Source, Span
from verlint.value import Hole, Literal, Text

_NAME = pattern(r"[A-Za-z_]\w*")
_BARE = pattern(r"[\w@%+=:,./-]+")


def get(node: Node | None, *keys: str) -> Node | None:
    """The node at the end of some keys, None where there is none."""
    for key in keys:
        node = node.get(key) if isinstance(node, Node_) else None
    return node


def string(node: Node | None) -> str:
    """The characters of a scalar, "" for anything else and for null."""
    return node.text if isinstance(node, Scalar) and node.value is not None else ""


def items(node: Node | None) -> Sequence[Node]:
    """The items of a list, none for anything else."""
    return node.items if isinstance(node, List) else ()


def entries(node: Node | None) -> Iterator[tuple[Scalar, Node]]:
    """Keys and values of a mapping, merges resolved."""
    if isinstance(node, Node_):
        yield from ((entry.key, entry.value) for entry in node.flat.values())


def amount(node: Node | None) -> Amount | None:
    """A whole number, None for anything else."""
    text = string(node)
    return Amount(int(text), node.span) if node is not None and text.isdigit() and len(text) < 9 else None


def given(names: Mapping[str, str]) -> dict[str, Text]:
    """Variables that a platform sets to what it alone knows: by name, with the reason."""
    return {name: hole(name, reason) for name, reason in names.items()}


def hole(name: str, reason: str, span: Span | None = None) -> Text:
    """The value of a variable that is set, but not known."""
    return Text((Hole(("given", name), name, reason, span),), span)


def number(name: str, known: Amount | None, reason: str) -> Text:
    """The value of a variable that holds an amount."""
    if known is None:
        return hole(name, reason)
    return Text((Literal(str(known.number), known.span),), known.span)


def environment(
    node: Node | None, meaning: Meaning | None = None, *, missing: str = "given by whoever starts it", option: str = ""
) -> dict[str, Text]:
    """Variables of a mapping, of a list of `NAME=value`, or of a list of {name, value}. A name without a value is
    `missing`. `option` is the option of a call that may replace a value (`--env`)."""
    found: dict[str, Text] = {}
    for key, value in entries(node):
        if _NAME.fullmatch(key.text):
            found[key.text] = _value(key.text, value, meaning, missing, option)
    for item in items(node):
        if isinstance(item, Node_):
            name = string(item.get("name"))
            if _NAME.fullmatch(name):
                found[name] = _value(name, item.get("value") or item, meaning, missing, option)
        elif isinstance(item, Scalar):
            name, equals, _ = item.text.partition("=")
            if _NAME.fullmatch(name):
                source = embedded(item)
                at = len(name) + 1
                text = Text((Literal(source.text[at:], source.span(at, len(source.text))),), item.span)
                found[name] = text if equals else hole(name, missing, item.span)
    return found


def _value(name: str, node: Node, meaning: Meaning | None, missing: str, option: str) -> Text:
    if not isinstance(node, Scalar) or (node.value is None and not node.style):
        return hole(name, missing, node.span)
    source = embedded(node)
    if meaning is not None and "${{" in source.text:
        return replaced(source, meaning)
    replaceable = f"{option} {name}" if option else ""
    return Text((Literal(source.text, source.whole(), overridable=replaceable),), node.span)


def words(nodes: Sequence[Node]) -> Source | None:
    """A list of words as a shell text that stands for the same words: what starts a program without a shell. None when
    there is none, or one of them is no string."""
    scalars = [node for node in nodes if isinstance(node, Scalar)]
    if not scalars or len(scalars) != len(nodes):
        return None
    text: list[str] = []
    pieces: list[Piece] = []
    at = 0
    for node in scalars:
        inner = embedded(node)
        if text:
            text.append(" ")
            at += 1
        quote = "" if _BARE.fullmatch(inner.text) else "'"
        written = inner.text if not quote else inner.text.replace("'", "'\\''")
        text.append(f"{quote}{written}{quote}")
        if "'" in inner.text:
            pieces.append(Piece(at, inner.outer(0), 1))
        else:
            pieces += (Piece(at + len(quote) + each.inner, each.outer, each.length) for each in inner.pieces)
        at += len(written) + 2 * len(quote)
    file = scalars[0].written.source
    return Source(file.path, "".join(text), file, tuple(pieces))
