"""Builtins that read the standard input: `read`, `mapfile`."""

from __future__ import annotations

import re

from verlint.languages.bash.elastic import MANY, any_many, mark_parts
from verlint.languages.bash.pieces import EMPTY, Parts, cut, flat, has_hole, only_hole, plain, with_hop
from verlint.languages.bash.printing import Argument, Printing
from verlint.languages.bash.storage import Array, Stream
from verlint.languages.bash.syntax import Simple
from verlint.value import Hole, Hop, Literal


class Reading(Printing):
    """Reads lines into variables."""

    def _read(self, words: list[Argument], simple: Simple) -> None:
        names, raw, array, delimiter = _read_options(self.plain_words(words)[1:])
        line: Parts
        if self.input is None:
            line = EMPTY if self.run.closed else (self.hole("stdin", "line of the standard input", simple),)
            found = not self.run.closed
        else:
            line, found = self.input.line(delimiter)
        self.status = 0 if found else 1
        if not raw and not has_hole(line) and "\\" in flat(line):
            line = plain(re.sub(r"\\(.)", r"\1", flat(line)))
        separators = self.separators()
        if array is not None:
            values = [mark_parts(each, MANY) for each in split_record(line, separators, None)]
            self.changed()
            self.ensure(array).value = Array(dict(enumerate(values)), many=any_many(values))
            return
        if not names:
            self.assign_value("REPLY", None, line)
            return
        hole = only_hole(line)
        values = [] if hole is not None else split_record(line, separators, len(names))
        hop = Hop(self.span(simple))
        for number, name in enumerate(names):
            value = values[number] if number < len(values) else EMPTY
            if hole is not None and len(names) == 1:
                value = line
            elif hole is not None:
                value = (
                    Hole(("field", hole.key, number), name, f"field {number + 1} of {hole.name}", self.span(simple)),
                )
            self.assign_value(name, None, with_hop(value, hop))

    def _mapfile(self, words: list[Argument], simple: Simple) -> None:
        texts = [flat(each) for each in self.plain_words(words)]
        name = texts[-1] if len(texts) > 1 and not texts[-1].startswith("-") else "MAPFILE"
        stream = self.input or Stream(EMPTY)
        lines: list[Parts] = []
        while stream.parts:
            line, ended = stream.line()
            lines.append(mark_parts(line if "-t" in texts or not ended else (*line, Literal("\n")), MANY))
        self.changed()
        self.ensure(name).value = Array(dict(enumerate(lines)), many=any_many(lines))
        self.status = 0


def _read_options(words: list[Parts]) -> tuple[list[str], bool, str | None, str]:
    """Names, whether raw, the array, and the delimiter of `read`."""
    names: list[str] = []
    raw, array, delimiter = False, None, "\n"
    rest = list(words)
    while rest:
        text = flat(rest.pop(0))
        if not (text.startswith("-") and len(text) > 1 and not names):
            names.append(text)
            continue
        for at, letter in enumerate(text[1:], 1):
            if letter == "r":
                raw = True
            elif letter in "adnNptu":
                argument = text[at + 1 :] or (flat(rest.pop(0)) if rest else "")
                if letter == "a":
                    array = argument
                elif letter == "d":
                    delimiter = argument[:1] or "\0"
                break
    return names, raw, array, delimiter


def split_record(line: Parts, separators: str, count: int | None) -> list[Parts]:
    """Fields of a line as `read` makes them; the last of `count` takes the rest. None: as many as there are."""
    text = flat(line)
    if not separators:
        return [line] if text or count is not None else []
    blanks = "".join(char for char in separators if char in " \t\n")
    others = "".join(char for char in separators if char not in " \t\n")
    start, stop = len(text) - len(text.lstrip(blanks)), len(text.rstrip(blanks))
    out: list[Parts] = []
    at = start
    while True:
        if count is not None and len(out) == count - 1:
            out.append(_last_field(line, text, at, max(stop, at), separators, others))
            return out
        end = at
        while end < stop and text[end] not in separators:
            end += 1
        if end >= stop:
            if end > at or (count is not None and end == at and at < len(text)):
                out.append(cut(line, at, end))
            return out
        out.append(cut(line, at, end))
        at = end
        while at < stop and text[at] in blanks:
            at += 1
        if at < stop and text[at] in others:
            at += 1
            while at < stop and text[at] in blanks:
                at += 1


def _last_field(line: Parts, text: str, at: int, stop: int, separators: str, others: str) -> Parts:
    """The rest of the line; a single separator at its end is dropped."""
    if stop > at and text[stop - 1] in others and not any(char in separators for char in text[at : stop - 1]):
        stop -= 1
    return cut(line, at, stop)
