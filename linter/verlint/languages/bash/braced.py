"""Reading `${…}`: names, subscripts, operators and their words."""

from __future__ import annotations

from verlint.languages.bash.cursor import DIGITS, NAME
from verlint.languages.bash.syntax import BadParam, Lit, Param, Part, Word
from verlint.languages.bash.words import SPECIAL, WordReader
from verlint.lazy import pattern

_OPERATORS = (
    ":-", ":=", ":?", ":+", "-", "=", "?", "+", "##", "#", "%%", "%", "//", "/#", "/%", "/", "^^", "^", ",,", ",", "@",
    ":",
)  # fmt: skip
"""Operators after a name, longer ones before their beginnings."""
_RUN = pattern(r"[\w.,=+@%-]+")
"""Characters of a word in braces that mean nothing but themselves."""


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
            return self._bad_substitution(start, in_quotes)
        if match and self.looking_at("}") and not length and not indirect:  # most are
            self.pos += 1
            self.depth -= 1
            return Param(start, self.pos, name)
        index: Word | None = None
        if self.char() == "[" and (index := self._index()) is None:
            return self._bad_substitution(start, in_quotes)
        param = Param(start, 0, name, index, indirect=indirect)
        if length:
            param.op = "len"
        elif indirect and self.char() in ("*", "@") and self.peek() == "}":
            param.op = "names" + self.char()
            self.pos += 1
        elif self.char() != "}" and not self._operator(param, in_quotes):
            return self._bad_substitution(start, in_quotes)
        if self.char() != "}":
            if self.pos >= self.stop:
                raise self.fail("this ${ is never closed", start)
            return self._bad_substitution(start, in_quotes)
        self.pos += 1
        param.end = self.pos
        self.depth -= 1
        return param

    def _braced_prefix(self) -> tuple[bool, bool]:
        """Step over `#` (length) or `!` (indirection) and say which it was."""
        first, following = self.char(), self.peek()
        if first not in "#!":
            return False, False
        if first == "#" and following and (following in "@*_-!?$" or following.isalnum()):
            if following not in "-?!$" or self.peek(2) == "}":
                self.pos += 1
                return True, False
        elif first == "!" and following and following != "}":
            self.pos += 1
            return False, True
        return False, False

    def _bad_substitution(self, start: int, in_quotes: bool) -> BadParam:
        """Keep a `${…}` that bash accepts when it reads and rejects when it runs: find the closing brace."""
        self.pos = start + 2
        while self.pos < self.stop:
            char = self.text[self.pos]
            if char == "}":
                self.pos += 1
                self.depth -= 1
                return BadParam(start, self.pos, self.text[start : self.pos])
            if char == "\\":
                self.pos += 2
            elif char == "$":
                self.dollar([], True)
            elif char in "<>" and self.angle([], quoted=True):
                pass
            elif char in '"`' or (char == "'" and not (in_quotes and self.document)):
                self.part([])
            else:
                self.pos += 1
        raise self.fail("this ${ is never closed", start)

    def _index(self) -> Word | None:
        """The subscript at the cursor, stepped over; None when the braces end before it does."""
        self.pos += 1
        start, depth = self.pos, 0
        parts: list[Part] = []
        while self.pos < self.stop:
            char, here = self.char(), self.pos
            if char == "}":
                return None
            if char == "]" and depth == 0:
                self.pos += 1
                return Word(start, here, parts)
            depth += {"[": 1, "]": -1}.get(char, 0)
            self.subscript_part(parts)
        return None

    def _operator(self, param: Param, in_quotes: bool) -> bool:
        """Read operator and words of `${name…`; False when there is no operator bash knows."""
        op = next((each for each in _OPERATORS if self.text.startswith(each, self.pos, self.stop)), "")
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
            if char in stop and (depth == 0 or char == "}") and not (first_slash and here == start and char == "/"):
                break
            if nested:
                depth = max(depth + {"(": 1, "[": 1, ")": -1, "]": -1}.get(char, 0), 0)
            if char == "$":
                self.dollar(parts, literal_quotes)
            elif char in "<>" and self.angle(parts, quoted=literal_quotes):
                pass
            elif char == "`":
                parts.append(self._back_quoted(literal_quotes))
            elif char == '"':
                parts.append(self._double_quoted())
            elif char == "'" and not literal_quotes:
                self.single_quoted(parts)
            elif char == "'" and not self.document:
                self._paired_quotes(parts)
            elif char == "\\":
                self._argument_escape(parts, literal_quotes)
            else:
                run = _RUN.match(self.text, here, self.stop)
                self.pos = run.end() if run else here + 1
                self.append(parts, here, self.text[here : self.pos], '"' if literal_quotes else "")
        return Word(start, self.pos, parts)

    def _paired_quotes(self, parts: list[Part]) -> None:
        """`'` inside `"${x:-…}"`: a character, but bash wants a second one, and `}` between them closes nothing."""
        start = self.pos
        close = self.text.find("'", start + 1, self.stop)
        if close < 0:
            self.pos = self.stop
            raise self.fail("this ' is never closed", start)
        while self.pos <= close:
            char, here = self.char(), self.pos
            if char == "$":
                self.dollar(parts, True)
            elif char == "`":
                parts.append(self._back_quoted(True))
            elif char == "\\":
                self._argument_escape(parts, True)
            else:
                self.pos += 1
                self.append(parts, here, char, '"')

    def _argument_escape(self, parts: list[Part], literal_quotes: bool) -> None:
        here, following = self.pos, self.peek()
        if following == "\n":
            self.pos += 2
        elif literal_quotes and following not in ("$", "`", '"', "\\", "}"):
            self.pos += 1
            self.append(parts, here, "\\", '"')
        else:
            self.pos = min(self.pos + 2, self.stop)
            parts.append(Lit(here, self.pos, following, "\\"))
