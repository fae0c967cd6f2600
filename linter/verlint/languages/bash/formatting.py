"""`printf`: formats and arguments to text."""

from __future__ import annotations

from verlint.languages.bash.escapes import ansi_quoted, unescape, unescape_printed
from verlint.languages.bash.pieces import MARK, Parts, flat, has_hole, plain
from verlint.languages.bash.syntax import Simple
from verlint.lazy import pattern
from verlint.value import Hole, Literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.languages.bash.conditions import Conditions

_DIRECTIVE = pattern(r"%([-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?)(?:\([^)]*\))?[hjlLtz]*([bcdeEfFgGiouqQsTxX%]|)")
_INTEGER = pattern(r"\s*([-+]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\d*)")
_REAL = pattern(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_TO_ESCAPE = {code: f"\\{chr(code)}" for code in range(128) if not (chr(code).isalnum() or chr(code) in "_@%+=:./~#-")}

_NUMBER = pattern(r"\d+")
_MAX_DIGITS = 3
_MOST_DIGITS = 40
"""More than the numbers of bash have, which end at 64 bits."""


def format_printf(shell: Conditions, form: Parts, arguments: list[Parts], simple: Simple) -> tuple[Parts, bool]:
    """What `printf` prints, and whether all arguments were what the format wants; the format is used again while
    arguments are left."""
    if has_hole(form):
        return (shell.hole("printf", "printf with an unknown format", simple),), True
    text = flat(form)
    rest = list(arguments)
    out: list[Literal | Hole] = []
    valid = True
    while True:
        before = len(rest)
        at = 0
        for match in _DIRECTIVE.finditer(text):
            out.extend(plain(unescape(text[at : match.start()])))
            if not match.group(2):
                return tuple(out), False
            made, fits = _directive(shell, match.group(1), match.group(2), rest, simple)
            out.extend(made)
            valid = valid and fits
            at = match.end()
        out.extend(plain(unescape(text[at:])))
        if not rest or len(rest) == before:
            return tuple(out), valid


def _directive(shell: Conditions, spec: str, kind: str, rest: list[Parts], simple: Simple) -> tuple[Parts, bool]:
    if kind == "%":
        return plain("%"), True
    while "*" in spec:
        spec = spec.replace("*", flat(rest.pop(0)).replace("*", "") if rest else "0", 1)
    value = rest.pop(0) if rest else ()
    if kind == "T":
        return (shell.hole("time", "time of the run", simple),), True
    if kind == "s" and not spec:
        return value, True
    if has_hole(value):
        return value, True
    text = flat(value).replace(MARK, "")
    if any(len(number) > _MAX_DIGITS for number in _NUMBER.findall(spec)):
        return (shell.hole("printf", "printf of a huge width", simple),), True
    if kind in "diouxX":
        number, fits = _integer(text)
        if kind in "ouxX":
            number &= (1 << 64) - 1
        return plain(("%" + spec + {"i": "d", "u": "d"}.get(kind, kind)) % number), fits
    if kind in "eEfFgG":
        real, fits = _real(text)
        return plain(("%" + spec + kind) % real), fits
    if kind == "c":
        text = text[:1]
    elif kind != "s":
        text = unescape_printed(text)[0] if kind == "b" else _quoted(text)
    return plain(("%" + spec + "s") % text), True


def _integer(text: str) -> tuple[int, bool]:
    """The number at the beginning of an argument, and whether that is all of it."""
    if text[:1] in ("'", '"'):
        return (ord(text[1]) if len(text) > 1 else 0), True
    match = _INTEGER.match(text)
    if match is None:
        return 0, not text
    sign, digits = match.groups()
    base = 16 if digits[:2] in ("0x", "0X") else 8 if digits[0] == "0" else 10
    return int(digits[:_MOST_DIGITS], base) * (-1 if sign == "-" else 1), match.end() == len(text)


def _real(text: str) -> tuple[float, bool]:
    if text[:1] in ("'", '"'):
        return float(_integer(text)[0]), True
    if text.strip().lstrip("+-")[:2].lower() == "0x":
        number, fits = _integer(text.lstrip())
        return float(number), fits
    match = _REAL.match(text)
    return (0.0, not text) if match is None else (float(match.group()), match.end() == len(text))


def _quoted(text: str) -> str:
    """A word that the shell reads as `text`, as `printf %q` writes it."""
    if not text:
        return "''"
    return ansi_quoted(text) or ("\\" if text[0] in "~#" else "") + text.translate(_TO_ESCAPE)
