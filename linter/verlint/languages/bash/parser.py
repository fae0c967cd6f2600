"""Reading commands. `parse` reads as bash does: one complete command after the other, so what stands before a fault
still counts."""

from __future__ import annotations

from collections.abc import Callable

from verlint.languages.bash.assignments import declares
from verlint.languages.bash.cursor import BashSyntaxError
from verlint.languages.bash.double_brackets import ConditionReader
from verlint.languages.bash.syntax import (
    AndOr,
    ArithCommand,
    Assign,
    Case,
    CaseArm,
    Command,
    Compound,
    Coprocess,
    For,
    ForArith,
    FunctionDef,
    Group,
    If,
    Lit,
    Pipeline,
    Program,
    Redirect,
    Sequence,
    Simple,
    Subshell,
    SyntaxProblem,
    While,
    Word,
)
from verlint.lazy import pattern

_CLOSING = frozenset(["then", "elif", "else", "fi", "do", "done", "esac", "}"])
RESERVED = pattern(
    r"(?:then|elif|else|fi|done|do|esac|\}|if|case|while|until|for|in|function|\{|!|\[\[|\]\]|time|select|coproc)"
    r"(?=(?:\\\n)*(?:[ \t\n;&|<>()]|\Z))"
)
_BEGIN_RESERVED = frozenset("tefdicwus}{![]")
_BEGIN_CLOSING = frozenset("tefd})")
_BEGIN_REDIRECT = frozenset("<>&{")
_LONE = pattern(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")

_READERS = {
    "if": "_if", "while": "_while", "until": "_while", "for": "_for", "select": "_for", "case": "_case",
    "{": "_group", "[[": "_condition", "function": "_function", "coproc": "_coproc",
}  # fmt: skip
"""Methods that read the compound commands, by their first word."""


class Parser(ConditionReader):
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
            program.problem = SyntaxProblem("nested too deeply to be read", self.pos)
        return program

    def _line(self) -> Sequence:
        """The lists up to the end of the line."""
        start = self.pos
        items: list[tuple[AndOr, bool]] = []
        while True:
            self.skip_blanks()
            char = self.char()
            if char == "\n" or not char:
                return Sequence(start, self.pos, items)
            if char in _BEGIN_CLOSING:
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
        return Sequence(start, self.pos, items)

    def _list(self) -> tuple[AndOr, bool]:
        """One list and its terminator."""
        lone = self._lone_assignment()
        if lone is not None:
            return lone, False
        item = self._and_or()
        char = self.char()
        if char == "\n" or char == ")" or not char:
            return item, False
        following = self.peek()
        if char == "&" and following != "&":
            self.pos += 1
            return item, True
        if char != ";":
            if not (_ends_itself(item) and self.reserved() in _CLOSING):  # `if (a) then`
                raise self.fail(f"unexpected {self.here()}")
        elif following not in (";", "&"):
            self.pos += 1
        return item, False

    def _lone_assignment(self) -> AndOr | None:
        """An assignment with nothing else on its line, as most lines of launchers are; None, at the same place, for
        what may be more."""
        text, start = self.text, self.pos
        found = _LONE.match(text, start, self.stop)
        if found is None:
            return None
        self.pos = found.end()
        value = self._array() if self.char() == "(" else self.word()
        end = self.pos
        self.skip_blanks()
        if self.pos < self.stop and text[self.pos] != "\n":
            self.pos = start
            return None
        assign = Assign(start, end, found[1], None, found[2] == "+", value)
        command = Simple(start, end, [assign], [], [])
        return AndOr(start, end, [("", Pipeline(start, end, [command], False))])

    def _and_or(self) -> AndOr:
        """Pipelines joined by `&&` and `||`; the cursor ends behind the blanks that follow."""
        start = self.pos
        items = [("", self._pipeline())]
        while True:
            char = self.char()
            if not char or char not in "&|" or self.peek() != char:
                return AndOr(start, items[-1][1].end, items)
            self.pos += 2
            self.skip_newlines()
            items.append((char + char, self._pipeline()))

    def _pipeline(self) -> Pipeline:
        """Commands joined by `|`; the cursor ends behind the blanks that follow."""
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
        if start < self.pos and self.char() in ("\n", "", ";") and not self.looking_at(";;"):
            empty = Simple(self.pos, self.pos, [], [], [])
            return Pipeline(start, self.pos, [empty], negated)
        commands = [self.command(word)]
        while True:
            self.skip_blanks()
            if self.char() != "|" or self.peek() == "|":
                return Pipeline(start, commands[-1].end, commands, negated)
            self.pos += 2 if self.peek() == "&" else 1
            self.skip_newlines()
            commands.append(self.command(self.reserved()))

    # ---- reserved words

    def reserved(self) -> str:
        """The reserved word at the cursor, or ""."""
        pos = self.pos
        if pos >= self.stop or self.text[pos] not in _BEGIN_RESERVED:
            return ""
        match = RESERVED.match(self.text, pos, self.stop)
        return "" if match is None else match.group()

    def _keyword(self, word: str, opener: str, opened: int) -> None:
        self.skip_newlines()
        if self.reserved() != word:
            if self.pos >= self.stop:
                raise self.fail(f"this {opener} has no {word}", opened)
            raise self.fail(f"unexpected {self.here()}: {word} of this {opener} is missing", opened)
        self.pos += len(word)

    # ---- commands

    def command(self, word: str) -> Command:
        """The command at the cursor, compound or simple, with its redirections; `word` is the reserved word it begins
        with, "" for none."""
        start = self.pos
        if not word and self.char() != "(":
            return self._simple()
        opened = self._compound(word)
        if opened is not None:
            self.enter()
            command = opened(start)
            self.depth -= 1
            if not isinstance(command, FunctionDef):
                command.redirects.extend(self._redirects())
                command.end = max(command.end, *(each.end for each in command.redirects), command.end)
            return command
        if word and word != "time":  # `a | time b`
            raise self.fail(f"unexpected {word}")
        return self._simple()

    def _compound(self, word: str) -> Callable[[int], Compound | FunctionDef] | None:
        if not word:
            if self.char() != "(":
                return None
            return self._arith_command if self.peek() == "(" else self._subshell
        reader = _READERS.get(word)
        return None if reader is None else getattr(self, reader)

    def _simple(self) -> Command:
        start = end = self.pos
        assigns: list[Assign] = []
        words: list[Word | Assign] = []
        redirects: list[Redirect] = []
        assigning = True
        while True:
            self.skip_blanks()
            char = self.char()
            if char in ";&|\n)" and not self.looking_at("&>"):  # "" at the end is in every string
                break
            redirect = self._redirect() if char in _BEGIN_REDIRECT or char.isdecimal() else None
            if redirect is not None:
                redirects.append(redirect)
                end = self.pos
                continue
            if char == "(":
                if len(words) == 1 and isinstance(words[0], Word) and not assigns and not redirects:
                    return self._function_body(start, words[0])
                raise self.fail("unexpected (")
            read = self.assignment(first=not words) if assigning else None
            if isinstance(read, Assign):
                (words if words else assigns).append(read)
                end = self.pos
                continue
            word = read or self.word()
            if word.start == word.end:
                raise self.fail(f"unexpected {self.here()}")
            if not words:
                assigning = declares(word)
            words.append(word)
            end = self.pos
        if not (assigns or words or redirects):
            raise self.fail(f"unexpected {self.here()}")
        return Simple(start, end, assigns, words, redirects)

    def _function_body(self, start: int, name: Word) -> FunctionDef:
        """The rest of a definition; the cursor is behind the name."""
        if self.char() == "(":
            self.pos += 1
            self.skip_blanks()
            if self.char() != ")":
                raise self.fail("unexpected (")
            self.pos += 1
        self.skip_newlines()
        here = self.pos
        body = self.command(self.reserved())
        if isinstance(body, (Simple, FunctionDef)):
            self.pos = here
            raise self.fail(f"unexpected {self.here()}: the body of a function must be {{ }}, ( ) or the like", start)
        text = "".join(part.text for part in name.parts if isinstance(part, Lit))
        return FunctionDef(start, body.end, text, body)

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
            return If(start, self.pos, arms, otherwise)

    def _body(self, opener: str, opened: int) -> Sequence:
        body = self.sequence()
        if not body.items:
            if self.pos >= self.stop:
                raise self.fail(f"this {opener} is never closed", opened)
            raise self.fail(f"unexpected {self.here()}: a command of this {opener} is missing", opened)
        return body

    def _while(self, start: int) -> While:
        until = self.looking_at("until")
        word = "until" if until else "while"
        self.pos += 5
        test = self._body(word, start)
        self._keyword("do", word, start)
        body = self._body(word, start)
        self._keyword("done", word, start)
        return While(start, self.pos, test, body, until)

    def _for(self, start: int) -> For | ForArith:
        select = self.looking_at("select")
        self.pos += 6 if select else 3
        self.skip_blanks()
        if self.looking_at("(("):
            return self._for_arith(start)
        variable = self.word()
        if variable.start == variable.end:
            raise self.fail("this for has no variable name", start)
        name = "".join(part.text for part in variable.parts if isinstance(part, Lit))
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
                    raise self.fail(f"unexpected {self.here()} in the words of this for", start)
                words.append(word)
        body = self._loop_body(start)
        return For(start, self.pos, name, words, body, select)

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
        here = self.pos
        self.balanced(start)
        if self.char() != ")":
            raise self.stop_reading("this for (( has no )) of its own", start, silent=True)
        end = self.pos - 1
        inner = self.window(here, end)
        try:
            first = inner.arithmetic(";", start)
            test = inner.arithmetic(";", start)
        except BashSyntaxError:
            raise self.fail("this for (( lacks a ;", start) from None
        step = inner.arithmetic("", start)
        if any(isinstance(part, Lit) and ";" in part.text for part in step.parts):
            raise self.fail("this for (( has too many ;", start)
        self.pos = end + 2
        body = self._loop_body(start)
        return ForArith(start, self.pos, first, test, step, body)

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
                return Case(start, self.pos, word, arms)
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
                raise self.fail(f"unexpected {self.here()}: a pattern of this case is missing", start)
            patterns.append(pattern)
            self.skip_blanks()
            if self.char() != "|":
                break
            self.pos += 1
        if self.char() != ")":
            raise self.fail(f"unexpected {self.here()}: ) of a case pattern is missing", start)
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
        return Group(start, self.pos, body)

    def _subshell(self, start: int) -> Subshell:
        self.pos += 1
        body = self.sequence()
        self.skip_newlines()
        if self.char() != ")" or not body.items:
            raise self.fail("this ( is never closed" if body.items else "unexpected )", start)
        self.pos += 1
        return Subshell(start, self.pos, body)

    def _arith_command(self, start: int) -> ArithCommand | Subshell:
        self.pos += 2
        try:
            expr = self.arithmetic("))", start)
        except BashSyntaxError:
            self.pos = start
            return self._subshell(start)
        return ArithCommand(start, self.pos, expr)

    def _function(self, start: int) -> FunctionDef:
        self.pos += 8
        self.skip_blanks()
        name = self.word()
        if not name.parts:
            raise self.fail(f"unexpected {self.here()}: the name of a function must follow on the line", start)
        self.skip_blanks()
        return self._function_body(start, name)

    def _coproc(self, start: int) -> Coprocess:
        self.pos += 6
        self.skip_blanks()
        here, name = self.pos, "COPROC"
        if not self.reserved() and self.char() != "(":
            word = self.word()
            self.skip_blanks()
            if self._compound(self.reserved()) is not None:
                name = "".join(part.text for part in word.parts if isinstance(part, Lit))
            else:
                self.pos = here
        inner = self.command(self.reserved())
        return Coprocess(start, inner.end, name, inner)


def _ends_itself(item: AndOr) -> bool:
    """Whether the last command is a compound one without redirections, behind which a word like `then` may stand."""
    last = item.items[-1][1].commands[-1]
    return isinstance(last, FunctionDef) or (not isinstance(last, Simple) and not last.redirects)


def parse(text: str, *, file: bool = True, stand_ins: bool = False) -> Program:
    """The syntax tree of a text. `file` is False for the string of `bash -c` and `eval`, where a final backslash is a
    character; `stand_ins` is set for documents, in which `<words>` and `{WORDS}` stand for what their reader is to put
    there.

    Never raises on bad input: the fault is in `Program.problem`, and the commands before it are kept.
    """
    if not _may_split_a_word(text):
        return Parser(text, final_backslash=file, stand_ins=stand_ins).program()
    from verlint.languages.bash.split_keywords import put_back, with_whole_keywords

    whole, moved = with_whole_keywords(text)
    program = Parser(whole, final_backslash=file, stand_ins=stand_ins).program()
    put_back(program, moved)
    return program


def _may_split_a_word(text: str) -> bool:
    """Whether a continued line stands between letters, where it may split a reserved word."""
    at = text.find("\\\n")
    while at >= 0:
        if text[max(at - 1, 0)].islower() and text[at + 2 : at + 3].islower():
            return True
        at = text.find("\\\n", at + 2)
    return False
