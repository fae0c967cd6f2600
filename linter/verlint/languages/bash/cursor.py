"""A cursor over a bash text: places, blanks, line ends, and the faults found there."""

from __future__ import annotations

from verlint.languages.bash.syntax import Program, Redirect, Sequence, SyntaxProblem
from verlint.lazy import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

META = frozenset(" \t\n;&|<>()")
NAME = pattern(r"[A-Za-z_][A-Za-z0-9_]*")
DIGITS = pattern(r"\d+")
_SKIPPED = frozenset(" \t\\#")
_BEGIN_GAP = _SKIPPED | {"\n"}
_BLANKS = pattern(r"[ \t]*(?:\\\n[ \t]*)*(?:#[^\n]*)?")
_GAP = pattern(r"[ \t\n]*(?:(?:\\\n|#[^\n]*)[ \t\n]*)*+")
_MAX_DEPTH = 120
_IN_BRACES = pattern(r"\{[A-Z][A-Z0-9_]{2,}\}")
_STAND_IN = pattern(
    r"(?<![<>&])(?!(?<=[ \t])<[\w./-]+\.\w+>[\w./])"  # `<in.txt>out.txt` between blanks is two redirections
    r"<(?:[A-Za-z_.…](?:[^<>\n`$|;&()\"']{0,80}[^\s<>`$|;&()\"'])?|[A-Za-z_][^\s<>`$;&()\"']*|(?=>[ \t]))>"
)
_IN_BRACES = pattern(r"\{[A-Z][A-Z0-9_]*\}")


class BashSyntaxError(Exception):
    """The text is not valid bash; `problem` says what and where."""

    def __init__(self, problem: SyntaxProblem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class Cursor:
    """A place in a text. `final_backslash` says that a backslash at the very end disappears, as it does at the end of a
    file; `extended` that `@(…)` and kin are patterns, which a script must ask for (None: see whether it does). With
    `stand_ins`, `<words>` and `{WORDS}` in a word stand for what a reader is to put there."""

    def __init__(
        self,
        text: str,
        start: int = 0,
        end: int | None = None,
        *,
        final_backslash: bool = True,
        depth: int = 0,
        extended: bool | None = None,
        stand_ins: bool = False,
    ) -> None:
        self.text = text
        self.pos = start
        self.stop = len(text) if end is None else end
        self.final_backslash = final_backslash
        self.pending: list[tuple[Redirect, str, bool, bool]] = []
        self.depth = depth
        self.document = False
        self.stand_ins = stand_ins
        self.extended = "extglob" in text if extended is None else extended

    def fail(self, message: str, opened: int | None = None) -> BashSyntaxError:
        """The error to raise for a fault at the cursor."""
        return BashSyntaxError(SyntaxProblem(message, min(self.pos, self.stop), opened))

    def stop_reading(self, message: str, opened: int, *, silent: bool = False) -> BashSyntaxError:
        """The error to raise for a fault after which bash reads no further, but does not fail."""
        offset = min(self.pos, self.stop)
        return BashSyntaxError(SyntaxProblem(message, offset, opened, ends=False, silent=silent))

    def looking_at(self, text: str) -> bool:
        """Whether the text goes on with these characters."""
        return self.text.startswith(text, self.pos, self.stop)

    def char(self) -> str:
        """The character at the cursor, "" at the end."""
        return self.text[self.pos] if self.pos < self.stop else ""

    def peek(self, ahead: int = 1) -> str:
        """The character some places ahead, "" past the end."""
        at = self.pos + ahead
        return self.text[at] if at < self.stop else ""

    def skip_blanks(self) -> None:
        """Skip blanks, continued line ends and a comment."""
        text, stop, pos = self.text, self.stop, self.pos
        if pos >= stop or text[pos] not in _SKIPPED:
            return
        if text[pos] == " " and pos + 1 < stop and text[pos + 1] not in _SKIPPED:  # as between most words
            self.pos = pos + 1
            return
        found = _BLANKS.match(text, pos, stop)
        end = found.end() if found is not None else pos
        if end + 1 == stop and text[end] == "\\" and self.final_backslash:
            end = stop
        self.pos = end

    def newline(self) -> None:
        """Step over a line end; bodies of here-documents stand right behind it."""
        self.pos += 1
        if not self.pending:
            return
        waiting, self.pending = self.pending, []
        for redirect, delimiter, quoted, strip in waiting:
            self.read_here_document(redirect, delimiter, quoted, strip)

    def skip_newlines(self) -> None:
        """Skip blanks, comments and line ends, with the here-documents behind them."""
        text, stop = self.text, self.stop
        while self.pending and self.pos < stop:
            if text[self.pos] == "\n":
                self.newline()
                continue
            before = self.pos
            self.skip_blanks()
            if self.pos == before:
                return
        if self.pos >= stop or text[self.pos] not in _BEGIN_GAP:
            return
        found = _GAP.match(text, self.pos, stop)
        end = found.end() if found is not None else self.pos
        if end + 1 == stop and text[end] == "\\" and self.final_backslash:
            end = stop
        self.pos = end

    def enter(self) -> None:
        """Count one more level of nesting; raises past the limit."""
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise self.fail("nested too deeply to be read")

    def nested(self, text: str) -> Self:
        """A reader for a text derived from this one; what it reads is to be moved (`walk.move`)."""
        return type(self)(
            text,
            final_backslash=False,
            depth=self.depth + 1,
            extended=self.extended,
            stand_ins=self.stand_ins,
        )

    def window(self, start: int, end: int) -> Self:
        """A reader for a part of this text."""
        return type(self)(
            self.text,
            start,
            end,
            depth=self.depth,
            extended=self.extended,
            stand_ins=self.stand_ins,
        )

    def stand_in_end(self) -> int:
        """Where the stand-in `<words>` or `{WORDS}` at the cursor ends, -1 when there is none."""
        if not self.stand_ins or self.char() not in "<{":
            return -1
        expression = _STAND_IN if self.char() == "<" else _IN_BRACES
        found = expression.match(self.text, self.pos, self.stop)
        return -1 if found is None else found.end()

    # ---- implemented further up

    def read_here_document(self, redirect: Redirect, delimiter: str, quoted: bool, strip: bool) -> None:
        """Read the body of a here-document, which begins at the cursor."""
        raise NotImplementedError

    def sequence(self) -> Sequence:
        """Commands up to a closing token; implemented by the parser of commands."""
        raise NotImplementedError

    def program(self) -> Program:
        """The whole text, command by command; implemented by the parser of commands."""
        raise NotImplementedError
