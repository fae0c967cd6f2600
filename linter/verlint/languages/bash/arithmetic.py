"""Bash arithmetic on 64-bit integers: a small precedence parser that evaluates as it reads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from verlint.lazy import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object

_TOKEN = pattern(
    r"\s*(?:(\d+#[0-9A-Za-z@_]+|0[xX][0-9a-fA-F]+|\d\w*)|([A-Za-z_]\w*)"
    r"|(<<=|>>=|\*\*|\+\+|--|&&|\|\||[-+*/%&|^]=|[<>=!]=|<<|>>|[-+*/%()<>=!~&|^?:,\[\]]))"
)
_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_LEVEL = {op: level for level, ops in enumerate(_LEVELS) for op in ops}
_ASSIGNING = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")


class ArithmeticFault(Exception):
    """Bash rejects the expression when it gets there."""


class UnknownNumber(Exception):
    """The expression needs a number that is not known."""


class Variables(Protocol):
    """Where names get their values; both may raise UnknownNumber."""

    __slots__ = ()

    def number_text(self, name: str, index: str | None) -> str:
        """The text of a variable, "" when it is not set."""

    def has_names(self, name: str) -> bool:
        """Whether a variable is an array whose places are names, not numbers."""

    def assign_number(self, name: str, index: str | None, value: int) -> None:
        """Give a variable a value."""


def wrap(value: int) -> int:
    """The value as a signed 64-bit integer."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def decimal(text: str) -> int | None:
    """The number that digits stand for, with a sign or without, as programs read their arguments; None for other texts
    and for what 64 bits do not hold."""
    digits = text[1:] if text[:1] in ("-", "+") else text
    if not (digits.isascii() and digits.isdecimal()):
        return None
    digits = digits.lstrip("0") or "0"
    value = int(digits) * (-1 if text[0] == "-" else 1) if len(digits) < 20 else 1 << 64
    return value if wrap(value) == value else None


def evaluate(text: str, variables: Variables, depth: int = 0) -> int:
    """The value of an expression; "" is 0. Raises ArithmeticFault and UnknownNumber."""
    if text.isdecimal() and text.isascii() and len(text) < 19 and text[0] != "0":  # as most are
        return int(text)
    return _Evaluator(text, variables, depth).run()


class _Evaluator:
    def __init__(self, text: str, variables: Variables, depth: int) -> None:
        self.text = text
        self.variables = variables
        self.depth = depth
        self.skipping = 0
        self.at = 0
        self.tokens: list[tuple[int, str]] = []
        self.ends: list[int] = []
        self._tokenise(0)

    def _tokenise(self, at: int) -> None:
        """Read the tokens from an offset on."""
        stripped = self.text.rstrip()
        while at < len(stripped):
            match = _TOKEN.match(stripped, at)
            if match is None:  # bash reads as it evaluates: what stands before it is carried out
                self.tokens.append((0, stripped[at:].strip()[:1]))
                self.ends.append(len(stripped))
                return
            kind = match.lastindex or 0
            text, at = match.group(kind), match.end()
            if text in ("++", "--") and not self._steps(stripped, at):  # two signs
                text, at = text[0], at - 1
            self.tokens.append((kind, text))
            self.ends.append(at)

    def _steps(self, text: str, at: int) -> bool:
        """Whether `++` or `--` before an offset is one operator: it stands behind or before a name."""
        kind, last = self.tokens[-1] if self.tokens else (0, "")
        following = text[at:].lstrip()[:1]
        return kind == 2 or last == "]" or following.isalpha() or following == "_"

    def run(self) -> int:
        if not self.tokens:
            return 0
        value = self._comma()
        if self.at < len(self.tokens):
            raise ArithmeticFault(f"unexpected {self.tokens[self.at][1]} in {self.text.strip()}")
        return value

    def _peek(self) -> tuple[int, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else (0, "")

    def _take(self, *operators: str) -> str:
        kind, text = self._peek()
        if kind == 3 and text in operators:
            self.at += 1
            return text
        return ""

    def _comma(self) -> int:
        value = self._assignment()
        while self._take(","):
            value = self._assignment()
        return value

    def _name(self) -> tuple[str, str | None] | None:
        kind, name = self._peek()
        if kind != 2:
            return None
        self.at += 1
        if not self._take("["):
            return name, None
        if self.variables.has_names(name):
            return name, self._name_in_brackets()
        index = self._comma()
        if not self._take("]"):
            raise ArithmeticFault("missing ]")
        return name, str(index)

    def _name_in_brackets(self) -> str:
        """The subscript of an associative array, as it is written; the cursor is behind the `[`."""
        start = self.ends[self.at - 1]
        depth = 1
        for end in range(start, len(self.text)):
            depth += {"[": 1, "]": -1}.get(self.text[end], 0)
            if depth == 0:
                del self.tokens[self.at :], self.ends[self.at :]
                self._tokenise(end)
                self.at += 1
                return self.text[start:end]
        raise ArithmeticFault("missing ]")

    def _get(self, name: str, index: str | None) -> int:
        if self.skipping:
            return 0
        text = self.variables.number_text(name, index).strip()
        if not text:
            return 0
        if self.depth > 20:
            raise ArithmeticFault("expression recursion level exceeded")
        return evaluate(text, self.variables, self.depth + 1)

    def _set(self, name: str, index: str | None, value: int) -> int:
        if not self.skipping:
            self.variables.assign_number(name, index, value)
        return value

    def _assignment(self) -> int:
        start = self.at
        target = self._name()
        if target is not None:
            op = self._take(*_ASSIGNING)
            if op:
                before = self._get(*target) if op != "=" else 0
                value = self._assignment()
                if op != "=":
                    value = self._apply(op[:-1], before, value)
                return self._set(*target, wrap(value))
            self.at = start
        value = self._ternary()
        if self._peek()[0] == 3 and self._peek()[1] in _ASSIGNING:
            raise ArithmeticFault(f"only variables are assigned to in {self.text.strip()}")
        return value

    def _ternary(self) -> int:
        test = self._binary(0)
        if not self._take("?"):
            return test
        first = self._skipped(not test, self._assignment)
        if not self._take(":"):
            raise ArithmeticFault("missing : of ?")
        second = self._skipped(bool(test), self._ternary)
        return first if test else second

    def _skipped(self, skip: bool, read: Callable[[], int]) -> int:
        self.skipping += skip
        try:
            return read()
        finally:
            self.skipping -= skip

    def _binary(self, least: int) -> int:
        """Operands joined by operators of this level or a tighter one."""
        left = self._power()
        while True:
            kind, op = self._peek()
            level = _LEVEL.get(op, -1) if kind == 3 else -1
            if level < least:
                return left
            self.at += 1
            read = partial(self._binary, level + 1)
            if op == "||":
                right = self._skipped(left != 0, read)
                left = int(left != 0 or right != 0)
            elif op == "&&":
                right = self._skipped(left == 0, read)
                left = int(left != 0 and right != 0)
            else:
                left = self._apply(op, left, read())

    def _apply(self, op: str, left: int, right: int) -> int:
        if op in ("/", "%"):
            if right == 0:
                if self.skipping:
                    return 0
                raise ArithmeticFault("division by 0")
            quotient = abs(left) // abs(right)
            quotient = quotient if (left < 0) == (right < 0) else -quotient
            return wrap(quotient if op == "/" else left - quotient * right)
        return wrap(_OPERATIONS[op](left, right))

    def _power(self) -> int:
        left = self._unary()
        if not self._take("**"):
            return left
        right = self._power()
        if right < 0 and not self.skipping:
            raise ArithmeticFault("exponent less than 0")
        return wrap(pow(left, right, 1 << 64)) if right >= 0 else 0

    def _unary(self) -> int:
        op = self._take("!", "~", "-", "+", "++", "--")
        if op in ("++", "--"):
            target = self._name()
            if target is None:
                return self._unary()
            return self._set(*target, wrap(self._get(*target) + (1 if op == "++" else -1)))
        if op:
            value = self._unary()
            return {"!": int(not value), "~": ~value, "-": wrap(-value), "+": value}[op]
        return self._primary()

    def _primary(self) -> int:
        if self._take("("):
            value = self._comma()
            if not self._take(")"):
                raise ArithmeticFault("missing )")
            return value
        kind, text = self._peek()
        if kind == 1:
            self.at += 1
            return wrap(_number(text))
        target = self._name()
        if target is None:
            raise ArithmeticFault(f"an operand is missing in {self.text.strip()}")
        op = self._take("++", "--")
        value = self._get(*target)
        if op:
            self._set(*target, wrap(value + (1 if op == "++" else -1)))
        return value


def _number(text: str) -> int:
    try:
        if "#" in text:
            base, digits = text.split("#", 1)
            return int(digits, int(base)) if int(base) <= 36 else _in_large_base(digits, int(base))
        if text[:2] in ("0x", "0X"):
            return int(text, 16)
        return int(text, 8 if len(text) > 1 and text[0] == "0" else 10)
    except ValueError:
        raise ArithmeticFault(f"{text} is not a number bash can read") from None


def _in_large_base(digits: str, base: int) -> int:
    """A number in a base above 36, where upper and lower case differ."""
    value = 0
    for digit in digits:
        worth = _DIGITS.index(digit)
        if worth >= base or base > len(_DIGITS):
            raise ValueError(digit)
        value = value * base + worth
    return value


_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@_"
_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "<": lambda left, right: int(left < right),
    ">": lambda left, right: int(left > right),
    "<=": lambda left, right: int(left <= right),
    ">=": lambda left, right: int(left >= right),
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
    "&": lambda left, right: left & right,
    "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right,
    "<<": lambda left, right: left << (right & 63),
    ">>": lambda left, right: left >> (right & 63),
}
