"""The stages of a spec: their launches, be they written as overrides or started by the launcher that a stage names."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from verlint.experiment.launch import Launch
from verlint.experiment.launches import Launches
from verlint.experiment.python_programs import Program
from verlint.experiment.spec import Spec, SpecFile, SpecStage
from verlint.experiment.spec_calls import call_arguments, commands_of, homes, launcher_place
from verlint.experiment.stage import Stage
from verlint.files.tree import Tree
from verlint.languages.bash.command import Command, Surroundings
from verlint.languages.bash.syntax import Program as Syntax
from verlint.languages.hydra.override import Form, Override
from verlint.record import dataclass, replace
from verlint.source import Span
from verlint.value import Literal, Text, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.taught import TaughtCall


@dataclass(frozen=True, slots=True)
class _Said:
    """What a spec says of a stage, "" for what it does not say: family, kind, on-policy intent and VeRL base."""

    family: str
    kind: str
    intent: str
    base: str


class SpecStages:
    """Makes the stages of specs; `programs` are the syntax trees known so far, by the identity of their source."""

    def __init__(self, launches: Launches, tree: Tree, programs: dict[int, Syntax]) -> None:
        self.launches = launches
        self.tree = tree
        self.programs = programs

    def stages_of(self, file: SpecFile, path: str | None) -> Sequence[Stage]:
        """The stages in the order written; none when the spec could not be read. `path` is that of the spec below the
        root, None for one outside of it."""
        spec = file.spec
        if spec is None:
            return []
        return [self._stage(spec, stage, order, path) for order, stage in enumerate(spec.stages.values())]

    def _stage(self, spec: Spec, stage: SpecStage, order: int, path: str | None) -> Stage:
        branch = stage.branch if stage.branch.given else None
        said = _said_of(spec, stage)
        taught = self._taught(spec, stage, path) if self.launches.taught else None
        commands = [] if stage.entry.given else self._commands(spec, stage, path)
        launches = [self._own_launch(stage, said)] if stage.entry.given else self._called(commands, said)
        if taught is not None and not launches and taught.launcher.sets_keys:
            launches = [self._as_taught(taught, stage, said)]
        return Stage(
            id=stage.id,
            span=stage.id_span,
            order=order,
            launcher=_said(stage.launcher),
            family=said.family,
            kind=said.kind,
            events=commands,
            launches=launches,
            branch=branch,
            branch_span=None if branch is None else branch.span,
            spec=stage,
            taught=taught,
        )

    def _taught(self, spec: Spec, stage: SpecStage, path: str | None) -> TaughtCall | None:
        """What the arguments of a stage mean where the settings teach its launcher."""
        from verlint.experiment.taught import call_of_stage

        name = _said(stage.launcher)
        places = [] if path is None or not name else [posixpath.join(each, name) for each in homes(path, spec, stage)]
        found = (self.launches.taught.at(posixpath.normpath(each)) for each in places if self.launches.taught)
        launcher = next((each for each in found if each is not None), None)
        return None if launcher is None else call_of_stage(launcher, stage)

    def _as_taught(self, call: TaughtCall, stage: SpecStage, said: _Said) -> Launch:
        """The launch that a stage stands for whose arguments the settings teach."""
        from verlint.experiment.taught import launch_of

        word = Text((Literal(str(stage.launcher), stage.launcher.span),), stage.launcher.span or stage.id_span)
        command = Command((word, *call.rest), stage.span, Surroundings(Text(), {}))
        found = replace(launch_of(call, command), family=said.family, stage=said.kind)
        return replace(self._as_said(found, said), find_at_hand=self.launches.at_hand)

    def _commands(self, spec: Spec, stage: SpecStage, path: str | None) -> list[Command]:
        """What the launcher of a stage starts when it is called as the stage says."""
        place = None if path is None else launcher_place(path, spec, stage, self.tree)
        arguments = None if place is None else call_arguments(stage, place.source)
        if place is None or arguments is None:
            return []
        return commands_of(place, arguments, self.tree, self.programs)

    def _called(self, commands: Sequence[Command], said: _Said) -> list[Launch]:
        """The launches among the commands of a stage's launcher."""
        launches = [launch for command in commands if (launch := self.launches.launch(command)) is not None]
        return [self._as_said(launch, said) for launch in launches]

    def _as_said(self, launch: Launch, said: _Said) -> Launch:
        """A launch with the family, intent and VeRL base that the spec gives it."""
        family = said.family or launch.family
        source = launch.command.span.in_file().source
        directive = self.launches.said(source, launch.command).get("verl", "")
        return replace(
            launch,
            family=family,
            stage=said.kind or launch.stage,
            intent=said.intent or launch.intent,
            verl=self.launches.verl(launch, family, source, directive=directive, base=said.base),
        )

    def _own_launch(self, stage: SpecStage, said: _Said) -> Launch:
        """The launch that a stage with `entry` and `overrides` stands for."""
        overrides = tuple(_override(stage, key, value) for key, value in stage.overrides.items())
        entry = Text((Literal(str(stage.entry), stage.entry.span),), stage.entry.span or stage.id_span)
        command = Command((entry, *(override.word for override in overrides)), stage.span, Surroundings(Text(), {}))
        found = Launch(
            command=command,
            program=Program(entry, True, command.argv[1:]),
            overrides=overrides,
            options=(),
            family=said.family,
            stage=said.kind,
            intent=said.intent or ("exact" if said.family == "opo" else ""),
        )
        source = stage.span.in_file().source
        verl = self.launches.verl(found, said.family, source, base=said.base)
        return replace(found, verl=verl, find_at_hand=self.launches.at_hand)


def _said_of(spec: Spec, stage: SpecStage) -> _Said:
    checkout = spec.checkouts.get(str(stage.checkout))
    base = _said(checkout.base) if checkout is not None else ""
    return _Said(_said(spec.family), _said(stage.kind), _said(spec.intent(stage)), base)


def _said(value: Value) -> str:
    """What is written for a field, "" when it is absent or not known."""
    return str(value) if value.given and value.decided else ""


def _override(stage: SpecStage, written: str, value: Value) -> Override:
    key = written.lstrip("+")
    form = {0: Form.SET, 1: Form.ADD}.get(len(written) - len(key), Form.FORCE)
    given = replace(value, key=key)
    key_span = stage.places.get(f"overrides.{written}")
    if key_span is not None and key_span.text == written:
        key_span = Span(key_span.source, key_span.end - len(key), key_span.end)
    text = value.text or Text((Literal(str(value), value.span),), value.span)
    word = Text((Literal(written + "=", key_span), *text.parts), value.span)
    return Override(word, form, key, key_span, "", given, text)
