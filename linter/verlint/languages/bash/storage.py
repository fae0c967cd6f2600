"""What values are kept in: variables, arrays, streams."""

from __future__ import annotations

from collections.abc import Sequence

from verlint.languages.bash.pieces import EMPTY, Parts, collapse
from verlint.record import dataclass, field
from verlint.value import Hole, Literal, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


@dataclass(slots=True)
class Array:
    """An indexed or associative array; indexed ones have int keys."""

    items: dict[int | str, Parts] = field(default_factory=dict)
    associative: bool = False
    top: int = -1
    many: bool = False
    """Whether an element stands for an unknown number of them, so that places behind it are not known."""

    def ordered_keys(self) -> list[int | str]:
        """Keys in bash's order: associative arrays keep them in buckets, the latest of a bucket first."""
        if self.associative:
            latest_first = list(self.items)[::-1]
            return sorted(latest_first, key=_bucket)
        return sorted(self.items, key=int)

    def values(self) -> list[Parts]:
        """Elements in the order of their keys."""
        return [self.items[key] for key in self.ordered_keys()]

    def next_index(self) -> int:
        """The index that an appended element gets."""
        if self.top < 0 and self.items and not self.associative:
            self.top = max(map(int, self.items))
        return self.top + 1

    def put(self, key: int | str, value: Parts) -> None:
        """Give an element a value."""
        self.items[key] = value
        if isinstance(key, int) and (self.top >= 0 or len(self.items) == 1):
            self.top = max(self.top, key)

    def fill(self, elements: Sequence[tuple[int | str, Parts]]) -> None:
        """Give several elements of an indexed array, that has found its `next_index`, their values."""
        if elements:
            self.items.update(elements)
            self.top = max(self.top, *[int(key) for key, _ in elements], -1)

    def drop(self, key: int | str) -> None:
        """Remove an element, if it is there."""
        self.items.pop(key, None)
        self.top = -1

    def copy(self) -> Array:
        """A copy that can be changed alone."""
        return Array(dict(self.items), self.associative, self.top, self.many)


_BUCKETS = 1_024
_OFFSET, _PRIME, _WORD = 2_166_136_261, 16_777_619, 0xFFFFFFFF


def _bucket(key: int | str) -> int:
    """Where bash 5 keeps a key of an associative array: the FNV-1 hash of its characters, which are signed."""
    value = _OFFSET
    for byte in str(key).encode("utf-8", "surrogateescape"):
        value = (value * _PRIME & _WORD) ^ (byte if byte < 128 else (byte - 256) & _WORD)
    return value % _BUCKETS


@dataclass(slots=True)
class Variable:
    """A shell variable; `value` is None when declared without a value. `temporary` is one that a call of a function has
    before it (`NAME=value function`), `kept` such a one that the function exported: it outlives the call."""

    value: Parts | Array | None = None
    exported: bool = False
    integer: bool = False
    case: str = ""
    reference: bool = False
    readonly: bool = False
    temporary: bool = False
    kept: bool = False

    def copy(self) -> Variable:
        """A copy that can be changed alone."""
        value = self.value.copy() if isinstance(self.value, Array) else self.value
        return Variable(
            value, self.exported, self.integer, self.case, self.reference, self.readonly, self.temporary, self.kept
        )


Scope: TypeAlias = dict[str, Variable]


class Stream:
    """Text that commands read from."""

    def __init__(self, parts: Parts) -> None:
        self.parts = collapse(parts)

    def copy(self) -> Stream:
        """A copy that can be read alone."""
        return Stream(self.parts)

    def line(self, delimiter: str = "\n") -> tuple[Parts, bool]:
        """The next line and whether its end was there. A hole ends up whole in the line it stands in."""
        out: list[Literal | Hole] = []
        rest = list(self.parts)
        while rest:
            part = rest.pop(0)
            if isinstance(part, Literal) and delimiter and (at := part.text.find(delimiter)) >= 0:
                piece = Text((part,))
                out.extend(piece.slice(0, at).parts)
                self.parts = (*piece.slice(at + 1, len(part.text)).parts, *rest)
                return tuple(out), True
            out.append(part)
        self.parts = EMPTY
        return tuple(out), False

    def characters(self, count: int, delimiter: str, *, escapes: bool = False) -> tuple[Parts, bool]:
        """So many characters, or less up to a delimiter, and whether they were there. With `escapes` a backslash and
        the character behind it are one."""
        whole = Text(self.parts)
        text = "".join(part.text if isinstance(part, Literal) else "?" for part in self.parts)
        if escapes:
            at = 0
            for _ in range(count):
                at += 2 if text[at : at + 1] == "\\" else 1
            count = at
        end = text.find(delimiter, 0, count) if delimiter else -1
        if end >= 0:
            self.parts = whole.slice(end + 1, len(text)).parts
            return whole.slice(0, end).parts, True
        self.parts = whole.slice(count, len(text)).parts
        return whole.slice(0, count).parts, len(text) >= count

    def size(self) -> int:
        """How much is left."""
        return sum(len(part.text) if isinstance(part, Literal) else 1 for part in self.parts)

    def rest(self) -> Parts:
        """All that is left."""
        out, self.parts = self.parts, EMPTY
        return out
