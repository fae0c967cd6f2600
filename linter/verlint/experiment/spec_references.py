"""The parts of a spec's text: characters, references `${…}`, environment variables, placeholders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

from verlint.lazy import pattern
from verlint.record import dataclass

PartKind: TypeAlias = Literal["text", "path", "env", "placeholder", "resolver", "open"]

_START = pattern(r"\\?\$\{|<[A-Z][A-Z0-9_-]*>")
_WHOLE_PLACEHOLDER = pattern(r"\s*<([^<>\n]+)>\s*")
_OPEN = pattern(r"\s*(?:\$\{[^{}]+\}|<[^<>]+>)\s*")
_PATH = pattern(r"[A-Za-z_][\w-]*(?:\.[\w-]+)*", re.ASCII)
_ENVIRONMENT = pattern(r"oc\.env:\s*([A-Za-z_]\w*)\s*(?:,(.*))?", re.ASCII | re.DOTALL)
_SHELL_NAME = pattern(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a text, from `start` to `end`.

    `text` is what it stands for: characters, a path, a variable's name, a placeholder's name, the whole reference where
    it is none of the format. `default` is that of an environment variable.
    """

    kind: PartKind
    text: str
    start: int
    end: int
    default: str | None = None


def is_open(text: str) -> bool:
    """Whether a text is nothing but one reference or placeholder."""
    return _OPEN.fullmatch(text) is not None


def parts_of(text: str, *, shell: bool) -> Iterator[Part]:
    """Split a scalar's text. In `shell` text, `${NAME}` and other expansions belong to the shell and stay."""
    if not shell and (whole := _WHOLE_PLACEHOLDER.fullmatch(text)):
        yield Part("placeholder", whole.group(1).strip(), 0, len(text))
        return
    at = 0
    while found := _START.search(text, at):
        part = _special(text, found, shell)
        if part is None:
            yield from _characters(text, at, found.end())
            at = found.end()
            continue
        yield from _characters(text, at, part.start)
        yield part
        at = part.end
    yield from _characters(text, at, len(text))


def _characters(text: str, start: int, end: int) -> Iterator[Part]:
    if start < end:
        yield Part("text", text[start:end], start, end)


def _special(text: str, found: re.Match[str], shell: bool) -> Part | None:
    """The reference or placeholder that starts here, None for characters."""
    start, opener = found.start(), found.group()
    if opener.startswith("<"):
        return Part("placeholder", opener[1:-1], start, found.end())
    if opener.startswith("\\"):
        return None if shell else Part("text", "${", start, found.end())
    end = _closing(text, found.end())
    if end is None:
        return None if shell else Part("open", text[start:], start, len(text))
    inner = text[found.end() : end - 1].strip()
    if environment := _ENVIRONMENT.fullmatch(inner):
        default = environment.group(2)
        return Part("env", environment.group(1), start, end, None if default is None else default.strip())
    if _PATH.fullmatch(inner) and not (shell and _SHELL_NAME.fullmatch(inner)):
        return Part("path", inner, start, end)
    if shell:
        return None
    return Part("resolver", inner, start, end)


def _closing(text: str, at: int) -> int | None:
    """Offset after the brace that closes the reference whose inside starts at `at`."""
    depth = 1
    for here in range(at, len(text)):
        if text[here] == "{":
            depth += 1
        elif text[here] == "}":
            depth -= 1
            if depth == 0:
                return here + 1
    return None
