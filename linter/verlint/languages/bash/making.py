"""Calls of make: the goals, the variables, and the shell texts that are run for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.record import dataclass, field
from verlint.source import Source
from verlint.value import Text

_VALUES = frozenset(["-f", "-C", "-I", "-o", "-W", "-l", "-j", "--file", "--directory", "--makefile"])
_UNSURE = frozenset(["-n", "--just-print", "--dry-run", "--recon", "-q", "--question", "-t", "--touch", "-p", "-v"])
"""Options with which make runs nothing."""


@dataclass(slots=True)
class MakeCall:
    """A call of make. `unsure`: it runs nothing, or goals that are not known."""

    goals: list[str] = field(default_factory=list)
    given: dict[str, Text] = field(default_factory=dict)
    folder: Text | None = None
    file: Text | None = None
    unsure: bool = False


def made_by(words: Sequence[Text]) -> MakeCall:
    """The parts of a call of make."""
    call = MakeCall()
    at = 1
    while at < len(words):
        word = words[at]
        text = word.known if word.known is not None else word.prefix
        name, equals, _ = text.partition("=")
        behind = words[at + 1] if at + 1 < len(words) else None
        if text.startswith("-"):
            call.unsure |= text in _UNSURE
            if text in ("-C", "--directory"):
                call.folder = behind
            elif text in ("-f", "--file", "--makefile"):
                call.file = behind
            elif text.startswith("-C") or (equals and name == "--directory"):
                call.folder = word.slice(len(name) + 1 if equals and name == "--directory" else 2, 1_000_000)
            takes = text in _VALUES and (text != "-j" or (behind is not None and (behind.known or "").isdigit()))
            at += 2 if takes else 1
            continue
        if equals and name.rstrip(":+?").isidentifier():
            call.given[name.rstrip(":+?")] = word.slice(len(name) + 1, 1_000_000)
        elif word.known is not None:
            call.goals.append(word.known)
        else:
            call.unsure = True
        at += 1
    return call


def making(source: Source, call: MakeCall) -> Iterator[tuple[Source, dict[str, Text]]]:
    """The shell texts that a call runs, each with the variables that make exports to it."""
    from verlint.languages.make import environment, read_makefile, recipe, steps

    made = read_makefile(source)
    told = frozenset(call.given)
    for goal in call.goals or [made.goal]:
        for rule, target, stem, own in steps(made, goal):
            variables = environment(made, own, told)
            for text in recipe(made, rule, target, stem, own, told):
                yield text, variables
