"""`${{ … }}`, of Argo `{{ … }}`: what a platform replaces in a text before a shell sees it."""

from __future__ import annotations

from collections.abc import Callable

from verlint.languages.bash.parser import parse
from verlint.languages.bash.syntax import DoubleQuoted, Lit, Node, Param, Part, Program
from verlint.languages.bash.walk import walk
from verlint.lazy import pattern
from verlint.source import Source
from verlint.value import Hole, Literal, Text
from verlint.value import Part as Piece

DOLLAR = "${{"
BARE = "{{"
_EXPRESSIONS = {DOLLAR: pattern(r"\$\{\{((?s:.*?))\}\}"), BARE: pattern(r"\{\{((?s:.*?))\}\}")}
"""By what opens them."""
_FIRST = 0x10F000
_MOST = 0xF00
_STAND_IN = pattern(f"([{chr(_FIRST)}-{chr(_FIRST + _MOST - 1)}])\\1*")

Meaning = Callable[[str], Text]
"""What an expression (the text between the braces) stands for."""


def variable_of(expression: str) -> str:
    """The name under which the shell keeps what stands for an expression; no script can write it."""
    return f"_{{{{{expression}}}}}"


def expressions_of(text: str, opening: str = DOLLAR) -> list[str]:
    """The expressions of a text, each once, without the braces and the blanks around them."""
    return list(dict.fromkeys(found[1].strip() for found in _EXPRESSIONS[opening].finditer(text)))


def meanings(text: str, meaning: Meaning, opening: str = DOLLAR) -> dict[str, Text]:
    """What stands for each expression of a text, by the name of its variable."""
    return {variable_of(each): meaning(each) for each in expressions_of(text, opening)}


def replaced(source: Source, meaning: Meaning, opening: str = DOLLAR) -> Text:
    """A text as the platform passes it on, its expressions replaced."""
    parts: list[Piece] = []
    at = 0
    for found in _EXPRESSIONS[opening].finditer(source.text):
        if found.start() > at:
            parts.append(Literal(source.text[at : found.start()], source.span(at, found.start())))
        parts += meaning(found[1].strip()).parts
        at = found.end()
    if at < len(source.text) or not parts:
        parts.append(Literal(source.text[at:], source.span(at, len(source.text))))
    return Text(tuple(parts), source.whole())


def parse_block(text: str, opening: str = DOLLAR) -> Program:
    """The syntax tree of a shell text, in which every expression is a parameter of its own."""
    if opening not in text:
        return parse(text)
    names: list[str] = []

    def stand_in(length: int, expression: str) -> str:
        names.append(variable_of(expression.strip()))
        return chr(_FIRST + (len(names) - 1) % _MOST) * length

    masked = _EXPRESSIONS[opening].sub(lambda found: stand_in(len(found.group()), found[1]), text)
    program = parse(masked)
    for group in program.groups:
        for node in walk(group):
            parts = getattr(node, "parts", None)
            if parts and any(isinstance(part, Lit) and _STAND_IN.search(part.text) for part in parts):
                quoted = isinstance(node, DoubleQuoted)
                parts[:] = [piece for part in parts for piece in _pieces(part, names, in_quotes=quoted)]
    return program


def _pieces(part: Part, names: list[str], *, in_quotes: bool) -> list[Part]:
    """A run of characters cut at the expressions."""
    if not isinstance(part, Lit):
        return [part]
    out: list[Part] = []
    quoted = part.quote in ("'", '"')
    inset = 1 if quoted and part.end - part.start == len(part.text) + 2 else 0
    exact = part.end - part.start == len(part.text) + 2 * inset
    at = 0

    def place(start: int, end: int) -> tuple[int, int]:
        first = part.start + inset
        return (first + start, first + end) if exact else (part.start, part.end)

    for found in _STAND_IN.finditer(part.text):
        if found.start() > at:
            out.append(Lit(*place(at, found.start()), part.text[at : found.start()], part.quote))
        param = Param(*place(*found.span()), names[ord(found[1]) - _FIRST])
        bare: Node = DoubleQuoted(param.start, param.end, [param]) if quoted and not in_quotes else param
        out.append(bare)  # type: ignore[arg-type]
        at = found.end()
    if at < len(part.text):
        out.append(Lit(*place(at, len(part.text)), part.text[at:], part.quote))
    return out


def unknown(expression: str, reason: str, owner: Source, opening: str = DOLLAR) -> Text:
    """What nobody knows before the run; the same expression of one file is the same unknown."""
    name = f"{opening} {expression} }}}}" if opening == DOLLAR else f"{opening}{expression}}}}}"
    return Text((Hole(("expression", owner.known_as, expression), name, reason),))
