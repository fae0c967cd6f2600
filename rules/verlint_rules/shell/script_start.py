"""The place of a line that holds for a whole script, such as `set -e`."""

from __future__ import annotations

from verlint.finding import Edit
from verlint.lazy import pattern
from verlint.source import Source

_HEAD = pattern(r"(?:#[^\n]*\n|[ \t\r]*\n)*")


def at_start(source: Source, line: str) -> Edit:
    """The edit that puts a line before the first command, behind the comments at the top."""
    match = _HEAD.match(source.text)
    at = match.end() if match is not None else 0
    return Edit(source.span(at, at), f"{line}\n")
