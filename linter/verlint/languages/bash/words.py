"""Reading words: quotes, command substitutions, arithmetic."""

from __future__ import annotations

from verlint.languages.bash.cursor import META, NAME, BashSyntaxError, Cursor
from verlint.languages.bash.escapes import unescape
from verlint.languages.bash.syntax import (
    Arith,
    CommandSub,
    DoubleQuoted,
    ExtGlob,
    Lit,
    Param,
    Part,
    ProcessSub,
    Sequence,
    StandIn,
    Word,
)
from verlint.languages.bash.walk import move
from verlint.lazy import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Match
    from typing import Self

_PARAMETER = r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)(?:(:?[-=?+])([^}$<>`\"'\\]*))?\})"
_USUAL = pattern(r"([^ \t\n;&|<>()\\'\"`$]+)|" + _PARAMETER + r"|\"([^\"\\$`]*)\"|'([^']*)'")
"""What words are mostly made of: bare characters, parameters, and strings with nothing to expand."""
_USUAL_QUOTED = pattern(r'([^"\\$`]+)|' + _PARAMETER)
_BARE, _NAME, _BRACED, _OPERATOR, _ARGUMENT, _DOUBLE, _SINGLE = range(1, 8)
"""Groups of these expressions: the last one that took part says what was found."""
_PLAIN = pattern(r"[^ \t\n;&|<>()\\'\"`$*?@!+\[\]{}]+")
_MORE_NAME = pattern(r"[A-Za-z0-9_]+")
_ENDS = frozenset(" \t\n;&|()")


SPECIAL = "@*#?$!-"
"""Names of parameters that are one character."""


class WordReader(Cursor):
    """A cursor that reads words."""

    def word(self) -> Word:
        """The word at the cursor; without parts when there is none."""
        text, stop = self.text, self.stop
        usual = not self.stand_ins
        start = pos = self.pos
        parts: list[Part] = []
        while pos < stop and text[pos] not in _ENDS:
            found = _USUAL.match(text, pos, stop) if usual else None
            if found is None or (self.extended and self._begins_extended_glob(found)):
                if text[pos] == '"':
                    parts.append(self._double_quoted())
                elif not self._unusual(parts):
                    break
                pos = self.pos
                continue
            kind, here = found.lastindex, pos
            self.pos = pos = found.end()
            if kind == _BARE and not parts:
                parts.append(Lit(here, pos, found[_BARE], ""))
            elif kind == _BARE:
                self.append(parts, here, found[_BARE], "")
            elif kind == _DOUBLE:
                parts.append(quoted := DoubleQuoted(here, pos, []))
                if pos - here > 2:
                    quoted.parts.append(Lit(here + 1, pos - 1, found[_DOUBLE], '"'))
            elif kind == _SINGLE:
                parts.append(Lit(here, pos, found[_SINGLE], "'"))
            else:
                parts.append(self._parameter(found, ""))
                pos = self.pos
        return Word(start, pos, parts)

    def _unusual(self, parts: list[Part]) -> bool:
        """Append what stands at the cursor; False when the word ends there."""
        char = self.text[self.pos]
        if char in "<{" and (end := self.stand_in_end()) >= 0:
            parts.append(StandIn(self.pos, end, self.text[self.pos : end]))
            self.pos = end
        elif char in META:
            if char not in "<>" or self.peek() != "(":
                return False
            parts.append(self._process_substitution(char))
        elif char in "?*+@!" and self.extended and self.peek() == "(":
            parts.append(self._extended_glob(char))
        else:
            self.part(parts)
        return True

    def _begins_extended_glob(self, found: Match[str]) -> bool:
        """Whether the last of the bare characters begin a pattern with parentheses."""
        return found.lastindex == _BARE and self.text[found.end() - 1 : found.end() + 1] in (
            "?(",
            "*(",
            "+(",
            "@(",
            "!(",
        )

    def _parameter(self, found: Match[str], quote: str) -> Param:
        """The parameter that was found: `$name`, `${name}`, or one with a default that is nothing but characters."""
        kind = found.lastindex
        start = found.start()
        if kind == _NAME:
            name = self._whole_name(found[_NAME])
            return Param(start, self.pos, name, None, "", None, None, False, True)
        end = found.end()
        if kind == _BRACED:
            return Param(start, end, found[_BRACED])
        written = found[_ARGUMENT]
        low, high = found.start(_ARGUMENT), found.end(_ARGUMENT)
        parts: list[Part] = [Lit(low, high, written, quote)] if written else []
        return Param(start, end, found[_BRACED], None, found[_OPERATOR], Word(low, high, parts))

    def _whole_name(self, name: str) -> str:
        """The name of a `$name` that the cursor is behind. A continued line does not end it: bash joins the lines
        before it looks for parameters, so that `$a⏎b` with a backslash between is `$ab`."""
        text = self.text
        while text.startswith("\\\n", self.pos, self.stop):
            more = _MORE_NAME.match(text, self.pos + 2, self.stop)
            if more is None:
                break
            name, self.pos = name + more.group(), more.end()
        return name

    def _process_substitution(self, direction: str) -> ProcessSub:
        start = self.pos
        self.pos += 2
        body = self._parenthesised(start)
        return ProcessSub(start, self.pos, body, direction)

    def _parenthesised(self, opened: int) -> Sequence:
        self.enter()
        outer, self.pending = self.pending, []
        body = self.sequence()
        self.skip_newlines()
        if self.char() != ")":
            raise self.fail("this ( or $( is never closed", opened)
        self.pos += 1
        self.pending = outer
        self.depth -= 1
        return body

    def _extended_glob(self, op: str) -> ExtGlob:
        start = self.pos
        self.pos += 2
        self.balanced(start)
        return ExtGlob(start, self.pos, op, self.text[start + 2 : self.pos - 1])

    def balanced(self, opened: int) -> None:
        """Step over everything up to the `)` that closes a `(` just behind the cursor, and over that."""
        depth = 1
        while self.pos < self.stop:
            char = self.text[self.pos]
            if char == "\\":
                self.pos += 2
            elif char == "'":
                self.single_quoted([])
            elif char == '"':
                self._double_quoted()
            else:
                depth += {"(": 1, ")": -1}.get(char, 0)
                self.pos += 1
                if depth == 0:
                    return
        raise self.fail("this ( is never closed", opened)

    def part(self, parts: list[Part]) -> None:
        """Append what stands at the cursor outside quotes."""
        text, start = self.text, self.pos
        char = text[start]
        if char == "\\":
            self._escaped(parts)
        elif char == "'":
            self.single_quoted(parts)
        elif char == '"':
            parts.append(self._double_quoted())
        elif char == "`":
            parts.append(self._back_quoted(False))
        elif char == "$":
            self.dollar(parts, False)
        elif char == "{" and (end := self.stand_in_end()) >= 0:
            parts.append(StandIn(start, end, text[start:end]))
            self.pos = end
        else:
            match = _PLAIN.match(text, start, self.stop)
            self.pos = match.end() if match else start + 1
            self.append(parts, start, text[start : self.pos], "")

    # ---- quotes

    def append(self, parts: list[Part], start: int, text: str, quote: str) -> None:
        """Add characters, joined to the literal just before when both are written in one run."""
        last = parts[-1] if parts else None
        if isinstance(last, Lit) and last.quote == quote and last.end == start:
            last.text += text
            last.end = self.pos
        else:
            parts.append(Lit(start, self.pos, text, quote))

    def _escaped(self, parts: list[Part]) -> None:
        start = self.pos
        following = self.peek()
        if following == "\n":
            self.pos += 2
        elif not following and self.final_backslash:
            self.pos += 1
        elif not following:
            self.pos += 1
            parts.append(Lit(start, self.pos, "\\", ""))
        else:
            self.pos += 2
            parts.append(Lit(start, self.pos, following, "\\"))

    def single_quoted(self, parts: list[Part]) -> None:
        """Append the single-quoted string at the cursor."""
        start = self.pos
        end = self.text.find("'", start + 1, self.stop)
        if end < 0:
            self.pos = self.stop
            raise self.fail("this ' is never closed", start)
        self.pos = end + 1
        parts.append(Lit(start, self.pos, self.text[start + 1 : end], "'"))

    def _double_quoted(self) -> DoubleQuoted:
        start = self.pos
        self.pos += 1
        parts = self.quoted_parts('"', start)
        self.pos += 1
        return DoubleQuoted(start, self.pos, parts)

    def quoted_parts(self, close: str | None, opened: int | None = None) -> list[Part]:
        """Parts inside double quotes (or a here-document, when `close` is None), up to the closing quote."""
        parts: list[Part] = []
        text, stop = self.text, self.stop
        while True:
            start = self.pos
            if start >= stop:
                if close is None:
                    return parts
                raise self.fail('this " is never closed', opened)
            found = _USUAL_QUOTED.match(text, start, stop)
            if found is None:
                if text[start] == close:
                    return parts
                self._unusual_quoted(parts, close)
                continue
            self.pos = found.end()
            if found.lastindex == _BARE:
                self.append(parts, start, found[_BARE], '"')
            else:
                parts.append(self._parameter(found, '"'))

    def _unusual_quoted(self, parts: list[Part], close: str | None) -> None:
        """Append an escape, a quote that closes nothing, or what is expanded."""
        char, start = self.text[self.pos], self.pos
        if char == "`":
            parts.append(self._back_quoted(True))
        elif char == "$":
            self.dollar(parts, True)
        elif char != "\\":
            self.pos += 1
            self.append(parts, start, char, '"')
        elif (following := self.peek()) == "\n":
            self.pos += 2
        elif following and (following in "$`\\" or (following == '"' and close == '"')):
            self.pos += 2
            parts.append(Lit(start, self.pos, following, '"'))
        else:
            self.pos += 1
            self.append(parts, start, "\\", '"')

    def _back_quoted(self, in_quotes: bool) -> CommandSub:
        start = self.pos
        self.pos += 1
        chars: list[str] = []
        offsets: list[int] = []
        while True:
            if self.pos >= self.stop:
                raise self.fail("this ` is never closed", start)
            char = self.text[self.pos]
            if char == "`":
                offsets.append(self.pos)
                self.pos += 1
                break
            following = self.peek()
            offsets.append(self.pos)
            if char == "\\" and following and (following in "$`\\" or (in_quotes and following == '"')):
                self.pos += 1
                char = following
            chars.append(char)
            self.pos += 1
        self.enter()
        body, broken = self._read_later(self.nested("".join(chars)))
        move(body, offsets)
        self.depth -= 1
        return CommandSub(start, self.pos, body, broken)

    def _read_later(self, inner: Self) -> tuple[Sequence, bool]:
        """What bash reads only when it runs it: the commands before a fault, and whether there is one."""
        start = inner.pos
        program = inner.program()
        items = [item for group in program.groups for item in group.items]
        return Sequence(start, inner.stop, items), program.problem is not None

    # ---- what a dollar sign begins

    def dollar(self, parts: list[Part], in_quotes: bool) -> None:
        """Append what a `$` at the cursor begins."""
        start = self.pos
        following = self.peek()
        if following == "(":
            parts.append(self._arithmetic_or_command(start))
        elif following == "[":
            self.pos += 2
            expr = self.arithmetic("]", start)
            parts.append(Arith(start, self.pos, expr))
        elif following == "{":
            self.pos += 2
            parts.append(self.braced(start, in_quotes))
        elif following == "'" and not in_quotes:
            parts.append(self._ansi_quoted(start))
        elif following == '"' and not in_quotes:
            self.pos += 1
            parts.append(self._double_quoted())
        else:
            self._plain_parameter(parts, start, in_quotes)

    def _plain_parameter(self, parts: list[Part], start: int, in_quotes: bool) -> None:
        match = NAME.match(self.text, start + 1, self.stop)
        following = self.peek()
        if match:
            self.pos = match.end()
            name = self._whole_name(match.group())
            parts.append(Param(start, self.pos, name, bare=True))
        elif following and (following.isdigit() or following in SPECIAL):
            self.pos += 2
            parts.append(Param(start, self.pos, following))
        else:
            self.pos += 1
            self.append(parts, start, "$", '"' if in_quotes else "")

    def _arithmetic_or_command(self, start: int) -> Part:
        if self.looking_at("$(("):
            depth = self.depth
            self.pos += 3
            try:
                expr = self.arithmetic("))", start)
            except BashSyntaxError:
                self.pos, self.depth = start, depth
            else:
                return Arith(start, self.pos, expr)
        self.pos = start + 2
        if self.char() == "(":
            return self._command_in_parentheses(start)
        body = self._parenthesised(start)
        return CommandSub(start, self.pos, body)

    def _command_in_parentheses(self, start: int) -> CommandSub:
        """`$((` that is no arithmetic: bash looks for the parentheses that close it, and reads between them later."""
        depth, pending = self.depth, self.pending
        try:
            body = self._parenthesised(start)
            return CommandSub(start, self.pos, body)
        except BashSyntaxError:
            self.pos, self.depth, self.pending = start + 2, depth, pending
        self.balanced(start)
        body, broken = self._read_later(self.window(start + 2, self.pos - 1))
        return CommandSub(start, self.pos, body, broken)

    def _ansi_quoted(self, start: int) -> Lit:
        at = start + 2
        while at < self.stop and self.text[at] != "'":
            at += 2 if self.text[at] == "\\" else 1
        if at >= self.stop:
            self.pos = self.stop
            raise self.fail("this $' is never closed", start)
        self.pos = at + 1
        return Lit(start, self.pos, unescape(self.text[start + 2 : at]).partition("\0")[0], "'")

    def arithmetic(self, close: str, opened: int) -> Word:
        """The expression up to `close`, which is stepped over ("": to the end of the text)."""
        start = self.pos
        parts: list[Part] = []
        depth = 0
        pair = {"[": 1, "]": -1} if close == "]" else {"(": 1, ")": -1}
        if close and self.text.find(close, start, self.stop) < 0:
            self.pos = self.stop
        while self.pos < self.stop:
            char, here = self.text[self.pos], self.pos
            if close and depth == 0 and self.looking_at(close):
                self.pos += len(close)
                return Word(start, here, parts)
            depth += pair.get(char, 0)
            if depth < 0:
                raise self.fail(f"unexpected {char} in arithmetic", opened)
            if char == "$":
                self.dollar(parts, True)
            elif char == "'":
                self.single_quoted([])
                self.append(parts, here, self.text[here : self.pos], '"')
            elif char == "`":
                parts.append(self._back_quoted(True))
            elif char == '"':
                parts.append(self._double_quoted())
            elif char == "\\" and self.peek() == "\n":
                self.pos += 2
            else:
                self.pos += 1
                self.append(parts, here, char, '"')
        if not close:
            return Word(start, self.pos, parts)
        raise self.fail(f"this arithmetic has no {close}", opened)

    def index_word(self) -> Word:
        """The rest of the text as a subscript: quotes and expansions are active, nothing is split."""
        start = self.pos
        parts: list[Part] = []
        while self.pos < self.stop:
            self.subscript_part(parts)
        return Word(start, self.pos, parts)

    def subscript_part(self, parts: list[Part]) -> None:
        """Append what stands at the cursor inside a subscript."""
        char, here = self.char(), self.pos
        if char in "<>" and self.angle(parts, quoted=True):
            return
        if char in "\"'`\\":
            self.part(parts)
        elif char == "$":
            self.dollar(parts, True)
        else:
            self.pos += 1
            self.append(parts, here, char, '"')

    def angle(self, parts: list[Part], *, quoted: bool) -> bool:
        """Append what a `<` or `>` inside `${…}` begins: `<(` must be closed there; False for a character. In quotes
        it is only text."""
        start = self.pos
        following = self.peek()
        if following == "(" and not self.document:
            substitution = self._process_substitution(self.text[start])
            text = self.text[start : self.pos]
            parts.append(Lit(start, self.pos, text, '"') if quoted else substitution)
            return True
        if following and following in "<>":  # the second one of a pair begins nothing
            self.pos += 2
            self.append(parts, start, self.text[start : self.pos], '"' if quoted else "")
            return True
        return False

    def braced(self, start: int, in_quotes: bool) -> Part:
        """Read `${…}`, whose name the cursor is at; implemented further up."""
        raise NotImplementedError
