"""The tokens of Hydra's override grammar (hydra-core 1.3), over text in which a hole is one character.

The longest token wins, as in Hydra's own lexer; the patterns below are ordered so that the first match is the longest.
"""

from __future__ import annotations

import re

from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.value import Literal, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

HOLE: Final = "\0"
"""What stands for a hole in a skeleton: no command line argument can hold this character."""

EQUAL, COMMA, COLON = "EQUAL", "COMMA", "COLON"
POPEN, PCLOSE = "POPEN", "PCLOSE"
BRACKET_OPEN, BRACKET_CLOSE = "BRACKET_OPEN", "BRACKET_CLOSE"
BRACE_OPEN, BRACE_CLOSE = "BRACE_OPEN", "BRACE_CLOSE"
QUOTED, FLOAT, INT, ID, BOOL, NULL = "QUOTED", "FLOAT", "INT", "ID", "BOOL", "NULL"
INTERPOLATION, ESC, UNQUOTED, WS = "INTERPOLATION", "ESC", "UNQUOTED", "WS"
BAD, END = "BAD", "END"

_UNSIGNED = r"(?:0|[1-9](?:_?[0-9])*)"
_DIGITS = r"[0-9](?:_?[0-9])*"
_POINT = rf"(?:{_UNSIGNED}?\.{_DIGITS}|{_UNSIGNED}\.)"
_LIST_SIGNS = {"[": BRACKET_OPEN, ",": COMMA, "]": BRACKET_CLOSE}
_WORD_KINDS = {"true": BOOL, "false": BOOL, "null": NULL, "inf": FLOAT, "nan": FLOAT}

_TOKEN = pattern(
    rf"""
      (?P<POPEN>[ \t]*\([ \t]*)
    | (?P<COMMA>[ \t]*,[ \t]*)
    | (?P<PCLOSE>[ \t]*\))
    | (?P<BRACKET_OPEN>\[[ \t]*)
    | (?P<BRACKET_CLOSE>[ \t]*\])
    | (?P<BRACE_OPEN>\{{[ \t]*)
    | (?P<BRACE_CLOSE>[ \t]*\}})
    | (?P<COLON>[ \t]*:[ \t]*)
    | (?P<EQUAL>[ \t]*=[ \t]*)
    | (?P<QUOTED>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<FLOAT>[+-]?(?:(?:{_POINT}|{_UNSIGNED})[eE][+-]?{_DIGITS}|{_POINT})|[+-](?:[Ii][Nn][Ff]|[Nn][Aa][Nn]))
    | (?P<INT>[+-]?{_UNSIGNED})
    | (?P<ID>[a-zA-Z_{HOLE}][a-zA-Z0-9_{HOLE}-]*)
    | (?P<INTERPOLATION>\$\{{[^}}]+\}})
    | (?P<ESC>(?:\\[\\()\[\]{{}}:=,\ \t])+)
    | (?P<UNQUOTED>[/\-\\+.$%*@?|])
    | (?P<WS>[ \t]+)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    """One token: its kind, its characters and the offset at which it starts."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """The offset just after the token."""
        return self.start + len(self.text)

    @property
    def sign(self) -> int:
        """The offset of its first character that is not white space."""
        return self.start + len(self.text) - len(self.text.lstrip(" \t"))


def skeleton(word: Text) -> str:
    """The characters of a word with `HOLE` for each hole, so that offsets are those of `Text.slice`."""
    parts = word.parts
    if len(parts) == 1 and isinstance(only := parts[0], Literal) and HOLE not in only.text:
        return only.text
    return "".join(part.text.replace(HOLE, "\ufffd") if isinstance(part, Literal) else HOLE for part in parts)


def single(text: str) -> str:
    """The kind of the token that `text` is as a whole, or "" when it is none or several."""
    match = _TOKEN.match(text)
    if match is None or match.end() != len(text):
        return ""
    kind = match.lastgroup or ""
    return _WORD_KINDS.get(text.lower(), ID) if kind == ID else kind


def _of_list(text: str, at: int) -> Token | None:
    """A token of a list of quoted texts, as most lists are: known by its first character, without the expression."""
    char = text[at]
    if char in ("'", '"'):
        end = text.find(char, at + 1) + 1
        return Token(QUOTED, text[at:end], at) if end and "\\" not in text[at:end] else None
    if char in _LIST_SIGNS and text[at + 1 : at + 2] not in (" ", "\t"):
        return Token(_LIST_SIGNS[char], char, at)
    return None


def _any(text: str, at: int) -> Token:
    match = _TOKEN.match(text, at)
    if match is None:
        return Token(BAD, text[at], at)
    kind, token = match.lastgroup or BAD, match[0]
    return Token(_WORD_KINDS.get(token.lower(), ID) if kind == ID else kind, token, at)


def tokens(text: str, start: int) -> list[Token]:
    """The value tokens of `text` from `start` on, with END last; the first character that starts no token is BAD."""
    out: list[Token] = []
    at = start
    while at < len(text):
        token = _of_list(text, at) or _any(text, at)
        out.append(token)
        if token.kind == BAD:
            return out
        at = token.end
    out.append(Token(END, "", at))
    return out
