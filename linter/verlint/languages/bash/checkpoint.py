"""A shell between two lines of a launcher, kept so that other paths go on from there instead of from the start."""

from __future__ import annotations

from verlint.languages.bash.run import Run
from verlint.languages.bash.shell import Shell
from verlint.languages.bash.storage import Stream, Variable

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import Any

_OF_ONE_PATH = ("choices", "alternatives", "max_steps", "files", "closed", "mount", "home", "programs", "constant")
"""What a run is given, or collects for the paths that follow."""


_CHANGING = frozenset([dict, list, Stream, Variable])


class Checkpoint:
    """The state of a shell and of its run before a line: `text` and `line` are their numbers, `answered` counts the
    conditions answered before it, `steps` what was done."""

    __slots__ = ("_run", "_shell", "answered", "line", "steps", "text")

    def __init__(self, shell: Shell, text: int, line: int) -> None:
        self.text = text
        self.line = line
        self.answered = len(shell.run.taken)
        self.steps = shell.run.steps
        self._shell = _copied(shell.__dict__)
        self._run = {name: value for name, value in _copied(shell.run.__dict__).items() if name not in _OF_ONE_PATH}

    def shell(self, run: Run) -> Shell:
        """A shell in that state, for a run that has not begun and was given the same answers up to there."""
        run.__dict__.update(_copied(self._run))
        shell = Shell.__new__(Shell)
        shell.__dict__.update(_copied(self._shell))
        shell.run = run
        return shell


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    """The attributes of an object, with copies of what can be changed in place."""
    return {name: _copy(value) for name, value in state.items()}


def _copy(value: Any) -> Any:
    kind = value.__class__
    if kind is dict:
        return {key: _copy(each) if each.__class__ in _CHANGING else each for key, each in value.items()}
    if kind is list:
        return [_copy(each) if each.__class__ in _CHANGING else each for each in value]
    if kind is set:
        return set(value)
    if kind is Variable:
        return value.copy()
    return Stream(value.parts) if kind is Stream else value
