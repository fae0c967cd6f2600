"""Where a checkout of VeRL may lie, seen from a command: its folder, those of PYTHONPATH and `pip install -e`."""

from __future__ import annotations

import posixpath
from pathlib import Path

from verlint.languages.bash.command import Command
from verlint.lazy import pattern
from verlint.source import Source
from verlint.value import Hole, Literal, Text

_EDITABLE = pattern(r"\bpip3?\s+install\s[^\n;&|]*?(?:-e|--editable)[ =]['\"]?([\w./-]+)")


def checkout_folders(command: Command, source: Source | None, root: Path) -> list[Path]:
    """The folders to look in, the likeliest first; `source` is the text with the command, `root` the project's."""
    around = command.around
    texts = [around.cwd, *([around.environment["PYTHONPATH"]] if "PYTHONPATH" in around.environment else [])]
    found = [root / place for text in texts for place in _places_of(text, around.cwd)]
    if source is not None:
        own = (Path.cwd() / source.path).parent
        found += [own / each for each in _EDITABLE.findall(source.text)] if "install" in source.text else []
        found.append(own)
    return [Path(posixpath.normpath(each.as_posix())) for each in dict.fromkeys(found)]


def _places_of(text: Text, cwd: Text) -> list[str]:
    """The folders of a list like PYTHONPATH, below the root of the project; those that are not known are left out.

    The folder a launcher is started in is a hole that carries its place."""
    start = cwd.parts[0] if cwd.parts else None
    out: list[str] = []
    for pieces in _split_at_colons(text):
        known = "".join(part.text for part in pieces if isinstance(part, Literal))
        holes = [part for part in pieces if isinstance(part, Hole)]
        if not holes and known.startswith("/"):
            out.append(known)
        elif not holes and known and isinstance(start, Hole) and _start_of(start) is not None:
            out.append(posixpath.join(_start_of(start) or "", known))
        elif len(holes) == 1 and pieces[0] is holes[0] and _start_of(holes[0]) is not None:
            out.append((_start_of(holes[0]) or ".") + known)
    return out


def _start_of(hole: Hole) -> str | None:
    return str(hole.key[1]) if isinstance(hole.key, tuple) and hole.key[0] == "cwd" else None


def _split_at_colons(text: Text) -> list[list[Literal | Hole]]:
    out: list[list[Literal | Hole]] = [[]]
    for part in text.parts:
        if isinstance(part, Hole):
            out[-1].append(part)
            continue
        for number, piece in enumerate(part.text.split(":")):
            if number:
                out.append([])
            if piece:
                out[-1].append(Literal(piece))
    return out
