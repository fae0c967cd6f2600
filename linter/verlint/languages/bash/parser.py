"""Reading commands. `parse` reads as bash does: one complete command after the other, so what stands before a fault
still counts."""

from __future__ import annotations

import re
from collections.abc import Callable

from verlint.languages.bash.syntax import (
    AndOr,
    ArithCommand,
    ArrayItem,
    ArrayLit,
    Assign,
    BinaryTest,
    Case,
    CaseArm,
    Command,
    Condition,
    DoubleQuoted,
    For,
    ForArith,
    FunctionDef,
    Group,
    If,
    Lit,
    LogicTest,
    NotTest,
    Part,
    Pipeline,
    Program,
    Redirect,
    Sequence,
    Simple,
    Subshell,
    SyntaxProblem,
    Test,
    UnaryTest,
    While,
    Word,
)
from verlint.languages.bash.words import META, NAME, BashSyntaxError, WordReader

_ASSIGN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)")
_REDIRECT = re.compile(r"(\d+|\{[A-Za-z_]\w*\})?(&>>|&>|<<<|<<-|<<|<>|>>|>\||>&|<&|<|>)")
_SUBSCRIPT = re.compile(r"\[[^\]\n]*\]\+?=")
_UNARY = re.compile(r"-[a-zA-Z](?=[ \t\n])")
_BINARY = re.compile(r"(==|!=|=~|=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef)(?=[ \t\n]))")
_DECLARING = frozenset(["export", "declare", "local", "readonly", "typeset", "alias"])
_CLOSING = frozenset(["then", "elif", "else", "fi", "do", "done", "esac", "}"])
_RESERVED = _CLOSING | frozenset(
    ["if", "case", "while", "until", "for", "in", "function", "{", "!", "[[", "time", "select", "coproc"]
)


class Parser(WordReader):
    """A cursor that reads commands."""

    # ---- lists

    def program(self) -> Program:
        """The whole text, command by command."""
        program = Program([])
        try:
            while True:
                self.skip_newlines()
                if self.pos >= self.stop:
                    return program
                program.groups.append(self._line())
        except BashSyntaxError as error:
            program.problem = error.problem
        except RecursionError:
            program.problem = SyntaxProblem("nested too deeply to be read", self.at(self.pos))
        return program

    def _line(self) -> Sequence:
        """The lists up to the end of the line."""
        start = self.pos
        items: list[tuple[AndOr, bool]] = []
        while True:
            self.skip_blanks()
            if self.char() in ("\n", ""):
                return Sequence(self.at(start), self.at(self.pos), items)
            self._reject_closing()
            items.append(self._list())

    def _reject_closing(self) -> None:
        if self.char() == ")":
            raise self.fail("unexpected )")
        word = self.reserved()
        if word in _CLOSING:
            raise self.fail(f"unexpected {word}: nothing is open that it closes")

    def sequence(self) -> Sequence:
        """Lists up to a closing word, `)`, `;;` or the end."""
        self.skip_newlines()
        start = self.pos
        items: list[tuple[AndOr, bool]] = []
        while True:
            self.skip_newlines()
            if self.pos >= self.stop or self.char() == ")" or self.reserved() in _CLOSING:
                break
            if self.looking_at(";;") or self.looking_at(";&"):
                break
            items.append(self._list())
        return Sequence(self.at(start), self.at(self.pos), items)

    def _list(self) -> tuple[AndOr, bool]:
        """One list and its terminator."""
        item = self._and_or()
        self.skip_blanks()
        if self.char() == "&" and self.peek() != "&":
            self.pos += 1
            return item, True
        if self.char() == ";" and self.peek() not in (";", "&"):
            self.pos += 1
        elif self.char() not in ("\n", "", ")") and not self.looking_at(";;") and not self.looking_at(";&"):
            raise self.fail(f"unexpected {self._here()}")
        return item, False

    def _here(self) -> str:
        line = self.text[self.pos : self.pos + 24].split("\n", 1)[0]
        return line.split(" ", 1)[0] or "end of line"

    def expect_end(self) -> None:
        self.skip_newlines()
        if self.pos < self.stop:
            raise self.fail(f"unexpected {self._here()}")

    def _and_or(self) -> AndOr:
        start = self.pos
        items = [("", self._pipeline())]
        while True:
            self.skip_blanks()
            if not (self.looking_at("&&") or self.looking_at("||")):
                return AndOr(self.at(start), items[-1][1].end, items)
            op = self.text[self.pos : self.pos + 2]
            self.pos += 2
            self.skip_newlines()
            items.append((op, self._pipeline()))

    def _pipeline(self) -> Pipeline:
        negated = False
        self.skip_blanks()
        start = self.pos
        while (word := self.reserved()) in ("!", "time"):
            self.pos += len(word)
            self.skip_blanks()
            if word == "!":
                negated = not negated
            elif self.looking_at("-p "):
                self.pos += 2
                self.skip_blanks()
        if start < self.pos and self.char() in ("\n", "", ";"):
            empty = Simple(self.at(self.pos), self.at(self.pos), [], [], [])
            return Pipeline(self.at(start), self.at(self.pos), [empty], negated)
        commands = [self.command()]
        while True:
            self.skip_blanks()
            if self.char() != "|" or self.peek() == "|":
                return Pipeline(self.at(start), commands[-1].end, commands, negated)
            self.pos += 2 if self.peek() == "&" else 1
            self.skip_newlines()
            commands.append(self.command())

    # ---- reserved words

    def reserved(self) -> str:
        """The reserved word at the cursor, or ""."""
        at = self.pos
        while at < self.stop and self.text[at] not in META:
            if self.text[at] in "'\"\\$`":
                return ""
            at += 1
        word = self.text[self.pos : at]
        return word if word in _RESERVED else ""

    def _keyword(self, word: str, opener: str, opened: int) -> None:
        self.skip_newlines()
        if self.reserved() != word:
            if self.pos >= self.stop:
                raise self.fail(f"this {opener} has no {word}", opened)
            raise self.fail(f"unexpected {self._here()}: {word} of this {opener} is missing", opened)
        self.pos += len(word)

    # ---- redirections

    def _redirects(self) -> list[Redirect]:
        out: list[Redirect] = []
        while True:
            self.skip_blanks()
            redirect = self._redirect()
            if redirect is None:
                return out
            out.append(redirect)

    def _redirect(self) -> Redirect | None:
        match = _REDIRECT.match(self.text, self.pos, self.stop)
        if match is None:
            return None
        op = match.group(2)
        if op in "<>" and self.text.startswith("(", match.end()):
            return None
        start = self.pos
        self.pos = match.end()
        self.skip_blanks()
        target = self.word()
        if not target.parts and target.start == target.end:
            raise self.fail(f"{op} has no target", start)
        redirect = Redirect(self.at(start), self.at(self.pos), match.group(1) or "", op, target)
        if op in ("<<", "<<-"):
            quoted = any(not isinstance(part, Lit) or part.quote for part in target.parts)
            self.pending.append((redirect, self._delimiter(target), quoted, op == "<<-"))
        return redirect

    def _delimiter(self, word: Word) -> str:
        out: list[str] = []
        for part in word.parts:
            if isinstance(part, Lit):
                out.append(part.text)
            elif isinstance(part, DoubleQuoted):
                out.extend(inner.text for inner in part.parts if isinstance(inner, Lit))
            elif self.offsets is None:
                out.append(self.text[part.start : part.end])
        return "".join(out)

    # ---- commands

    def command(self) -> Command:
        """The command at the cursor, compound or simple, with its redirections."""
        self.skip_blanks()
        start = self.pos
        word = self.reserved()
        opened = self._compound(word)
        if opened is not None:
            self._enter()
            command = opened(start)
            self.depth -= 1
            if not isinstance(command, FunctionDef):
                command.redirects.extend(self._redirects())
                command.end = max(command.end, *(each.end for each in command.redirects), command.end)
            return command
        if word:
            raise self.fail(f"unexpected {word}")
        return self._simple()

    def _compound(self, word: str) -> Callable[[int], Command] | None:
        if self.looking_at("((") and not word:
            return self._arith_command
        if self.char() == "(":
            return self._subshell
        return {
            "if": self._if,
            "while": self._while,
            "until": self._while,
            "for": self._for,
            "select": self._for,
            "case": self._case,
            "{": self._group,
            "[[": self._condition,
            "function": self._function,
            "coproc": self._coproc,
        }.get(word)

    def _simple(self) -> Command:
        start = self.pos
        end = start
        assigns: list[Assign] = []
        words: list[Word | Assign] = []
        redirects: list[Redirect] = []
        while True:
            self.skip_blanks()
            if self.pos >= self.stop or self.char() in ";&|\n)":
                if not (self.looking_at("&>")):
                    break
            redirect = self._redirect()
            if redirect is not None:
                redirects.append(redirect)
                end = self.pos
                continue
            if self.char() == "(":
                if len(words) == 1 and isinstance(words[0], Word) and not assigns and not redirects:
                    return self._function_body(start, words[0])
                raise self.fail("unexpected (")
            assign = self._assignment() if not words or _declares(words[0]) else None
            if assign is not None:
                (words if words else assigns).append(assign)
                end = self.pos
                continue
            word = self.word()
            if word.start == word.end:
                raise self.fail(f"unexpected {self._here()}")
            words.append(word)
            end = self.pos
        if not (assigns or words or redirects):
            raise self.fail(f"unexpected {self._here()}")
        return Simple(self.at(start), self.at(end), assigns, words, redirects)

    def _function_body(self, start: int, name: Word) -> FunctionDef:
        self.pos += 1
        self.skip_blanks()
        if self.char() != ")":
            raise self.fail("unexpected (")
        self.pos += 1
        self.skip_newlines()
        body = self.command()
        text = "".join(part.text for part in name.parts if isinstance(part, Lit))
        return FunctionDef(self.at(start), body.end, text, body)

    # ---- assignments

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
                raise self.fail(f"unexpected {self._here()} in an array", start)
            items.append(ArrayItem(index, word))

    # ---- compound commands

    def _if(self, start: int) -> If:
        self.pos += 2
        arms: list[tuple[Sequence, Sequence]] = []
        otherwise: Sequence | None = None
        while True:
            test = self._body("if", start)
            self._keyword("then", "if", start)
            arms.append((test, self._body("if", start)))
            self.skip_newlines()
            word = self.reserved()
            if word == "elif":
                self.pos += 4
                continue
            if word == "else":
                self.pos += 4
                otherwise = self._body("if", start)
            self._keyword("fi", "if", start)
            return If(self.at(start), self.at(self.pos), arms, otherwise)

    def _body(self, opener: str, opened: int) -> Sequence:
        body = self.sequence()
        if not body.items:
            if self.pos >= self.stop:
                raise self.fail(f"this {opener} is never closed", opened)
            raise self.fail(f"unexpected {self._here()}: a command of this {opener} is missing", opened)
        return body

    def _while(self, start: int) -> While:
        until = self.looking_at("until")
        word = "until" if until else "while"
        self.pos += 5
        test = self._body(word, start)
        self._keyword("do", word, start)
        body = self._body(word, start)
        self._keyword("done", word, start)
        return While(self.at(start), self.at(self.pos), test, body, until)

    def _for(self, start: int) -> For | ForArith:
        select = self.looking_at("select")
        self.pos += 6 if select else 3
        self.skip_blanks()
        if self.looking_at("(("):
            return self._for_arith(start)
        match = NAME.match(self.text, self.pos, self.stop)
        if match is None:
            raise self.fail("this for has no variable name", start)
        self.pos = match.end()
        self.skip_newlines()
        words: list[Word] | None = None
        if self.reserved() == "in":
            self.pos += 2
            words = []
            while True:
                self.skip_blanks()
                if self.char() in (";", "\n", ""):
                    break
                word = self.word()
                if word.start == word.end:
                    raise self.fail(f"unexpected {self._here()} in the words of this for", start)
                words.append(word)
        body = self._loop_body(start)
        return For(self.at(start), self.at(self.pos), match.group(), words, body, select)

    def _loop_body(self, start: int) -> Sequence:
        self.skip_blanks()
        if self.char() == ";":
            self.pos += 1
        self.skip_newlines()
        if self.char() == "{":
            self.pos += 1
            body = self._body("for", start)
            self._keyword("}", "{", start)
            return body
        self._keyword("do", "for", start)
        body = self._body("for", start)
        self._keyword("done", "for", start)
        return body

    def _for_arith(self, start: int) -> ForArith:
        self.pos += 2
        first = self.arithmetic(";", start)
        test = self.arithmetic(";", start)
        step = self.arithmetic("))", start)
        body = self._loop_body(start)
        return ForArith(self.at(start), self.at(self.pos), first, test, step, body)

    def _case(self, start: int) -> Case:
        self.pos += 4
        self.skip_blanks()
        word = self.word()
        self._keyword("in", "case", start)
        arms: list[CaseArm] = []
        while True:
            self.skip_newlines()
            if self.reserved() == "esac":
                self.pos += 4
                return Case(self.at(start), self.at(self.pos), word, arms)
            if self.pos >= self.stop:
                raise self.fail("this case has no esac", start)
            arms.append(self._case_arm(start))

    def _case_arm(self, start: int) -> CaseArm:
        if self.char() == "(":
            self.pos += 1
            self.skip_blanks()
        patterns: list[Word] = []
        while True:
            self.skip_blanks()
            pattern = self.word()
            if pattern.start == pattern.end:
                raise self.fail(f"unexpected {self._here()}: a pattern of this case is missing", start)
            patterns.append(pattern)
            self.skip_blanks()
            if self.char() != "|":
                break
            self.pos += 1
        if self.char() != ")":
            raise self.fail(f"unexpected {self._here()}: ) of a case pattern is missing", start)
        self.pos += 1
        body = self.sequence()
        self.skip_newlines()
        end = next((each for each in (";;&", ";;", ";&") if self.looking_at(each)), "")
        self.pos += len(end)
        if not end and self.reserved() != "esac":
            raise self.fail("this case has no esac", start)
        return CaseArm(patterns, body, end)

    def _group(self, start: int) -> Group:
        self.pos += 1
        body = self._body("{", start)
        self._keyword("}", "{", start)
        return Group(self.at(start), self.at(self.pos), body)

    def _subshell(self, start: int) -> Subshell:
        self.pos += 1
        body = self.sequence()
        self.skip_newlines()
        if self.char() != ")" or not body.items:
            raise self.fail("this ( is never closed" if body.items else "unexpected )", start)
        self.pos += 1
        return Subshell(self.at(start), self.at(self.pos), body)

    def _arith_command(self, start: int) -> ArithCommand | Subshell:
        self.pos += 2
        try:
            expr = self.arithmetic("))", start)
        except BashSyntaxError:
            self.pos = start
            return self._subshell(start)
        return ArithCommand(self.at(start), self.at(self.pos), expr)

    def _function(self, start: int) -> FunctionDef:
        self.pos += 8
        self.skip_blanks()
        name = self.word()
        self.skip_blanks()
        if self.char() == "(":
            self.pos += 1
            self.skip_blanks()
            if self.char() != ")":
                raise self.fail("unexpected (", start)
            self.pos += 1
        self.skip_newlines()
        body = self.command()
        text = "".join(part.text for part in name.parts if isinstance(part, Lit))
        return FunctionDef(self.at(start), body.end, text, body)

    def _coproc(self, start: int) -> Group:
        self.pos += 6
        self.skip_blanks()
        inner = self.command()
        item = AndOr(inner.start, inner.end, [("", Pipeline(inner.start, inner.end, [inner], False))])
        return Group(self.at(start), inner.end, Sequence(inner.start, inner.end, [(item, True)]))

    # ---- [[ ]]

    def _condition(self, start: int) -> Condition:
        self.pos += 2
        test = self._or_test()
        self.skip_newlines()
        if not self.looking_at("]]"):
            raise self.fail("this [[ has no ]]", start)
        self.pos += 2
        return Condition(self.at(start), self.at(self.pos), test)

    def _or_test(self) -> Test:
        left = self._and_test()
        while True:
            self.skip_newlines()
            if not self.looking_at("||"):
                return left
            self.pos += 2
            right = self._and_test()
            left = LogicTest(left.start, right.end, "||", left, right)

    def _and_test(self) -> Test:
        left = self._not_test()
        while True:
            self.skip_newlines()
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
            inner = self._not_test()
            return NotTest(self.at(start), inner.end, inner)
        if self.char() == "(":
            self.pos += 1
            inner = self._or_test()
            self.skip_newlines()
            if self.char() != ")":
                raise self.fail("this ( inside [[ is never closed", start)
            self.pos += 1
            return inner
        return self._plain_test(start)

    def _plain_test(self, start: int) -> Test:
        unary = _UNARY.match(self.text, self.pos, self.stop)
        if unary is not None:
            self.pos = unary.end()
            self.skip_newlines()
            if not any(self.looking_at(each) for each in ("]]", "=", "&&", "||")):
                word = self._test_word()
                return UnaryTest(self.at(start), word.end, unary.group(), word)
            self.pos = start
        left = self._test_word()
        self.skip_newlines()
        binary = _BINARY.match(self.text, self.pos, self.stop)
        if binary is None:
            return UnaryTest(left.start, left.end, "-n", left)
        self.pos = binary.end()
        self.skip_blanks()
        right = self._regex() if binary.group() == "=~" else self._test_word()
        return BinaryTest(left.start, right.end, binary.group(), left, right)

    def _test_word(self) -> Word:
        word = self.word()
        if word.start == word.end:
            raise self.fail(f"unexpected {self._here()} inside [[")
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
                self._append(parts, here, char, "")
            else:
                self.part(parts)
        return Word(self.at(start), self.at(self.pos), parts)


def _declares(word: Word | Assign) -> bool:
    if isinstance(word, Assign) or not word.parts:
        return False
    first = word.parts[0]
    return isinstance(first, Lit) and first.text in _DECLARING


def parse(text: str, *, file: bool = True) -> Program:
    """The syntax tree of a text. `file` is False for the string of `bash -c` and `eval`, where a final backslash is a
    character.

    Never raises on bad input: the fault is in `Program.problem`, and the commands before it are kept.
    """
    return Parser(text, final_backslash=file).program()
