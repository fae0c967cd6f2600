"""Text as a terminal can show it: control characters escaped, widths in columns, cut and wrapped."""

from __future__ import annotations

import re

from verlint.lazy import pattern

_UNSAFE = pattern(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
ELLIPSIS = "…"


def visible(text: str) -> str:
    """The text with characters that steer a terminal or hide themselves as escapes (`\\x1b`, `\\u202e`)."""
    return _UNSAFE.sub(_escape, text)


def visible_lines(text: str) -> str:
    """The same for a text of several lines, whose ends are kept."""
    return "\n".join(map(visible, text.split("\n")))


def json_text(data: object) -> str:
    """Data as JSON that is readable and safe to show."""
    import json

    return safe_json(json.dumps(data, indent=2, ensure_ascii=False)) + "\n"


def safe_json(text: str) -> str:
    """JSON with such characters as escapes of JSON; it stands for the same data."""
    import json

    return _UNSAFE.sub(lambda each: each.group() if each.group() == "\n" else json.dumps(each.group())[1:-1], text)


def one_line(text: str) -> str:
    """Several lines as one: continuations joined, runs of white space as one space."""
    return " ".join(text.replace("\\\r\n", " ").replace("\\\n", " ").split())


def columns(text: str) -> int:
    """Width of a text in terminal columns: wide East Asian characters and emoji take two, combining marks none."""
    return len(text) if text.isascii() else sum(_columns(character) for character in text)


def cut(text: str, width: int) -> str:
    """The text, ending in an ellipsis when it is wider than `width` columns."""
    if columns(text) <= width:
        return text
    out: list[str] = []
    room = width - 1
    for character in text:
        room -= _columns(character)
        if room < 0:
            break
        out.append(character)
    return "".join(out).rstrip() + ELLIPSIS


def wrap(text: str, width: int) -> list[str]:
    """The words of a text in lines of at most `width` columns; a longer word keeps its own line."""
    lines: list[str] = []
    for word in text.split():
        if lines and columns(lines[-1]) + 1 + columns(word) <= width:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines or [""]


def _columns(character: str) -> int:
    if character.isascii():
        return 1
    from unicodedata import category, east_asian_width

    if category(character) in ("Mn", "Me") or character in "\u200c\u200d":
        return 0
    return 2 if east_asian_width(character) in ("W", "F") else 1


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
