"""Paths in pieces: the words of a launcher seen as places below its working directory."""

from __future__ import annotations

import posixpath
from collections.abc import Hashable

from verlint.languages.bash.pieces import MARK, flat
from verlint.languages.bash.state import normalise
from verlint.source import Span
from verlint.value import Hole, Literal, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

Components: TypeAlias = tuple[tuple[Hashable, ...], ...]


def absolute(path: Text, cwd: Text) -> Text:
    """The path seen from `cwd`, without `.`, `..` and doubled slashes where that can be told."""
    text = flat(path.parts)
    if text.startswith("/") or (path.parts and isinstance(path.parts[0], Hole)):
        return Text(normalise(path.parts), path.span, path.elastic)
    return Text(normalise((*cwd.parts, Literal("/"), *path.parts)), path.span, path.elastic)


def components(path: Text) -> Components:
    """The pieces between the slashes, each by what it must share with another to be the same on every run."""
    text = flat(path.parts)
    if MARK not in text:
        return tuple((piece,) for piece in text.split("/") if piece)
    return tuple(path.slice(start, end).identity() for start, end in _bounds(text))


def is_below(path: Components, folder: Components) -> bool:
    """Whether a path is a folder or lies below it."""
    return path[: len(folder)] == folder


def last_component(path: Text) -> Text:
    """What stands behind the last slash (a slash at the very end aside)."""
    start, end = _last(flat(path.parts))
    return path.slice(start, end) if end else Text((), path.span)


def parent(path: Text) -> Text:
    """The path without its last component."""
    start, end = _last(flat(path.parts))
    return path.slice(0, max(start - 1, 0)) if end else path


def written_at(text: Text) -> Span | None:
    """Where the longest known piece of a text is written."""
    known = [part for part in text.parts if isinstance(part, Literal) and part.span is not None]
    return max(known, key=lambda part: len(part.text)).span if known else None


def in_tree(path: Text) -> str | None:
    """The path below the root of the project, for one that starts in a folder of it and is known otherwise."""
    first = path.parts[0] if path.parts else None
    rest = Text(path.parts[1:]).known
    if not (isinstance(first, Hole) and isinstance(first.key, tuple) and first.key[:1] == ("cwd",)) or rest is None:
        return None
    found = posixpath.normpath(f"{first.key[1]}{rest}".lstrip("/") or ".")
    return None if found.startswith("..") else found


def shown(path: Text) -> str:
    """A path as people write it, without the unknown start folder."""
    first = path.parts[0] if path.parts else None
    if isinstance(first, Hole) and isinstance(first.key, tuple) and first.key[:1] == ("cwd",) and len(path.parts) > 1:
        return Text(path.parts[1:]).shown.lstrip("/")
    return path.shown


def _last(text: str) -> tuple[int, int]:
    """Where the last piece between slashes begins and ends; (0, 0) when there is none."""
    end = len(text.rstrip("/"))
    return text.rfind("/", 0, end) + 1, end


def _bounds(text: str) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    at = 0
    for piece in text.split("/"):
        if piece:
            out.append((at, at + len(piece)))
        at += len(piece) + 1
    return out
