"""One Hydra override: `key=value`, `+key=value`, `++key=value`, `~key`, read from a word that may have unknown parts.

The grammar is that of hydra-core 1.3 (`hydra/grammar/OverrideLexer.g4`, `OverrideParser.g4`). A hole counts as an
identifier; a fault is reported only if the word is at fault as well when its holes are empty.
"""

from __future__ import annotations

import re
from enum import Enum

from verlint.languages.hydra.functions import SWEEPS, Element, Glob, Pending, Quoted, Shuffled
from verlint.languages.hydra.lexing import HOLE, single, skeleton
from verlint.languages.hydra.places import fault_place, place, plain_places
from verlint.languages.hydra.values import ValueFault, parse_value, typed
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.source import Span
from verlint.value import Data, Hop, Literal, State, Text, Value, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class Form(Enum):
    """What an override does to its key."""

    SET = "key=v"
    ADD = "+key=v"
    FORCE = "++key=v"
    DELETE = "~key"


@dataclass(frozen=True, slots=True)
class OverrideError:
    """Why Hydra refuses the word: in plain words, the offset in the word (a hole is one character), the place."""

    message: str
    offset: int
    span: Span | None


@dataclass(frozen=True, slots=True)
class Override:
    """An override word.

    `key` is "" when it is not known, and `package` what stands behind "@" in it. `value_text` is the value as it is
    given; `value` is that by Hydra's types: KNOWN, SYMBOLIC with holes, ABSENT for a bare `~key`, UNKNOWN for a sweep,
    a word that may become several words, and a refused override. `sweep` says that it stands for several values.
    """

    word: Text
    form: Form
    key: str
    key_span: Span | None
    package: str
    value: Value
    value_text: Text
    sweep: bool = False
    error: OverrideError | None = None


_FORMS: Final = {"": Form.SET, "+": Form.ADD, "++": Form.FORCE, "~": Form.DELETE}
_PLAIN: Final = pattern(
    rf"(\+\+?|)([A-Za-z_]\w*(?:\.[A-Za-z_][\w-]*)*)=([\w./:@%+*?|{HOLE}-]{{0,4000}})\Z",
    re.ASCII,
)
"""Overrides whose value is one unquoted primitive without escapes: nearly all. The length keeps `int` possible."""

_NAME: Final = rf"[A-Za-z_{HOLE}][A-Za-z0-9_{HOLE}-]*"
_SPECIAL: Final = rf"[A-Za-z_${HOLE}][A-Za-z0-9_${HOLE}-]*"
_SEGMENT: Final = rf"(?:{_SPECIAL}|0|[1-9](?:_?[0-9])*)"
_PACKAGE: Final = rf"(?:{_SEGMENT}(?:\.{_SEGMENT})+|{_SPECIAL}|)"
_KEY: Final = pattern(rf"(?:{_NAME}(?:/{_NAME})+|{_PACKAGE})(?:@{_PACKAGE})?")
_KEY_CHARACTER: Final = pattern(rf"[\w${HOLE}./@:+~-]", re.ASCII)
_LIKE: Final = pattern(
    rf"\+{{0,2}}[A-Za-z_${HOLE}][\w${HOLE}./@:\[\]-]*=|~[A-Za-z_$][\w${HOLE}./@:-]*(?:=|\Z)", re.ASCII
)


_NOT_KNOWN: Final = "the word is not known before the run"
_CONSTANTS: Final[dict[str, Data]] = {
    "true": True,
    "false": False,
    "null": None,
    "inf": float("inf"),
    "nan": float("nan"),
}


class _Undecided(Exception):
    """A value that is not one value before the run; the text says why."""


def is_override_like(word: Text) -> bool:
    """Whether the word looks like an override: "=" behind what may be a key, or "~" before one."""
    return _LIKE.match(skeleton(word)) is not None


_MOST_KEPT: Final = 512
_MOST_ALIKE: Final = 8
_kept: dict[str, list[tuple[Text, Override | None]]] = {}
"""What words are, by their text."""


def parse_override(word: Text) -> Override | None:
    """The override that a word is, with `error` when Hydra would refuse it; None for an empty word or an option.

    Kept for the next path through the same script: most words of a command are the same on all of them. They are looked
    up by their text, as a hash of all that they hold takes longer than to compare them, piece by piece."""
    text = skeleton(word)
    known = _kept.get(text)
    if known is None:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        known = _kept[text] = []
    for each, found in known:
        if each == word:
            return found
    if len(known) >= _MOST_ALIKE:
        known.clear()
    found = _override_of(word, text)
    known.append((word, found))
    return found


def _override_of(word: Text, text: str) -> Override | None:
    if not text or text[0] == "-":
        return None
    match = _PLAIN.match(text)
    return _parse(word, text) if match is None else _plain(word, text, match)


def _plain(word: Text, text: str, match: re.Match[str]) -> Override:
    sign, key, content = match.groups()
    start = match.start(3)
    value_text, hops = _cut(word, start, len(text))
    key_span, value_span = plain_places(word, len(sign), start - 1, len(text))
    if HOLE in content:
        value = _symbolic(key, value_text, value_span, hops)
    else:
        value = Value(State.KNOWN, key, _scalar(content), value_text, value_span, hops)
    return Override(word, _FORMS[sign], key, key_span, "", value, value_text)


def _scalar(content: str) -> Data:
    """The scalar of an unquoted value without holes; most are words or short integers, known without a lexer."""
    first = content[:1]
    if not first:
        return ""
    if first.isalpha():
        return _CONSTANTS.get(content.lower(), content) if len(content) < 6 else content
    if first == "/":
        return content
    number = _decimal(content)
    if number is not None:
        return number
    kind = single(content)
    return typed(kind, content) if kind else content


def _decimal(content: str) -> int | float | None:
    """The number of the usual spellings, `8`, `-1`, `0.5` and `1e-6`; None for all others."""
    if len(content) > 18 or not content.isascii():
        return None
    mantissa, e, exponent = content.partition("e")
    whole, dot, fraction = mantissa.removeprefix("-").partition(".")
    if not whole.isdigit() or (whole[0] == "0" and whole != "0") or (dot and not fraction.isdigit()):
        return None
    if e and not exponent.removeprefix("-").isdigit():
        return None
    return float(content) if dot or e else int(content)


def _cut(word: Text, start: int, end: int) -> tuple[Text, tuple[Hop, ...]]:
    """A run of the word, with its provenance."""
    parts, only = word.parts, word.parts[0]
    if len(parts) == 1 and isinstance(only, Literal) and only.span is not None and start < end == len(only.text):
        span = only.span
        if span.end - span.start == end:
            span = Span(span.source, span.start + start, span.end)
        piece = Literal(only.text[start:end], span, only.hops, only.overridable, only.quoted)
        text = Text((piece,), word.span, word.elastic)
        if not only.hops:
            return text, () if word.span is None else (Hop(word.span),)
    else:
        text = word.slice(start, end)
    return text, text.trail()


def _symbolic(key: str, text: Text, span: Span | None, hops: tuple[Hop, ...]) -> Value:
    state, reason = _unknown(text)
    return Value(state, key, None, text, span, hops, reason)


def _unknown(text: Text) -> tuple[State, str]:
    """How much is known of a value with holes, and why not more."""
    holes = text.holes
    reason = holes[0].reason if holes else ""
    if not text.elastic:
        return State.SYMBOLIC, reason
    words = "without quotes it may become several words"
    return State.UNKNOWN, f"{reason}; {words}" if reason else words


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the parts of a word are: the key's range, whether a "=" follows it, and where the value starts."""

    form: Form
    key_start: int
    key_end: int
    assigned: bool
    start: int


def _layout(text: str) -> _Layout:
    sign = next((each for each in ("++", "+", "~") if text.startswith(each)), "")
    equal = text.find("=", len(sign))
    if equal < 0:
        return _Layout(_FORMS[sign], len(sign), len(text), False, len(text))
    start = equal + 1
    while start < len(text) and text[start] in " \t":
        start += 1
    return _Layout(_FORMS[sign], len(sign), equal, True, start)


def _parse(word: Text, text: str) -> Override:
    at = _layout(text)
    key = package = ""
    element, fault = _read(text, at)
    if (at.assigned or at.form is Form.DELETE) and (fault is None or fault.start >= at.start):
        key, package = _key(text[at.key_start : at.key_end])
    if fault is not None and HOLE in text and _fine_when_empty(text):
        element, fault = Pending.HOLE, None
    error = None
    if fault is not None:
        error = OverrideError(fault.message, fault.start, fault_place(word, fault.start, fault.end))
    anchor = at.key_end if at.assigned else at.key_start
    key_span = place(word, at.key_start, at.key_end, anchor) if at.key_start < at.key_end else None
    value_text, hops = _cut(word, at.start, len(text))
    state, data, reason = _decide(at, value_text, HOLE in text[at.start :], element, error)
    span = place(word, at.start, len(text), anchor) if at.assigned else word.span
    value = Value(state, key, data, value_text, span, hops, reason)
    sweep = error is None and isinstance(element, (*SWEEPS, Glob))
    return Override(word, at.form, key, key_span, package, value, value_text, sweep, error)


def _key(text: str) -> tuple[str, str]:
    """The key and the package of `key@package`; "" for what has holes."""
    key, _, package = text.partition("@")
    return "" if HOLE in key else key, "" if HOLE in package else package


def _key_fault(text: str, at: _Layout) -> ValueFault | None:
    key = text[at.key_start : at.key_end]
    if at.assigned and key.isascii() and all(map(str.isidentifier, key.split("."))):
        return None
    match = _KEY.match(key)
    good = match.end() if match else 0
    if good == len(key) or (HOLE in key and _KEY.fullmatch(key.replace(HOLE, ""))):
        if at.assigned or at.form is Form.DELETE or HOLE in key:
            return None
        return ValueFault('no "=" in the word: Hydra expects key=value', at.key_end, at.key_end)
    bad = next((offset for offset, char in enumerate(key) if not _KEY_CHARACTER.match(char)), None)
    offset = at.key_start + (good if bad is None else bad)
    shown = {" ": "a space", "\t": "a tab", "\n": "a line break", "\r": "a carriage return"}
    sign = shown.get(text[offset], f'"{text[offset]}"').replace(HOLE, "…")
    where = "cannot hold" if bad is not None else "breaks at"
    return ValueFault(f"a Hydra key {where} {sign}", offset, offset + 1)


def _read(text: str, at: _Layout) -> tuple[Element, ValueFault | None]:
    """The element of a word, or its first fault."""
    fault = _key_fault(text, at)
    if fault is not None or not at.assigned:
        return None, fault
    try:
        return parse_value(text, at.start), None
    except ValueFault as found:
        return None, found


def _fine_when_empty(text: str) -> bool:
    """Whether nothing is at fault when all holes are empty."""
    rest = text.replace(HOLE, "")
    return not rest or rest[0] == "-" or _read(rest, _layout(rest))[1] is None


def _decide(
    at: _Layout, text: Text, holes: bool, element: Element, error: OverrideError | None
) -> tuple[State, Data, str]:
    """How much is known of the value, its data, and the reason if that is not all."""
    if error is not None:
        return State.UNKNOWN, None, f"Hydra refuses the override: {error.message}"
    if not at.assigned:
        if at.form is Form.DELETE:
            return State.ABSENT, None, ""
        return State.UNKNOWN, None, _NOT_KNOWN
    if isinstance(element, (*SWEEPS, Glob)):
        return State.UNKNOWN, None, "a sweep over several values"
    if holes:
        state, reason = _unknown(text)
        return state, None, reason
    if element is Pending.HOLE:
        return State.UNKNOWN, None, _NOT_KNOWN
    try:
        return State.KNOWN, _data(element), ""
    except _Undecided as undecided:
        return State.UNKNOWN, None, str(undecided)


def _data(element: Element) -> Data:
    """Plain data of an element without holes; keys of mappings as text."""
    if isinstance(element, Quoted):
        return element.text
    if isinstance(element, Shuffled) and len(element) > 1:
        raise _Undecided("its order is drawn at run time")
    if isinstance(element, list):
        return [_data(item) for item in element]
    if isinstance(element, dict):
        return {show(key): _data(item) for key, item in element.items()}
    if isinstance(element, (*SWEEPS, Glob)):
        raise _Undecided("a sweep inside of a value")
    known: Data = element
    return known
