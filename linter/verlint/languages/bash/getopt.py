"""`getopt` of util-linux: arguments put in order, options first, quoted for `eval set -- …`.

It is a function of its words. Arguments that nobody knows yet (`"$@"` of a launcher looked at alone) pass through as
they are, so that the loop over the result is an argument loop like any other."""

from __future__ import annotations

from verlint.languages.bash.pieces import MARK, Parts, cut, flat, plain
from verlint.record import dataclass, field
from verlint.value import Literal, Text

_LETTERS_WITH_VALUE = "olns"
_NAMES = {
    "alternative": "a", "longoptions": "l", "name": "n", "options": "o", "quiet": "q", "quiet-output": "Q",
    "shell": "s", "test": "T", "unquoted": "u",
}  # fmt: skip


@dataclass
class _Request:
    """What the words before `--` ask for. `letters` and `names` give 0, 1 or 2 for no, a required and an optional
    argument."""

    letters: dict[str, int] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    order: str = ""
    alternative: bool = False
    quoted: bool = True
    silent: bool = False


class _Unknown(Exception):
    """The options of `getopt` itself are not known."""


class _Faulty(Exception):
    """The options of `getopt` itself are wrong: it prints nothing and fails."""


def getopt(words: list[Text]) -> tuple[Parts, int] | None:
    """Output and status for the words behind `getopt`, None when they do not say what is asked for."""
    request = _Request()
    try:
        rest = _read_request(request, words)
    except _Unknown:
        return None
    except _Faulty:
        return (), 2
    if rest is None:
        return (), 4
    out, status = _Sorter(request, rest).run()
    return (() if request.silent else out), status


def _known(word: Text) -> str:
    text = word.known
    if text is None:
        raise _Unknown
    return text


def _read_request(request: _Request, words: list[Text]) -> list[Text] | None:
    """The words to put in order; None for `getopt --test`."""
    rest = list(words)
    given = False
    if rest and not _known(rest[0]).startswith("-"):  # as the getopt of old
        request.quoted = False
        _read_letters(request, _known(rest[0]))
        return rest[2:] if len(rest) > 1 and rest[1].known == "--" else rest[1:]
    while rest:
        text = _known(rest[0]) if not given or rest[0].prefix.startswith("-") else rest[0].prefix
        if text == "--" or not text.startswith("-") or text == "-":
            rest = rest[1:] if text == "--" else rest
            break
        for letter, value in _own_options(rest):
            if letter == "T":
                return None
            given = given or letter == "o"
            _ask(request, letter, value)
    if not given:
        if not rest:
            raise _Faulty
        _read_letters(request, _known(rest[0]))
        rest = rest[1:]
    return rest


def _own_options(rest: list[Text]) -> list[tuple[str, str]]:
    """The options of getopt itself in the first word, which is taken off with its value."""
    text = _known(rest.pop(0))
    if text.startswith("--"):
        name, equals, value = text[2:].partition("=")
        letter = next((_NAMES[each] for each in sorted(_NAMES) if each.startswith(name)), "")
        if not letter:
            raise _Faulty
        if letter in _LETTERS_WITH_VALUE and not equals:
            value = _known(rest.pop(0)) if rest else ""
        return [(letter, value)]
    out: list[tuple[str, str]] = []
    for at, letter in enumerate(text[1:], 1):
        if letter in _LETTERS_WITH_VALUE:
            out.append((letter, text[at + 1 :] or (_known(rest.pop(0)) if rest else "")))
            return out
        if letter not in "aqQTu":
            raise _Faulty
        out.append((letter, ""))
    return out


def _ask(request: _Request, letter: str, value: str) -> None:
    if letter == "o":
        _read_letters(request, value)
    elif letter == "l":
        for name in value.replace(",", " ").split():
            bare = name.rstrip(":")
            request.names[bare] = min(len(name) - len(bare), 2)
    elif letter == "a":
        request.alternative = True
    elif letter == "u":
        request.quoted = False
    elif letter == "Q":
        request.silent = True


def _read_letters(request: _Request, text: str) -> None:
    if text[:1] in ("+", "-"):
        request.order, text = text[0], text[1:]
    at = 0
    while at < len(text):
        end = at + 1
        while text[end : end + 1] == ":":
            end += 1
        request.letters[text[at]] = min(end - at - 1, 2)
        at = end


class _Sorter:
    """Puts arguments in order."""

    def __init__(self, request: _Request, words: list[Text]) -> None:
        self.request = request
        self.rest = words
        self.out: list[Parts] = []
        self.operands: list[Parts] = []
        self.unknown = False
        self.status = 0

    def run(self) -> tuple[Parts, int]:
        while self.rest:
            word = self.rest.pop(0)
            text = flat(word.parts)
            if word.elastic:
                self.unknown = True
                self.out.append(word.parts)
            elif text == "--":
                break
            elif text.startswith("--") or (self.request.alternative and _is_option(text) and text[1:2] != "-"):
                self._long(word.parts, text)
            elif _is_option(text):
                self._letters(word.parts, text)
            elif self.request.order == "-":
                self._give(word.parts)
            else:
                self.operands.append(word.parts)
                if self.request.order == "+":
                    break
        behind = [*self.operands, *(word.parts for word in self.rest)]
        if behind or not self.unknown:  # unknown arguments bring their own `--`
            self.out.append(plain("--"))
        for parts in behind:
            self._give(parts)
        pieces = [piece for parts in self.out for piece in (Literal(" "), *parts)]
        return (*pieces, Literal("\n")), self.status

    def _give(self, parts: Parts) -> None:
        if not self.request.quoted:
            self.out.append(parts)
            return
        inner = [
            Literal(part.text.replace("'", "'\\''"), part.span, part.hops, part.overridable)
            if isinstance(part, Literal)
            else part
            for part in parts
        ]
        self.out.append((Literal("'"), *inner, Literal("'")))

    def _value(self, parts: Parts | None, wanted: int, option: str) -> None:
        """Give an option and its argument, which stands in the same word or in the next one."""
        if wanted == 1 and parts is None:
            if not self.rest:
                self.status = 1
                return
            parts = self.rest.pop(0).parts
        self.out.append(plain(option))
        if wanted:
            self._give(parts or ())

    def _long(self, parts: Parts, text: str) -> None:
        start = 2 if text.startswith("--") else 1
        name, equals, _ = text[start:].partition("=")
        names = self.request.names
        fitting = [name] if name in names else [each for each in names if each.startswith(name)]
        if len(fitting) != 1:
            if start == 1:
                self._letters(parts, text)
            else:
                self.status = 1
            return
        at = start + len(name) + 1
        if equals and not names[fitting[0]]:
            self.status = 1
            return
        self._value(cut(parts, at, len(text)) if equals else None, names[fitting[0]], "--" + fitting[0])

    def _letters(self, parts: Parts, text: str) -> None:
        for at in range(1, len(text)):
            wanted = self.request.letters.get(text[at])
            if wanted is None:
                self.status = 1
                continue
            inside = cut(parts, at + 1, len(text)) if wanted and at + 1 < len(text) else None
            self._value(inside, wanted, "-" + text[at])
            if wanted:
                return


def _is_option(text: str) -> bool:
    return text.startswith("-") and len(text) > 1 and text[1] != MARK
