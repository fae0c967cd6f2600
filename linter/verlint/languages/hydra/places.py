"""Where the parts of an override are written: from offsets in a word to spans of a source."""

from __future__ import annotations

from verlint.source import Span
from verlint.value import Literal, Text


def place(word: Text, start: int, end: int, anchor: int) -> Span | None:
    """The span of the characters `start`..`end` of a word, when they are written beside the character at `anchor`.

    Characters that come from elsewhere (the value of a variable) have no place of their own in the word: then the span
    runs from just after the anchor to the end of the word if they follow it, else it is the whole word.
    """
    found = _beside(word, anchor)
    if found is None:
        return word.span
    sign, home = found
    spans = [part.span for part in word.slice(start, end).parts]
    if run := _run(spans, sign, home, anchor < start):
        return run
    if home is None:
        return sign if start != end or sign.end - sign.start != 1 else Span(sign.source, sign.end, sign.end)
    if anchor >= start or sign.end - sign.start != 1:
        return home
    return Span(sign.source, sign.end, max(sign.end, _inner_end(home)))


def plain_places(word: Text, key_start: int, equal: int, length: int) -> tuple[Span | None, Span | None]:
    """The spans of the key and of the value of a word whose "=" is at `equal`."""
    only = word.parts[0]
    span = only.span
    if isinstance(only, Literal) and span is not None and span.end - span.start == len(only.text) > equal:
        source, start = span.source, span.start
        key = Span(source, start + key_start, start + equal)
        if len(word.parts) == 1:
            return key, Span(source, start + equal + 1, span.end)
        return key, place(word, equal + 1, length, equal)
    return place(word, key_start, equal, equal), place(word, equal + 1, length, equal)


def fault_place(word: Text, start: int, end: int) -> Span | None:
    """The span of a fault; for an empty range the place just after the character before it, and the whole word when the
    characters come from elsewhere than the word's first one."""
    found, first = _beside(word, start if start < end else max(start - 1, 0)), _beside(word, 0)
    if found is None or first is None:
        return word.span
    sign, home = found
    if sign.source is not first[0].source or home != first[1]:
        return word.span
    if start == end:
        return Span(sign.source, sign.end, sign.end)
    return _run([part.span for part in word.slice(start, end).parts], sign, home, False) or sign


def _beside(word: Text, anchor: int) -> tuple[Span, Span | None] | None:
    """The span of the character at `anchor`, and the word's span if it is written inside of that."""
    pieces = word.slice(anchor, anchor + 1).parts
    if not pieces or (sign := pieces[0].span) is None:
        return None
    return sign, word.span if word.span is not None and _inside(sign, word.span) else None


def _run(spans: list[Span | None], sign: Span, home: Span | None, follows: bool) -> Span | None:
    """The spans as one, if all stand in order in the home of the sign (and behind it, if they must)."""
    at, first = (sign.end if follows else 0), None
    last = None
    for span in spans:
        if span is None or span.source is not sign.source or span.start < at:
            return None
        if home is not None and not _inside(span, home):
            return None
        first, last, at = first or span, span, span.end
    return None if first is None or last is None else Span(sign.source, first.start, last.end)


def _inside(inner: Span, outer: Span) -> bool:
    return inner.source is outer.source and outer.start <= inner.start and inner.end <= outer.end


def _inner_end(span: Span) -> int:
    """The end of a word without the quote that encloses all of it."""
    text = span.text
    return span.end - 1 if len(text) > 1 and text[0] in "\"'" and text[-1] == text[0] else span.end
