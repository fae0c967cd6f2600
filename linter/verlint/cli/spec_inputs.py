"""All inputs that a spec names and that no stage of it makes, as they are to be checked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from verlint.cli.main import complain
from verlint.lazy import pattern
from verlint.plan.references import Reader, Variable

if TYPE_CHECKING:
    from verlint.inputs import Input
    from verlint.plan.checks import Check

_PLACEHOLDER = pattern(r"<[A-Z][A-Z0-9_-]*>")
_TYPES = ("medmcqa", "safety", "custom")


def inputs_of_spec(name: str) -> tuple[list[Input], list[str]]:
    """The inputs of a spec, and what must be settled to look at the others; variables are those of the environment.
    What is not known is named on standard error. Raises ValueError for what is no spec."""
    from verlint.cli.plan import read_plain_spec
    from verlint.plan import PlanError

    try:
        spec = read_plain_spec(name)
    except PlanError as error:
        raise ValueError(str(error)) from None
    finder = _Finder(spec, os.path.dirname(name) if name != "-" else "")
    found = finder.inputs()
    for line in dict.fromkeys(finder.open):
        complain(f"not checked: {line}")
    if not found and not finder.open:
        complain(f"nothing to check in {name}: its stages make all that they read")
    return found, list(dict.fromkeys(finder.lacking))


class _Finder:
    """Finds the inputs of one spec in the folder `home`. `open` says what could not be looked at, `lacking` what to do
    about it."""

    def __init__(self, spec: dict[str, Any], home: str) -> None:
        self.spec = spec
        self.home = home
        self.reader = Reader(spec)
        self.open: list[str] = []
        self.lacking: list[str] = []

    def inputs(self) -> list[Input]:
        """The inputs, each thing once with all that must hold of it."""
        from verlint.inputs import inputs_of_words
        from verlint.plan.staging import Staging

        calls: dict[tuple[str, str], list[tuple[str, ...]]] = {}
        for folder, check in Staging(self.spec).checks():
            if not check.made and (place := self._place(check, folder)):
                calls.setdefault((check.option, place), []).extend(self._options(check))
        return [
            each
            for (option, place), options in calls.items()
            for each in inputs_of_words([option, place, *(word for pair in _merged(options) for word in pair)])
        ]

    def _place(self, check: Check, folder: str) -> str:
        """Where an input is, "" when that is open. Paths of a stage count from its checkout, all others from the
        spec."""
        path = self._known(check, check.path)
        if not path or os.path.isabs(path):
            return path
        if "${roots." in str(check.path):
            return os.path.join(self.home, path)
        below = self._known(check, folder)
        return os.path.normpath(os.path.join(self.home, below, path)) if below else ""

    def _known(self, check: Check, value: object) -> str:
        out = ""
        for part in self.reader.parts(value, check.stage):
            text = part if isinstance(part, str) else os.environ.get(part.name, part.default) or ""
            if isinstance(part, Variable) and not text:
                self.open.append(f"{check.name} reads below ${part.name}, which is not set")
                self.lacking.append(f"set {part.name}")
                return ""
            out += text
        if "<" in out or "${" in out:
            self.open.append(f"{check.name} reads {out}, which is still open")
            self.lacking += [f"decide {each}" for each in _PLACEHOLDER.findall(out)]
            return ""
        return out

    def _options(self, check: Check) -> list[tuple[str, ...]]:
        """The options of a check, each with its value; those whose value is open are left out."""
        found: list[tuple[str, ...]] = []
        words = list(check.words)
        while words:
            option: tuple[str, ...] = (words.pop(0),)
            if words and not words[0].startswith("--"):
                option = (*option, words.pop(0))
            if any("<" in word or "$" in word for word in option):
                self.open.append(f"{check.name}: {' '.join(option)} is still open")
                self.lacking += [f"decide {each}" for word in option for each in _PLACEHOLDER.findall(word)]
            elif option[0] != "--prompt-type" or option[1] in _TYPES:
                found.append(option)
        return found


def _merged(options: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Options of several checks of one thing, each once; of the batches the largest."""
    batches = [int(pair[1]) for pair in options if pair[0] == "--train-batch-size"]
    rest = [pair for pair in dict.fromkeys(options) if pair[0] != "--train-batch-size"]
    return [*rest, ("--train-batch-size", str(max(batches)))] if batches else rest
