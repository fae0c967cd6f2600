"""Reading assignments and array literals."""

from __future__ import annotations

from verlint.languages.bash.cursor import META, BashSyntaxError
from verlint.languages.bash.redirects import RedirectReader
from verlint.languages.bash.syntax import ArrayItem, ArrayLit, Assign, Lit, Part, Word
from verlint.lazy import pattern

_ASSIGN = pattern(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)")
_DECLARING = frozenset(["export", "declare", "local", "readonly", "typeset", "alias"])


class AssignmentReader(RedirectReader):
    """A cursor that reads assignments."""

    def assignment(self, *, first: bool) -> Assign | Word | None:
        """The assignment at the cursor. As the `first` word, a name with a subscript that is no assignment is a word
        that may hold blanks."""
        match = _ASSIGN.match(self.text, self.pos, self.stop)
        if match is None:
            return None
        start = self.pos
        index: Word | None = None
        append = match.group(2) == "+="
        self.pos = match.end()
        if match.group(2) == "[":
            self.pos -= 1
            try:
                parts = self._bracketed()
            except BashSyntaxError:
                if first:
                    raise
                self.pos = start
                return None
            end = self.pos
            append = self.looking_at("+=")
            if not append and not self.looking_at("="):
                return self._rest_of_word(start, [Lit(start, match.end(1), match.group(1), ""), *parts])
            self.pos += 2 if append else 1
            index = self.window(match.end(), end - 1).index_word()
        value: Word | ArrayLit = self._array() if self.char() == "(" else self.word()
        if isinstance(value, ArrayLit) and self.char() and self.char() not in META:
            value = self._joined(value)
        return Assign(start, self.pos, match.group(1), index, append, value)

    def _joined(self, array: ArrayLit) -> Word:
        """`x=(a b)c` is no array but a string, parentheses and all."""
        text = self.text[array.start : self.pos]
        rest = self.word()
        if self.char() == "(":
            raise self.fail("unexpected (")
        return Word(array.start, rest.end, [Lit(array.start, array.end, text, '"'), *rest.parts])

    def _bracketed(self) -> list[Part]:
        """From `[` to its `]`; blanks and line ends between them are characters."""
        start, depth = self.pos, 0
        parts: list[Part] = []
        while self.pos < self.stop:
            char, here = self.text[self.pos], self.pos
            if char in "[]" or char in META:
                depth += {"[": 1, "]": -1}.get(char, 0)
                self.pos += 1
                self.append(parts, here, char, "")
                if depth == 0:
                    return parts
            else:
                self.part(parts)
        raise self.fail("this [ is never closed", start)

    def _rest_of_word(self, start: int, parts: list[Part]) -> Word:
        rest = self.word()
        return Word(start, rest.end, [*parts, *rest.parts])

    def _array(self) -> ArrayLit:
        start = self.pos
        self.pos += 1
        items: list[ArrayItem] = []
        while True:
            self.skip_newlines()
            char = self.char()
            if char == ")":
                self.pos += 1
                return ArrayLit(start, self.pos, items)
            if not char:
                raise self.fail("this ( of an array is never closed", start)
            if char == "[":
                items.append(self._bracketed_item())
                continue
            word = self.word()
            if word.start == word.end:
                raise self.fail(f"unexpected {self.here()} in an array", start)
            items.append(ArrayItem(None, word))

    def _bracketed_item(self) -> ArrayItem:
        """`[index]=word`, or a word that begins with `[`."""
        start = self.pos
        parts = self._bracketed()
        end = self.pos
        if self.looking_at("=") or self.looking_at("+="):
            index = self.window(start + 1, end - 1).index_word()
            self.pos += 2 if self.char() == "+" else 1
            return ArrayItem(index, self.word())
        return ArrayItem(None, self._rest_of_word(start, parts))

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
