"""Conditions on a configuration, as data: what must hold of which keys for a combination to be at fault."""

from __future__ import annotations

from verlint.record import dataclass
from verlint.value import Data


@dataclass(frozen=True, slots=True)
class Test:
    """One condition on a key.

    `op` is "is", "not", "above", "below" (numbers), "empty" (null or no characters), "ends" (with a match of the
    expression `operand`), "like" (some part matches it), "has" (the key is written), "differs" (from the key
    `operand`) or "fewer-than-gpus" (a number below that of the GPUs of all nodes)."""

    key: str
    op: str
    operand: Data = None


@dataclass(frozen=True, slots=True)
class Clash:
    """Keys that do not go together in the forks of `families`, when all tests of `when` hold.

    `at` is the key to point at, `near` the other one, which is pointed at when `at` is not written. `message` and
    `help` may hold `{key}` for the value of a key. `ignored` says that the run goes on; `verify` is the command that
    shows whether it does, where that hangs on more than the configuration."""

    families: tuple[str, ...]
    when: tuple[Test, ...]
    at: str
    message: str
    help: str
    source: str
    near: str = ""
    ignored: bool = False
    verify: str = ""


def is_(key: str, data: Data) -> Test:
    """The key holds this value."""
    return Test(key, "is", data)


def not_(key: str, data: Data) -> Test:
    """The key holds another value."""
    return Test(key, "not", data)


def above(key: str, number: float) -> Test:
    """The key holds a larger number."""
    return Test(key, "above", number)


def below(key: str, number: float) -> Test:
    """The key holds a smaller number."""
    return Test(key, "below", number)


def empty(key: str) -> Test:
    """The key holds null or no characters."""
    return Test(key, "empty")


def ends(key: str, expression: str) -> Test:
    """The end of the key's value matches the expression."""
    return Test(key, "ends", expression)


def like(key: str, expression: str) -> Test:
    """Some part of the key's value matches the expression."""
    return Test(key, "like", expression)


def has(key: str) -> Test:
    """The key is written."""
    return Test(key, "has")


def fewer_than_gpus(key: str) -> Test:
    """The key holds a number that is smaller than that of the GPUs of all nodes."""
    return Test(key, "fewer-than-gpus")
