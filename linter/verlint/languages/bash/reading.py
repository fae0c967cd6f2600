"""Builtins that read the standard input: `read`, `mapfile`."""

from __future__ import annotations

import re

from verlint.languages.bash.elastic import MANY, any_many, mark_parts
from verlint.languages.bash.pieces import EMPTY, Parts, cut, flat, has_hole, only_hole, plain, with_hop
from verlint.languages.bash.printing import Argument, Printing
from verlint.languages.bash.storage import Array, Stream
from verlint.languages.bash.syntax import Simple
from verlint.lazy import pattern
from verlint.record import replace
from verlint.value import Hole, Hop, Literal, whole

_ESCAPED = pattern(r"\\(.)")
_CONTINUED = pattern(r"(?<!\\)(?:\\\\)*\\\Z")
_SAFE, _SAFE_SIZE = 0xF0000, 128
_PROTECTED = pattern("[\U000f0000-\U000f007f]")


class Reading(Printing):
    """Reads lines into variables."""

    __slots__ = ()

    def _read(self, words: list[Argument], simple: Simple) -> None:
        names, options = letter_options(self.plain_words(words)[1:], "ers", "adinNptu")
        line, found = self._line(options, simple)
        self.status = 0 if found else 1
        separators = self.separators()
        array = options.get("a")
        if "r" not in options and not has_hole(line) and "\\" in flat(line):
            line = plain(_ESCAPED.sub(_protected, flat(line)))
        if array is not None:
            values = [_bare(mark_parts(each, MANY)) for each in split_record(line, separators, None)]
            self.changed()
            self.ensure(array).value = Array(dict(enumerate(values)), many=any_many(values))
            return
        if not names or "N" in options:
            self.assign_value(names[0] if names else "REPLY", None, _bare(line))
            return
        hole = only_hole(line)
        values = [] if hole is not None else split_record(line, separators, len(names))
        hop = Hop(self.span(simple))
        for number, name in enumerate(names):
            value = values[number] if number < len(values) else EMPTY
            if hole is not None:
                reason = f"field {number + 1} of a line" if len(names) > 1 else "a line"
                value = (Hole(("field", hole.key, number), name, f"{reason} of {hole.name}", self.span(simple)),)
            self.assign_value(name, None, with_hop(_bare(value), hop))

    def _line(self, options: dict[str, str], simple: Simple) -> tuple[Parts, bool]:
        """What is read, and whether it ended as it should."""
        stream = self.stream_of(options["u"]) if "u" in options else self.input
        if stream is None:
            if self.run.closed:
                return EMPTY, False
            return (self.hole("stdin", "line of the standard input", simple),), True
        delimiter = options["d"][:1] or "\0" if "d" in options else "\n"
        count = options.get("N", options.get("n", ""))
        if (number := whole(count)) is not None:
            return stream.characters(number, "" if "N" in options else delimiter, escapes="r" not in options)
        line, found = stream.line(delimiter)
        while found and "r" not in options and delimiter == "\n" and _CONTINUED.search(flat(line)):
            more, found = stream.line(delimiter)
            line = (*cut(line, 0, len(flat(line)) - 1), *more)
        return line, found or (has_hole(line) and not self.run.closed)  # what nobody knows is taken to hold a line

    def stream_of(self, descriptor: str) -> Stream | None:
        """What a descriptor reads from, None when that is not known."""
        return self.input if descriptor == "0" else self.descriptors.get(descriptor)

    def _mapfile(self, words: list[Argument], simple: Simple) -> None:
        names, options = letter_options(self.plain_words(words)[1:], "t", "dnOsucC")
        name = names[0] if names else "MAPFILE"
        delimiter = options["d"][:1] or "\0" if "d" in options else "\n"
        numbers = {each: found for each in "nOs" if (found := whole(options.get(each, ""))) is not None}
        stream = self.input or Stream(EMPTY)
        lines: list[Parts] = []
        most = numbers.get("n", 0) + numbers.get("s", 0) if numbers.get("n") else None
        while stream.parts and (most is None or len(lines) < most):
            line, ended = stream.line(delimiter)
            lines.append(mark_parts(line if "t" in options or not ended else (*line, Literal(delimiter)), MANY))
        lines = lines[numbers.get("s", 0) :]
        self.changed()
        variable = self.ensure(name)
        self.check_writable(name, variable)
        array = variable.value if "O" in options and isinstance(variable.value, Array) else Array()
        for place, each in enumerate(lines, numbers.get("O", 0)):
            array.put(place, each)
        array.many = array.many or any_many(lines)
        variable.value = array
        self.status = 0


def letter_options(words: list[Parts], flags: str, values: str) -> tuple[list[str], dict[str, str]]:
    """Operands and options of a builtin: `flags` are letters without an argument, `values` with one."""
    options: dict[str, str] = {}
    rest = [flat(each) for each in words]
    while rest and rest[0].startswith("-") and len(rest[0]) > 1:
        text = rest.pop(0)
        if text == "--":
            break
        for at, letter in enumerate(text[1:], 1):
            if letter in values:
                options[letter] = text[at + 1 :] or (rest.pop(0) if rest else "")
                break
            if letter in flags:
                options[letter] = ""
    return rest, options


def _protected(match: re.Match[str]) -> str:
    """A character behind a backslash, made one that separates nothing."""
    return chr(_SAFE + ord(match.group(1))) if ord(match.group(1)) < _SAFE_SIZE else match.group(1)


def _bare(parts: Parts) -> Parts:
    """The text with protected characters as they are."""
    return tuple(
        replace(part, text=_PROTECTED.sub(lambda each: chr(ord(each.group()) - _SAFE), part.text))
        if isinstance(part, Literal) and _PROTECTED.search(part.text)
        else part
        for part in parts
    )


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
