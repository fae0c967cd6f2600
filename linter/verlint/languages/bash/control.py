"""Builtins that run text, files and programs, end things, and test: `source`, `eval`, `exit`, `[`, …"""

from __future__ import annotations

from collections.abc import Callable

from verlint.languages.bash.arguments import Arguments
from verlint.languages.bash.pieces import (
    EMPTY,
    MARK,
    Parts,
    flat,
    has_hole,
    identity,
    join,
    known,
    only_hole,
    plain,
    shown,
)
from verlint.languages.bash.printing import Argument, integer
from verlint.languages.bash.run import DiscardLine, Exit, LoopControl, Return
from verlint.languages.bash.syntax import Simple
from verlint.lazy import pattern
from verlint.value import Hole, Literal, Text

_NAMELESS = pattern(rf"\s*(?:(?:export|declare|local)\s+(?:-\w+\s+)?)?\w*{MARK}[\w{MARK}]*=")
"""The start of an assignment to a name that nobody knows."""


_KEYWORDS = frozenset(
    ["if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do", "done", "in",
     "function", "time", "{", "}", "!", "[[", "]]", "coproc"]
)  # fmt: skip


class Control(Arguments):
    """Runs, ends, tests."""

    __slots__ = ()

    # ---- running text and files

    def _source(self, words: list[Argument], simple: Simple) -> None:
        rest = self.plain_words(words)[1:]
        if not rest:
            self.status = 2
            return
        self.source_file(rest[0], self.passed(words[2:]), simple)

    def _eval(self, words: list[Argument], simple: Simple) -> None:
        self.status = 0
        text = join(self.plain_words(words)[1:], " ")
        if has_hole(text) and not flat(text).strip().strip(MARK):
            self.status = None
            self.set_by_strangers(shown(text))
            if shown(text).startswith("$("):  # what is printed may be assignments; other texts are commands to run
                self.replaced_by_strangers(shown(text), f'eval "{shown(text)}"', simple)
            return
        if _NAMELESS.match(flat(text)):
            self.set_by_strangers(shown(text))
        self.run_text(text)

    def _exec(self, words: list[Argument], simple: Simple) -> None:
        rest = self.texts(words[1:])
        while rest and rest[0].known in ("-c", "-l", "-cl"):
            rest = rest[1:]
        if rest and rest[0].known == "-a":
            rest = rest[2:]
        self.status = 0
        if rest:
            self.external(rest, simple)
            self.traps = {}  # the program takes the place of the shell, which nothing runs after
            raise Exit(self.status)

    def _command(self, words: list[Argument], simple: Simple) -> None:
        rest = self.texts(words[1:])
        if rest and rest[0].known in ("-v", "-V"):
            self._look_up(rest[1].parts if len(rest) > 1 else EMPTY, simple)
            return
        while rest and rest[0].known == "-p":
            rest = rest[1:]
        self.status = 0
        if not rest:
            return
        method = self.builtin(rest[0].known or "")
        if method is not None:
            self.run.hand_on(len(rest))
            method(list(rest), simple)
        else:
            self.external(rest, simple)

    def _builtin(self, words: list[Argument], simple: Simple) -> None:
        method = self.builtin(flat(self.plain_words(words[1:2])[0])) if len(words) > 1 else None
        if method is not None:
            self.run.hand_on(len(words))
            method(words[1:], simple)

    def _type(self, words: list[Argument], simple: Simple) -> None:
        rest = self.plain_words(words)[1:]
        if len(rest) > 1 and known(rest[0]) == "-t":
            name = flat(rest[-1])
            kind = "keyword" if name in _KEYWORDS else "function" if name in self.functions else ""
            kind = kind or ("builtin" if self.builtin(name) is not None else "")
            self._look_up(rest[-1], simple, plain(kind or "file"), found=bool(kind))
            return
        self._look_up(self.plain_words(words)[-1], simple)

    def _hash(self, words: list[Argument], simple: Simple) -> None:
        self.status = 0
        names = [each for each in self.plain_words(words)[1:] if not flat(each).startswith("-")]
        if names and len(names) == len(words) - 1:
            output, self.output = self.output, None
            self._look_up(names[-1], simple)
            self.output = output

    def _look_up(self, name: Parts, simple: Simple, printed: Parts = EMPTY, *, found: bool = False) -> None:
        text = flat(name)
        if found or text in self.functions or self.builtin(text) is not None:
            self.write((*(printed or plain(text)), Literal("\n")))
            self.status = 0
        elif self.run.closed:
            self.status = 1
        elif self.decide(("command", text), f"{text} is installed", simple):
            self.status = 0
            self.write((*(printed or self.program_path(name, simple)), Literal("\n")))
        else:
            self.status = 1

    def program_path(self, name: Parts, simple: Simple) -> Parts:
        """Where a program lies: in a folder that nobody knows."""
        if "/" in flat(name):
            return name
        folder = self.hole("…", f"folder of {shown(name)}", simple, ("folder of", identity(name)))
        return (folder, Literal("/"), *name)

    # ---- ending

    def _exit(self, words: list[Argument], simple: Simple) -> None:
        raise Exit(self._status_argument(words))

    def _return(self, words: list[Argument], simple: Simple) -> None:
        if not self.function_names:  # of functions and sourced files
            self.status = 2
            return
        raise Return(self._status_argument(words))

    def _status_argument(self, words: list[Argument]) -> int | None:
        given = integer(self.plain_words(words)[1:2], None)
        return self.status if given is None else given & 255

    def _break(self, words: list[Argument], simple: Simple) -> None:
        if self.loops:
            raise LoopControl(integer(self.plain_words(words)[1:2], 1) or 1, False)
        self.status = 0

    def _continue(self, words: list[Argument], simple: Simple) -> None:
        if self.loops:
            raise LoopControl(integer(self.plain_words(words)[1:2], 1) or 1, True)
        self.status = 0

    def _wait(self, words: list[Argument], simple: Simple) -> None:
        """The status of the last of the background jobs that are named; 0 when it waits for all."""
        self.status = 0
        for word in self.plain_words(words)[1:]:
            if flat(word).startswith("-"):
                self.status = None
                continue
            hole = only_hole(word)
            self.status = None if hole is None else self.jobs.get(hole.key)

    def _trap(self, words: list[Argument], simple: Simple) -> None:
        rest = self.plain_words(words)[1:]
        if rest and flat(rest[0]) == "--":
            rest = rest[1:]
        texts = [flat(each) for each in rest]
        self.status = 0
        if not rest or texts[0] in ("-p", "-l"):
            return
        action = EMPTY if len(rest) == 1 or texts[0] == "-" else rest[0]
        for name in texts[1:] or texts:
            name = {"0": "EXIT"}.get(name, name.upper().removeprefix("SIG"))
            if action:
                self.traps[name] = action
            else:
                self.traps.pop(name, None)

    # ---- testing

    def _let(self, words: list[Argument], simple: Simple) -> None:
        value: int | Hole = 0
        try:
            for each in self.plain_words(words)[1:]:
                value = self.arithmetic(each, simple)
        except DiscardLine:  # `let` fails, and the line goes on
            value = 0
        self.status = 0 if isinstance(value, Hole) or value else 1

    def _test_builtin(self, words: list[Argument], simple: Simple) -> None:
        rest = self.plain_words(words)
        if known(rest[0]) == "[":
            if known(rest[-1]) != "]" or len(rest) < 2:
                self.status = 2
                return
            rest = rest[:-1]
        self.status = self.test_status(rest[1:], simple)

    # ---- implemented further up

    def builtin(self, name: str) -> Callable[[list[Argument], Simple], None] | None:
        """The method that runs a builtin, or None when the name is no builtin."""
        raise NotImplementedError

    def external(self, words: list[Text], simple: Simple) -> None:
        """Run a program."""
        raise NotImplementedError

    def run_text(self, text: Parts) -> None:
        """Run a string as commands of this shell (`eval`)."""
        raise NotImplementedError

    def source_file(self, path: Parts, arguments: list[Parts], simple: Simple) -> None:
        """Run a file in this shell."""
        raise NotImplementedError
