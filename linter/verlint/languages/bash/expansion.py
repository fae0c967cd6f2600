"""From words as written to the strings a command gets, in bash's order: braces, tilde, parameters, commands,
arithmetic, splitting, file names, quote removal."""

from __future__ import annotations

from functools import lru_cache

from verlint.languages.bash.braces import expand_braces
from verlint.languages.bash.elastic import MANY, WORDS, listed
from verlint.languages.bash.globbing import file_names
from verlint.languages.bash.parameters import Parameters
from verlint.languages.bash.pieces import EMPTY, Parts, collapse
from verlint.languages.bash.prepared import CARE, literal
from verlint.languages.bash.segments import Segment
from verlint.languages.bash.splitting import FieldSplitter
from verlint.languages.bash.syntax import DoubleQuoted, Lit, Param, Part, Word
from verlint.lazy import pattern
from verlint.source import Span
from verlint.value import Hole, Literal, Text
from verlint.value import Part as Piece

_TILDE_ASSIGNMENT = pattern(r"[A-Za-z_]\w*=~(?=/|$)")

_LONG = 4_096
_WILD = frozenset("*?[+@!")
_NUMBERS = frozenset(
    ["process number", "exit status", "number of arguments", "number of elements", "length of an unknown",
     "arithmetic with an unknown"]
)  # fmt: skip
"""Reasons of unknowns that are one word for sure."""
_ANY_NUMBER = ("arguments", WORDS, MANY)


class Expansion(Parameters):
    """Expands words."""

    __slots__ = ()

    def fields(self, word: Word, *, element: bool = False) -> list[Text]:
        """The words that one word becomes; `element`: as an element of an array, where `name=~` is no assignment."""
        text = self.run.prepared.text(word, self.source)
        return [text] if text is not None else self.expanded(word, element=element)

    def expanded(self, word: Word, *, element: bool = False) -> list[Text]:
        """The same of a word that has something to expand."""
        span = Span(self.source, word.start, word.end)
        parts = word.parts
        only = parts[0] if len(parts) == 1 else None
        if (
            isinstance(only, DoubleQuoted)
            and len(only.parts) == 1
            and (fields := self._list_alone(only.parts[0], span))
        ):
            return fields
        pieces = self._usual_field(parts)
        if pieces:
            self.run.spend(pieces)
            return [Text(collapse(tuple(pieces)), span)]
        out: list[Text] = []
        for each in expand_braces(parts):
            segments: list[Segment] = []
            self.segments(each if element else self._tilde_after_equals(each), False, segments)
            self._charge(segments)
            out.extend(self._split(segments, span))
        return out

    def _list_alone(self, part: Part, span: Span) -> list[Text]:
        """The fields of `"${list[@]}"` and `"$@"` when each element is one field; none for other strings, of which
        nothing was carried out."""
        if not isinstance(part, Param) or part.op or part.indirect or not self._is_list(part):
            return []
        values = self.list_values(part.name, part)
        pieces = [piece for value in values for piece in value]
        if any(map(_may_vanish, pieces)):
            return []
        self.run.spend(pieces)
        return [Text(collapse(value), span) for value in values]

    def _usual_field(self, parts: list[Part]) -> list[Piece]:
        """The pieces of a word that is one field, from characters and from variables that have a value; none for other
        words, of which nothing was carried out."""
        out: list[Piece] = []
        solid = False
        for part in parts:
            if isinstance(part, Lit):
                if not part.text or not (part.quote or CARE.isdisjoint(part.text)):
                    return []
                out.append(literal(part, self.source))
                solid = True
                continue
            before = len(out)
            if isinstance(part, Param):
                value = self.plain_value(part, False)
                if value is None or not self._is_whole(value):
                    return []
                out += value
                solid = solid or any(isinstance(piece, Literal) for piece in value)
                continue
            if not isinstance(part, DoubleQuoted) or not self.usual_quoted(part, out):
                return []
            if len(out) == before or any(map(_may_vanish, out[before:])):
                return []
            solid = True
        return out if solid else []

    def _is_whole(self, value: Parts) -> bool:
        """Whether a bare value is neither split nor a pattern, nor so long that looking at it counts."""
        for piece in value:
            if _may_vanish(piece):
                return False
            if isinstance(piece, Literal):
                text = piece.text
                if not _WILD.isdisjoint(text) or len(text) > _LONG:
                    return False
                if not _characters(self.separators()).isdisjoint(text):
                    return False
        return True

    def _charge(self, segments: list[Segment]) -> None:
        """Count what splitting may make of long texts before it does."""
        self.run.spend([piece for piece, _, _ in segments if piece is not None])
        for piece, _, splits in segments:
            if splits and isinstance(piece, Literal) and len(piece.text) > _LONG:
                self.run.built += len(piece.text) >> 1

    def _tilde_after_equals(self, parts: list[Part]) -> list[Part]:
        """`name=~/x` as an argument: bash expands it only when the name is an identifier."""
        first = parts[0] if parts else None
        if not isinstance(first, Lit) or first.quote:
            return parts
        match = _TILDE_ASSIGNMENT.match(first.text)
        if match is None:
            return parts
        at = match.end() - 1
        head = Lit(first.start, first.start + at, first.text[:at], "")
        home = Param(first.start + at, first.start + at + 1, "HOME")
        tail = Lit(first.start + at + 1, first.end, first.text[at + 1 :], "")
        return [head, DoubleQuoted(home.start, home.end, [home]), tail, *parts[1:]]

    # ---- splitting and file names

    def _split(self, segments: list[Segment], span: Span) -> list[Text]:
        """Fields of an expanded word."""
        separators = self.separators()
        whole = _one_field(segments, _characters(separators))
        if whole:
            return [Text(collapse(whole), span)]
        splitter = FieldSplitter(separators)
        for segment in segments:
            splitter.add(segment)
        names = "f" not in self.options
        out: list[Text] = []
        for pieces in splitter.finish():
            found = file_names(self, pieces, span) if names and _may_be_pattern(pieces) else None
            if found is not None:
                out.extend(found)
            else:
                parts = collapse(tuple([piece for piece, _, _ in pieces if piece is not None]))
                elastic = _is_elastic(pieces)
                out.append(Text(listed(parts) if elastic else parts, span, elastic))
        return out


@lru_cache(maxsize=64)
def _characters(text: str) -> frozenset[str]:
    return frozenset(text)


def _may_vanish(piece: Piece) -> bool:
    """Whether a piece is empty, or may be any number of words."""
    if isinstance(piece, Literal):
        return not piece.text
    key = piece.key
    return isinstance(key, tuple) and bool(key) and key[0] in _ANY_NUMBER


def _one_field(segments: list[Segment], separators: frozenset[str]) -> Parts:
    """The pieces of a word that is one field as it stands, as most are: nothing in it is split, is a pattern of file
    names, or may be any number of words. Empty for other words."""
    out: list[Piece] = []
    solid = False
    for piece, quoted, splits in segments:
        if isinstance(piece, Literal):
            text = piece.text
            if not quoted and not (_WILD.isdisjoint(text) and (not splits or separators.isdisjoint(text))):
                return EMPTY
            if text:
                out.append(piece)
                solid = True
        elif piece is None:
            return EMPTY
        else:
            key = piece.key
            if isinstance(key, tuple) and key and key[0] in _ANY_NUMBER:
                return EMPTY
            out.append(piece)
            solid = solid or quoted
    return tuple(out) if solid else EMPTY


def _may_be_pattern(pieces: list[Segment]) -> bool:
    """Whether a bare run has a character that patterns have."""
    return any(
        not quoted and isinstance(piece, Literal) and not _WILD.isdisjoint(piece.text) for piece, quoted, _ in pieces
    )


def _is_elastic(pieces: list[Segment]) -> bool:
    """Whether a word may be any number of words: it is nothing but bare unknowns, or holds the caller's arguments."""
    bare = bool(pieces)
    for piece, quoted, _ in pieces:
        if isinstance(piece, Hole):
            if isinstance(piece.key, tuple) and piece.key and piece.key[0] in _ANY_NUMBER:
                return True
            bare = bare and not quoted and piece.reason not in _NUMBERS
        else:
            bare = False
    return bare
