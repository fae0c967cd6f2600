"""The stages of a script: what it calls and launches, in order, and the branch each starts on."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence

from verlint.experiment.branches import branch_change
from verlint.experiment.launches import LaunchOf
from verlint.experiment.script import Script
from verlint.experiment.stage import Called, Stage, called_file, identify, options_of, settled
from verlint.families import FAMILIES, stages_of_launcher
from verlint.languages.bash.command import Command
from verlint.languages.bash.replay import Resolution
from verlint.languages.bash.state import Event
from verlint.record import dataclass, replace
from verlint.source import Source, Span
from verlint.value import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from verlint.experiment.taught import Taught

Branches: TypeAlias = Mapping[str, tuple[Text, Span]]
"""The branch that each checkout is on, with the place where it was chosen."""


def stages_of(script: Script, launch_of: LaunchOf, folder: str, taught: Taught | None = None) -> list[Stage]:
    """The stages a script runs on its expected path: calls of scripts and tools, and launches of its own.

    `folder` is where the script is started, with the name of the folder the project stands in: it speaks for a family.
    `taught` are the launchers of the settings.
    """
    own = {id(text) for text in script.texts}
    events = _expected_events(script.resolution, own)
    found = _Reader(launch_of, folder, taught).stages(events, own, {})
    stages = [replace(stage, order=order) for order, (stage, _) in enumerate(found)]
    return [_on_branch(stage, each) for stage, (_, each) in zip(settled(stages), found, strict=True)]


@dataclass(frozen=True, slots=True)
class _Reader:
    """What the stages of the scripts of one project are told by."""

    launch_of: LaunchOf
    folder: str
    taught: Taught | None

    def stages(self, events: Sequence[Event], own: set[int], branches: Branches) -> list[tuple[Stage, Branches]]:
        """The stages that texts (`own`, by identity) start, each with the branches it starts on. `branches` are those
        before."""
        found: list[tuple[Stage, Branches]] = []
        now = dict(branches)
        for at, event in enumerate(events):
            if not isinstance(event, Command):
                continue
            change = branch_change(event)
            if change is not None:
                now[change.folder] = (change.branch, event.span)
            if id(_own_source(event.span.source, own)) not in own:
                continue
            inner = _inner(events, at + 1, own)
            unfolded = self._unfolded(event, inner, now)
            if unfolded:
                found += unfolded
                continue
            stage = _stage(event, inner, len(found), self.launch_of, self.folder)
            if self.taught:
                stage = _as_taught(stage, event, self.taught, len(found))
            if stage is not None:
                found.append((stage, _at_start(stage, now)))
        return found

    def _unfolded(self, command: Command, inner: Sequence[Event], branches: Branches) -> list[tuple[Stage, Branches]]:
        """The stages of a script that is a driver in its turn (a round, a batch job): one that calls launchers and is
        none of a family, or calls several kinds. None for a launcher."""
        commands = [each for each in inner if isinstance(each, Command)]
        called = called_file(command)
        if not commands or called is None:
            return []
        known = bool(stages_of_launcher(_shown_path(called)))
        own = {id(min(commands, key=lambda each: len(each.around.stack)).span.in_file().source)}
        calls = [call for each in commands if id(each.span.in_file().source) in own and (call := called_file(each))]
        if not calls or (known and len({each.path.shown for each in calls}) < 2):
            return []
        found = self.stages(inner, own, branches)
        launchers = [stage for stage, _ in found if stage.launcher]
        kinds = {each.kind or each.launcher for each in launchers if each.kind or stages_of_launcher(each.launcher)}
        return found if len(kinds) > known else []


def _stage(command: Command, inner: tuple[Event, ...], order: int, launch_of: LaunchOf, folder: str) -> Stage | None:
    called = called_file(command)
    launch = launch_of(command)
    if called is None and launch is None:
        return None
    launches = [found for each in inner if isinstance(each, Command) and (found := launch_of(each)) is not None]
    if launch is not None:
        launches.insert(0, launch)
    path = _shown_path(called)
    family, kind = identify(path, launches, folder)
    options = options_of(called.arguments) if called is not None else {}
    name = path or (launch.program.entry if launch is not None else "")
    return Stage(
        id=name,
        span=command.span,
        order=order,
        launcher=path,
        family=family,
        kind=kind,
        options=options,
        command=command,
        events=(command, *inner),
        launches=launches,
    )


def _as_taught(stage: Stage | None, command: Command, taught: Taught, order: int) -> Stage | None:
    """The stage as the settings teach it; a launcher that nothing else tells of is a stage by that alone."""
    call = taught.call(command)
    if call is None:
        return stage
    if stage is None:
        shown = command.argv[0].shown
        stage = Stage(id=shown, span=command.span, order=order, launcher=shown, command=command, events=(command,))
    if call.launcher.family:
        stage = replace(
            stage,
            family=call.launcher.family,
            kind=call.stage or (stage.kind if stage.family == call.launcher.family else ""),
        )
    return replace(stage, taught=call)


def _own_source(source: Source, own: set[int]) -> Source:
    """The text of the script that an embedded source (`eval`, `bash -c`) was made in."""
    while id(source) not in own and source.parent is not None:
        source = source.parent
    return source


def _expected_events(resolution: Resolution, own: set[int]) -> Sequence[Event]:
    """What a script does on its expected path; where that ends in a failure, on the path that gets furthest without, or
    at all."""
    paths = resolution.paths
    if not paths or not paths[0].status:
        return paths[0].events if paths else ()
    passing = [path for path in paths if not path.status]
    far = max(passing or paths, key=lambda path: sum(id(each.span.source) in own for each in path.commands))
    return far.events


def _at_start(stage: Stage, branches: Branches) -> Branches:
    """The branches when the stage's first launch starts: the launcher may choose one itself."""
    if not stage.launches:
        return dict(branches)
    out = dict(branches)
    for event in stage.events:
        if event is stage.launches[0].command:
            break
        change = branch_change(event) if isinstance(event, Command) else None
        if change is not None:
            out[change.folder] = (change.branch, event.span)
    return out


def _inner(events: Sequence[Event], start: int, own: set[int]) -> tuple[Event, ...]:
    """The events from `start` up to the next one of the script itself."""
    out: list[Event] = []
    for at in range(start, len(events)):
        event = events[at]
        if id(_own_source(event.span.source, own)) in own:
            break
        out.append(event)
    return tuple(out)


def _shown_path(called: Called | None) -> str:
    if called is None:
        return ""
    text = called.path.shown
    return posixpath.normpath(text) if text and not called.path.holes else text


def _on_branch(stage: Stage, branches: Branches) -> Stage:
    family = FAMILIES.get(stage.family)
    found = branches.get(family.checkout) if family is not None and family.checkout else None
    if found is None:
        return stage
    return replace(stage, branch=found[0], branch_span=found[1])
