"""Logins to Weights & Biases, and whether anything behind them logs there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verlint.experiment.launch import Launch
from verlint.experiment.project import Project
from verlint.experiment.python_programs import python_program
from verlint.experiment.script import Script
from verlint.languages.bash.command import Command
from verlint.memo import WeakKeyDictionary
from verlint.record import dataclass
from verlint_rules.credentials.logger import is_login, logs_to_wandb, switched_off

_KNOWN: WeakKeyDictionary[Script, Mapping[int, Login]] = WeakKeyDictionary()


@dataclass(slots=True)
class Login:
    """A login of a launcher with the first launch behind it; `open` when something there may log."""

    command: Command
    quiet: Launch | None = None
    open: bool = False

    @property
    def needless(self) -> bool:
        """Whether there are launches behind it, and none of them can use it."""
        return self.quiet is not None and not self.open


def logins_of(script: Script, project: Project) -> Mapping[int, Login]:
    """The logins written in a launcher, by their offset."""
    found = _KNOWN.get(script)
    if found is None:
        logins: dict[int, Login] = {}
        for path in script.resolution.paths:
            _follow(path.commands, script, project, logins)
        found = _KNOWN[script] = dict(sorted(logins.items()))
    return found


def _follow(commands: Sequence[Command], script: Script, project: Project, logins: dict[int, Login]) -> None:
    """What comes behind each login on one path."""
    current: list[Login] = []
    for command in commands:
        if is_login(command) and command.span.in_file().source is script.source:
            current.append(logins.setdefault(command.span.in_file().start, Login(command)))
            continue
        if not current:
            continue
        launch = project.launch(command)
        logs = _may_log(command, project) if launch is None else _logs(launch)
        for seen in current:
            seen.open = seen.open or logs
            if launch is not None and seen.quiet is None:
                seen.quiet = launch


def _logs(launch: Launch) -> bool:
    return logs_to_wandb(launch) is not False and switched_off(launch.command) is None


def _may_log(command: Command, project: Project) -> bool:
    """Whether a command that is no launch may use wandb: a Python program whose text is not here, or names it."""
    if command.builtin or command.function:
        return False
    program = python_program(command.argv)
    if program is None:
        return "wandb" in " ".join(word.known or word.prefix for word in command.argv)
    if program.module:
        return not program.entry.startswith(("verl.model_merger", "pip"))
    for path in (program.entry, program.entry.rsplit("/", 1)[-1]):
        found = project.tree.source(path) if path and not path.startswith("/") else None
        if found is not None:
            return "wandb" in found.text
    return "merge" not in program.entry
