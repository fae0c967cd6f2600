"""Words that are nothing but characters and plain parameters, as most are: expanded without the steps in between."""

from __future__ import annotations

from verlint.languages.bash.pieces import Parts, overridable, with_hops
from verlint.languages.bash.prepared import literal
from verlint.languages.bash.storage import Array
from verlint.languages.bash.syntax import DoubleQuoted, Lit, Param, Word
from verlint.languages.bash.variables import SET_BY_BASH, Variables
from verlint.value import Hole, Hop, Literal
from verlint.value import Part as Piece

_LEAVES_VALUE = frozenset(["", ":-", "-", ":=", "=", ":?", "?"])
"""Operators that leave the value of a variable as it is when it has one."""


class UsualWords(Variables):
    """Expands the words that need little."""

    __slots__ = ()

    def usual_string(self, word: Word, hops: tuple[Hop, ...] = ()) -> list[Piece] | None:
        """The pieces of a word as one string, after further steps of provenance; None for a word that needs more, of
        which nothing was carried out."""
        out: list[Piece] = []
        for part in word.parts:
            if isinstance(part, Lit):
                if "~" in part.text and not part.quote:
                    return None
                if part.text:
                    out.append(literal(part, self.source, hops))
            elif isinstance(part, Param):
                value = self.plain_value(part, False, hops)
                if value is None:
                    return None
                out += value
            elif not isinstance(part, DoubleQuoted) or not self.usual_quoted(part, out, hops):
                return None
        return out

    def usual_quoted(self, part: DoubleQuoted, out: list[Piece], hops: tuple[Hop, ...] = ()) -> bool:
        """Append the pieces of a quoted string; False for one that needs more."""
        for each in part.parts:
            if isinstance(each, Lit):
                out.append(literal(each, self.source, hops))
                continue
            value = self.plain_value(each, True, hops) if isinstance(each, Param) else None
            if value is None:
                return False
            out += value
        return True

    def plain_value(self, param: Param, quoted: bool, hops: tuple[Hop, ...] = ()) -> Parts | None:
        """The value of a variable that is a string, or the characters that stand in for it; None for all else."""
        op = param.op
        if param.index is not None or param.indirect or op not in _LEAVES_VALUE:
            return None
        variable = self.lookup(param.name)
        if variable is None:
            return self._of_unset(param, quoted, hops)
        value = variable.value
        if value is None or isinstance(value, Array):
            return None
        if op and not (len(value) == 1 and isinstance(value[0], Literal) and value[0].text):
            return None
        return with_hops(value, hops)

    def _of_unset(self, param: Param, quoted: bool, hops: tuple[Hop, ...]) -> Parts | None:
        """What `$x` and `${x:-word}` are for a name that nobody sets."""
        name, op = param.name, param.op
        if name in SET_BY_BASH or not name.isidentifier():
            return None
        hole = self.environment_hole(name, param) if self._from_outside(name) else None
        if not op:
            return None if hole is None else with_hops((hole,), hops)
        if op not in (":-", "-") or (hole is not None and not self.run.answers.get(("empty", hole.key), True)):
            return None
        pieces: list[Piece] = []
        if param.arg is not None and not self._usual_argument(param.arg, quoted, pieces):
            return None
        free = name if hole is not None or not self.run.closed else ""
        if hole is not None and not any(isinstance(piece, Hole) or piece.text for piece in pieces):
            return with_hops((hole,), hops)  # `${X:-}` is whatever the caller gives
        return with_hops(overridable(tuple(pieces), free) if free else tuple(pieces), hops)

    def _usual_argument(self, word: Word, quoted: bool, out: list[Piece]) -> bool:
        """Append the pieces of the word of an operator; False for one that needs more."""
        for part in word.parts:
            if isinstance(part, Lit):
                if not quoted and not part.quote and "~" in part.text:
                    return False
                if part.text:
                    out.append(literal(part, self.source))
            elif isinstance(part, Param):
                value = self.plain_value(part, quoted)
                if value is None:
                    return False
                out += value
            elif not isinstance(part, DoubleQuoted) or not self.usual_quoted(part, out):
                return False
        return True
