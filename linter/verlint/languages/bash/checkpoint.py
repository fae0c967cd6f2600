"""A shell between two lines of a launcher, kept so that other paths go on from there instead of from the start."""

from __future__ import annotations

from verlint.languages.bash.run import Run
from verlint.languages.bash.shell import Shell
from verlint.languages.bash.state import STATE
from verlint.languages.bash.storage import Stream
from verlint.record import names

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import Any

_OF_ONE_PATH = frozenset(
    ["choices", "alternatives", "max_steps", "files", "closed", "mount", "home", "programs", "prepared"]
)
"""What a run is given, or collects for the paths that follow."""


_CHANGING = frozenset([dict, list, set, Stream])
_NESTED = frozenset(["scopes", "descriptors", "local_options", "makers"])
"""Attributes that hold what can be changed in place. Variables are not copied here: a shell copies those it shares
before it changes them."""


class Checkpoint:
    """The state of a shell and of its run before a line: `text` and `line` are their numbers, `answered` counts the
    conditions answered before it, `steps` what was done."""

    __slots__ = ("_run", "_shell", "answered", "line", "steps", "text")

    def __init__(self, shell: Shell, text: int, line: int) -> None:
        self.text = text
        self.line = line
        self.answered = len(shell.run.taken)
        self.steps = shell.run.steps
        shell.share()
        self._shell = _copied({name: getattr(shell, name) for name in STATE})
        self._run = _copied({name: getattr(shell.run, name) for name in names(shell.run) if name not in _OF_ONE_PATH})

    def shell(self, run: Run) -> Shell:
        """A shell in that state, for a run that has not begun and was given the same answers up to there."""
        shell = Shell.__new__(Shell)
        for of, kept in ((run, self._run), (shell, self._shell)):
            for name, value in _copied(kept).items():
                setattr(of, name, value)
        shell.run = run
        return shell


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    """The attributes of an object, with copies of what can be changed in place."""
    made = state.copy()
    for name, value in state.items():
        if value.__class__ in _CHANGING:
            made[name] = _nested(value) if name in _NESTED else _copy(value)
    return made


def _nested(value: Any) -> Any:
    if value.__class__ is dict:
        return dict(zip(value, map(_copy, value.values()), strict=True))
    return list(map(_copy, value))


def _copy(value: Any) -> Any:
    return value.copy()
