"""Commands to launches: family, stage, on-policy intent and the VeRL in use, as directives, names and settings say."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from verlint.experiment.checkout_folders import checkout_folders
from verlint.experiment.inference import home_of, infer, stage_in
from verlint.experiment.launch import Launch, as_launch
from verlint.families import FAMILIES
from verlint.files.comments import Directive, directives, is_known
from verlint.files.kinds import Kind
from verlint.languages.bash.command import Command
from verlint.record import replace
from verlint.settings import Settings
from verlint.source import Source
from verlint.value import Value
from verlint.verl.in_use import VerlInUse, call_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.models import Models
    from verlint.verl.checkout import Finder
    from verlint.verl.in_use import Found
    from verlint.verl.model_config import ModelConfig

LaunchOf = Callable[[Command], "Launch | None"]
"""The launch that a command is, or None."""


class Launches:
    """Knows the launch of each command of a project. `kinds` are the kinds of its files, by the identity of their
    source."""

    def __init__(self, root: Path, settings: Settings, kinds: Mapping[int, Kind]) -> None:
        self.root = root
        self.settings = settings
        self.kinds = kinds
        self._known: dict[int, tuple[Command, Launch | None]] = {}
        self._directives: dict[int, list[Directive]] = {}
        self._folders: dict[tuple[object, ...], list[Path]] = {}

    def launch(self, command: Command) -> Launch | None:
        """The launch that a command is, with family, stage, intent and the VeRL version in use."""
        known = self._known.get(id(command))
        if known is None:  # the command is kept, so that no other object gets its identity
            known = self._known[id(command)] = (command, self._launch(command))
        return known[1]

    def _launch(self, command: Command) -> Launch | None:
        found = as_launch(command)
        if found is None:
            return None
        source = command.span.in_file().source
        said = self.said(source, command)
        family, stage = infer(found) or ("", "")
        family = said.get("family", family or home_of(posixpath.join(self.root.name, source.path)))
        intent = said.get("on-policy", "exact" if family == "opo" else "")
        verl = self.verl(found, family, source, directive=said.get("verl", ""))
        stage = stage or stage_in(family, found)
        return replace(found, family=family, stage=stage, intent=intent, verl=verl, find_model=self.model_config)

    def verl(
        self, launch: Launch, family: str, source: Source | None, *, directive: str = "", base: str = ""
    ) -> VerlInUse:
        """The VeRL in use, found when it is asked for: what the call, a directive, the spec (`base`) or the settings
        name, else what is on disk or fits."""
        settings = self.settings
        named = [
            ("--verl", settings.verl_of_call),
            ("directive", directive),
            ("spec", base),
            ("settings", settings.verl),
        ]
        return VerlInUse(lambda: self._found(launch, family, named, source))

    def _found(self, launch: Launch, family: str, named: Sequence[tuple[str, str]], source: Source | None) -> Found:
        from verlint.verl.checkout import Asked

        call = call_of(launch.program.entry, launch.program.arguments)
        base = _base_version(family, launch["algorithm.adv_estimator"])
        folders = self._checkout_folders(launch.command, source)
        return self.finder.find(Asked(call, launch.overrides, named, folders, family, base))

    def _checkout_folders(self, command: Command, source: Source | None) -> list[Path]:
        """Where a checkout may lie, seen from a command."""
        around = command.around
        key = (around.cwd, around.environment.get("PYTHONPATH"), source)
        if key not in self._folders:
            self._folders[key] = checkout_folders(command, source, self.root)
        return self._folders[key]

    def of_part(self, kinds: Mapping[int, Kind]) -> Launches:
        """Those of some of the files, which know what is on disk from these."""
        part = Launches(self.root, self.settings, kinds)
        part.finder, part._models = self.finder, self._models
        return part

    @cached_property
    def finder(self) -> Finder:
        """Finds checkouts and pins; what is on disk is looked at once."""
        from verlint.verl.checkout import Finder

        return Finder(self.root)

    def model_config(self, launch: Launch) -> ModelConfig | None:
        """The config of the model that a launch starts from, None when it is not at hand."""
        return self._models.config_of(launch)

    @cached_property
    def _models(self) -> Models:
        from verlint.experiment.models import Models

        return Models(self.root, self.settings)

    def said(self, source: Source, command: Command) -> dict[str, str]:
        """What the comments of a file say for a command: those of the whole file, then those just above it."""
        found = self._directives.get(id(source))
        if found is None:
            kind = self.kinds.get(id(source), Kind.LAUNCHER)
            found = self._directives[id(source)] = directives(source, kind)
        start = command.span.in_file().start
        return {
            each.name: each.value
            for each in found
            if is_known(each) and (each.file_wide or each.scope.start <= start < each.scope.end)
        }


def _base_version(family: str, estimator: Value | None) -> str:
    """The VeRL version a family builds on; not known with `adv_estimator=opo`, which exists in later ones only."""
    if family not in FAMILIES or (estimator is not None and estimator.equals("opo")):
        return ""
    return FAMILIES[family].verl
