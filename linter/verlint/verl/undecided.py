"""What is not known before the run, and questions that are asked for all values it may have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from verlint.value import Data

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from verlint.verl.facts import Facts

_MOST_TRIES = 32


class Undecided(Exception):
    """Something that is asked for is not known before the run; `key` is the config key it hangs on."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


class Open(Undecided):
    """A switch that is not known has one of these values."""

    def __init__(self, key: str, values: Sequence[Data]) -> None:
        super().__init__(key)
        self.values = values


def outcomes(facts: Facts, ask: Callable[[Facts], bool]) -> Iterator[tuple[bool | None, Facts]]:
    """The answers to a question for all values that open switches may have, None for an undecided one, each with the
    facts that gave it."""
    waiting = [facts]
    for _ in range(_MOST_TRIES):
        if not waiting:
            return
        tried = waiting.pop()
        try:
            yield ask(tried), tried
        except Open as open_one:
            waiting += [tried.choosing(open_one.key, value) for value in open_one.values]
        except Undecided:
            yield None, tried
        finally:
            facts.read.update(tried.read)
            facts.beyond = facts.beyond or tried.beyond
    if waiting:
        yield None, facts


def certain(facts: Facts, ask: Callable[[Facts], bool]) -> bool | None:
    """The answer to a question when it is the same for all values that open switches may have, else None."""
    answers = {answer for answer, _ in outcomes(facts, ask)}
    return answers.pop() if len(answers) == 1 else None
