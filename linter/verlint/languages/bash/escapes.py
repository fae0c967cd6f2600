"""Backslash escapes, as `$'…'`, `echo -e` and `printf` know them."""

from __future__ import annotations

from verlint.lazy import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Match

_ESCAPES = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_CODED = pattern(r"x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})")


_CONTROL = pattern(r"[\x00-\x1f\x7f]")
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\a": "\\a", "\b": "\\b", "\x1b": "\\E", "\f": "\\f", "\v": "\\v"}


def ansi_quoted(text: str) -> str:
    """A text with control characters as `$'…'`, "" for one that has none."""
    if not _CONTROL.search(text):
        return ""
    inner = text.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + _CONTROL.sub(lambda match: _NAMED.get(match.group()) or f"\\{ord(match.group()):03o}", inner) + "'"


def quoted_text(text: str) -> str:
    """A text as `${x@Q}` writes it."""
    return ansi_quoted(text) or "'" + text.replace("'", "'\\''") + "'"


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


_PRINTED = pattern(r"\\(?:(\\)|0([0-7]{0,3})|([1-7])|(c)|.|\Z)")


def unescape_printed(text: str) -> tuple[str, bool]:
    """What `echo -e` makes of a text, and whether a `\\c` ended it."""
    if "\\" not in text:
        return text, False
    end = next((match.start() for match in _PRINTED.finditer(text) if match.group(4)), None)
    return unescape(_PRINTED.sub(_octal, text[:end])), end is not None


def _octal(match: Match[str]) -> str:
    """`\\0101` as `$'…'` writes it; there `\\101` is one, but not for `echo`."""
    if match.group(2) is not None:
        return "\\" + match.group(2).zfill(3)
    return "\\\\" + match.group(3) if match.group(3) else match.group()
