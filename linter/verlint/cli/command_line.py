"""The whole command line as data: every verb with its options, as its parser has them. The completion of shells and the
manual page are written from it, so they cannot name what does not exist."""

from __future__ import annotations

import argparse
from importlib import import_module

from verlint.cli.main import VERBS
from verlint.record import dataclass

FILE, FOLDER, RULE, RULES, TEXT = "file", "folder", "rule", "rules", "text"
"""What a value is, for completion: a path, a folder, one name of a rule, several with commas, any text."""

_KINDS = {
    **dict.fromkeys(("PATH", "FILE", "SPEC", "LAUNCHER"), FILE),
    **dict.fromkeys(("DIR",), FOLDER),
    "RULE": RULE,
    "RULES": RULES,
}


@dataclass(frozen=True, slots=True)
class Option:
    """An option, or an argument without a name (`names` is empty then).

    `value` is what the help calls its value, "" for a switch; `kind` what can be completed there, `words` the texts
    that it may be, where these are known. `many` says that it may be given several times."""

    names: tuple[str, ...]
    value: str
    kind: str
    words: tuple[str, ...]
    about: str
    many: bool


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb: its line in the list of verbs, its description, its usage without `verlint` in front, and its options in
    titled groups."""

    name: str
    line: str
    description: str
    usage: str
    groups: tuple[tuple[str, tuple[Option, ...]], ...]

    @property
    def options(self) -> list[Option]:
        """The options with names, of all groups."""
        return [option for _, members in self.groups for option in members if option.names]

    @property
    def arguments(self) -> list[Option]:
        """The arguments without names, in order."""
        return [option for _, members in self.groups for option in members if not option.names]


def verbs() -> list[Verb]:
    """Every verb, in the order of the help."""
    subparsers = argparse.ArgumentParser(prog="verlint").add_subparsers()
    for name in VERBS:
        import_module(f"verlint.cli.{name}").add_parser(subparsers)
    return [_verb(name, subparsers.choices[name]) for name in VERBS]


def _verb(name: str, parser: argparse.ArgumentParser) -> Verb:
    parser.formatter_class = _Unbroken
    parser.color = False  # type: ignore[attr-defined, unused-ignore]  # newer argparse colours usages
    usage = parser.format_usage().removeprefix("usage: verlint ").strip()
    groups = [
        (group.title or "", tuple(_option(action, parser) for action in group._group_actions))
        for group in parser._action_groups
    ]
    return Verb(name, VERBS[name], parser.description or "", usage, tuple(group for group in groups if group[1]))


class _Unbroken(argparse.HelpFormatter):
    """A formatter that does not break lines, whatever the terminal."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=10_000)


def _option(action: argparse.Action, parser: argparse.ArgumentParser) -> Option:
    words = _words(action)
    value = "" if action.nargs == 0 else str(action.metavar or "|".join(words) or action.dest.upper())
    about = parser._get_formatter()._expand_help(action) if action.help else ""
    many = isinstance(action, argparse._AppendAction) or action.nargs in ("*", "+")
    return Option(tuple(action.option_strings), value, _KINDS.get(value.upper(), TEXT), words, about, many)


def _words(action: argparse.Action) -> tuple[str, ...]:
    if action.choices is not None:
        return tuple(map(str, action.choices))
    match action.metavar:
        case "NAME[:FILE]":
            from verlint.report import FORMATS

            return tuple(FORMATS)
        case "FAMILY":
            from verlint.families import FAMILIES

            return tuple(FAMILIES)
        case "VERSION|PATH" | "VERSION":
            from verlint.verl.schema import forks, versions

            return (*versions(), *forks())
    return ()
