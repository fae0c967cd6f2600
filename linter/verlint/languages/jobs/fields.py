"""Fields of job files: strings, numbers and environments out of located nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from verlint.languages.amounts import Amount
from verlint.languages.jobs.expressions import DOLLAR, Meaning, replaced
from verlint.languages.yaml import Mapping as Node_
from verlint.languages.yaml import Node, Scalar, embedded
from verlint.languages.yaml import Sequence as List
from verlint.lazy import pattern
from verlint.source import Piece, Source, Span
from verlint.value import Hole, Hop, Literal, Text

_NAME = pattern(r"[A-Za-z_]\w*")
_SPECIAL = pattern(r"'|\$\(([A-Za-z_]\w*)\)")
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
    hops = (Hop(known.span, f"{name}={known.number}"),)
    return Text((Literal(str(known.number), known.span, hops),), known.span)


def environment(
    node: Node | None, meaning: Meaning | None = None, *, missing: str = "given by whoever starts it", option: str = ""
) -> dict[str, Text]:
    """Variables of a mapping, of a list of `NAME=value`, or of a list of {name, value}. A name without a value is
    `missing`. `option` is the option of a call that may replace a value (`--env`)."""
    found: dict[str, Text] = {}
    for key, value in entries(node):
        if _NAME.fullmatch(key.text):
            found[key.text] = _value(key.text, key, value, meaning, missing, option)
    for item in items(node):
        if isinstance(item, Node_):
            name = string(item.get("name"))
            if _NAME.fullmatch(name):
                found[name] = _value(name, item, item.get("value") or item, meaning, missing, option)
        elif isinstance(item, Scalar):
            name, equals, _ = item.text.partition("=")
            if _NAME.fullmatch(name):
                source = embedded(item)
                at = len(name) + 1
                part = Literal(source.text[at:], source.span(at, len(source.text)), (Hop(item.span),))
                text = Text((part,), item.span)
                found[name] = text if equals else hole(name, missing, item.span)
    return found


def _value(name: str, owner: Node, node: Node, meaning: Meaning | None, missing: str, option: str) -> Text:
    """The value of a variable that `owner` (its key, or the whole entry) begins."""
    if not isinstance(node, Scalar) or (node.value is None and not node.style):
        return hole(name, missing, node.span)
    source = embedded(node)
    if meaning is not None and DOLLAR in source.text:
        return replaced(source, meaning)
    replaceable = f"{option} {name}" if option else ""
    whole = owner.span.join(node.span) if owner.span.source is node.span.source else node.span
    return Text((Literal(source.text, source.whole(), (Hop(whole),), overridable=replaceable),), node.span)


def words(nodes: Sequence[Node], names: frozenset[str] = frozenset()) -> Source | None:
    """A list of words as a shell text that stands for the same words: what starts a program without a shell. None when
    there is none, or one of them is no string. `$(NAME)` is replaced by the platform for those `names`."""
    scalars = [node for node in nodes if isinstance(node, Scalar)]
    if not scalars or len(scalars) != len(nodes):
        return None
    text = ""
    pieces: list[Piece] = []
    for node in scalars:
        text += " " if text else ""
        text = _quoted(node, text, pieces, names)
    file = scalars[0].written.source
    return Source(file.path, text, file, tuple(pieces))


def _quoted(node: Scalar, text: str, pieces: list[Piece], names: frozenset[str]) -> str:
    """The text with a word behind it, in single quotes where it needs them; adds where its characters stand."""
    inner = embedded(node)
    if _BARE.fullmatch(inner.text):
        pieces += [Piece(len(text) + each.inner, each.outer, each.length) for each in inner.pieces]
        return text + inner.text
    pieces.append(Piece(len(text), node.written.start, 0))
    text += "'"
    at = 0
    for found in _SPECIAL.finditer(inner.text):
        name = found[1]
        if name is not None and name not in names:
            continue
        run = inner.text[at : found.start()]
        pieces += [Piece(len(text) + number, inner.outer(at + number), 1) for number in range(len(run))]
        text += run
        if name is not None:
            pieces.append(Piece(len(text) + 2, inner.outer(found.start()), found.end() - found.start()))
        text += "'\\''" if name is None else f"'\"${{{name}}}\"'"
        at = found.end()
    run = inner.text[at:]
    pieces += [Piece(len(text) + number, inner.outer(at + number), 1) for number in range(len(run))]
    text += run
    pieces.append(Piece(len(text), node.written.end - 1, 0))
    return text + "'"
