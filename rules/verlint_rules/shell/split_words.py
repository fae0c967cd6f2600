"""Overrides that blanks split into several words: lists without quotes, and blanks around the equals sign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.source import Span
from verlint.value import Literal, Text
from verlint_rules.shell.call_words import Written

_BEGINS = pattern(r"[+~]{0,2}[A-Za-z_][\w./@-]*=([\[{(][\s\S]*)")
_OPENERS = ("[", "{", "(")
_KEY = pattern(r"[+~]{0,2}[A-Za-z_][\w-]*(?:[./@][\w@-]+)*")
_DOTTED = pattern(r"[+~]{0,2}[A-Za-z_][\w-]*(?:[./@][\w@-]+)+=")
_VALUE = pattern(r"[^-+~=\s][^=\s]*|-\d[^=\s]*")
_MOST = 40
"""So many words at most are looked through for the end of a list."""


@dataclass(frozen=True)
class Split:
    """An override that is several words: the first to the last of them, `list` or where the blank is (`before` or
    `after` the equals sign, or `around` it)."""

    words: tuple[Written, ...]
    where: str

    @property
    def span(self) -> Span:
        """From the first to the last word."""
        return self.words[0].span.join(self.words[-1].span)

    @property
    def joined(self) -> str:
        """The override as it was meant, as written."""
        blank = " " if self.where == "list" else ""
        return blank.join(word.span.text for word in self.words)


def split_overrides(words: Sequence[Written]) -> Iterator[Split]:
    """The overrides of a launch that blanks split; `words` are those behind its program."""
    at = 0
    while at < len(words):
        count = _list_length(words, at)
        where = "list" if count else ""
        if not count:
            count, where = _around_equals(words, at)
        if count and _in_order(words[at : at + count]):
            yield Split(tuple(words[at : at + count]), where)
        at += max(count, 1)


def _in_order(words: Sequence[Written]) -> bool:
    """Whether the words stand one behind the other in the text, with blanks between them."""
    text = words[0].span.source.text
    return all(
        one.span.source is next_.span.source
        and one.span.end <= next_.span.start
        and not text[one.span.end : next_.span.start].strip(" \t\r\n\\")
        for one, next_ in pairwise(words)
    )


def _list_length(words: Sequence[Written], at: int) -> int:
    """How many words a list without quotes that begins here takes; 0 when none begins, or it ends in its word."""
    text = _text(words[at])
    begin = _BEGINS.fullmatch(text) if text.partition("=")[2][:1] in _OPENERS else None
    depth = 0 if begin is None else _depth(begin[1])
    if depth <= 0:
        return 0
    for number, word in enumerate(words[at + 1 : at + _MOST], 2):
        text = _text(word)
        if _DOTTED.match(text) is not None or text.startswith("--"):
            return 0
        depth += _depth(text)
        if depth <= 0:
            return number if depth == 0 else 0
    return 0


def _depth(text: str) -> int:
    """Brackets opened less those closed, outside quotes."""
    depth, quote = 0, ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        else:
            depth += (char in "[{(") - (char in "]})")
    return depth


def _around_equals(words: Sequence[Written], at: int) -> tuple[int, str]:
    """How many words `key =1`, `key= 1` or `key = 1` is, and where its blank is; 0 for others."""
    text = _text(words[at])
    following = [_text(word) for word in words[at + 1 : at + 3]]
    if following and following[0][:1] == "=" and _KEY.fullmatch(text) is not None:
        if following[0] != "=":
            return (2, "before") if "=" not in following[0][1:] else (0, "")
        return (3, "around") if _is_value(words[at + 2 : at + 3]) else (0, "")
    dotted = text.endswith("=") and _DOTTED.fullmatch(text) is not None
    return (2, "after") if dotted and _is_value(words[at + 1 : at + 2]) else (0, "")


def _is_value(words: Sequence[Written]) -> bool:
    """Whether a word can be the value of an override only: no option, no other override, nothing that may hold some."""
    if not words or len(words[0].became) != 1:
        return False
    word = words[0].became[0]
    open_ended = word.elastic or any(hole.name in ("$@", "$*") for hole in word.holes)
    return not open_ended and _VALUE.fullmatch(_text(words[0])) is not None


def _text(word: Written) -> str:
    """The characters that a word became, ⟦⟧ for unknown ones; "" for none or several words."""
    if len(word.became) != 1:
        return ""
    text: Text = word.became[0]
    return "".join(part.text if isinstance(part, Literal) else "⟦⟧" for part in text.parts)
