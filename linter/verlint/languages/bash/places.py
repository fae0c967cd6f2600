"""Paths whose folders may be unknown."""

from __future__ import annotations

from verlint.languages.bash.pieces import Parts, flat, plain
from verlint.value import Hole, Literal, Text


def climbs_out(base: str, rest: str) -> bool:
    """Whether `..` leads above the root of the checkout."""
    depth = len([each for each in base.split("/") if each])
    for each in rest.split("/"):
        depth += {"..": -1, "": 0, ".": 0}.get(each, 1)
        if depth < 0:
            return True
    return False


def inside(path: str | None) -> str | None:
    """A root-relative path without its leading slash."""
    return None if path is None else path.strip("/")


def normalise(path: Parts) -> Parts:
    """A path without `//`, `.` and, where what they climb over is known, `..`."""
    text = flat(path)
    if "//" not in text and "/." not in text and not text.endswith("/"):
        return path
    spans: list[tuple[int, int]] = []
    at = 0
    for piece in text.split("/"):
        end = at + len(piece)
        if piece in ("", "."):
            pass
        elif piece == ".." and spans and text[spans[-1][0] : spans[-1][1]] != ".." and _plain_piece(text, spans[-1]):
            spans.pop()
        elif piece == ".." and not spans and text.startswith("/"):
            pass
        else:
            spans.append((at, end))
        at = end + 1
    whole = Text(path)
    out: list[Literal | Hole] = []
    for number, (start, end) in enumerate(spans):
        if number or text.startswith("/"):
            out.append(Literal("/"))
        out.extend(whole.slice(start, end).parts)
    return merge(tuple(out)) or plain("/" if text.startswith("/") else ".")


def _plain_piece(text: str, span: tuple[int, int]) -> bool:
    return "\U0010ffff" not in text[span[0] : span[1]]


def merge(parts: Parts) -> Parts:
    """Adjoining literals without provenance joined."""
    out: list[Literal | Hole] = []
    for part in parts:
        last = out[-1] if out else None
        if (
            isinstance(part, Literal)
            and isinstance(last, Literal)
            and part.span is None
            and last.span is None
            and part.hops == last.hops
            and part.overridable == last.overridable
        ):
            out[-1] = Literal(last.text + part.text, None, last.hops, last.overridable)
            continue
        out.append(part)
    return tuple(out)
