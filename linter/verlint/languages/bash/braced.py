"""Reading `${…}`: names, subscripts, operators and their words."""

from __future__ import annotations

from verlint.languages.bash.cursor import DIGITS, NAME
from verlint.languages.bash.syntax import BadParam, Lit, Param, Part, Word
from verlint.languages.bash.words import SPECIAL, WordReader

_OPERATORS = (
    ":-", ":=", ":?", ":+", "-", "=", "?", "+", "##", "#", "%%", "%", "//", "/#", "/%", "/", "^^", "^", ",,", ",", "@",
    ":",
)  # fmt: skip
"""Operators after a name, longer ones before their beginnings."""


class BracedReader(WordReader):
    """A cursor that reads `${…}`."""

    def braced(self, start: int, in_quotes: bool) -> Part:
        """Read `${…}`, whose name the cursor is at."""
        self.enter()
        length, indirect = self._braced_prefix()
        match = NAME.match(self.text, self.pos, self.stop) or DIGITS.match(self.text, self.pos, self.stop)
        if match:
            name = match.group()
            self.pos = match.end()
        elif self.char() and self.char() in SPECIAL:
            name = self.char()
            self.pos += 1
        else:
            return self._bad_substitution(start)
        index = self._index() if self.char() == "[" else None
        param = Param(self.at(start), 0, name, index, indirect=indirect)
        if length:
            param.op = "len"
        elif indirect and self.char() in ("*", "@") and self.peek() == "}":
            param.op = "names"
            self.pos += 1
        elif self.char() != "}" and not self._operator(param, in_quotes):
            return self._bad_substitution(start)
        if self.char() != "}":
            if self.pos >= self.stop:
                raise self.fail("this ${ is never closed", start)
            return self._bad_substitution(start)
        self.pos += 1
        param.end = self.at(self.pos)
        self.depth -= 1
        return param

    def _braced_prefix(self) -> tuple[bool, bool]:
        """Step over `#` (length) or `!` (indirection) and say which it was."""
        following = self.peek()
        if self.char() == "#" and following and (following in "@*_-!?$" or following.isalnum()):
            if following not in "-?!$" or self.peek(2) == "}":
                self.pos += 1
                return True, False
        elif self.char() == "!" and following and following != "}":
            self.pos += 1
            return False, True
        return False, False

    def _bad_substitution(self, start: int) -> BadParam:
        """Keep a `${…}` that bash accepts when it reads and rejects when it runs: find the closing brace."""
        self.pos = start + 2
        depth = 1
        while self.pos < self.stop:
            char = self.text[self.pos]
            if char == "\\":
                self.pos += 2
                continue
            if char == "'":
                self.single_quoted([])
                continue
            if char == '"':
                self._double_quoted()
                continue
            depth += {"{": 1, "}": -1}.get(char, 0)
            self.pos += 1
            if depth == 0:
                self.depth -= 1
                return BadParam(self.at(start), self.at(self.pos), self.text[start : self.pos])
        raise self.fail("this ${ is never closed", start)

    def _index(self) -> Word:
        self.pos += 1
        start, depth = self.pos, 1
        while self.pos < self.stop and depth:
            char = self.text[self.pos]
            depth += {"[": 1, "]": -1}.get(char, 0)
            self.pos += 2 if char == "\\" else 1
        inner = type(self)(self.text, start, max(self.pos - 1, start), offsets=self.offsets, depth=self.depth)
        return inner.index_word()

    def _operator(self, param: Param, in_quotes: bool) -> bool:
        """Read operator and words of `${name…`; False when there is no operator bash knows."""
        op = next((each for each in _OPERATORS if self.looking_at(each)), "")
        if not op:
            return False
        self.pos += len(op)
        param.op = op
        active = not in_quotes
        if op == ":":
            param.arg = self._argument(True, ":}", nested=True)
            if self.char() == ":":
                self.pos += 1
                param.arg2 = self._argument(True, "}", nested=True)
        elif op[0] == "/":
            param.arg = self._argument(False, "/}", first_slash=op in ("/", "//"))
            if self.char() == "/":
                self.pos += 1
                param.arg2 = self._argument(False, "}", in_quotes=in_quotes)
        elif op[0] in "#%^,":
            param.arg = self._argument(False, "}")
        else:
            param.arg = self._argument(not active, "}")
        return True

    def _argument(
        self,
        literal_quotes: bool,
        stop: str,
        *,
        nested: bool = False,
        first_slash: bool = False,
        in_quotes: bool = False,
    ) -> Word:
        """A word inside `${…}`. With `literal_quotes` a ' is a character, as inside double quotes."""
        start = self.pos
        parts: list[Part] = []
        depth = 0
        while self.pos < self.stop:
            char, here = self.char(), self.pos
            if depth == 0 and char in stop and not (first_slash and here == start):
                break
            if nested:
                depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(char, 0)
            if char == "$":
                self.dollar(parts, literal_quotes)
            elif char == "`":
                parts.append(self._back_quoted(literal_quotes))
            elif char == '"':
                parts.append(self._double_quoted())
            elif char == "'" and not literal_quotes:
                self.single_quoted(parts)
            elif char == "\\":
                self._argument_escape(parts, literal_quotes)
            else:
                self.pos += 1
                self.append(parts, here, char, '"' if literal_quotes else "")
        return Word(self.at(start), self.at(self.pos), parts)

    def _argument_escape(self, parts: list[Part], literal_quotes: bool) -> None:
        here, following = self.pos, self.peek()
        if following == "\n":
            self.pos += 2
        elif literal_quotes and following not in ("$", "`", '"', "\\", "}"):
            self.pos += 1
            self.append(parts, here, "\\", '"')
        else:
            self.pos = min(self.pos + 2, self.stop)
            parts.append(Lit(self.at(here), self.at(self.pos), following, "\\"))
