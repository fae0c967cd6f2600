"""Brace expansion, which bash does before anything else: `a{1,2}`, `{0..7}`."""

from __future__ import annotations

import re
from itertools import pairwise

from verlint.languages.bash.arithmetic import decimal
from verlint.languages.bash.syntax import Lit, Param, Part
from verlint.lazy import pattern
from verlint.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias, TypeGuard

_LIMIT = 4096
_MAX_BRACES = 100
_NUMBERS = pattern(r"(-?\d+)\.\.(-?\d+)(?:\.\.(-?\d+))?")
_LETTERS = pattern(r"([A-Za-z])\.\.([A-Za-z])(?:\.\.(-?\d+))?")

Item: TypeAlias = "tuple[str, int] | Part"
"""A bare character with its offset, or any other part of a word."""


def expand_braces(parts: list[Part]) -> list[list[Part]]:
    """The words that one word becomes; usually only itself."""
    opened = sum([part.text.count("{") for part in parts if isinstance(part, Lit) and not part.quote])
    if not opened or opened > _MAX_BRACES or not any(isinstance(part, Lit) and "}" in part.text for part in parts):
        return [parts]
    items: list[Item] = []
    for part in parts:
        if isinstance(part, Lit) and not part.quote:
            exact = part.end - part.start == len(part.text)
            items.extend((char, part.start + (at if exact else 0)) for at, char in enumerate(part.text))
        else:
            items.append(part)
    return [_parts(each) for each in _expand(items)]


def _parts(items: list[Item]) -> list[Part]:
    out: list[Part] = []
    for item in items:
        if not isinstance(item, tuple):
            out.append(item)
            continue
        last = out[-1] if out else None
        if _takes(last, item[0]):
            out[-1] = replace(last, name=last.name + item[0], end=item[1] + 1)
            continue
        if isinstance(last, Lit) and not last.quote and last.end == item[1]:
            out[-1] = replace(last, text=last.text + item[0], end=item[1] + 1)
        else:
            out.append(Lit(item[1], item[1] + 1, item[0], ""))
    return out


def _takes(last: Part | None, char: str) -> TypeGuard[Param]:
    """Whether a character goes on with the name of `$name`: braces are expanded before names are read."""
    return (
        isinstance(last, Param)
        and (char.isalnum() or char == "_")
        and (last.name[0].isalpha() or last.name[0] == "_")
        and not (last.op or last.index or last.indirect or last.arg)
        and last.bare
    )


def _char(item: Item) -> str:
    return item[0] if isinstance(item, tuple) else ""


def _expand(items: list[Item]) -> list[list[Item]]:
    for at, item in enumerate(items):
        if _char(item) != "{" or (at and _char(items[at - 1]) == "$"):
            continue
        close, commas = _matching(items, at)
        if close is None:
            continue
        inner = items[at + 1 : close]
        choices = _choices(items, at, close, commas) if commas else _range(inner)
        if choices is None:
            head = items[: at + 1]
            return [head + rest for rest in _expand(items[at + 1 :])]
        tails = _expand(items[close + 1 :])
        if len(choices) * len(tails) > _LIMIT:
            return [items]
        return [items[:at] + choice + tail for choice in choices for tail in tails]
    return [items]


def _matching(items: list[Item], at: int) -> tuple[int | None, list[int]]:
    """Index of the closing brace and of the commas on its level."""
    depth = 0
    commas: list[int] = []
    for end in range(at, len(items)):
        char = _char(items[end])
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return end, commas
        elif char == "," and depth == 1:
            commas.append(end)
    return None, []


def _choices(items: list[Item], at: int, close: int, commas: list[int]) -> list[list[Item]]:
    bounds = [at, *commas, close]
    out: list[list[Item]] = []
    for low, high in pairwise(bounds):
        out.extend(_expand(items[low + 1 : high]))
    return out


def _range(inner: list[Item]) -> list[list[Item]] | None:
    if not inner or not all(isinstance(item, tuple) for item in inner):
        return None
    text = "".join(_char(item) for item in inner)
    first = inner[0]
    offset = first[1] if isinstance(first, tuple) else 0
    values = _numbers(text) or _letters(text)
    if values is None:
        return None
    return [[(char, offset) for char in value] for value in values]


def _numbers(text: str) -> list[str] | None:
    match = _NUMBERS.fullmatch(text)
    if match is None:
        return None
    low, high, step = decimal(match.group(1)), decimal(match.group(2)), decimal(match.group(3) or "1")
    if low is None or high is None or step is None:
        return None
    step = abs(step) or 1
    padded = any(re.match(r"-?0\d", each) for each in match.groups()[:2])
    width = max(len(match.group(1)), len(match.group(2))) if padded else 0
    span = range(low, high + 1, step) if low <= high else range(low, high - 1, -step)
    return [str(value).zfill(width) for value in span[:_LIMIT]]


def _letters(text: str) -> list[str] | None:
    match = _LETTERS.fullmatch(text)
    if match is None:
        return None
    low, high, step = ord(match.group(1)), ord(match.group(2)), decimal(match.group(3) or "1")
    if step is None:
        return None
    step = abs(step) or 1
    span = range(low, high + 1, step) if low <= high else range(low, high - 1, -step)
    return [chr(value) for value in span]
