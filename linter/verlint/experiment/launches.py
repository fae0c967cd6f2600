"""Commands to launches: family, stage, on-policy intent and the VeRL in use, as directives, names and settings say."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from verlint.disk import gathers
from verlint.experiment.checkout_folders import checkout_folders
from verlint.experiment.inference import home_of, infer, stage_in
from verlint.experiment.launch import Launch, as_launch, launch_of, may_be_own
from verlint.experiment.python_programs import python_program
from verlint.experiment.script import directives_in
from verlint.families import FAMILIES
from verlint.files.kinds import Kind
from verlint.files.tree import Tree
from verlint.languages.bash.command import Command
from verlint.record import replace
from verlint.settings import Settings
from verlint.source import Source
from verlint.value import Value
from verlint.verl.in_use import VerlInUse, call_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.config_files import ConfigOfLaunch
    from verlint.experiment.on_disk import OnDisk
    from verlint.experiment.taught import Taught
    from verlint.files.comments import Directive
    from verlint.files.made import Files
    from verlint.verl.checkout import Finder
    from verlint.verl.facts import AtHand
    from verlint.verl.in_use import Found

LaunchOf = Callable[[Command], "Launch | None"]
"""The launch that a command is, or None."""


class Launches:
    """Knows the launch of each command of a project. `kinds` are the kinds of its files, by the identity of their
    source."""

    def __init__(self, root: Path, settings: Settings, kinds: Mapping[int, Kind], tree: Tree | None = None) -> None:
        self.root = root
        self.tree = tree
        self.settings = settings
        self.kinds = kinds
        self.taught = _taught(settings, root)
        self._known: dict[int, tuple[Command, Launch | None]] = {}
        self._directives: dict[int, Sequence[Directive]] = {}
        self._configs: dict[tuple[int, tuple[str, ...]], ConfigOfLaunch | None] = {}
        self._folders: dict[tuple[object, ...], list[Path]] = {}

    def launch(self, command: Command) -> Launch | None:
        """The launch that a command is, with family, stage, intent and the VeRL version in use."""
        known = self._known.get(id(command))
        if known is None:  # the command is kept, so that no other object gets its identity
            known = self._known[id(command)] = (command, self._launch(command))
        return known[1]

    def _launch(self, command: Command) -> Launch | None:
        found = as_launch(command) or self._as_taught(command) or self._as_own(command)
        if found is None:
            return None
        source = command.span.in_file().source
        said = self.said(source, command)
        config = self._config(found)
        if config is not None:
            found = replace(found, of_file=config.overrides)
        family, stage = infer(found) or ("", "")
        if self.taught:
            family, stage = self._told(found, source, family, stage)
        family = said.get("family", family or home_of(posixpath.join(self.root.name, source.path)))
        intent = said.get("on-policy", "exact" if family == "opo" else "")
        base = "" if config is None else config.base
        verl = self.verl(found, family, source, directive=said.get("verl", ""), config=base)
        stage = stage or stage_in(family, found)
        return replace(found, family=family, stage=stage, intent=intent, verl=verl, find_at_hand=self.at_hand)

    def _config(self, launch: Launch) -> ConfigOfLaunch | None:
        """The config file that the launch names, with what it sets."""
        if self.tree is None:
            return None
        of_verl = launch.program.entry.startswith("verl.")
        if of_verl and "config" not in launch and not any("-c" in word.prefix for word in launch.options):
            return None
        from verlint.experiment.config_files import named_config, read_with_others

        files = self._files(launch)
        named = named_config(launch, files)
        if named is None:
            return None
        key = (id(named.source), named.folders)
        if key not in self._configs:
            self._configs[key] = read_with_others(named, files)
        return self._configs[key]

    def _as_own(self, command: Command) -> Launch | None:
        """The launch of a program of the project that gets nearly all from a config file of VeRL's structure."""
        if self.tree is None or not may_be_own(command):
            return None
        program = python_program(command.argv)
        assert program is not None
        from verlint.experiment.config_files import is_of_trainer, named_config, own_program

        found = launch_of(command, program)
        files = self._files(found)
        named = named_config(found, files) if own_program(found, files) is not None else None
        return found if named is not None and is_of_trainer(named, files) else None

    def _files(self, launch: Launch) -> Files:
        """The files of the project, with those that the launcher makes before."""
        assert self.tree is not None
        if not launch.command.made:
            return self.tree
        from verlint.files.made import with_made

        return with_made(self.tree, launch.command.made)

    def _as_taught(self, command: Command) -> Launch | None:
        """The launch that a call stands for whose words the settings teach, where its text is not at hand."""
        call = self.taught.call(command) if self.taught else None
        if self.taught is None or call is None or not call.launcher.sets_keys or self.taught.is_followed(command):
            return None
        from verlint.experiment.taught import launch_of

        return launch_of(call, command)

    def _told(self, launch: Launch, source: Source, family: str, stage: str) -> tuple[str, str]:
        """Family and stage as the settings say: of the call, or of the launcher that holds the command."""
        assert self.taught is not None
        call = self.taught.call(launch.command)
        launcher = call.launcher if call is not None else self.taught.at(source.path)
        if launcher is None or not launcher.family:
            return family, stage
        own = call.stage if call is not None else launcher.stage
        return launcher.family, own or (stage if family == launcher.family else "")

    def verl(
        self,
        launch: Launch,
        family: str,
        source: Source | None,
        *,
        directive: str = "",
        base: str = "",
        config: str = "",
    ) -> VerlInUse:
        """The VeRL in use, found when it is asked for: what the call, a directive, the spec (`base`) or the settings
        name, else what is on disk or fits. `config` is the config of VeRL that the launch's own is built on."""
        settings = self.settings
        named = [
            ("--verl", settings.verl_of_call),
            ("directive", directive),
            ("spec", base),
            ("settings", settings.verl),
        ]
        return VerlInUse(lambda: self._found(launch, family, named, source, config))

    def _found(
        self, launch: Launch, family: str, named: Sequence[tuple[str, str]], source: Source | None, config: str
    ) -> Found:
        from verlint.verl.checkout import Asked

        call = call_of(launch.program.entry, launch.program.arguments)
        base = _base_version(family, launch["algorithm.adv_estimator"])
        folders = self._checkout_folders(launch.command, source)
        text = "" if source is None else source.text
        made = launch.command.made
        found = self.finder.find(Asked(call, launch.overrides, named, folders, family, base, made, text))
        if found.schema is None and config and not found.program:
            # a released version has no config of the project, but the one below it
            below = replace(call, config_name=config, config_path="", config_dir="")
            found = self.finder.find(Asked(below, launch.settings, named, folders, family, base, made, text))
        return found

    def _checkout_folders(self, command: Command, source: Source | None) -> list[Path]:
        """Where a checkout may lie, seen from a command."""
        around = command.around
        key = (around.cwd, around.environment.get("PYTHONPATH"), source)
        if key not in self._folders:
            self._folders[key] = checkout_folders(command, source, self.root)
        return self._folders[key]

    def of_part(self, kinds: Mapping[int, Kind], tree: Tree) -> Launches:
        """Those of some of the files, which know what is on disk from these; but where what is asked of the disk is
        noted, each part asks itself."""
        part = Launches(self.root, self.settings, kinds, tree)
        if not gathers():
            part.finder, part._on_disk = self.finder, self._on_disk
        return part

    @cached_property
    def finder(self) -> Finder:
        """Finds checkouts and pins; what is on disk is looked at once."""
        from verlint.verl.checkout import Finder

        return Finder(self.root)

    def at_hand(self, launch: Launch) -> AtHand:
        """What is on disk of the models and data of a launch."""
        from verlint.verl.facts import AtHand

        return AtHand(
            lambda: self._on_disk.config_of(launch),
            lambda: self._on_disk.critic_of(launch),
            lambda paths: self._on_disk.rows_of(launch, paths),
            lambda: _processes_of(launch),
        )

    @cached_property
    def _on_disk(self) -> OnDisk:
        from verlint.experiment.on_disk import OnDisk

        return OnDisk(self.root, self.settings)

    def said(self, source: Source, command: Command) -> dict[str, str]:
        """What the comments of a file say for a command: those of the whole file, then those just above it."""
        found = self._directives.get(id(source))
        if found is None:
            kind = self.kinds.get(id(source), Kind.LAUNCHER)
            found = self._directives[id(source)] = directives_in(source, kind)
        if not found:
            return {}
        from verlint.files.comments import is_known

        start = command.span.in_file().start
        return {
            each.name: each.value
            for each in found
            if is_known(each) and (each.file_wide or each.scope.start <= start < each.scope.end)
        }


def _taught(settings: Settings, root: Path) -> Taught | None:
    """The launchers that the settings teach, None where they teach none."""
    if not settings.launchers:
        return None
    from verlint.experiment.taught import Taught

    return Taught(settings, root)


def _base_version(family: str, estimator: Value | None) -> str:
    """The VeRL version a family builds on; not known with `adv_estimator=opo`, which exists in later ones only."""
    if family not in FAMILIES or (estimator is not None and estimator.equals("opo")):
        return ""
    return FAMILIES[family].verl


def _processes_of(launch: Launch) -> int | None:
    from verlint.experiment.processes import processes_of

    return processes_of(launch)
