"""What a Python tool takes on its command line, and how it reads the words of a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from verlint.lazy import pattern
from verlint.record import dataclass, field
from verlint.source import Span
from verlint.value import Text

_NUMBER = pattern(r"-\d+|-\d*\.\d+(?:[eE][-+]?\d+)?|-\d+[eE][-+]?\d+")
MANY = 1_000_000


@dataclass(frozen=True, slots=True)
class Option:
    """One option or argument of a tool.

    `names` are its spellings (`--model`, `-m`); an argument by place has its own name there. `dest` is what the tool
    calls it. `least` and `most` are the numbers of words it takes. `required` is None when that hangs on a condition.
    `default` is what holds when it is left out, None for none or one that is not known. `kind` is "int", "float",
    "str", "bool" or "" when not known."""

    names: tuple[str, ...]
    dest: str
    span: Span
    required: bool | None = False
    default: Text | None = None
    choices: tuple[str, ...] = ()
    kind: str = ""
    least: int = 1
    most: int = 1
    by_place: bool = False

    @property
    def name(self) -> str:
        """The longest spelling."""
        return max(self.names, key=len)


@dataclass(frozen=True, slots=True)
class Interface:
    """What a tool takes. `closed` says that nothing else is taken: the tool stops at other options; `abbreviates` that
    the beginning of a name will do; `loose` that `-` and `_` are the same in a name."""

    convention: str
    options: tuple[Option, ...]
    closed: bool
    abbreviates: bool = False
    loose: bool = False

    def find(self, name: str) -> list[Option]:
        """The options that a spelling means: one, none, or several for a beginning that is ambiguous."""
        exact = [each for each in self.options if not each.by_place and name in each.names]
        if exact:
            return exact
        if self.loose:
            plain = name.replace("-", "_")
            same = [each for each in self.options if any(plain == other.replace("-", "_") for other in each.names)]
            if same:
                return same
        if self.abbreviates and name.startswith("--") and len(name) > 2:
            return [each for each in self.options if any(other.startswith(name) for other in each.names)]
        return []

    def option(self, dest: str) -> Option | None:
        """The option that the tool knows under a name."""
        return next((each for each in self.options if each.dest == dest), None)


@dataclass(slots=True)
class Reading:
    """The words of a call as a tool reads them.

    `given` are the words for each option by the name the tool uses, `unknown` the options it does not take, `missing`
    those that the call must pass and does not. `certain` is False where words are not known, so that more may be
    given."""

    given: dict[str, list[Text]] = field(default_factory=dict)
    unknown: list[Text] = field(default_factory=list)
    missing: list[Option] = field(default_factory=list)
    ambiguous: list[Text] = field(default_factory=list)
    certain: bool = True


def read_call(interface: Interface, words: Sequence[Text]) -> Reading:
    """How a tool reads the words behind its name."""
    out = Reading()
    loose: list[Text] = []
    at = 0
    while at < len(words):
        word = words[at]
        text = word.known if word.known is not None else word.prefix
        at += 1
        if word.elastic or (not text and word.known is None):
            out.certain = False
            loose.append(word)
            continue
        if text == "--":
            loose.extend(words[at:])
            break
        if not _is_option(text, interface):
            loose.append(word)
            continue
        name, sign, _ = text.partition("=")
        found = interface.find(name)
        if not found and not sign and len(text) > 2 and text[1] != "-":
            found = interface.find(text[:2])  # `-n4`
            if found:
                out.given.setdefault(found[0].dest, []).append(word.slice(2, MANY))
                continue
        if len(found) != 1:
            (out.ambiguous if found else out.unknown).append(word)
            continue
        option = found[0]
        given = out.given.setdefault(option.dest, [])
        if sign:
            given.append(word.slice(len(name) + 1, MANY))
            continue
        for _ in range(option.most):
            if at >= len(words) or _stops(words[at], interface):
                break
            given.append(words[at])
            at += 1
    _by_place(interface, loose, out)
    out.missing = [each for each in interface.options if each.required and each.dest not in out.given]
    return out


def _is_option(text: str, interface: Interface) -> bool:
    if not text.startswith("-") or text == "-" or " " in text:
        return False
    return _NUMBER.fullmatch(text) is None or bool(interface.find(text))


def _stops(word: Text, interface: Interface) -> bool:
    text = word.known if word.known is not None else word.prefix
    return text == "--" or _is_option(text, interface)


def _by_place(interface: Interface, words: list[Text], out: Reading) -> None:
    waiting = list(words)
    for option in (each for each in interface.options if each.by_place):
        taken, waiting = waiting[: option.most], waiting[option.most :]
        if taken and option.most == MANY:
            waiting = []
        if taken:
            out.given[option.dest] = taken


def spellings(interface: Interface) -> Iterator[str]:
    """All names of options."""
    return (name for each in interface.options if not each.by_place for name in each.names)


def defaults(interface: Interface) -> Mapping[str, Text]:
    """What holds for options that are left out, where it is known."""
    return {each.dest: each.default for each in interface.options if each.default is not None}
