"""Lists that hold words of which there may be any number: `set -- $(command)`, `a=($LIST)`, `run $EXTRA`.

In the list such a word is kept with its holes marked, so that `"$@"` and `"${a[@]}"` know it again. `MANY` stands for a
number of words that nobody knows, wherever it is asked for. `WORDS` is one that the author of a call takes for one
word: `run --model $MODEL`; only `"$@"` sees that it may be none or more."""

from __future__ import annotations

from collections.abc import Iterable

from verlint.languages.bash.pieces import Parts
from verlint.record import replace
from verlint.value import Hole, Literal, Part, Text

WORDS, MANY, LIST = "words", "many", "list"
_MARKS = (WORDS, MANY, LIST)


def marked(text: Text, mark: str) -> Parts:
    """A word as an element of a list."""
    return mark_parts(text.parts, mark) if text.elastic else text.parts


def mark_parts(parts: Parts, mark: str) -> Parts:
    """The parts with their holes marked; the caller's own arguments need no mark."""
    return tuple([_marked(part, mark) if isinstance(part, Hole) else part for part in parts])


def _marked(hole: Hole, mark: str) -> Hole:
    first = _first(hole)
    if first in (WORDS, MANY, "arguments"):
        return hole
    if first == LIST and isinstance(hole.key, tuple):
        return replace(hole, key=(MANY, hole.key[1]))
    return replace(hole, key=(mark, hole.key))


def listed(parts: Parts) -> Parts:
    """The parts for a word that comes from a list: where it is passed on, it is as many words as it was there."""
    return tuple(
        [
            replace(part, key=(LIST, part.key[1]))
            if isinstance(part, Hole) and isinstance(part.key, tuple) and part.key and part.key[0] == MANY
            else part
            for part in unmarked_words(parts)
        ]
    )


def unmarked_words(parts: Parts) -> Parts:
    """The parts without the marks of words that are taken for one."""
    return tuple([_plain(each) if isinstance(each, Hole) and _first(each) == WORDS else each for each in parts])


def mark_of(parts: Parts) -> str:
    """The mark of an element, "" for one word."""
    for part in parts:
        if isinstance(part, Hole) and (first := _first(part)) in _MARKS:
            return str(first)
    return ""


def is_many(parts: Parts) -> bool:
    """Whether an element is an unknown number of words: a list of them, or whatever the caller passes."""
    for part in parts:  # noqa: SIM110 (asked of every argument in every turn: a generator costs more than the test)
        if isinstance(part, Hole) and _first(part) in (MANY, "arguments"):
            return True
    return False


def is_list(hole: Hole) -> bool:
    """Whether a hole stands for a list that was put together here, and not for what the caller passes."""
    return _first(hole) == MANY


def any_many(items: Iterable[Parts]) -> bool:
    """Whether any element is an unknown number of words."""
    return any(map(is_many, items))


def unmarked(parts: Parts) -> Parts:
    """The parts as they were before they were put into a list."""
    for part in parts:
        if isinstance(part, Hole) and _first(part) in _MARKS:
            return tuple([_plain(each) if isinstance(each, Hole) else each for each in parts])
    return parts


def _plain(hole: Hole) -> Hole:
    return replace(hole, key=hole.key[1]) if isinstance(hole.key, tuple) and hole.key[0] in _MARKS else hole


def _first(hole: Hole) -> object:
    return hole.key[0] if isinstance(hole.key, tuple) and hole.key else None


def joined(items: Iterable[Parts], separator: str) -> Parts:
    """The elements as one string. What stands for a number of words that nobody knows brings its separator along: with
    no word there is none."""
    out: list[Part] = []
    wanted = False
    for item in items:
        many = any(isinstance(part, Hole) and is_list(part) for part in item)
        if wanted and not many:
            out.append(Literal(separator))
        if many:
            item = tuple([replace(part, key=("joined", part.key)) if isinstance(part, Hole) else part for part in item])
        wanted = bool(separator) and (wanted or not many)
        out.extend(unmarked(item))
    return tuple(out)
