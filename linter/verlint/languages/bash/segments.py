"""From the parts of a word to segments: known runs and holes, each quoted or not, splittable or not."""

from __future__ import annotations

import re
from collections.abc import Iterable

from verlint.languages.bash.elastic import is_list, joined, unmarked
from verlint.languages.bash.patterns import Pattern
from verlint.languages.bash.pieces import (
    EMPTY,
    MARK,
    MAX_HOPS,
    MAX_PIECES,
    Parts,
    collapse,
    known,
    overriders,
    strip_right,
    with_hop,
)
from verlint.languages.bash.prepared import literal
from verlint.languages.bash.run import DiscardLine
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
    Simple,
    StandIn,
    Word,
)
from verlint.languages.bash.usual import UsualWords
from verlint.source import Span
from verlint.value import Hole, Hop, Literal
from verlint.value import Part as Piece

Segment = tuple[Piece | None, bool, bool]
"""A run of a word: the piece (None for an empty quoted string), whether it is quoted, whether it may be split."""


BREAK: Segment = (None, False, False)
"""Between two elements of a list."""


class Segments(UsualWords):
    """Expands the parts of words."""

    __slots__ = ()

    # ---- words as strings

    def string(self, word: Word, *, assignment: bool = False) -> Parts:
        """A word as one string: no splitting, no file names."""
        parts = word.parts
        if not assignment and len(parts) == 1 and isinstance(parts[0], Lit) and not parts[0].text.startswith("~"):
            return (literal(parts[0], self.source),) if parts[0].text else EMPTY
        pieces = self.usual_string(word)
        if pieces is not None:
            self.run.spend(pieces)
            return unmarked(collapse(tuple(pieces)))
        segments: list[Segment] = []
        self.segments(parts, False, segments, assignment=assignment)
        out: list[Piece] = []
        for number, segment in enumerate(segments):
            piece = segment[0]
            if segment is BREAK:
                around = [segments[at][0] for at in (number - 1, number + 1) if 0 <= at < len(segments)]
                if not any(isinstance(each, Hole) and is_list(each) for each in around):
                    out.append(Literal(" "))
            elif piece is not None:
                out.append(piece)
        self.run.spend(out)
        return unmarked(collapse(tuple(out)))

    def passed_string(self, word: Word, hop: Hop) -> Parts:
        """The right side of an assignment as one string, after the assignment as a step of its way."""
        pieces = self.usual_string(word, (hop,))
        if pieces is None or len(pieces) > MAX_PIECES:
            return with_hop(self.string(word, assignment=True), hop)
        self.run.spend(pieces)
        return unmarked(tuple(pieces))

    def pattern(self, word: Word) -> Pattern:
        """A word as a pattern."""
        segments: list[Segment] = []
        self.segments(word.parts, False, segments)
        runs: list[tuple[str, bool]] = []
        for piece, quoted, _ in segments:
            if piece is not None:
                runs.append((piece.text if isinstance(piece, Literal) else MARK, quoted))
        return tuple(runs)

    # ---- parts

    def segments(self, parts: Iterable[Part], in_quotes: bool, out: list[Segment], *, assignment: bool = False) -> None:
        """Append what the parts expand to."""
        for number, part in enumerate(parts):
            if isinstance(part, Lit):
                self._lit(part, in_quotes, out, first=number == 0, assignment=assignment)
            elif isinstance(part, Param):
                self.parameter(part, in_quotes, out)
            elif isinstance(part, DoubleQuoted):
                self._double_quoted(part, out)
            elif isinstance(part, CommandSub):
                self._put(self.command_substitution(part), in_quotes, out)
            elif isinstance(part, Arith):
                self._put(self._number(part), in_quotes, out)
            elif isinstance(part, ProcessSub):
                out.append((self._process_substitution(part), True, False))
            elif isinstance(part, ExtGlob):
                out.append((Literal(f"{part.op}({part.text})", self.span(part)), in_quotes, False))
            elif isinstance(part, StandIn):
                out.append((self.hole(part.text, "a stand-in", part, ("placeholder", part.text)), True, False))
            elif isinstance(part, BadParam):
                self.fault("bad-substitution", part.text, part)
                raise DiscardLine

    def _process_substitution(self, part: ProcessSub) -> Hole:
        """The name of a pipe; what can be read from it is remembered."""
        hole = self.hole(self.span(part).text, "process substitution", part)
        printed = self.file_of(part)
        if part.direction == "<":
            self.run.streams[hole.key] = printed
        return hole

    def _lit(self, lit: Lit, in_quotes: bool, out: list[Segment], *, first: bool, assignment: bool) -> None:
        text = lit.text
        if lit.quote:
            out.append((literal(lit, self.source) if text else None, True, False))
        elif in_quotes or "~" not in text:
            out.append((literal(lit, self.source), in_quotes, False))
        else:
            self._with_homes(lit, out, first=first, assignment=assignment)

    def _with_homes(self, lit: Lit, out: list[Segment], *, first: bool, assignment: bool) -> None:
        """Bare characters with `~` at the beginning of a word, and in assignments after each colon."""
        text, at, start = lit.text, 0, 0
        while (at := text.find("~", at)) >= 0:
            begins = (first and at == 0) or (assignment and at > 0 and text[at - 1] == ":")
            if begins and text[at + 1 : at + 2] in ("", "/", ":" if assignment else "/"):
                self._run(lit, start, at, out)
                self._home(lit, out)
                start = at + 1
            at += 1
        self._run(lit, start, len(text), out)

    def _run(self, lit: Lit, start: int, end: int, out: list[Segment]) -> None:
        if start < end:
            span = Span(self.source, lit.start + start, lit.start + end)
            out.append((Literal(lit.text[start:end], span), False, False))

    def _home(self, lit: Lit, out: list[Segment]) -> None:
        out.extend((piece, True, False) for piece in self.value_of("HOME", None, lit) or EMPTY)

    def _double_quoted(self, part: DoubleQuoted, out: list[Segment]) -> None:
        before = len(out)
        if not any(isinstance(each, Param) and self._is_list(each) for each in part.parts):
            self.segments(part.parts, True, out)
            if len(out) == before:
                out.append((None, True, False))
            return
        vanished = False
        for each in part.parts:
            at = len(out)
            self.segments((each,), True, out)
            vanished = vanished or (len(out) == at and isinstance(each, Param) and self._is_list(each))
        if vanished and all(is_blank(segment) for segment in out[before:]):
            del out[before:]  # an empty list takes empty neighbours with it: "$EMPTY$@"

    def _is_list(self, param: Param) -> bool:
        if param.op == "len":
            return False
        return param.op == "names@" or param.name == "@" or (param.index is not None and bare_text(param.index) == "@")

    def _put(self, parts: Parts, in_quotes: bool, out: list[Segment]) -> None:
        """Append the result of an expansion; unquoted results may be split."""
        if not parts and in_quotes:
            out.append((None, True, False))
        out.extend((part, in_quotes, not in_quotes) for part in parts)

    def _put_list(self, values: list[Parts], star: str, in_quotes: bool, out: list[Segment]) -> None:
        if in_quotes and star == "*":
            self._put(joined(values, self.separators()[:1]), True, out)
            return
        for number, value in enumerate(values):
            if number:
                out.append(BREAK)
            self._put(value, in_quotes, out)

    def _number(self, part: Arith) -> Parts:
        text = self.string(part.expr)
        value = self.arithmetic(text, part)
        if isinstance(value, Hole):
            return (value,)
        found = [variable.value for name in _mentioned(text) if (variable := self.lookup(name)) is not None]
        pieces = [piece for each in found if isinstance(each, tuple) for piece in each]
        way = max((piece.hops for piece in pieces), key=len, default=())
        free = next(iter(overriders([*text, *pieces])), "")
        return (
            Literal(str(value), self.span(part), (*way[: MAX_HOPS - 1], Hop(self.span(part))) if way else (), free),
        )

    def command_substitution(self, part: CommandSub) -> Parts:
        """What a substituted command prints, without final line ends."""
        target = _only_input(part.body)
        if target is not None:
            content = self.read_file(self.string(target.target))
            if content is None:
                return (self.hole(self.span(part).text, "content of a file", part),)
            return strip_right(content, "\n")
        options = self.options
        if "e" in options and "inherit_errexit" not in self.shell_options:
            self.options = options - {"e"}  # it is not inherited
        try:
            printed = self.substituted(part.body)
        finally:
            self.options = options
        if part.broken:
            self.note("broken-substitution", self.span(part).text, part)
            self.status = 2
        return strip_right(printed, "\n")

    def substituted(self, body: Sequence) -> Parts:
        """What commands print whose output is used in a word or as a file."""
        self.substitutions += 1
        outer, self.substituting = self.substituting, True
        try:
            return self.subshell(body, capture=True)
        finally:
            self.substituting = outer

    def file_of(self, part: ProcessSub) -> Parts:
        """What commands print whose output is read as a file, or nothing for those that read one; they run beside the
        command, and nobody waits for their end."""
        background, unattended = self.background, self.unattended
        self.background = self.unattended = True
        try:
            return self.substituted(part.body) if part.direction == "<" else self.subshell(part.body, capture=False)
        finally:
            self.background, self.unattended = background, unattended

    def parameter(self, param: Param, in_quotes: bool, out: list[Segment]) -> None:
        """Append what `$x` or `${…}` expands to; implemented further up."""
        raise NotImplementedError


def bare_text(word: Word) -> str:
    """The characters of the literals of a word."""
    return "".join(part.text for part in word.parts if isinstance(part, Lit))


def _mentioned(text: Parts) -> list[str]:
    return re.findall(r"[A-Za-z_]\w*", known(text) or "")


def _only_input(body: Sequence) -> Redirect | None:
    """The redirection of `$(< file)`."""
    if len(body.items) != 1 or len(body.items[0][0].items) != 1:
        return None
    commands = body.items[0][0].items[0][1].commands
    if len(commands) != 1 or not isinstance(commands[0], Simple):
        return None
    simple = commands[0]
    if simple.words or simple.assigns or len(simple.redirects) != 1 or simple.redirects[0].op != "<":
        return None
    return simple.redirects[0]


def is_blank(segment: Segment) -> bool:
    """Whether a segment has no characters (a break between elements has none, but is no such segment)."""
    piece = segment[0]
    return segment is not BREAK and (piece is None or (isinstance(piece, Literal) and not piece.text))
