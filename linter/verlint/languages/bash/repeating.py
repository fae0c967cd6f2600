"""Programs that run a command once for each of several inputs: `xargs` and GNU `parallel`.

Sources: xargs(1), parallel(1). Inputs that are not known, and more than a few, stand as one that nobody knows."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import islice, product

from verlint.languages.bash.arithmetic import decimal
from verlint.languages.bash.carriers import is_started
from verlint.languages.bash.pieces import Parts, known
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.value import Hole, Literal, Part, Text, literal

_XARGS_VALUES = frozenset(
    ["-I", "-n", "--max-args", "-P", "--max-procs", "-L", "--max-lines", "-d", "--delimiter", "-s", "--max-chars",
     "-a", "--arg-file", "-E"]
)  # fmt: skip
_PARALLEL_VALUES = frozenset(
    ["-j", "--jobs", "-P", "--max-procs", "-n", "--max-args", "-N", "-L", "-I", "--delay", "--joblog", "--results",
     "--retries", "--timeout", "--halt", "-a", "--arg-file", "-C", "--colsep", "-S", "--sshlogin", "--wd", "--workdir",
     "--tmpdir", "--load", "--memfree", "--env", "-d", "--delimiter", "--tagstring", "--shuf", "--nice"]
)  # fmt: skip
_REMOTE = frozenset(["-S", "--sshlogin", "--slf", "--sshloginfile"])
_SOURCES = frozenset([":::", ":::+", "::::", "::::+"])
_PLACE = pattern(r"\{(\d*)(/|\.|//|/\.|#|%)?\}")
MOST = 4
"""How many of the inputs are looked at."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One run of the command: its words, or a string of commands (`text`)."""

    argv: tuple[Text, ...]
    text: bool = False


def turns_of(name: str, argv: Sequence[Text], given: Parts | None, unknown: Hole) -> list[Turn]:
    """The runs of the command of `xargs` or `parallel`, with what it reads from its input where that is known. Empty
    for a command that starts nothing by itself."""
    words = list(argv[1:])
    return _by_xargs(words, given, unknown) if name == "xargs" else _by_parallel(words, given, unknown)


def _by_xargs(words: list[Text], given: Parts | None, unknown: Hole) -> list[Turn]:
    options, command = _split(words, _XARGS_VALUES)
    if not command or not is_started(command[0]):
        return []
    place = _place(options)
    text = None if given is None or any(_option(options, name) for name in ("-a", "-0", "-d")) else known(given)
    if place:
        lines = [line.strip() for line in (text or "").split("\n") if line.strip()]
        values: list[Parts] = [(Literal(line),) for line in lines[:MOST]] or [(unknown,)]
        return [Turn(tuple(_filled(word, place, value) for word in command)) for value in values]
    count = _option(options, "-n") or _option(options, "--max-args") or _option(options, "-L")
    if text is None or not text.split():
        return [Turn((*command, Text((unknown,), elastic=True)))]
    items = _items(text)
    size = max(decimal(count) or 0, 0) or len(items)
    groups = [items[at : at + size] for at in range(0, len(items), size)][:MOST]
    return [Turn((*command, *map(literal, group))) for group in groups]


def _items(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _place(options: list[Text]) -> str:
    """What stands for an input in the command: that of `-I`, `{}` for `-i`."""
    named = _option(options, "-I")
    return named or ("{}" if any(word.known in ("-i", "--replace") for word in options) else "")


def _by_parallel(words: list[Text], given: Parts | None, unknown: Hole) -> list[Turn]:
    options, rest = _split(words, _PARALLEL_VALUES)
    if any(_option(options, name) for name in _REMOTE):
        return []
    at = next((at for at, word in enumerate(rest) if word.known in _SOURCES), len(rest))
    command, lists = rest[:at], _lists(rest[at:], unknown)
    if at == len(rest):
        text = None if given is None else known(given)
        lines = [line for line in (text or "").split("\n") if line]
        lists = [[(Literal(line),) for line in lines] or [(unknown,)]]
    if command and not (is_started(command[0]) or len(command) == 1):
        return []
    return [_turn(command, values, number, unknown) for number, values in enumerate(islice(product(*lists), MOST), 1)]


def _lists(words: list[Text], unknown: Hole) -> list[list[Parts]]:
    """The values of each `:::`; a file of `::::`, and values that go along with others, are not known."""
    lists: list[list[Parts]] = []
    kind = ""
    for word in words:
        if word.known in _SOURCES:
            kind = word.known or ""
            lists.append([] if kind == ":::" else [(unknown,)])
        elif kind == ":::":
            lists[-1].append(word.parts)
    return [each or [(unknown,)] for each in lists]


def _turn(command: list[Text], values: Sequence[Parts], number: int, unknown: Hole) -> Turn:
    if not command:
        return Turn((Text(values[0]),), text=True)
    words = [_expanded(word, values, number, unknown) for word in command]
    if words == command:
        words += [Text(value) for value in values]
    parts: list[Part] = []
    for word in words:
        parts += [Literal(" "), *word.parts] if parts else word.parts
    return Turn((Text(tuple(parts)),), text=True)


def _expanded(word: Text, values: Sequence[Parts], number: int, unknown: Hole) -> Text:
    """A word with the values in place of `{}`, `{1}`, `{#}`."""
    parts: list[Part] = []
    for part in word.parts:
        if isinstance(part, Hole):
            parts.append(part)
            continue
        piece, at = Text((part,)), 0
        for match in _PLACE.finditer(part.text):
            parts += piece.slice(at, match.start()).parts
            parts += _value(match[1], match[2] or "", values, number, unknown)
            at = match.end()
        parts += piece.slice(at, len(part.text)).parts
    return word if len(parts) == len(word.parts) and parts == list(word.parts) else Text(tuple(parts), word.span)


def _value(index: str, change: str, values: Sequence[Parts], number: int, unknown: Hole) -> Parts:
    if change == "#":
        return (Literal(str(number)),)
    if change:
        return (unknown,)
    if index:
        place = decimal(index) or 0
        return values[place - 1] if 0 < place <= len(values) else (unknown,)
    out: list[Part] = []
    for value in values:
        out += [Literal(" "), *value] if out else value
    return tuple(out)


def _filled(word: Text, place: str, value: Parts) -> Text:
    """A word with an input in place of what stands for it."""
    parts: list[Part] = []
    for part in word.parts:
        if isinstance(part, Hole) or place not in part.text:
            parts.append(part)
            continue
        piece, at = Text((part,)), 0
        while (found := part.text.find(place, at)) >= 0:
            parts += [*piece.slice(at, found).parts, *value]
            at = found + len(place)
        parts += piece.slice(at, len(part.text)).parts
    return Text(tuple(parts), word.span)


def _split(words: list[Text], values: frozenset[str]) -> tuple[list[Text], list[Text]]:
    """The options, and the command behind them."""
    at = 0
    while at < len(words):
        text = words[at].known or words[at].prefix
        if text == "--":
            return words[:at], words[at + 1 :]
        if text in _SOURCES or not text.startswith("-") or text == "-":
            if not (words[at].elastic and not text and any(is_started(word) for word in words[at + 1 :])):
                break
            at += 1
            continue
        at += 2 if text in values else 1
    return words[:at], words[at:]


def _option(options: list[Text], name: str) -> str:
    """What an option is given, "-" for one without a value that is there, "" for one that is not."""
    for number, word in enumerate(_texts(options)):
        if word == name:
            following = options[number + 1].known if number + 1 < len(options) else None
            return following or "-"
        if len(name) == 2 and word.startswith(name) and len(word) > 2 and not word.startswith("--"):
            return word[2:]
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return ""


def _texts(options: list[Text]) -> Iterator[str]:
    return (word.known or word.prefix for word in options)
