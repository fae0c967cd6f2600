"""Runs that start from what an earlier run of the same script has saved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.experiment.launch import Launch
from verlint.experiment.paths import Components, absolute, components, is_below, parent
from verlint.experiment.project import Project
from verlint.experiment.script import Script
from verlint.languages.bash.command import Command
from verlint.languages.bash.replay import Path
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.record import dataclass
from verlint.value import Text, Value
from verlint_rules.artifacts.training import FOLDER, FROM, MODE, is_training, saves

_MOVERS = frozenset(["rm", "mv", "rsync", "find", "trash"])
_FIND_REMOVES = frozenset(["-delete", "rm", "mv"])


@dataclass(frozen=True)
class Resumption:
    """Two runs: the second starts from the checkpoints of the first. `at` is the value that makes it so; `named` says
    that a path names the step, else both save in one folder and the second resumes by itself."""

    first: Launch
    second: Launch
    at: Value
    named: bool


def resumptions(script: Script, project: Project) -> Iterator[Resumption]:
    """The resumptions of a script, on each of its paths."""
    for path in script.resolution.paths:
        yield from _on(path, project)


def _on(path: Path, project: Project) -> Iterator[Resumption]:
    runs = [
        (command, None if command.builtin or command.function else project.launch(command)) for command in path.commands
    ]
    if sum(launch is not None for _, launch in runs) < 2:
        return
    saved: dict[Components, Launch] = {}
    for command, launch in runs:
        if launch is None or not is_training(launch):
            if saved:
                _remove(saved, command)
            continue
        named = _named_folder(launch)
        if named is not None and named in saved:
            yield Resumption(saved[named], launch, launch[FROM], True)
        folder = folder_of(launch)
        if folder is None:
            continue
        if named is None and folder in saved and _resumes(launch):
            yield Resumption(saved[folder], launch, launch[FOLDER], False)
        if saves(launch):
            saved[folder] = launch


def folder_of(launch: Launch) -> Components | None:
    """The folder a launch saves in, None when it is left to the default."""
    value = launch[FOLDER]
    if not value.given or value.text is None or value.text.elastic:
        return None
    return components(absolute(value.text, launch.command.around.cwd))


def _named_folder(launch: Launch) -> Components | None:
    """The folder of the run whose step a launch names to start from."""
    value = launch[FROM]
    if not launch[MODE].equals("resume_path") or not value.given or value.text is None:
        return None
    return components(absolute(parent(value.text), launch.command.around.cwd))


def _resumes(launch: Launch) -> bool:
    """Whether a launch starts from the newest checkpoint of its folder: so it does unless it is told otherwise."""
    mode = launch[MODE]
    return not mode.given or mode.equals("auto") is True


def _remove(saved: dict[Components, Launch], command: Command) -> None:
    """Forget folders that a command may have emptied or moved."""
    argv: Sequence[Text] = unwrap(command.argv).argv
    if not argv or program_name(argv[0]) not in _MOVERS:
        return
    if program_name(argv[0]) == "find" and not any(word.known in _FIND_REMOVES for word in argv[1:]):
        return  # `find … -exec cp …` of a merge
    for word in argv[1:]:
        named = components(absolute(word, command.around.cwd))
        for folder in [each for each in saved if is_below(each, named) or is_below(named, each)]:
            del saved[folder]
