"""What is known of every rule without importing it: the line that declares it, read from its file.

A run needs few rules' code, but all rules' names: to select, to ignore, to suppress. Reading the files takes a tenth of
the time of importing them. A test proves that what is read here is what the rules say of themselves. The rules of packs
(`verlint.packs`) are known in the same way, while they are in use."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache

from verlint.record import dataclass

OWN_CODE = "VL008"
"""The rule that reports suppressions; a suppression of this rule is itself never reported as unused."""

OWN_LETTERS, OWN_PACKAGE = "VL", "verlint_rules"


@dataclass(frozen=True, slots=True)
class Header:
    """Names of a rule, and what it looks at.

    `subject` is the name of the class it is given, `families` those whose launches it is limited to (none: all).
    `words`, in lower case, are texts one of which must stand in some file for the rule to have anything to say (none:
    it may always have)."""

    code: str
    slug: str
    module: str
    subject: str
    families: frozenset[str] = frozenset()
    aliases: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def names(self) -> tuple[str, ...]:
        """Everything a user may call the rule: code, slug, old names."""
        return (self.code, self.slug, *self.aliases)

    @property
    def letters(self) -> str:
        """What the codes of its package begin with: `VL`, or the letters of a pack."""
        return self.code[:-3]

    @property
    def package(self) -> str:
        """The package that holds the rule."""
        return self.module.partition(".")[0]


class PackError(Exception):
    """A rule pack that cannot be used; `problems` says why, a line each."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class UnknownRule(ValueError):
    """A name that no rule has; `near` holds similar names."""

    def __init__(self, name: str, near: list[str]) -> None:
        hint = f" (did you mean {', '.join(near)}?)" if near else ""
        if not near and _is_code_of_a_pack(name.strip()):
            hint = " (rules of a pack need its name in `plugins` of the settings)"
        super().__init__(f"unknown rule {name!r}{hint}")
        self.name = name
        self.near = near


def _is_code_of_a_pack(name: str) -> bool:
    """Whether a name looks like a code, and its letters not like ours mistyped."""
    letters, digits = name[:-3].upper(), name[-3:]
    return 2 <= len(letters) <= 4 and letters.isalpha() and digits.isdigit() and set(letters).isdisjoint(OWN_LETTERS)


_of_packs: tuple[Header, ...] = ()


def headers() -> tuple[Header, ...]:
    """All rules of this run by code: our own, and behind them those of the packs in use."""
    return _own() + _of_packs


def use(of_packs: tuple[Header, ...]) -> None:
    """Take these rules of packs, and only these, beside our own from now on."""
    global _of_packs
    if of_packs != _of_packs:
        _of_packs = of_packs
        codes_of.cache_clear()


def packs_in_use() -> tuple[str, ...]:
    """The packages whose rules are taken beside our own."""
    return tuple(dict.fromkeys(header.package for header in _of_packs))


@cache
def _own() -> tuple[Header, ...]:
    """The rules that come with verlint: every module `vlNNN_*.py` in any folder of their package."""
    found: dict[str, Header] = {}
    for module, path in _modules(OWN_PACKAGE):
        header = read_header(module, path)
        if header.code in found:
            raise RuntimeError(f"{header.code} is declared twice: {found[header.code].module}, {module}")
        found[header.code] = header
    return tuple(found[code] for code in sorted(found))


def _modules(package: str) -> Iterator[tuple[str, str]]:
    """Names and files of the modules that hold rules."""
    for root in __import__(package).__path__:
        for folder in os.scandir(root):
            if not folder.is_dir():
                continue
            for name in sorted(os.listdir(folder.path)):
                if name.startswith("vl") and name.endswith(".py"):
                    yield f"{package}.{folder.name}.{name[:-3]}", os.path.join(folder.path, name)


def read_header(module: str, path: str) -> Header:
    """What the declaration in the file of a rule says. Raises RuntimeError when there is none that can be read so."""
    stream = os.open(path, _FLAGS)  # `open` alone would take half of the time
    try:
        text = os.read(stream, _ENOUGH)
        start = text.find(b"\n@rule(")
        end = text.find(b"\ndef ", start)
        if start < 0 or end < 0:
            text += os.read(stream, os.fstat(stream).st_size)
            start = text.find(b"\n@rule(")
            end = text.find(b"\ndef ", start)
    finally:
        os.close(stream)
    declared = text[start + 1 : end].decode() if start >= 0 else ""
    places = declared.split('"', 4)
    subject = _after("on=", places[-1]) if len(places) == 5 else ""
    if not subject:
        raise RuntimeError(f'{path} has no `@rule("VLnnn", "slug", on=…)`')
    rest = places[-1]
    return Header(
        places[1],
        places[3],
        module,
        subject,
        frozenset(_strings("families=", rest)) if "families=" in rest else frozenset(),
        _strings("aliases=", rest) if "aliases=" in rest else (),
        _strings("words=", rest) if "words=" in rest else (),
    )


_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_ENOUGH = 6000
"""Bytes of a file that hold its declaration, nearly always."""


def _after(name: str, text: str) -> str:
    """The word behind `name` in a declaration, "" when it is not there."""
    return text.partition(name)[2].partition(",")[0].partition(")")[0].strip()


def _strings(name: str, text: str) -> tuple[str, ...]:
    """The strings of the set or tuple behind `name` in a declaration."""
    behind = text.partition(name)[2]
    ends = [at for at in map(behind.find, ")]}") if at >= 0]
    return tuple(behind[: min(ends, default=0)].split('"')[1::2])


def find_header(name: str) -> Header:
    """The rule with this code, slug or alias. Raises UnknownRule with similar names."""
    wanted = name.strip().lower()
    names = {each.lower(): header for header in headers() for each in header.names()}
    if wanted in names:
        return names[wanted]
    raise UnknownRule(name, _near(wanted, names))


_ALIKE = str.maketrans("olizsb", "011258")


def _near(wanted: str, names: Mapping[str, Header]) -> list[str]:
    """Names like a wrong one. Codes look all alike: for one only that with digits for the letters that look like them,
    or those with its digits in another order."""
    at = max((len(each.letters) for each in names.values() if wanted.startswith(each.letters.lower())), default=0)
    alike = wanted[:at] + wanted[at:].translate(_ALIKE)
    if at and alike != wanted and alike in names:
        return [alike.upper()]
    codes = dict.fromkeys(header.code.lower() for header in names.values())
    if at and wanted[at:].isdigit():
        return [each.upper() for each in codes if each.startswith(wanted[:at]) and sorted(each) == sorted(wanted)]
    if _is_code_of_a_pack(wanted):
        return []
    from difflib import get_close_matches

    near = get_close_matches(wanted, names)
    return [each.upper() if each in codes else each for each in near]


def match_headers(selector: str) -> list[Header]:
    """The rules a selector means: a code prefix (`VL`, `VL4`, `VL40`), a code, a slug, an alias, or `ALL`.

    Raises UnknownRule when it means none.
    """
    text = selector.strip()
    start = text.upper()
    if start == "ALL":
        return list(headers())
    matches = [header for header in headers() if header.code.startswith(start) and start.startswith(header.letters)]
    return matches or [find_header(text)]


@cache
def codes_of(name: str) -> frozenset[str]:
    """Codes of the rules that a name (code, prefix, slug, alias) means; none when it is unknown."""
    try:
        return frozenset(header.code for header in match_headers(name))
    except UnknownRule:
        return frozenset()
