"""The programs that a Python tool starts, as shell texts whose characters keep their places in the tool."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verlint.languages.python.facts import Started
from verlint.lazy import pattern
from verlint.source import Piece, Source
from verlint.value import Hole, Literal, Text

_SPECIAL = pattern(r"[\"$`\\]")
_PLAIN = pattern(r"[\w@%+=:,./~-]+")


def shell_text(started: Started, source: Source) -> Source:
    """A started program as a source of its own: a shell text as it is written, a list of words with quotes."""
    writer = _Writer(source)
    apart = bool(started.folder or (started.shell and started.variables))
    writer.add("(" if apart else "")
    if started.folder is not None:
        writer.add("cd ")
        writer.word(started.folder)
        writer.add(" && ")
    if started.bare:
        writer.add("env -i ")
    elif started.shell and started.variables:
        writer.add("export ")
    for name, value in started.variables:
        writer.add(f"{name}=")
        only = value.parts[0] if len(value.parts) == 1 else None
        if isinstance(only, Hole):  # it is set, to what is not known
            writer.add(f'"${{UNKNOWN_{name}:?}}"')
        else:
            writer.word(value)
        writer.add(" ")
    if started.shell and started.variables:
        writer.add("sh -c " if started.bare else "; ")
    if started.shell and started.bare:
        writer.word(started.words[0])
    elif started.shell:
        writer.shell(started.words[0])
    else:
        for number, word in enumerate(started.words):
            if number:
                writer.add(" ")
            writer.word(word)
        if started.open:
            writer.add(" ${ADDED_WORDS}")  # nobody knows whether there are any
    writer.add("\n)\n" if apart else "\n")
    return Source(source.path, "".join(writer.out), source, tuple(writer.pieces))


class _Writer:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.out: list[str] = []
        self.pieces: list[Piece] = []
        self.at = 0

    def add(self, text: str, outer: int | None = None, length: int | None = None) -> None:
        """Append characters; `outer` is where they stand in the tool."""
        if outer is not None and text:
            self.pieces.append(Piece(self.at, outer, len(text) if length is None else min(length, len(text))))
        self.out.append(text)
        self.at += len(text)

    def shell(self, text: Text) -> None:
        """A text that a shell reads itself."""
        for part in text.parts:
            if isinstance(part, Hole):
                self._hole(part)
            else:
                self.add(part.text, self._place(part))

    def word(self, word: Text) -> None:
        """One word of a list: its characters mean nothing to the shell."""
        only = word.parts[0] if len(word.parts) == 1 else None
        if isinstance(only, Literal) and not only.overridable and _PLAIN.fullmatch(only.text):
            self.add(only.text, self._place(only))
            return
        first = next((part.span for part in word.parts if part.span is not None), None)
        mine = first is not None and first.source is self.source
        self.add('"', first.start - 1 if mine and first is not None and first.start else None)
        for part in word.parts:
            if isinstance(part, Hole):
                self._hole(part)
            elif part.overridable:
                self.add("${" + part.overridable + ":-")
                self._quoted(part)
                self.add("}")
            else:
                self._quoted(part)
        self.add('"', None if self.pieces == [] else self.pieces[-1].outer + self.pieces[-1].length)

    def _quoted(self, part: Literal) -> None:
        place = self._place(part)
        at = 0
        for match in _SPECIAL.finditer(part.text):
            self.add(part.text[at : match.start()], None if place is None else place + at)
            self.add("\\")
            at = match.start()
        self.add(part.text[at:], None if place is None else place + at)

    def _hole(self, part: Hole) -> None:
        span = part.span
        mine = span is not None and span.source is self.source
        text = "${" + _variable(part) + "}"
        self.add(text, span.start if mine and span is not None else None, span.end - span.start if span else None)

    def _place(self, part: Literal) -> int | None:
        """Where a literal is written, when it is written as it is."""
        span = part.span
        if span is None or span.source is not self.source:
            return None
        written = span.end - span.start == len(part.text)
        return span.start if written else None


def _variable(hole: Hole) -> str:
    """A name for what is not known: that of the environment variable, of the option, of the expression."""
    name = re.sub(r"\W+", "_", hole.name).strip("_").upper()
    return name if re.fullmatch(r"[A-Z_]\w*", name) else "VALUE"


def shell_texts(started: tuple[Started, ...], source: Source) -> Iterator[Source]:
    """All of them, in the order of the tool."""
    return (shell_text(each, source) for each in started)
