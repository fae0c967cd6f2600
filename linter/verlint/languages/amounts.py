"""Numbers that files give, with their places."""

from __future__ import annotations

from verlint.record import dataclass
from verlint.source import Span


@dataclass(frozen=True, slots=True)
class Amount:
    """A number that a file gives, and where."""

    number: int
    span: Span
