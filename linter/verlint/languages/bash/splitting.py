"""Splitting of unquoted expansions at the characters of IFS."""

from __future__ import annotations

from verlint.languages.bash.segments import BREAK, Segment
from verlint.value import Hole, Literal, Text


class FieldSplitter:
    """Splits segments at the characters of IFS."""

    def __init__(self, separators: str) -> None:
        self.separators = separators
        self.known = frozenset(separators)
        self.blanks = "".join(char for char in separators if char in " \t\n")
        self.fields: list[list[Segment]] = []
        self.current: list[Segment] = []
        self.keep = False

    def _flush(self) -> None:
        if self.current or self.keep:
            self.fields.append(self.current)
        self.current, self.keep = [], False

    def add(self, segment: Segment) -> None:
        """Take the next segment."""
        piece, quoted, splits = segment
        if segment is BREAK:
            # Elements without quotes are as good as joined by the first separator: one that is no blank keeps them.
            self.keep = self.keep or (not self.current and self.separators[:1] not in self.blanks)
            self._flush()
        elif piece is None:
            self.keep = True
        elif quoted or not splits or isinstance(piece, Hole):
            self.keep = self.keep or quoted
            if isinstance(piece, Hole) or piece.text:
                self.current.append(segment)
        else:
            self._split(piece)

    def _split(self, piece: Literal) -> None:
        text, at, start = piece.text, 0, 0
        size = len(text)
        if self.known.isdisjoint(text):
            if text:
                self.current.append((piece, False, True))
            return
        whole = Text((piece,))
        while at < size:
            if text[at] not in self.separators:
                at += 1
                continue
            if at > start:
                self.current.append((whole.slice(start, at).parts[0], False, True))
            at = self._separator(text, at)
            start = at
        if size > start:
            self.current.append((whole.slice(start, size).parts[0], False, True))

    def _separator(self, text: str, at: int) -> int:
        """Step over one separator: blanks, and at most one other character with the blanks around it."""
        size = len(text)
        blanks_only = True
        while at < size and text[at] in self.blanks:
            at += 1
        if at < size and text[at] in self.separators and text[at] not in self.blanks:
            blanks_only = False
            at += 1
            while at < size and text[at] in self.blanks:
                at += 1
        if not blanks_only and not self.current:
            self.keep = True
        self._flush()
        return at

    def finish(self) -> list[list[Segment]]:
        """The fields of all segments."""
        self._flush()
        return self.fields
