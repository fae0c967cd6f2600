"""The value part of a Hydra override (hydra-core 1.3): from tokens to typed elements, or the fault that Hydra finds."""

from __future__ import annotations

from verlint.languages.hydra import lexing as lex
from verlint.languages.hydra.functions import CallError, Choice, Element, Pending, Quoted, call
from verlint.languages.hydra.lexing import HOLE, Token
from verlint.lazy import pattern
from verlint.value import Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_KEY_KINDS: Final = frozenset({lex.ID, lex.NULL, lex.INT, lex.FLOAT, lex.BOOL, lex.UNQUOTED, lex.ESC, lex.WS})
_PRIMITIVE_KINDS: Final = _KEY_KINDS | {lex.INTERPOLATION, lex.COLON}
_CLOSES: Final = {lex.PCLOSE: ")", lex.BRACKET_CLOSE: "]", lex.BRACE_CLOSE: "}"}
_ESCAPED_QUOTE: Final = {'"': pattern(r'\\+"'), "'": pattern(r"\\+'")}
_DEEPEST: Final = 80
"""Nesting at which reading stops; Hydra's own parser runs out of stack somewhat later."""


class ValueFault(ValueError):
    """A value that Hydra refuses: `message` in plain words, and the range of offsets that is at fault."""

    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message)
        self.message, self.start, self.end = message, start, end


def parse_value(text: str, start: int) -> Element:
    """The element that `text` from offset `start` holds ("" when nothing is there); raises `ValueFault`."""
    return _Reader(lex.tokens(text, start)).whole()


def typed(kind: str, text: str) -> Scalar:
    """The scalar that one unquoted token is."""
    if kind == lex.INT:
        return int(text)
    if kind == lex.FLOAT:
        return float(text)
    if kind == lex.NULL:
        return None
    if kind == lex.BOOL:
        return text.lower() == "true"
    return text[1::2] if kind == lex.ESC else text


def unquote(text: str) -> str:
    """A quoted value without its quotes: backslashes count as escapes only in a run that ends at a quote."""
    if "\\" not in text:
        return text[1:-1]
    pattern, body = _ESCAPED_QUOTE[text[0]], text[1:]
    ends_escaped = len(body) - len(body[:-1].rstrip("\\")) > 1
    plain = pattern.sub(lambda match: match[0][1::2], body)
    return plain if ends_escaped else plain[:-1]


class _Reader:
    """Recursive descent over the tokens of one value."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.open: list[Token] = []

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.tokens[self.at]
        self.at += 1
        return token

    def whole(self) -> Element:
        if self.token.kind == lex.END:
            return ""
        first = self.element()
        if self.token.kind == lex.COMMA:
            items = [first]
            while self.token.kind == lex.COMMA:
                self.take()
                items.append(self.element())
            first = Choice(items, simple=True)
        if self.token.kind != lex.END:
            raise self.unexpected()
        return first

    def element(self) -> Element:
        kind = self.token.kind
        if kind == lex.BRACKET_OPEN:
            return self.sequence()
        if kind == lex.BRACE_OPEN:
            return self.mapping()
        if kind == lex.QUOTED:
            text = self.take().text
            return Pending.HOLE if HOLE in text else Quoted(unquote(text))
        if kind == lex.ID and self.tokens[self.at + 1].kind == lex.POPEN:
            return self.function()
        return self.primitive(_PRIMITIVE_KINDS)

    def primitive(self, kinds: frozenset[str]) -> Element:
        first = self.at
        while self.token.kind in kinds:
            self.at += 1
        run = self.tokens[first : self.at]
        if not run:
            raise self.unexpected(missing=True)
        if run[0].kind == lex.WS:
            run = run[1:]
        if run and run[-1].kind == lex.WS:
            run = run[:-1]
        if not run:
            blank = self.tokens[first]
            raise ValueFault("a value of white space only must be quoted for Hydra", blank.start, blank.end)
        if any(HOLE in token.text for token in run):
            return Pending.HOLE
        if len(run) == 1:
            return self.scalar(run[0])
        return "".join(token.text[1::2] if token.kind == lex.ESC else token.text for token in run)

    def scalar(self, token: Token) -> Scalar:
        try:
            return typed(token.kind, token.text)
        except ValueError:
            raise ValueFault("the number has too many digits", token.start, token.end) from None

    def sequence(self) -> Element:
        self.enter()
        out: list[Element] = []
        if self.token.kind != lex.BRACKET_CLOSE:
            out.append(self.element())
            while self.token.kind == lex.COMMA:
                self.take()
                out.append(self.element())
        self.leave(lex.BRACKET_CLOSE)
        return out

    def mapping(self) -> Element:
        self.enter()
        out: dict[Element, Element] = {}
        if self.token.kind != lex.BRACE_CLOSE:
            self.pair(out)
            while self.token.kind == lex.COMMA:
                self.take()
                self.pair(out)
        self.leave(lex.BRACE_CLOSE)
        return out

    def pair(self, out: dict[Element, Element]) -> None:
        token = self.token
        if token.kind == lex.QUOTED:
            raise ValueFault("keys in {…} must stand without quotes for Hydra", token.start, token.end)
        key = self.primitive(_KEY_KINDS)
        if self.token.kind in (lex.COMMA, lex.BRACE_CLOSE):
            raise ValueFault('Hydra expects "key: value" in {…}', token.start, self.token.start)
        if self.token.kind != lex.COLON:
            raise self.unexpected()
        self.take()
        out[key] = self.element()

    def function(self) -> Element:
        name = self.take()
        self.enter()
        args: list[Element] = []
        named: dict[str, Element] = {}
        if self.token.kind != lex.PCLOSE:
            self.argument(args, named)
            while self.token.kind == lex.COMMA:
                self.take()
                self.argument(args, named)
        self.leave(lex.PCLOSE)
        if HOLE in name.text or any(HOLE in key for key in named):
            return Pending.HOLE
        try:
            return call(name.text, args, named)
        except CallError as error:
            raise ValueFault(str(error), name.start, self.tokens[self.at - 1].end) from None

    def argument(self, args: list[Element], named: dict[str, Element]) -> None:
        token = self.token
        if token.kind == lex.ID and self.tokens[self.at + 1].kind == lex.EQUAL:
            self.at += 2
            named[token.text] = self.element()
            return
        args.append(self.element())
        if named:
            raise ValueFault("a positional argument stands after a named one", token.start, self.token.start)

    def enter(self) -> None:
        self.open.append(self.take())
        if len(self.open) > _DEEPEST:
            token = self.open[-1]
            raise ValueFault("the brackets are nested too deeply for Hydra", token.start, token.end)

    def leave(self, kind: str) -> None:
        if self.token.kind != kind:
            raise self.unexpected()
        self.open.pop()
        self.take()

    def unexpected(self, missing: bool = False) -> ValueFault:
        """The fault at the current token; `missing` when an element was due."""
        token = self.token
        start, sign = token.sign, token.text.strip(" \t")
        if token.kind == lex.BAD:
            return ValueFault(_bad_character(token.text), start, start + 1)
        if token.kind == lex.END and self.open:
            opening = self.open[-1]
            return ValueFault(f'"{opening.text.strip()}" is never closed', opening.sign, opening.sign + 1)
        if missing and token.kind in (lex.END, lex.COMMA, *_CLOSES):
            before = "the end" if token.kind == lex.END else f'"{sign}"'
            if token.kind in _CLOSES and not self.open:
                return ValueFault(f'"{sign}" closes nothing', start, start + 1)
            return ValueFault(f"an item is missing before {before}", start, start + len(sign))
        return ValueFault(self.misplaced(token, sign), start, start + len(sign))

    def misplaced(self, token: Token, sign: str) -> str:
        if token.kind == lex.EQUAL:
            return 'a "=" in a value must be quoted for Hydra'
        if token.kind == lex.POPEN:
            return 'a "(" in a value must be quoted for Hydra'
        if token.kind in _CLOSES:
            return (
                f'"{sign}" does not match "{self.open[-1].text.strip()}"' if self.open else f'"{sign}" closes nothing'
            )
        last = self.tokens[self.at - 1] if self.at else None
        if last is not None and last.kind in (lex.QUOTED, *_CLOSES):
            end = (
                f"the quoted text {last.text.replace(HOLE, '…')}"
                if last.kind == lex.QUOTED
                else f'"{_CLOSES[last.kind]}"'
            )
            return f"Hydra allows no text right after {end}" if token.kind != lex.WS else f"a space stands after {end}"
        if token.kind == lex.QUOTED:
            return "quotes must enclose the whole value for Hydra"
        return f'Hydra cannot read "{sign.replace(HOLE, "…")}" here'


def _bad_character(char: str) -> str:
    if char in "\"'":
        return f"the quote {char} is never closed"
    if char == "\r":
        return "the value holds a carriage return (Windows line ends?)"
    if char == "\n":
        return "a line break in a value must be quoted for Hydra"
    return f'"{char}" in a value must be quoted for Hydra'
