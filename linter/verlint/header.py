"""What is known of every rule without importing it: the line that declares it, read from its file.

A run needs few rules' code, but all rules' names: to select, to ignore, to suppress. Reading the files takes a tenth of
the time of importing them. A test proves that what is read here is what the rules say of themselves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache

from verlint.lazy import pattern
from verlint.record import dataclass

OWN_CODE = "VL008"
"""The rule that reports suppressions; a suppression of this rule is itself never reported as unused."""

_DECLARATION = pattern(r'^@rule\(\s*"(VL\d{3})",\s*"([\w-]+)",([^()]*(?:\([^()]*\)[^()]*)*)\)')
_ON = pattern(r"\bon=(\w+)")
_NAMES = pattern(r"\b(families|aliases)=(?:frozenset\()?[\[({]([^\])}]*)[\])}]")
_WORD = pattern(r'"([^"]+)"')


@dataclass(frozen=True, slots=True)
class Header:
    """Names of a rule, and what it looks at.

    `subject` is the name of the class it is given, `families` those whose launches it is limited to (none: all)."""

    code: str
    slug: str
    module: str
    subject: str
    families: frozenset[str] = frozenset()
    aliases: tuple[str, ...] = ()

    def names(self) -> tuple[str, ...]:
        """Everything a user may call the rule: code, slug, old names."""
        return (self.code, self.slug, *self.aliases)


class UnknownRule(ValueError):
    """A name that no rule has; `near` holds similar names."""

    def __init__(self, name: str, near: list[str]) -> None:
        hint = f" (did you mean {', '.join(near)}?)" if near else ""
        super().__init__(f"unknown rule {name!r}{hint}")
        self.name = name
        self.near = near


@cache
def headers(package: str = "verlint_rules") -> tuple[Header, ...]:
    """All rules of a package, by code: every module `vlNNN_*.py` in any of its folders."""
    found: dict[str, Header] = {}
    for module, path in _modules(package):
        header = _read(module, path)
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


def _read(module: str, path: str) -> Header:
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    at = text.find("\n@rule(")
    found = _DECLARATION.match(text[at + 1 :]) if at >= 0 else None
    on = _ON.search(found[3]) if found is not None else None
    if found is None or on is None:
        raise RuntimeError(f'{path} has no line `@rule("VLnnn", "slug", on=…)`')
    names = {each[1]: tuple(_WORD.findall(each[2])) for each in _NAMES.finditer(found[3])}
    families = frozenset(names.get("families", ()))
    return Header(found[1], found[2], module, on[1], families, names.get("aliases", ()))


def find_header(name: str) -> Header:
    """The rule with this code, slug or alias. Raises UnknownRule with similar names."""
    wanted = name.strip().lower()
    names = {each.lower(): header for header in headers() for each in header.names()}
    if wanted in names:
        return names[wanted]
    from difflib import get_close_matches

    near = get_close_matches(wanted, names)
    raise UnknownRule(name, [each.upper() if each.startswith("vl") else each for each in near])


def match_headers(selector: str) -> list[Header]:
    """The rules a selector means: a code prefix (`VL`, `VL4`, `VL40`), a code, a slug, an alias, or `ALL`.

    Raises UnknownRule when it means none.
    """
    text = selector.strip()
    if text.upper() == "ALL":
        return list(headers())
    matches = [header for header in headers() if text.upper().startswith("VL") and header.code.startswith(text.upper())]
    return matches or [find_header(text)]
