"""Backslash escapes, as `$'…'`, `echo -e` and `printf` know them."""

from __future__ import annotations

from verlint.lazy import pattern

_ESCAPES = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_CODED = pattern(r"x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})")


def unescape(text: str) -> str:
    """Backslash escapes of `$'…'`, `echo -e` and `printf` replaced by what they stand for."""
    if "\\" not in text:
        return text
    out: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char != "\\" or at + 1 >= len(text):
            out.append(char)
            at += 1
            continue
        following = text[at + 1]
        if following in _ESCAPES:
            out.append(_ESCAPES[following])
            at += 2
            continue
        match = _CODED.match(text, at + 1)
        if match is None:
            out.append("\\")
            at += 1
            continue
        code = int(match.group(4), 8) & 0xFF if match.group(4) else int(next(g for g in match.groups() if g), 16)
        out.append(chr(code) if code < 0x110000 else "�")
        at = match.end()
    return "".join(out)
