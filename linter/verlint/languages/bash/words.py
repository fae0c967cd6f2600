"""Reading words: quotes, expansions, here-documents. `Parser` adds commands."""

from __future__ import annotations

import re
from collections.abc import Sequence as Seq

from verlint.languages.bash.syntax import (
    Arith,
    BadParam,
    CommandSub,
    DoubleQuoted,
    ExtGlob,
    Lit,
    Param,
    Part,
    ProcessSub,
    Redirect,
    Sequence,
    SyntaxProblem,
    Word,
)

META = frozenset(" \t\n;&|<>()")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
DIGITS = re.compile(r"\d+")
_PLAIN = re.compile(r"[^ \t\n;&|<>()\\'\"`$*?@!+\[\]{}]+")
_IN_QUOTES = re.compile(r'[^"\\$`]+')
_SPECIAL = "@*#?$!-"
_OPERATORS = (
    ":-", ":=", ":?", ":+", "-", "=", "?", "+", "##", "#", "%%", "%", "//", "/#", "/%", "/", "^^", "^", ",,", ",", "@", ":",
)  # fmt: skip
_MAX_DEPTH = 120


class BashSyntaxError(Exception):
    """The text is not valid bash; `problem` says what and where."""

    def __init__(self, problem: SyntaxProblem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class WordReader:
    """A cursor over a text. `offsets` maps positions to those of an enclosing text when this one was derived from it
    (back quotes, `<<-`); `final_backslash` says that a backslash at the very end disappears, as it does at the end of
    a file."""

    def __init__(
        self,
        text: str,
        start: int = 0,
        end: int | None = None,
        *,
        offsets: Seq[int] | None = None,
        final_backslash: bool = True,
        depth: int = 0,
    ) -> None:
        self.text = text
        self.pos = start
        self.stop = len(text) if end is None else end
        self.offsets = offsets
        self.final_backslash = final_backslash
        self.pending: list[tuple[Redirect, str, bool, bool]] = []
        self.depth = depth

    # ---- cursor

    def fail(self, message: str, opened: int | None = None) -> BashSyntaxError:
        """The error to raise for a fault at the cursor."""
        return BashSyntaxError(SyntaxProblem(message, self.at(self.pos), None if opened is None else self.at(opened)))

    def at(self, position: int) -> int:
        """Offset in the outermost text of a position in this one."""
        if self.offsets is None:
            return position
        if position < len(self.offsets):
            return self.offsets[position]
        return self.offsets[-1] + 1 if self.offsets else 0

    def looking_at(self, text: str) -> bool:
        return self.text.startswith(text, self.pos, self.stop)

    def char(self) -> str:
        return self.text[self.pos] if self.pos < self.stop else ""

    def peek(self, ahead: int = 1) -> str:
        at = self.pos + ahead
        return self.text[at] if at < self.stop else ""

    def skip_blanks(self) -> None:
        """Skip blanks, continued line ends and a comment."""
        text = self.text
        while self.pos < self.stop:
            char = text[self.pos]
            if char in " \t":
                self.pos += 1
            elif char == "\\" and self.peek() == "\n":
                self.pos += 2
            elif char == "\\" and self.pos + 1 == self.stop and self.final_backslash:
                self.pos += 1
            elif char == "#":
                end = text.find("\n", self.pos, self.stop)
                self.pos = self.stop if end < 0 else end
            else:
                break

    def newline(self) -> None:
        """Step over a line end; bodies of here-documents stand right behind it."""
        self.pos += 1
        waiting, self.pending = self.pending, []
        for redirect, delimiter, quoted, strip in waiting:
            self._read_here_document(redirect, delimiter, quoted, strip)

    def skip_newlines(self) -> None:
        while True:
            self.skip_blanks()
            if self.char() != "\n":
                return
            self.newline()

    def _enter(self) -> None:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise self.fail("nested too deeply to be read")

    # ---- here-documents

    def _read_here_document(self, redirect: Redirect, delimiter: str, quoted: bool, strip: bool) -> None:
        start = self.pos
        end = self.stop
        while self.pos < self.stop:
            line_end = self.text.find("\n", self.pos, self.stop)
            line_end = self.stop if line_end < 0 else line_end
            line = self.text[self.pos : line_end]
            if (line.lstrip("\t") if strip else line) == delimiter:
                end = self.pos
                self.pos = min(line_end + 1, self.stop)
                break
            self.pos = min(line_end + 1, self.stop)
        body, offsets = self._document_text(start, end, strip)
        if quoted:
            parts: list[Part] = [Lit(self.at(start), self.at(end), body, "'")]
        else:
            parts = self.nested(body, offsets).quoted_parts(None)
        redirect.body = Word(self.at(start), self.at(end), parts)

    def _document_text(self, start: int, end: int, strip: bool) -> tuple[str, list[int]]:
        """Text of a here-document and the offset of each of its characters."""
        if not strip:
            return self.text[start:end], [self.at(i) for i in range(start, end)]
        chars: list[str] = []
        offsets: list[int] = []
        line_start = True
        for i in range(start, end):
            char = self.text[i]
            if line_start and char == "\t":
                continue
            chars.append(char)
            offsets.append(self.at(i))
            line_start = char == "\n"
        return "".join(chars), offsets

    def nested(self, text: str, offsets: Seq[int]) -> WordReader:
        """A reader for a text derived from this one."""
        return type(self)(text, offsets=offsets, final_backslash=False, depth=self.depth + 1)

    def sequence(self) -> Sequence:
        """Commands up to a closing token; implemented by the parser of commands."""
        raise NotImplementedError

    def expect_end(self) -> None:
        """Raise unless only blanks are left; implemented by the parser of commands."""
        raise NotImplementedError

    # ---- words

    def word(self) -> Word:
        """The word at the cursor; without parts when there is none."""
        start = self.pos
        parts: list[Part] = []
        while self.pos < self.stop:
            char = self.text[self.pos]
            if char in META:
                if char in "<>" and self.peek() == "(":
                    parts.append(self._process_substitution(char))
                    continue
                break
            if char in "?*+@!" and self.peek() == "(":
                parts.append(self._extended_glob(char))
                continue
            self.part(parts)
        return Word(self.at(start), self.at(self.pos), parts)

    def _process_substitution(self, direction: str) -> ProcessSub:
        start = self.pos
        self.pos += 2
        body = self._parenthesised(start)
        return ProcessSub(self.at(start), self.at(self.pos), body, direction)

    def _parenthesised(self, opened: int) -> Sequence:
        self._enter()
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
        self._balanced(start)
        return ExtGlob(self.at(start), self.at(self.pos), op, self.text[start + 2 : self.pos - 1])

    def _balanced(self, opened: int) -> None:
        depth = 1
        while self.pos < self.stop:
            char = self.text[self.pos]
            if char == "\\":
                self.pos += 2
            elif char == "'":
                self._single_quoted([])
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
            self._single_quoted(parts)
        elif char == '"':
            parts.append(self._double_quoted())
        elif char == "`":
            parts.append(self._back_quoted(False))
        elif char == "$":
            self.dollar(parts, False)
        else:
            match = _PLAIN.match(text, start, self.stop)
            self.pos = match.end() if match else start + 1
            self._append(parts, start, text[start : self.pos], "")

    def _append(self, parts: list[Part], start: int, text: str, quote: str) -> None:
        """Add characters, joined to the literal just before when both are written in one run."""
        last = parts[-1] if parts else None
        if isinstance(last, Lit) and last.quote == quote and last.end == self.at(start):
            last.text += text
            last.end = self.at(self.pos)
        else:
            parts.append(Lit(self.at(start), self.at(self.pos), text, quote))

    def _escaped(self, parts: list[Part]) -> None:
        start = self.pos
        following = self.peek()
        if following == "\n":
            self.pos += 2
        elif not following and self.final_backslash:
            self.pos += 1
        elif not following:
            self.pos += 1
            parts.append(Lit(self.at(start), self.at(self.pos), "\\", ""))
        else:
            self.pos += 2
            parts.append(Lit(self.at(start), self.at(self.pos), following, "\\"))

    def _single_quoted(self, parts: list[Part]) -> None:
        start = self.pos
        end = self.text.find("'", start + 1, self.stop)
        if end < 0:
            self.pos = self.stop
            raise self.fail("this ' is never closed", start)
        self.pos = end + 1
        parts.append(Lit(self.at(start), self.at(self.pos), self.text[start + 1 : end], "'"))

    def _double_quoted(self) -> DoubleQuoted:
        start = self.pos
        self.pos += 1
        parts = self.quoted_parts('"', start)
        self.pos += 1
        return DoubleQuoted(self.at(start), self.at(self.pos), parts)

    def quoted_parts(self, close: str | None, opened: int | None = None) -> list[Part]:
        """Parts inside double quotes (or a here-document, when `close` is None), up to the closing quote."""
        parts: list[Part] = []
        text = self.text
        while True:
            if self.pos >= self.stop:
                if close is None:
                    return parts
                raise self.fail('this " is never closed', opened)
            char, start = text[self.pos], self.pos
            if char == close:
                return parts
            if char == "\\":
                following = self.peek()
                if following == "\n":
                    self.pos += 2
                elif following and (following in "$`\\" or (following == '"' and close == '"')):
                    self.pos += 2
                    parts.append(Lit(self.at(start), self.at(self.pos), following, '"'))
                else:
                    self.pos += 1
                    self._append(parts, start, "\\", '"')
            elif char == "`":
                parts.append(self._back_quoted(True))
            elif char == "$":
                self.dollar(parts, True)
            else:
                match = _IN_QUOTES.match(text, start, self.stop)
                self.pos = match.end() if match else start + 1
                self._append(parts, start, text[start : self.pos], '"')

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
                self.pos += 1
                break
            following = self.peek()
            if char == "\\" and following and (following in "$`\\" or (in_quotes and following == '"')):
                self.pos += 1
                char = following
            chars.append(char)
            offsets.append(self.at(self.pos))
            self.pos += 1
        self._enter()
        inner = self.nested("".join(chars), offsets)
        body = inner.sequence()
        inner.expect_end()
        self.depth -= 1
        return CommandSub(self.at(start), self.at(self.pos), body)

    def dollar(self, parts: list[Part], in_quotes: bool) -> None:
        """Append what a `$` at the cursor begins."""
        start = self.pos
        following = self.peek()
        if following == "(":
            parts.append(self._arithmetic_or_command(start))
        elif following == "[":
            self.pos += 2
            expr = self.arithmetic("]", start)
            parts.append(Arith(self.at(start), self.at(self.pos), expr))
        elif following == "{":
            self.pos += 2
            parts.append(self._braced(start, in_quotes))
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
            parts.append(Param(self.at(start), self.at(self.pos), match.group()))
        elif following and (following.isdigit() or following in _SPECIAL):
            self.pos += 2
            parts.append(Param(self.at(start), self.at(self.pos), following))
        else:
            self.pos += 1
            self._append(parts, start, "$", '"' if in_quotes else "")

    def _arithmetic_or_command(self, start: int) -> Part:
        if self.looking_at("$(("):
            depth = self.depth
            self.pos += 3
            try:
                expr = self.arithmetic("))", start)
            except BashSyntaxError:
                self.pos, self.depth = start, depth
            else:
                return Arith(self.at(start), self.at(self.pos), expr)
        self.pos = start + 2
        body = self._parenthesised(start)
        return CommandSub(self.at(start), self.at(self.pos), body)

    def _ansi_quoted(self, start: int) -> Lit:
        at = start + 2
        while at < self.stop and self.text[at] != "'":
            at += 2 if self.text[at] == "\\" else 1
        if at >= self.stop:
            self.pos = self.stop
            raise self.fail("this $' is never closed", start)
        self.pos = at + 1
        return Lit(self.at(start), self.at(self.pos), unescape(self.text[start + 2 : at]), "'")

    def arithmetic(self, close: str, opened: int) -> Word:
        """The expression up to `close`, which is stepped over."""
        start = self.pos
        parts: list[Part] = []
        depth = 0
        while self.pos < self.stop:
            char, here = self.text[self.pos], self.pos
            if depth == 0 and self.looking_at(close):
                self.pos += len(close)
                return Word(self.at(start), self.at(here), parts)
            depth += {"(": 1, ")": -1}.get(char, 0)
            if depth < 0:
                raise self.fail("unexpected ) in arithmetic", opened)
            if char == "$":
                self.dollar(parts, True)
            elif char == "`":
                parts.append(self._back_quoted(True))
            elif char == '"':
                parts.append(self._double_quoted())
            elif char == "\\" and self.peek() == "\n":
                self.pos += 2
            else:
                self.pos += 1
                self._append(parts, here, char, '"')
        raise self.fail(f"this arithmetic has no {close}", opened)

    # ---- ${…}

    def _braced(self, start: int, in_quotes: bool) -> Part:
        self._enter()
        length, indirect = self._braced_prefix()
        match = NAME.match(self.text, self.pos, self.stop) or DIGITS.match(self.text, self.pos, self.stop)
        if match:
            name = match.group()
            self.pos = match.end()
        elif self.char() and self.char() in _SPECIAL:
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
                self._single_quoted([])
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

    def index_word(self) -> Word:
        """The rest of the text as a subscript: quotes and expansions are active, nothing is split."""
        start = self.pos
        parts: list[Part] = []
        while self.pos < self.stop:
            char, here = self.char(), self.pos
            if char in "\"'":
                self.part(parts)
            elif char == "$":
                self.dollar(parts, True)
            else:
                self.pos += 1
                self._append(parts, here, char, '"')
        return Word(self.at(start), self.at(self.pos), parts)

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
            param.arg = self._argument(False, "/}", first_slash=op == "/")
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
                self._single_quoted(parts)
            elif char == "\\":
                self._argument_escape(parts, literal_quotes)
            else:
                self.pos += 1
                self._append(parts, here, char, '"' if literal_quotes else "")
        return Word(self.at(start), self.at(self.pos), parts)

    def _argument_escape(self, parts: list[Part], literal_quotes: bool) -> None:
        here, following = self.pos, self.peek()
        if following == "\n":
            self.pos += 2
        elif literal_quotes and following not in ("$", "`", '"', "\\", "}"):
            self.pos += 1
            self._append(parts, here, "\\", '"')
        else:
            self.pos = min(self.pos + 2, self.stop)
            parts.append(Lit(self.at(here), self.at(self.pos), following, "\\"))


_ESCAPES = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_CODED = re.compile(r"x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})")


def unescape(text: str) -> str:
    """Backslash escapes of `$'…'`, `echo -e` and `printf` replaced by what they stand for."""
    if "\\" not in text:
        return text
    out: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char != "\\" or at + 1 >= len(text):
            out.append(char)
            at += 1
            continue
        following = text[at + 1]
        if following in _ESCAPES:
            out.append(_ESCAPES[following])
            at += 2
            continue
        match = _CODED.match(text, at + 1)
        if match is None:
            out.append("\\")
            at += 1
            continue
        code = int(match.group(4), 8) & 0xFF if match.group(4) else int(next(g for g in match.groups() if g), 16)
        out.append(chr(code) if code < 0x110000 else "�")
        at = match.end()
    return "".join(out)
