"""Reading assignments and array literals."""

from __future__ import annotations

import re

from verlint.languages.bash.redirects import RedirectReader
from verlint.languages.bash.syntax import ArrayItem, ArrayLit, Assign, Lit, Word

_ASSIGN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)")
_SUBSCRIPT = re.compile(r"\[[^\]\n]*\]\+?=")
_DECLARING = frozenset(["export", "declare", "local", "readonly", "typeset", "alias"])


class AssignmentReader(RedirectReader):
    """A cursor that reads assignments."""

    def _assignment(self) -> Assign | None:
        match = _ASSIGN.match(self.text, self.pos, self.stop)
        if match is None:
            return None
        start = self.pos
        at = match.end()
        index: Word | None = None
        append = match.group(2) == "+="
        if match.group(2) == "[":
            closed = self._subscript_end(at)
            if closed is None:
                return None
            index = type(self)(self.text, at, closed, offsets=self.offsets, depth=self.depth).index_word()
            at = closed + 1
            append = self.text.startswith("+=", at)
            if not append and not self.text.startswith("=", at):
                return None
            at += 2 if append else 1
        self.pos = at
        value: Word | ArrayLit = self._array() if self.char() == "(" else self.word()
        return Assign(self.at(start), self.at(self.pos), match.group(1), index, append, value)

    def _subscript_end(self, at: int) -> int | None:
        depth = 1
        while at < self.stop:
            char = self.text[at]
            if char == "\n":
                return None
            depth += {"[": 1, "]": -1}.get(char, 0)
            if depth == 0:
                return at
            at += 1
        return None

    def _array(self) -> ArrayLit:
        start = self.pos
        self.pos += 1
        items: list[ArrayItem] = []
        while True:
            self.skip_newlines()
            if self.char() == ")":
                self.pos += 1
                return ArrayLit(self.at(start), self.at(self.pos), items)
            if self.pos >= self.stop:
                raise self.fail("this ( of an array is never closed", start)
            index: Word | None = None
            match = _SUBSCRIPT.match(self.text, self.pos, self.stop) if self.char() == "[" else None
            if match is not None:
                close = self.text.rfind("]", self.pos, match.end())
                reader = type(self)(self.text, self.pos + 1, close, offsets=self.offsets, depth=self.depth)
                index = reader.index_word()
                self.pos = match.end()
            word = self.word()
            if word.start == word.end and index is None:
                raise self.fail(f"unexpected {self.here()} in an array", start)
            items.append(ArrayItem(index, word))

    def here(self) -> str:
        """The characters at the cursor, for messages."""
        line = self.text[self.pos : self.pos + 24].split("\n", 1)[0]
        return line.split(" ", 1)[0] or "end of line"


def declares(word: Word | Assign) -> bool:
    """Whether a command of this name takes assignments as arguments."""
    if isinstance(word, Assign) or not word.parts:
        return False
    first = word.parts[0]
    return isinstance(first, Lit) and first.text in _DECLARING
