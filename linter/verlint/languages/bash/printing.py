"""Builtins that print, and what all builtins share."""

from __future__ import annotations

import re

from verlint.languages.bash.conditions import Conditions
from verlint.languages.bash.elastic import WORDS, marked
from verlint.languages.bash.escapes import unescape_printed
from verlint.languages.bash.pieces import Parts, flat, join, known, shown
from verlint.languages.bash.syntax import Assign, Simple
from verlint.record import dataclass
from verlint.value import Hole, Literal, Part, Text, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Declared:
    """`NAME=value` as an argument of `export` and kin: the value it had when the words were expanded, before any of
    them took effect. It is None for an array."""

    assign: Assign
    value: Parts | None
    text: Text


Argument: TypeAlias = Text | Declared


class Printing(Conditions):
    """Takes words as strings, and prints."""

    __slots__ = ()

    def plain_words(self, words: list[Argument]) -> list[Parts]:
        """Arguments as strings."""
        return [(word if isinstance(word, Text) else word.text).parts for word in words]

    def passed(self, words: list[Argument]) -> list[Parts]:
        """Arguments for a script or function: what may be any number of words is marked so."""
        return [marked(word if isinstance(word, Text) else word.text, WORDS) for word in words]

    def texts(self, words: list[Argument]) -> list[Text]:
        """Arguments with their places."""
        return [word if isinstance(word, Text) else word.text for word in words]

    def write(self, parts: Parts) -> None:
        """Print to the standard output, if that is captured."""
        if self.output is not None:
            self.output.append(parts)

    def _echo(self, words: list[Argument], simple: Simple) -> None:
        rest = self.plain_words(words)[1:]
        newline, escapes = True, False
        while rest and re.fullmatch(r"-[neE]+", flat(rest[0])):
            newline = newline and "n" not in flat(rest[0])
            escapes = escapes or "e" in flat(rest[0])
            rest = rest[1:]
        out = join(rest, " ")
        if escapes:
            out, ended = _with_escapes(out)
            newline = newline and not ended
        self.write((*out, Literal("\n")) if newline else out)
        self.status = 0

    def _printf(self, words: list[Argument], simple: Simple) -> None:
        rest = self.plain_words(words)[1:]
        target = None
        if len(rest) > 1 and known(rest[0]) == "-v":
            target = known(rest[1])
            if target is None:
                self.set_by_strangers(shown(rest[1]))
                self.status = None
                return
            rest = rest[2:]
        if rest and known(rest[0]) == "--":
            rest = rest[1:]
        if not rest:
            self.status = 2
            return
        from verlint.languages.bash.formatting import format_printf

        out, valid = format_printf(self, rest[0], rest[1:], simple)
        if target is None:
            self.write(out)
        elif match := re.fullmatch(r"([A-Za-z_]\w*)(?:\[(.*)\])?", target):
            self.assign_value(match.group(1), match.group(2), out)
        else:
            valid = False
        self.status = 0 if valid else 1


def _with_escapes(parts: Parts) -> tuple[Parts, bool]:
    """What `echo -e` makes of a text, and whether a `\\c` ended it."""
    out: list[Part] = []
    for part in parts:
        if isinstance(part, Hole):
            out.append(part)
            continue
        text, ended = unescape_printed(part.text)
        out.append(Literal(text, part.span))
        if ended:
            return tuple(out), True
    return tuple(out), False


def integer(words: list[Parts], otherwise: int | None) -> int | None:
    """The number that the first word is, else `otherwise`."""
    text = known(words[0]) if words else None
    found = None if text is None else whole(text.removeprefix("-"))
    return otherwise if found is None or text is None else -found if text.startswith("-") else found
