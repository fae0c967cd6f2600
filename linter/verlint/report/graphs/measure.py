"""How wide texts are in pictures, and how they are cut and broken to fit.

No font is asked: the widths are those of a wide common one (DejaVu Sans), so that a text fits in others too.
"""

from __future__ import annotations

from verlint.report.display import ELLIPSIS, columns

_MONO = 0.61
_NARROW = frozenset("ijltfrI.,:;'|!/()[]{}- \"`")
_WIDE = frozenset("mwMW@%")


def text_width(text: str, size: float, *, mono: bool = False, bold: bool = False) -> float:
    """Width of a text in pixels, in letters of so many pixels."""
    if mono:
        return size * _MONO * columns(text)
    return size * sum(_letter(letter) for letter in text) * (1.1 if bold else 1.0)


def cut_to(text: str, room: float, size: float, *, mono: bool = False, bold: bool = False, tail: int = 0) -> str:
    """The text, with an ellipsis for what does not fit; the last letters, as many as `tail` says, are kept."""
    if text_width(text, size, mono=mono, bold=bold) <= room:
        return text
    tail = min(tail, len(text) // 2)
    kept = text[len(text) - tail :]
    end = len(text) - tail
    while end > 1 and text_width(text[:end] + ELLIPSIS + kept, size, mono=mono, bold=bold) > room:
        end -= 1
    return text[:end].rstrip() + ELLIPSIS + kept


def broken(text: str, room: float, size: float, *, mono: bool = False, lines: int = 2) -> list[str]:
    """The text in at most so many lines, broken behind spaces or the signs of a path; the last one cut."""
    out: list[str] = []
    while text and len(out) < lines - 1 and text_width(text, size, mono=mono) > room:
        end = len(text)
        while end > 1 and text_width(text[:end], size, mono=mono) > room:
            end -= 1
        at = max((text.rfind(sign, 0, end) for sign in (("/", "_", "-", ".") if mono else (" ",))), default=-1) + 1
        at = at if at > end // 3 else end
        out.append(text[:at].rstrip())
        text = text[at:].lstrip()
    return [*out, cut_to(text, room, size, mono=mono)] if text or not out else out


def _letter(letter: str) -> float:
    if letter in _NARROW:
        return 0.37
    if letter in _WIDE:
        return 0.92
    if letter.isascii():
        return 0.67 if letter.isupper() else 0.62
    return 0.62 * columns(letter)
