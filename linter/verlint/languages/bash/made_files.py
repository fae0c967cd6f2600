"""Files that a launcher writes itself and a program then reads: configs and modules from a here-document, `echo` or
`tee`.

Their text is what the interpreter knows of it. What is not known stands there as `${launcher:NAME}`, a reference that
only the run resolves; a file whose keys or structure hang on it is none that can be read, and so is one that another
program may have changed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from verlint.languages.bash.command import Command
from verlint.languages.bash.pieces import Parts
from verlint.languages.bash.run import Run
from verlint.lazy import pattern
from verlint.source import Piece, Source
from verlint.value import Hole, Literal, Text

HOLE = "${launcher:"
"""What the stand-in for an unknown part begins with."""
SUFFIXES = (".yaml", ".yml", ".json", ".py")
_PROGRAMS = ("python", "torchrun", "ray", "accelerate", "deepspeed", "uv", "conda", "apptainer", "docker")
_READING = frozenset(
    ["cat", "echo", "printf", "tee", "ls", "head", "tail", "grep", "cp", "mkdir", "chmod", "test", "[", "[[", "ray",
     "wc"]
)  # fmt: skip
"""Programs that leave a file that they are given as it is, or whose writing the interpreter follows."""
_ON_KEY = pattern(r"^[^\n#]*\$\{launcher:\w+\}[^\n:]*:(?:\s|$)|^[ \t-]*\$\{launcher:\w+\}[ \t]*$", re.MULTILINE)
"""A key with an unknown part, or a line that may be any lines."""
_MOST = 100_000


def may_read(argv: tuple[Text, ...]) -> bool:
    """Whether a command may start a program that reads files written before it."""
    return any((word.known or "").rsplit("/", 1)[-1].startswith(_PROGRAMS) for word in argv[:12])


def made_files(run: Run, source: Source) -> Mapping[str, Source]:
    """The files that are written by now, by their path below the root, or on the disk (`/tmp/a.yaml`). `source` is the
    text that runs."""
    found: dict[str, Parts] = {path: parts for path, parts in run.written.items() if path.endswith(SUFFIXES)}
    for place, parts in run.outside.items():
        only = place[0] if isinstance(place, tuple) and len(place) == 1 else None
        if isinstance(only, str) and only.startswith("/") and only.endswith(SUFFIXES):
            found[only] = parts
    out: dict[str, Source] = {}
    given = _given_words(run) if found else ""
    for path, parts in found.items():
        changed = path.rsplit("/", 1)[-1] in given  # a program was given it, which may have written it
        made = _source_of(run, path, parts) if parts and not changed else None
        out[path] = _nobody_knows(source) if made is None else made
    return out


def _nobody_knows(source: Source) -> Source:
    """A file whose content is not known, in the place of one on disk that it overwrites."""
    return Source(source.path, HOLE + "content}\n", source, (Piece(0, 0, 0),))


def _source_of(run: Run, path: str, parts: Parts) -> Source | None:
    key = (path, id(parts))
    if key not in run.made_sources:
        run.made_sources[key] = (parts, _text_of(path, parts))
    return run.made_sources[key][1]


def _text_of(path: str, parts: Parts) -> Source | None:
    """The file as a text in the launcher that writes it; None when its structure is not known."""
    spans = (part.span for part in parts if isinstance(part, Literal) and part.span is not None)
    source = next((span.source for span in spans), None)
    if source is None:
        return None
    out: list[str] = []
    pieces: list[Piece] = []
    at = reached = 0
    waiting: tuple[int, int] | None = None  # what a variable came to, until it is known where its use ends
    for part in parts:
        text = part.text if isinstance(part, Literal) else _reference(part)
        span = part.span
        if span is not None and span.source is source and isinstance(part, Literal) and span.start >= reached:
            if waiting is not None and pieces:
                pieces += _use_of(*waiting, reached, span.start)
            waiting = None
            length = min(len(text), span.end - span.start)
            pieces.append(Piece(at, span.start, length))
            reached = span.start + length
        elif text:
            waiting = (at if waiting is None else waiting[0], at + len(text))
        out.append(text)
        at += len(text)
    text = "".join(out)
    if not pieces or at > _MOST or (not path.endswith(".py") and _ON_KEY.search(text) and _has_hole(parts)):
        return None
    return Source(source.path, text, source, tuple(pieces))


def _use_of(first: int, end: int, start: int, stop: int) -> list[Piece]:
    """The pieces for a text that a use of a variable (`$NAME`, from `start` to `stop`) came to."""
    pieces = [Piece(first, start, 1)]
    return pieces if end - first < 2 or stop - start < 2 else [*pieces, Piece(end - 1, stop - 1, 1)]


def _has_hole(parts: Parts) -> bool:
    return any(isinstance(part, Hole) for part in parts)


def _reference(hole: Hole) -> str:
    name = re.sub(r"\W+", "_", hole.name).strip("_") or "UNKNOWN"
    return HOLE + name + "}"


def _given_words(run: Run) -> str:
    """The words of the programs that were started and may write files, with NULs between them; `key=path` tells a
    program to read it."""
    return "\0".join(
        [
            word.suffix
            for event in run.events
            if isinstance(event, Command) and not event.builtin and event.name not in _READING
            for word in event.argv[1:]
            if "=" not in word.shown
        ]
    )
