"""`printf`: formats and arguments to text."""

from __future__ import annotations

from verlint.languages.bash.escapes import unescape
from verlint.languages.bash.pieces import MARK, Parts, flat, has_hole, plain
from verlint.languages.bash.syntax import Simple
from verlint.lazy import pattern
from verlint.value import Hole, Literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.languages.bash.conditions import Conditions

_DIRECTIVE = pattern(r"%([-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?)(?:\([^)]*\))?([a-zA-Z%])")
_TO_ESCAPE = pattern(r"\A[~#]|[^\w@%+=:./~#-]")
_CONTROL = pattern(r"[\x00-\x1f\x7f]")
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\a": "\\a", "\b": "\\b", "\x1b": "\\E", "\f": "\\f", "\v": "\\v"}

_NUMBER = pattern(r"\d+")
_MAX_WIDTH = 1_000


def format_printf(shell: Conditions, form: Parts, arguments: list[Parts], simple: Simple) -> Parts:
    """What `printf` prints; the format is used again while arguments are left."""
    if has_hole(form):
        return (shell.hole("printf", "printf with an unknown format", simple),)
    text = unescape(flat(form))
    rest = list(arguments)
    out: list[Literal | Hole] = []
    while True:
        before = len(rest)
        at = 0
        for match in _DIRECTIVE.finditer(text):
            out.extend(plain(text[at : match.start()]))
            out.extend(_directive(shell, match.group(1), match.group(2), rest, simple))
            at = match.end()
        out.extend(plain(text[at:]))
        if not rest or len(rest) == before:
            return tuple(out)


def _directive(shell: Conditions, spec: str, kind: str, rest: list[Parts], simple: Simple) -> Parts:
    if kind == "%":
        return plain("%")
    while "*" in spec:
        spec = spec.replace("*", flat(rest.pop(0)).replace("*", "") if rest else "0", 1)
    value = rest.pop(0) if rest else ()
    if kind == "T":
        return (shell.hole("time", "time of the run", simple),)
    if kind == "s" and not spec:
        return value
    if has_hole(value):
        return value
    text = flat(value).replace(MARK, "")
    if any(int(number) > _MAX_WIDTH for number in _NUMBER.findall(spec)):
        return (shell.hole("printf", "printf of a huge width", simple),)
    if kind == "b":
        return plain(unescape(text))
    if kind == "q":
        return plain(_quoted(text))
    try:
        return plain(_converted(spec, kind, text))
    except (ValueError, TypeError):
        return plain("0")


def _converted(spec: str, kind: str, text: str) -> str:
    if kind == "s":
        return ("%" + spec + "s") % text
    if kind in "dioxXu":
        return ("%" + spec + {"i": "d", "u": "d"}.get(kind, kind)) % int(text or "0", 0)
    if kind in "fgeFGE":
        return ("%" + spec + kind) % float(text or "0")
    if kind == "c":
        return text[:1]
    return text


def _quoted(text: str) -> str:
    """A word that the shell reads as `text`, as `printf %q` writes it."""
    if not text:
        return "''"
    if _CONTROL.search(text):
        inner = text.replace("\\", "\\\\").replace("'", "\\'")
        return (
            "$'" + _CONTROL.sub(lambda match: _NAMED.get(match.group()) or f"\\{ord(match.group()):03o}", inner) + "'"
        )
    return _TO_ESCAPE.sub(r"\\\g<0>", text)
