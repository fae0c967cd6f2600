"""What `[[ … =~ … ]]` looks for: POSIX extended regular expressions as those of Python."""

from __future__ import annotations

import re

from verlint.languages.bash.patterns import Pattern, bracket, class_members
from verlint.lazy import pattern

_BOUNDS = pattern(r"\{\d*(?:,\d*)?\}")
_GNU = {"w": r"\w", "W": r"\W", "s": r"\s", "S": r"\S", "b": r"\b", "B": r"\B", "<": r"\b(?=\w)", ">": r"\b(?<=\w)"}
"""What a backslash and a letter mean to the GNU C library; other letters mean themselves (`\\d` is a d)."""


class BadExpression(Exception):
    """Not a regular expression: `[[` ends with status 2."""


def translate_regex(runs: Pattern) -> str:
    """The expression for `re.search` with `re.S`: a dot is any character, `$` only the very end. Characters of quoted
    runs match themselves. Raises BadExpression."""
    reader = _Reader([(char, quoted) for text, quoted in runs for char in text])
    out = reader.choice()
    if reader.at < len(reader.chars):
        raise BadExpression
    return out


class _Reader:
    def __init__(self, chars: list[tuple[str, bool]]) -> None:
        self.chars = chars
        self.text = "".join(char for char, _ in chars)
        self.at = 0

    def choice(self) -> str:
        out = [self._branch()]
        while self._bare("|"):
            self.at += 1
            out.append(self._branch())
        return "|".join(out)

    def _bare(self, chars: str) -> bool:
        return self.at < len(self.chars) and self.chars[self.at][0] in chars and not self.chars[self.at][1]

    def _branch(self) -> str:
        out: list[str] = []
        while self.at < len(self.chars) and not self._bare("|)"):
            atom = self._atom()
            repeated = False
            while bound := self._bound():
                atom = f"(?:{atom}){bound}" if repeated else atom + bound
                repeated = True
            out.append(atom)
        return "".join(out)

    def _bound(self) -> str:
        if self._bare("*+?"):
            self.at += 1
            return self.text[self.at - 1]
        match = _BOUNDS.match(self.text, self.at) if self._bare("{") else None
        if match is None or match.group() == "{}":
            return ""
        self.at = match.end()
        return match.group()

    def _atom(self) -> str:
        char, quoted = self.chars[self.at]
        self.at += 1
        if quoted:
            return re.escape(char)
        if char == "(":
            inner = self.choice()
            if not self._bare(")"):
                raise BadExpression
            self.at += 1
            return f"({inner})"
        if char == "[":
            return self._bracket()
        if char == "\\":
            if self.at >= len(self.chars):
                raise BadExpression
            char = self.text[self.at]
            self.at += 1
            return rf"\{char}" if char in "123456789" else _GNU.get(char, re.escape(char))
        if char in "*+?":
            raise BadExpression
        return {".": ".", "^": "^", "$": r"\Z"}.get(char) or re.escape(char)

    def _bracket(self) -> str:
        """The rest of a bracket, whose `[` is behind; a backslash in it is a character."""
        negated = self._bare("^")
        self.at += negated
        members: list[str] = []
        others: list[str] = []
        start = self.at
        while True:
            if self.at >= len(self.chars):
                raise BadExpression
            char, quoted = self.chars[self.at]
            if char == "]" and not quoted and self.at > start:
                self.at += 1
                return bracket("".join(members), others, negated=negated)
            close = self.text.find(":]", self.at + 2) if self.text.startswith("[:", self.at) else -1
            if close > 0:
                found, more = class_members(self.text[self.at + 2 : close])
                members.append(found)
                others.extend(more)
                self.at = close + 2
                continue
            last = self.text[self.at + 1 : self.at + 2] == "]"
            members.append("-" if char == "-" and not quoted and self.at > start and not last else re.escape(char))
            self.at += 1
