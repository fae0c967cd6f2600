"""What a word, key or field is: pieces with provenance, and the three-valued answers that rules ask for.

`Text` is one string after expansion: literal pieces, each with the span it was written at, and holes where the value is
not known before the run. `Value` is what a configuration key holds: known, symbolic, absent (then the default of the
VeRL version in use) or unknown, with a reason. Comparing an unknown gives None, never False.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from enum import Enum

from verlint.record import dataclass, replace
from verlint.source import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias, TypeGuard

Scalar: TypeAlias = str | int | float | bool | None
Data: TypeAlias = "Scalar | list[Data] | dict[str, Data]"

_LARGEST = 10**12
_MOST_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of provenance: where a value passed, and what is written there.

    `span` is None for steps outside any file (a default of VeRL); then `note` says it. Where both are given, the note
    is shown instead of the text of the span."""

    span: Span | None
    note: str = ""


MAY_SET = ", which may set it"
"""Ends the note of a step at which a value may be replaced by a command that nobody here can follow: `source FILE`."""


@dataclass(frozen=True, slots=True)
class Literal:
    """Characters that are known. `span` is where they are written, `hops` the assignments and options they passed.

    `overridable` names the environment variable or option that may replace them at run time (`${ROOT:-/data}`), or is
    the command that may, `source FILE` of a file that is not here (see `MAY_SET`).
    `quoted` says that the characters were quoted where they stand, so no pattern or split applies to them.
    """

    text: str
    span: Span | None = None
    hops: tuple[Hop, ...] = ()
    overridable: str = ""
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Hole:
    """A part whose characters are not known before the run.

    `key` is its identity: two holes of one key are the same unknown text. `name` is what to show (`HOME`, `$(date)`),
    `reason` says in words why it is unknown ("environment variable", "output of date", "option --model").
    """

    key: Hashable
    name: str
    reason: str
    span: Span | None = None
    hops: tuple[Hop, ...] = ()


Part: TypeAlias = Literal | Hole


@dataclass(frozen=True, slots=True)
class Text:
    """A string in pieces. `span` is the word it is used in. `elastic` says that unquoted holes may make it any number
    of words at run time, also none."""

    parts: tuple[Part, ...] = ()
    span: Span | None = None
    elastic: bool = False

    @property
    def known(self) -> str | None:
        """The characters when every piece is known, else None."""
        parts = self.parts
        if len(parts) == 1:
            only = parts[0]
            return only.text if only.__class__ is Literal else None
        out: list[str] = []
        for part in parts:
            if isinstance(part, Hole):
                return None
            out.append(part.text)
        return "".join(out)

    @property
    def holes(self) -> tuple[Hole, ...]:
        """The unknown pieces, in order."""
        return tuple(part for part in self.parts if isinstance(part, Hole))

    @property
    def template(self) -> str:
        """The characters with each hole as `⟦NAME⟧`."""
        return "".join(part.text if isinstance(part, Literal) else f"⟦{part.name}⟧" for part in self.parts)

    @property
    def shown(self) -> str:
        """The characters as people write them: each hole as `${NAME}` (or as its command)."""
        return "".join(part.text if isinstance(part, Literal) else _hole_text(part) for part in self.parts)

    @property
    def prefix(self) -> str:
        """The known characters before the first hole."""
        parts = self.parts
        if parts and (len(parts) == 1 or isinstance(parts[1], Hole)):
            first = parts[0]
            return first.text if isinstance(first, Literal) else ""
        out: list[str] = []
        for part in self.parts:
            if isinstance(part, Hole):
                break
            out.append(part.text)
        return "".join(out)

    @property
    def suffix(self) -> str:
        """The known characters after the last hole."""
        out: list[str] = []
        for part in reversed(self.parts):
            if isinstance(part, Hole):
                break
            out.append(part.text)
        return "".join(reversed(out))

    def identity(self) -> tuple[Hashable, ...]:
        """What two texts must share to be the same string on every run: adjoining literals joined, holes by key."""
        only = self.parts[0] if len(self.parts) == 1 else None
        if isinstance(only, Literal):
            return (only.text,) if only.text else ()
        out: list[Hashable] = []
        literal: list[str] = []
        for part in self.parts:
            if isinstance(part, Literal):
                literal.append(part.text)
                continue
            if joined := "".join(literal):
                out.append(joined)
            literal.clear()
            out.append(("hole", part.key))
        if joined := "".join(literal):
            out.append(joined)
        return tuple(out)

    def same_as(self, other: Text) -> bool | None:
        """True or False when it is certain whether both are the same string, else None."""
        if self.elastic or other.elastic:
            return None
        mine, theirs = self.identity(), other.identity()
        if mine == theirs:
            return True
        if not self.holes and not other.holes:
            return False
        if _ends_differ(self.prefix, other.prefix) or _ends_differ(self.suffix[::-1], other.suffix[::-1]):
            return False
        return None

    def slice(self, start: int, end: int) -> Text:
        """The characters from `start` to `end` (offsets that count a hole as one character)."""
        out: list[Part] = []
        at = 0
        for part in self.parts:
            length = len(part.text) if isinstance(part, Literal) else 1
            low, high = max(start - at, 0), min(end - at, length)
            if low < high:
                if isinstance(part, Hole) or (low == 0 and high == length):
                    out.append(part)
                else:
                    out.append(_cut(part, low, high))
            at += length
            if at >= end:
                break
        return Text(tuple(out), self.span, self.elastic)

    def with_hop(self, hop: Hop) -> Text:
        """The same text after one more step of provenance."""
        return Text(tuple(replace(part, hops=(*part.hops, hop)) for part in self.parts), self.span, self.elastic)

    def trail(self) -> tuple[Hop, ...]:
        """The provenance of the deciding piece, first step first: where it was written, what it passed, the word that
        uses it. The deciding piece is the one with the longest way; a plain word has its own span only."""
        deciding = max(self.parts, key=lambda part: (len(part.hops), self._is_passed(part)), default=None)
        hops: list[Hop] = []
        if deciding is not None and deciding.span is not None and (deciding.hops or self._is_passed(deciding)):
            hops.append(_origin(deciding, deciding.span, deciding.hops[0].span if deciding.hops else self.span))
        if deciding is not None:
            hops.extend(deciding.hops)
        if self.span is not None:
            hops.append(Hop(self.span))
        return tuple(_without_repeats(hops))

    def _is_passed(self, part: Part) -> bool:
        """Whether a piece comes right from another file, as an argument does (`$1`)."""
        if part.hops or part.span is None or self.span is None or part.span.source is self.span.source:
            return False
        return part.span.in_file().source is not self.span.in_file().source

    def __str__(self) -> str:
        return self.shown

    def __add__(self, other: Text) -> Text:
        return Text(self.parts + other.parts, self.span or other.span, self.elastic or other.elastic)


def _origin(part: Part, span: Span, used: Span | None) -> Hop:
    """Where a piece that is used at a place comes from. A variable of the environment is met first in whatever file
    names it first: that file sets nothing that another one sees."""
    named = isinstance(part, Hole) and isinstance(part.key, tuple) and part.key[:1] == ("env",)
    if named and isinstance(part, Hole) and used is not None and used.in_file().source is not span.in_file().source:
        return Hop(None, f"{part.name}: from the environment")
    return Hop(span)


def literal(text: str, span: Span | None = None) -> Text:
    """A text whose characters are all known."""
    return Text((Literal(text, span),), span)


def _cut(part: Literal, low: int, high: int) -> Literal:
    """A run of a literal; its span is narrowed where the text is written as it stands."""
    span = part.span
    if span is not None and span.end - span.start == len(part.text):
        span = Span(span.source, span.start + low, span.start + high)
    return replace(part, text=part.text[low:high], span=span)


def _hole_text(hole: Hole) -> str:
    """An unknown as people write it: `$(date)`, `<PLACEHOLDER>`, `{PLACEHOLDER}`, `<--option>`, `${NAME}`."""
    if hole.name.startswith(("$", "<", "{")):
        return hole.name
    return f"<{hole.name}>" if hole.name.startswith("-") else "${" + hole.name + "}"


def _ends_differ(left: str, right: str) -> bool:
    length = min(len(left), len(right))
    return left[:length] != right[:length]


def _without_repeats(hops: Iterable[Hop]) -> Iterator[Hop]:
    last: Hop | None = None
    for hop in hops:
        if hop is not last and hop != last:
            yield hop
        last = hop


class State(Enum):
    """How much is known of a value."""

    KNOWN = "known"
    SYMBOLIC = "symbolic"
    ABSENT = "absent"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Value:
    """What a key or field holds.

    KNOWN: `data` is the typed value. SYMBOLIC: `text` holds holes; equality with itself is still certain. ABSENT: the
    key is not given; `data` is the default when `has_default`. UNKNOWN: `reason` says why. `span` is where the value
    is written (for ABSENT: what to point at instead, such as the command). `key` is the configuration key or field,
    for messages."""

    state: State
    key: str = ""
    data: Data = None
    text: Text | None = None
    span: Span | None = None
    hops: tuple[Hop, ...] = ()
    reason: str = ""
    has_default: bool = False

    @property
    def given(self) -> bool:
        """Whether the key is written at all (with any value)."""
        return self.state is not State.ABSENT

    @property
    def decided(self) -> bool:
        """Whether `data` can be trusted: known, or absent with a known default."""
        return self.state is State.KNOWN or (self.state is State.ABSENT and self.has_default)

    def same_as(self, other: Value) -> bool | None:
        """Whether both hold the same value on every run: True, False, or None when it cannot be known."""
        if self.decided and other.decided:
            return _equal(self.data, other.data)
        if self.text is not None and other.text is not None:
            return self.text.same_as(other.text) or None
        return None

    def equals(self, data: Data) -> bool | None:
        """Whether the value is `data`: True, False, or None when it cannot be known."""
        return _equal(self.data, data) if self.decided else None

    def truthy(self) -> bool | None:
        """Whether the value counts as true (numbers other than 0, `True`), or None when it cannot be known."""
        return bool(self.data) if self.decided else None

    def number(self) -> int | float | None:
        """The value as a number, or None when it is not known to be one that can be reckoned with."""
        return self.data if self.decided and is_quantity(self.data) else None

    def __str__(self) -> str:
        if self.decided:
            return show(self.data)
        if self.text is not None:
            return self.text.shown
        return f"unknown ({self.reason})" if self.reason else "unknown"


def whole(text: str) -> int | None:
    """The number that plain digits stand for; None for any other text, and for more digits than a count, a size or a
    step ever has."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else None


def is_quantity(data: object) -> TypeGuard[int | float]:
    """Whether a typed value is a number of prompts, steps, GPUs or the like: finite, and no larger than any of these
    ever is, so that sums and products of some of them stay within what Python can print and divide."""
    return isinstance(data, (int, float)) and not isinstance(data, bool) and -_LARGEST <= data <= _LARGEST


def _equal(left: Data, right: Data) -> bool:
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    return left == right


def show(data: Data) -> str:
    """A typed value as VeRL's configs write it: `null`, `True`, lists in brackets."""
    if data is None:
        return "null"
    if isinstance(data, list):
        return "[" + ", ".join(show(item) for item in data) + "]"
    if isinstance(data, dict):
        return "{" + ", ".join(f"{key}: {show(item)}" for key, item in data.items()) + "}"
    return str(data)
