"""Strings in pieces: what the interpreter computes with. A hole counts as one character wherever offsets are used."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from verlint.record import replace
from verlint.source import Span
from verlint.value import Hole, Hop, Literal, Part, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

Parts: TypeAlias = tuple[Part, ...]

EMPTY: Parts = ()
MAX_HOPS = 24
MAX_PIECES = 64
MARK = "\U0010ffff"
"""Stands for a hole in flat strings; not a character that texts may hold."""


def plain(text: str, span: Span | None = None) -> Parts:
    """Known characters as parts."""
    return (Literal(text, span),) if text else EMPTY


def known(parts: Parts) -> str | None:
    """The characters, or None when a hole is among them."""
    if len(parts) == 1:
        only = parts[0]
        return only.text if isinstance(only, Literal) else None
    out: list[str] = []
    for part in parts:
        if isinstance(part, Hole):
            return None
        out.append(part.text)
    return "".join(out)


def flat(parts: Parts) -> str:
    """The characters with `MARK` for each hole; offsets in it are those of `cut`."""
    return "".join(part.text if isinstance(part, Literal) else MARK for part in parts)


def shown(parts: Parts) -> str:
    """The characters as people write them."""
    return Text(parts).shown


def cut(parts: Parts, start: int, end: int) -> Parts:
    """The characters from `start` to `end`."""
    return Text(parts).slice(start, end).parts


def has_hole(parts: Parts) -> bool:
    """Whether any part is unknown."""
    return any(isinstance(part, Hole) for part in parts)


def only_hole(parts: Parts) -> Hole | None:
    """The hole when the parts are exactly one hole (and maybe empty literals)."""
    rest = [part for part in parts if isinstance(part, Hole) or part.text]
    if len(rest) == 1 and isinstance(rest[0], Hole):
        return rest[0]
    return None


def is_empty(parts: Parts) -> bool:
    """Whether the string is surely empty."""
    return all(isinstance(part, Literal) and not part.text for part in parts)


def same(left: Parts, right: Parts) -> bool | None:
    """Whether both are the same string on every run."""
    return Text(left).same_as(Text(right))


def identity(parts: Parts) -> tuple[Hashable, ...]:
    """Key under which equal strings meet."""
    return Text(parts).identity()


def with_hop(parts: Parts, hop: Hop) -> Parts:
    """The same string after one more step of provenance; a very long way is not made longer."""
    return tuple([_after(part, hop) if len(part.hops) < MAX_HOPS else part for part in parts])


def with_hops(parts: Parts, hops: tuple[Hop, ...]) -> Parts:
    """The same string after further steps, if there are any."""
    for hop in hops:
        parts = with_hop(parts, hop)
    return parts


def _after(part: Part, hop: Hop) -> Part:
    hops = (*part.hops, hop)
    if isinstance(part, Literal):
        return Literal(part.text, part.span, hops, part.overridable, part.quoted)
    return Hole(part.key, part.name, part.reason, part.span, hops)


def collapse(parts: Parts) -> Parts:
    """The same string in fewer pieces, when it has very many: known runs between unknowns become one, with the
    provenance of their first piece."""
    if len(parts) <= MAX_PIECES:
        return parts
    out: list[Part] = []
    run: list[Literal] = []
    for part in (*parts, None):
        if isinstance(part, Literal):
            run.append(part)
            continue
        if run:
            out.append(replace(run[0], text="".join(each.text for each in run)) if len(run) > 1 else run[0])
            run = []
        if part is not None:
            out.append(part)
    if len(out) > MAX_PIECES:
        return (Hole(("long", tuple(identity(parts))), "<long text>", "text of many unknowns", out[0].span),)
    return tuple(out)


def overridable(parts: Parts, name: str) -> Parts:
    """The same string, marked as a default that `name` may replace."""
    return tuple(
        [
            Literal(part.text, part.span, part.hops, part.overridable or name, part.quoted)
            if isinstance(part, Literal)
            else part
            for part in parts
        ]
    )


def overriders(parts: Iterable[Part]) -> list[str]:
    """Names that may replace any of the characters."""
    out: list[str] = []
    for part in parts:
        if isinstance(part, Literal) and part.overridable and part.overridable not in out:
            out.append(part.overridable)
    return out


def join(items: Sequence[Parts], separator: str) -> Parts:
    """Strings joined by a separator."""
    out: list[Part] = []
    for number, item in enumerate(items):
        if number and separator:
            out.append(Literal(separator))
        out.extend(item)
    return tuple(out)


def strip_right(parts: Parts, chars: str) -> Parts:
    """The string without the given characters at its end; a hole stops the strip."""
    out = list(parts)
    while out:
        last = out[-1]
        if isinstance(last, Hole):
            break
        kept = last.text.rstrip(chars)
        if kept == last.text and kept:
            break
        if kept:
            out[-1] = replace(last, text=kept)
            break
        out.pop()
    return tuple(out)
