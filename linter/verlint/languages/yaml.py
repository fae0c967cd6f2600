"""YAML as located nodes.

Every node knows the exact characters it is written with. An alias gives the anchored node again, with the place of the
alias as its span; `<<` merges are flattened for look-up while the entries keep their places. Reading never fails: what
cannot be read is `YamlFile.error`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, TypeAlias

from verlint.languages.yaml_errors import YamlError, explain
from verlint.languages.yaml_scalars import LINE_BREAK, pieces_of, printable, typed
from verlint.lazy import pattern
from verlint.record import dataclass, field, replace
from verlint.source import Source, Span
from verlint.value import Data
from verlint.value import Scalar as Plain

__all__ = ["Duplicate", "Entry", "Mapping", "Node", "Scalar", "Sequence", "YamlError", "YamlFile", "embedded",
           "parse_yaml", "plain", "walk"]  # fmt: skip

DEEPEST = 200
"""Nesting that is still read, in levels."""

MOST_NODES = 10_000
"""Keys and values of one text: more than all configs of VeRL have together, and half a second of work."""
LARGEST_EXPANSION = 100_000
"""Nodes that all aliases of a text may stand for together."""


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """One value. `value` is typed by YAML 1.2, `text` its characters after unquoting and folding.

    `style` is the quote or block sign (`'`, `"`, `|`, `>`), "" for plain. `span` is where it is used, `written` where
    it is written: they differ for an alias only, and then `anchor` is its `&name`.
    """

    value: Plain
    text: str
    span: Span
    written: Span
    style: str = ""
    tag: str = ""
    anchor: Span | None = None

    @property
    def quoted(self) -> bool:
        """Whether the characters stand in quotes."""
        return self.style in {"'", '"'}


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """A list; `span`, `written` and `anchor` as in `Scalar`."""

    items: tuple[Node, ...]
    span: Span
    written: Span
    anchor: Span | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A key with its value. `merged` is the place of the `<<` value through which it came, None for own entries."""

    key: Scalar
    value: Node
    merged: Span | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Mapping:
    """Keys with values. `entries` are those written here, `<<` and repeated keys included; `flat` is what a look-up
    sees: merges resolved, own keys before merged ones, the last of repeated keys."""

    entries: tuple[Entry, ...]
    flat: dict[str, Entry]
    span: Span
    written: Span
    anchor: Span | None = None

    def get(self, key: str) -> Node | None:
        """The value of a key, also through a merge."""
        entry = self.flat.get(key)
        return entry.value if entry is not None else None


Node: TypeAlias = Scalar | Sequence | Mapping


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A key that stands twice in one mapping: its second place and its first, and what each says where that is one
    word (else "")."""

    key: str
    span: Span
    first: Span
    text: str = ""
    first_text: str = ""


@dataclass(frozen=True, slots=True)
class YamlFile:
    """What was read of a YAML text: the documents before the error (all, without one), and repeated keys."""

    source: Source
    documents: tuple[Node, ...] = ()
    error: YamlError | None = None
    duplicates: tuple[Duplicate, ...] = ()

    @property
    def root(self) -> Node | None:
        """The first document, None for an empty text."""
        return self.documents[0] if self.documents else None


@lru_cache(maxsize=32)
def parse_yaml(source: Source) -> YamlFile:
    """Read a YAML text. Never raises: a text that is not YAML gives an error with its place. Readers and rules ask for
    the same files, so the last ones are kept."""
    from ruamel.yaml import YAML

    builder = _Builder(source)
    error: YamlError | None = None
    try:
        _check_flow(source)
        for event in YAML(typ="safe", pure=True).parse(source.text):
            builder.take(event)
    except _Stop as stop:
        error = stop.error
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception as failure:  # the parser raises many kinds of errors on broken input, not only its own
        error = explain(failure, source, builder.reached)
    duplicates = tuple(sorted(builder.duplicates, key=lambda each: each.span.start))
    return YamlFile(source, tuple(builder.documents), error, duplicates)


def embedded(node: Scalar) -> Source:
    """The text of a scalar as a source of its own, whose offsets lead back to the file."""
    outer = node.written
    return Source(outer.source.path, node.text, outer.source, pieces_of(outer.text, node.text, node.style, outer.start))


def plain(node: Node) -> Data:
    """The node as plain data: merges resolved, keys as their characters."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return {key: plain(entry.value) for key, entry in node.flat.items()}


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, in the order written, merged mappings at the place of their merge."""
    yield node
    if isinstance(node, Sequence):
        for item in node.items:
            yield from walk(item)
    elif isinstance(node, Mapping):
        for entry in node.entries:
            yield entry.key
            yield from walk(entry.value)


class _Stop(Exception):
    """Reading ends here, for the reason given."""

    def __init__(self, error: YamlError) -> None:
        super().__init__(error.message)
        self.error = error


@dataclass
class _Frame:
    """A collection that is still open."""

    start: int
    mapping: bool
    flow: bool
    name: str
    anchor: Span | None
    items: list[Node] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    key: Scalar | None = None
    size: int = 1
    height: int = 1
    end: int = 0


@dataclass(frozen=True, slots=True)
class _Anchored:
    """An anchored node with the number of nodes and levels it stands for; no node while it is still open."""

    node: Node | None
    size: int = 1
    height: int = 1


_MERGE_KEY = ("merge", "<<")
_PROPERTY = pattern(r"(?:!<[^>]*>|[&!][^\s,\[\]{}]*)")
_BLANK = pattern(r"(?:\s+(?:#[^\r\n]*)?)+")


def _too_deep(span: Span) -> YamlError:
    return YamlError(f"more than {DEEPEST} levels of nesting: what is here is not checked", span, limit=True)


def _check_flow(source: Source) -> None:
    """Stop at brackets that open one in the other past the limit: the parser looks back at all of them for each."""
    text = source.text
    if text.count("[") + text.count("{") <= DEEPEST:
        return
    found = re.search(rf"(?:[\[{{][^\[\]{{}}'\"#]*){{{DEEPEST}}}[\[{{]", text)
    if found is not None:
        raise _Stop(_too_deep(source.span(found.end() - 1, found.end())))


class _Builder:
    """Makes nodes of the parser's events, without recursion."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.documents: list[Node] = []
        self.duplicates: list[Duplicate] = []
        self.reached = 0
        self._frames: list[_Frame] = []
        self._anchors: dict[str, _Anchored] = {}
        self._expanded = 0
        self._nodes = 0

    def take(self, event: Any) -> None:
        """Take one parser event."""
        name = type(event).__name__
        start, end = self._clip(event.start_mark.index), self._clip(event.end_mark.index)
        if name == "DocumentStartEvent":
            self._anchors.clear()
        elif name == "ScalarEvent":
            self._nodes += 1
            if self._nodes > MOST_NODES:
                message = f"more than {MOST_NODES:,} keys and values: what is here is not checked"
                raise _Stop(YamlError(message, self.source.span(start, end), limit=True))
            self._scalar(event, start, end)
        elif name == "AliasEvent":
            self._alias(str(event.anchor), start, end)
        elif name in {"MappingStartEvent", "SequenceStartEvent"}:
            self._open(event, start)
        elif name in {"MappingEndEvent", "SequenceEndEvent"}:
            self._close(end)
        self.reached = max(self.reached, end)

    def _clip(self, index: int) -> int:
        return min(index, len(self.source.text))

    def _scalar(self, event: Any, start: int, end: int) -> None:
        text, style, tag = str(event.value), str(event.style or ""), str(event.tag or "")
        # A folded scalar has marks at its folds, which are no characters of the text.
        text = printable(text.replace("\a", "") if style == ">" and "\a" not in self.source.text else text)
        start, anchor = self._content(event, start, end)
        if style in {"|", ">"}:
            end = start + len(self.source.text[start:end].rstrip())
        elif not text and not style and start == end:
            start = end = self._empty_place(start)
        span = self.source.span(start, end)
        node = Scalar(typed(text, style, tag), text, span, span, style, tag, anchor)
        if event.anchor:
            self._anchors[str(event.anchor)] = _Anchored(node)
        self._add(node, 1, 1)

    def _empty_place(self, start: int) -> int:
        """An empty value stands just after its colon or dash, not where the next thing begins."""
        if self._frames and self._frames[-1].key is None and self._frames[-1].mapping:
            return start
        between = self.source.text[self.reached : start]
        sign = re.match(r"\s*[:\-?,]", between)
        return self.reached + sign.end() if sign else min(start, max(self.reached, 0))

    def _content(self, event: Any, start: int, end: int) -> tuple[int, Span | None]:
        """Where a node's own characters start, after its tag and anchor, and the place of the anchor."""
        anchor: Span | None = None
        if not event.anchor and not event.tag:
            return start, None
        text = self.source.text
        # The parser's start may be the second property, or lie before the first.
        while found := _PROPERTY.match(text, start):
            if text[start] == "&" and event.anchor:
                anchor = self.source.span(start, found.end())
            start = found.end()
            if blank := _BLANK.match(text, start):
                start = blank.end()
        return min(start, end), anchor

    def _alias(self, name: str, start: int, end: int) -> None:
        span = self.source.span(start, end)
        anchored = self._anchors.get(name)
        if anchored is None:
            hint = f'define `&{name}` before it, or quote the value: "{span.text}"'
            raise _Stop(YamlError(f"the alias `*{name}` has no anchor before it", span, hint))
        if anchored.node is None:
            raise _Stop(YamlError(f"the alias `*{name}` stands inside its own anchor", span))
        self._expanded += anchored.size
        if self._expanded > LARGEST_EXPANSION:
            raise _Stop(YamlError(f"the aliases stand for more than {LARGEST_EXPANSION:,} values", span))
        self._check_depth(len(self._frames) + anchored.height, span)
        self._add(replace(anchored.node, span=span), anchored.size, anchored.height)

    def _open(self, event: Any, start: int) -> None:
        start, anchor = self._content(event, start, len(self.source.text))
        flow = bool(event.flow_style)
        self._check_depth(len(self._frames) + 1, self.source.span(start, self._clip(start + 1)))
        mapping = type(event).__name__ == "MappingStartEvent"
        name = str(event.anchor or "")
        if name:
            self._anchors[name] = _Anchored(None)
        self._frames.append(_Frame(start, mapping, flow, name, anchor, end=self._clip(start + flow)))

    def _check_depth(self, depth: int, span: Span) -> None:
        if depth > DEEPEST:
            raise _Stop(_too_deep(span))

    def _close(self, end: int) -> None:
        frame = self._frames.pop()
        # The parser ends a block collection where the next thing begins; its last child is the true end.
        span = self.source.span(frame.start, max(frame.start, end if frame.flow else frame.end))
        node: Node
        if frame.mapping:
            entries = tuple(frame.entries)
            node = Mapping(entries, self._flatten(entries), span, span, frame.anchor)
            self._find_duplicates(entries)
        else:
            node = Sequence(tuple(frame.items), span, span, frame.anchor)
        if frame.name:
            self._anchors[frame.name] = _Anchored(node, frame.size, frame.height)
        self._add(node, frame.size, frame.height)

    def _add(self, node: Node, size: int, height: int) -> None:
        if not self._frames:
            self.documents.append(node)
            return
        frame = self._frames[-1]
        frame.size += size
        frame.height = max(frame.height, height + 1)
        frame.end = max(frame.end, node.span.end)
        if not frame.mapping:
            frame.items.append(node)
        elif frame.key is None:
            frame.key = node if isinstance(node, Scalar) else _complex_key(node)
        else:
            frame.entries.append(Entry(frame.key, node))
            frame.key = None

    def _flatten(self, entries: Iterable[Entry]) -> dict[str, Entry]:
        flat: dict[str, Entry] = {}
        merged: dict[str, Entry] = {}
        for entry in entries:
            if _key_of(entry.key) != _MERGE_KEY:
                flat[entry.key.text] = entry
                continue
            for target in entry.value.items if isinstance(entry.value, Sequence) else (entry.value,):
                if not isinstance(target, Mapping):
                    raise _Stop(YamlError("`<<` merges mappings only", target.span, "give it an alias of a mapping"))
                for key, found in target.flat.items():
                    merged.setdefault(key, replace(found, merged=target.span))
        for key, found in merged.items():
            flat.setdefault(key, found)
        return flat

    def _find_duplicates(self, entries: Iterable[Entry]) -> None:
        seen: dict[tuple[str, Plain], Entry] = {}
        for entry in entries:
            first = seen.setdefault(_key_of(entry.key), entry)
            if first is not entry:
                said = (each.value.text if isinstance(each.value, Scalar) else "" for each in (entry, first))
                self.duplicates.append(Duplicate(entry.key.text, entry.key.span, first.key.span, *said))


def _key_of(key: Scalar) -> tuple[str, Plain]:
    """What makes two keys the same: their type and value; a plain `<<` is the merge key."""
    if key.text == "<<" and not key.style and not key.tag:
        return _MERGE_KEY
    return (type(key.value).__name__, key.value)


def _complex_key(node: Mapping | Sequence) -> Scalar:
    """A collection used as a key, as the characters it is written with."""
    text = LINE_BREAK.sub(" ", node.written.text)
    return Scalar(text, text, node.span, node.written, tag="!complex", anchor=node.anchor)
