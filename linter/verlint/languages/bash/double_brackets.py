"""Reading `[[ … ]]`."""

from __future__ import annotations

from verlint.languages.bash.assignments import AssignmentReader
from verlint.languages.bash.cursor import META
from verlint.languages.bash.syntax import BinaryTest, Condition, LogicTest, NotTest, Part, Test, UnaryTest, Word
from verlint.lazy import pattern

_UNARY = pattern(r"-[a-zA-Z](?=[ \t\n])")
_BINARY = pattern(r"(?:(?:==|!=|=~|=|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))(?=[ \t\n])|[<>])")


class ConditionReader(AssignmentReader):
    """A cursor that reads conditions."""

    def _condition(self, start: int) -> Condition:
        self.pos += 2
        outer, self.extended = self.extended, True
        test = self._or_test()
        self.extended = outer
        self.skip_newlines()
        if not (self.looking_at("]]") and (not self.peek(2) or self.peek(2) in META)):
            raise self.stop_reading("this [[ has no ]]", start)
        self.pos += 2
        return Condition(start, self.pos, test)

    def _or_test(self) -> Test:
        left = self._and_test()
        while True:
            self.skip_blanks()
            if not self.looking_at("||"):
                return left
            self.pos += 2
            right = self._and_test()
            left = LogicTest(left.start, right.end, "||", left, right)

    def _and_test(self) -> Test:
        left = self._not_test()
        while True:
            self.skip_blanks()
            if not self.looking_at("&&"):
                return left
            self.pos += 2
            right = self._not_test()
            left = LogicTest(left.start, right.end, "&&", left, right)

    def _not_test(self) -> Test:
        self.skip_newlines()
        start = self.pos
        if self.char() == "!" and self.peek() in (" ", "\t", "\n"):
            self.pos += 1
            self.enter()
            inner = self._not_test()
            self.depth -= 1
            return NotTest(start, inner.end, inner)
        if self.char() == "(":
            self.pos += 1
            self.enter()
            inner = self._or_test()
            self.depth -= 1
            if self.char() != ")":
                raise self.stop_reading("this ( inside [[ is never closed", start)
            self.pos += 1
            return inner
        return self._plain_test(start)

    def _plain_test(self, start: int) -> Test:
        unary = _UNARY.match(self.text, self.pos, self.stop)
        if unary is not None:
            self.pos = unary.end()
            self.skip_blanks()
            if not any(self.looking_at(each) for each in ("]]", "=", "&&", "||")):
                word = self._test_word()
                return UnaryTest(start, word.end, unary.group(), word)
            self.pos = start
        left = self._test_word()
        self.skip_blanks()
        binary = _BINARY.match(self.text, self.pos, self.stop)
        if binary is None and self.char() == "\n":
            raise self.stop_reading("unexpected end of line inside [[", start)
        if binary is None:
            return UnaryTest(left.start, left.end, "-n", left)
        self.pos = binary.end()
        self.skip_blanks()
        right = self._regex() if binary.group() == "=~" else self._test_word()
        return BinaryTest(left.start, right.end, binary.group(), left, right)

    def _test_word(self) -> Word:
        word = self.word()
        if word.start == word.end:
            raise self.stop_reading(f"unexpected {self.here()} inside [[", word.start)
        return word

    def _regex(self) -> Word:
        """A pattern after `=~`: parentheses and bars are characters."""
        start = self.pos
        parts: list[Part] = []
        depth = 0
        while self.pos < self.stop:
            char, here = self.char(), self.pos
            if char in "\n" or (char in " \t" and depth == 0):
                break
            if char in META:
                depth += {"(": 1, ")": -1}.get(char, 0)
                self.pos += 1
                self.append(parts, here, char, "")
            else:
                self.part(parts)
        return Word(start, self.pos, parts)
