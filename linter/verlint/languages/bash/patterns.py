"""Bash patterns: translation to regular expressions, and matching of strings that hold holes."""

from __future__ import annotations

import re
from functools import lru_cache

from verlint.languages.bash.pieces import MARK
from verlint.lazy import pattern

Pattern = tuple[tuple[str, bool], ...]
"""Runs of a pattern: characters, and whether they are quoted (then they match themselves)."""

CLASSES = {
    "space": r"\s", "digit": "0-9", "alpha": "A-Za-z", "alnum": "A-Za-z0-9", "upper": "A-Z", "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~", "blank": r" \t", "xdigit": "0-9A-Fa-f", "word": r"\w", "cntrl": r"\x00-\x1f\x7f",
    "graph": "!-~", "print": " -~", "ascii": r"\x00-\x7f",
}  # fmt: skip
"""The members of `[:name:]` among the characters of ASCII, as they stand in a bracket of a regular expression."""
_OTHER_LETTERS = {
    "alpha": r"[^\W\d_]", "alnum": r"[^\W_]", "graph": r"[^\x00-\x7f]", "print": r"[^\x00-\x7f]",
    "upper": "[À-ÖØ-Þ]", "lower": "[ß-öø-ÿ]",
}  # fmt: skip
"""What they mean beyond ASCII (in a UTF-8 locale): expressions of their own."""
MAX_REPEATED = 16
"""So long a text is not searched for patterns that repeat groups."""

_EXTENDED = pattern(r"[?*+@!]\(")
_CLASS = pattern(r"\[:(\w+):\]")
_ACTIVE = pattern(r"[*?]|[@+!]\(")


def is_pattern(pattern: Pattern) -> bool:
    """Whether any unquoted character is special; a `[` is only with a `]` behind it in the same part of a path."""
    opened = False
    for text, quoted in pattern:
        if quoted:
            opened = opened and "/" not in text
            continue
        if _ACTIVE.search(text):
            return True
        if not opened and "[" not in text:
            continue
        for char in text:
            if char == "]" and opened:
                return True
            opened = char == "[" or (opened and char != "/")
    return False


def literal_text(pattern: Pattern) -> str:
    """The characters of a pattern."""
    return "".join(text for text, _ in pattern)


def matches(text: str, pattern: Pattern, *, any_case: bool = False) -> bool | None:
    """Whether a flat string matches a pattern wholly; None when a hole in either leaves it open."""
    if any_case:
        text, pattern = text.lower(), tuple((run.lower(), quoted) for run, quoted in pattern)
    whole = literal_text(pattern)
    if len(text) > MAX_REPEATED and repeats(pattern):
        return None
    if MARK not in text and MARK not in whole:
        return compile_pattern(pattern).fullmatch(text) is not None
    if whole == "*" and not pattern[0][1]:
        return True
    if text == whole:
        return None if text == MARK else True
    if MARK not in whole and not _matches_one(pattern) and compile_pattern(pattern).fullmatch(text):
        return True  # only a `*` can have matched the unknown, and it matches whatever that is
    return False if _certain_mismatch(text, pattern) else None


def _matches_one(pattern: Pattern) -> bool:
    """Whether anything but `*` in a pattern may match a character that is not written there."""
    return any(not quoted and re.search(r"[?\[]|[*@+!]\(", text) for text, quoted in pattern)


def _certain_mismatch(text: str, pattern: Pattern) -> bool:
    """Whether the known beginnings or ends cannot be the same."""
    head = _fixed(pattern)
    tail = _fixed(tuple((run[::-1], quoted) for run, quoted in reversed(pattern)), backwards=True)
    mine_head = text.split(MARK, 1)[0]
    mine_tail = text.rsplit(MARK, 1)[-1][::-1]
    return _differ(mine_head, head) or _differ(mine_tail, tail)


def _fixed(pattern: Pattern, *, backwards: bool = False) -> str:
    """Characters a match must begin with (end with, reversed, when `backwards`)."""
    out: list[str] = []
    for text, quoted in pattern:
        found = None if quoted else re.search(r"[*?\])(]|[@+!]\(" if backwards else r"[*?\[]|[@+!]\(", text)
        run = text[: found.start()] if found else text
        if MARK in run:
            out.append(run.split(MARK, 1)[0])
            break
        out.append(run)
        if found:
            break
    return "".join(out)


def _differ(left: str, right: str) -> bool:
    length = min(len(left), len(right))
    return left[:length] != right[:length]


@lru_cache(maxsize=2048)
def compile_pattern(pattern: Pattern) -> re.Pattern[str]:
    """A regular expression for whole matches; one that matches only itself when the pattern cannot be one.

    Behind each `*` the next fixed run is looked for once and kept (an atomic group): the first place is as good as any
    later one, and so the time does not grow with every `*`."""
    pieces = _pieces(pattern)
    first, *others = _between_stars(pieces)
    text = first
    if others:
        text += "".join(f"(?>.*?{piece})" for piece in others[:-1] if piece) + ".*" + others[-1]
    try:
        return re.compile(translate(pattern) if repeats(pattern) else text, re.S)
    except re.error:
        return re.compile(re.escape(literal_text(pattern)), re.S)


@lru_cache(maxsize=2048)
def translate(pattern: Pattern) -> str:
    """A pattern as regular-expression text, for searching."""
    return "".join(".*" if piece is None else piece for piece in _pieces(pattern))


def repeats(pattern: Pattern) -> bool:
    """Whether a pattern has `+(…)`, `*(…)` and kin, whose matching may take for ever in a long text."""
    return any(not quoted and _EXTENDED.search(text) for text, quoted in pattern)


def stars(pattern: Pattern) -> int:
    """How many `*` a pattern has."""
    return sum(text.count("*") for text, quoted in pattern if not quoted)


def _between_stars(pieces: list[str | None]) -> list[str]:
    out = [""]
    for piece in pieces:
        if piece is None:
            out.append("")
        else:
            out[-1] += piece
    return out


def _pieces(pattern: Pattern) -> list[str | None]:
    """The expressions of the elements of a pattern, None for `*`."""
    chars = [(char, quoted) for text, quoted in pattern for char in text]
    out: list[str | None] = []
    at = 0
    while at < len(chars):
        char, quoted = chars[at]
        if quoted:
            out.append(re.escape(char))
            at += 1
        elif char == "\\" and at + 1 < len(chars):
            out.append(re.escape(chars[at + 1][0]))
            at += 2
        elif char in "?*+@!" and at + 1 < len(chars) and chars[at + 1] == ("(", False):
            at = _extended(chars, at, out)
        elif char == "[":
            at = _bracket(chars, at, out)
        else:
            out.append(None if char == "*" else "." if char == "?" else re.escape(char))
            at += 1
    return out


def _extended(chars: list[tuple[str, bool]], at: int, out: list[str | None]) -> int:
    depth, end = 0, at + 1
    while end < len(chars):
        depth += {"(": 1, ")": -1}.get(chars[end][0], 0)
        if depth == 0:
            break
        end += 1
    inner = "".join(char for char, _ in chars[at + 2 : end])
    choices = "|".join(translate(((each, False),)) for each in _split_choices(inner))
    if chars[at][0] == "!":  # anything that does not make the whole match with one of the choices
        rest = translate(tuple(chars[end + 1 :]))
        out.append(rf"(?!(?:{choices}){rest}\Z).*")
    else:
        out.append({"?": "(?:%s)?", "*": "(?:%s)*", "+": "(?:%s)+", "@": "(?:%s)"}[chars[at][0]] % choices)
    return end + 1


def _split_choices(text: str) -> list[str]:
    out, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "|" and depth == 0:
            out.append(text[start:at])
            start = at + 1
    return [*out, text[start:]]


def _bracket(chars: list[tuple[str, bool]], at: int, out: list[str | None]) -> int:
    """Translate a bracket expression; a `[` that none closes is a character."""
    end = at + 1
    if end < len(chars) and chars[end][0] in "!^":
        end += 1
    if end < len(chars) and chars[end][0] == "]":
        end += 1
    text = "".join(char for char, _ in chars)
    while end < len(chars) and chars[end][0] != "]":
        if text.startswith("[:", end) and (close := text.find(":]", end + 2)) > 0:
            end = close + 2
            continue
        end += 2 if chars[end] == ("\\", False) else 1
    if end >= len(chars):
        out.append(r"\[")
        return at + 1
    body = chars[at + 1 : end]
    negated = bool(body) and body[0][0] in "!^" and not body[0][1]
    members, others = _bracket_body(body[1:] if negated else body)
    out.append(bracket(members, others, negated=negated))
    return end + 1


def bracket(members: str, others: list[str], *, negated: bool) -> str:
    """A regular expression for one character: of the members of a bracket, or that one of the other expressions
    matches; `negated`: for any but those."""
    if not members and not others:
        return "." if negated else "(?!)"
    if not others:
        return "[" + ("^" if negated else "") + members + "]"
    if negated:
        return f"(?!{'|'.join(others)})[^{members}]"
    return f"(?:[{members}]|{'|'.join(others)})"


def class_members(name: str) -> tuple[str, list[str]]:
    """`[:name:]` as members of a bracket and as expressions beside it."""
    other = _OTHER_LETTERS.get(name)
    return CLASSES.get(name, ""), [] if other is None else [other]


def _bracket_body(body: list[tuple[str, bool]]) -> tuple[str, list[str]]:
    text = "".join(char for char, _ in body)
    out: list[str] = []
    others: list[str] = []
    at = 0
    while at < len(body):
        match = _CLASS.match(text, at) if text.startswith("[:", at) else None
        if match:
            members, more = class_members(match.group(1))
            out.append(members)
            others.extend(more)
            at = match.end()
            continue
        first, at = _member(body, at)
        if at + 1 < len(body) and body[at] == ("-", False):
            last, at = _member(body, at + 1)
            if first <= last:  # the other way round it has no members
                out.append(f"{re.escape(first)}-{re.escape(last)}")
        else:
            out.append(re.escape(first))
    return "".join(out), others


def _member(body: list[tuple[str, bool]], at: int) -> tuple[str, int]:
    """A character in a bracket, and the place behind it."""
    if body[at] == ("\\", False) and at + 1 < len(body):
        at += 1
    return body[at][0], at + 1
