"""The config of a launch as the rules look at it: keys, values, and in which versions something holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from pathlib import Path

from verlint.experiment.launch import Launch
from verlint.experiment.project import Project
from verlint.files.kinds import is_document
from verlint.languages.hydra.override import Override
from verlint.memo import by_identity
from verlint.record import dataclass
from verlint.verl.constraints import PPO
from verlint.verl.effective import engine_of, with_engine
from verlint.verl.facts import MAIN
from verlint.verl.in_use import call_of
from verlint.verl.interpolation import Broken, Unknown
from verlint.verl.overriding import Applied, Refusal
from verlint.verl.rows import NO_KEY, UNKNOWN, Row, holds
from verlint.verl.schema import RECIPES, Schema, config_of, leaves_of, versions

NEARLY = 0.1
"""How much of its keys a checkout may have changed and still count as the release they are nearest to."""


FORKS_OF_THEIR_OWN = frozenset(["gad"])
"""Families whose fork is not known: what holds for a release says nothing of its code."""


@dataclass(frozen=True)
class View:
    """A launch on one version: the keys of its config, and the config with all overrides."""

    launch: Launch
    schema: Schema
    config: Applied

    @cached_property
    def released(self) -> bool:
        """Whether it is a released version, whose code is known; no checkout and no fork."""
        return self.schema.title == f"VeRL {self.schema.version}"

    @cached_property
    def version(self) -> str:
        """The released version; for a checkout the one whose keys are nearest to its own, for a fork its base."""
        return self.schema.version if self.released else _nearest(self.schema)[0]

    @cached_property
    def stock(self) -> bool:
        """Whether what is known of the version's code holds: a release, or a checkout whose keys are nearly those of
        one. A fork's code may do anything."""
        verl = self.launch.verl
        if self.launch.family in FORKS_OF_THEIR_OWN and (verl is None or verl.source != "--verl"):
            return False
        if on_unnamed_fork(self.launch) or self._is_own:
            return False
        return self.released or _nearest(self.schema)[1]

    @property
    def plain(self) -> bool:
        """Whether all code that looks at the config is that of a release: its own entry point, or a program that does
        nothing but start it."""
        if self.released:
            return True
        folders = self.launch.verl.found.folders if self.launch.verl is not None else None
        return folders is not None and not folders.packages and self.launch.entry == MAIN

    @property
    def _is_own(self) -> bool:
        """Whether the program is one with code of its own: of the project, or a recipe with its own trainer."""
        verl, entry = self.launch.verl, self.launch.entry
        if verl is not None and verl.found.program:
            return not verl.found.entry
        return entry.startswith(RECIPES) and entry not in PPO

    @cached_property
    def checkout(self) -> Path | None:
        """The folder of the checkout in use, None when none is."""
        folders = self.launch.verl.found.folders if self.launch.verl is not None else None
        return None if folders is None or not folders.packages else Path(Path.cwd().anchor) / folders.packages

    def value(self, key: str) -> object:
        """What the key holds, references resolved: data, `NO_KEY`, or `UNKNOWN` before the run."""
        if any(each.key == key for each in self.config.undecided):
            return UNKNOWN
        resolver = self.config.resolver
        try:
            node = resolver.find(key, NO_KEY)
        except Broken:
            return UNKNOWN
        found = resolver.deep(node, tuple(key.split("."))) if isinstance(node, (dict, list)) else node
        return UNKNOWN if isinstance(found, Unknown) else found

    def meets(self, row: Row) -> bool | None:
        """Whether a row of facts holds here: its versions and its conditions; None when that is not known."""
        return holds(row, self.version, self.value)


@lru_cache(maxsize=64)
def _nearest(schema: Schema) -> tuple[str, bool]:
    """The released version whose keys are nearest to those of a checkout, and whether they are nearly the same."""
    apart: dict[str, float] = {}
    for version in versions():
        other = leaves_of(version, schema.name)
        if other is not None:
            apart[version] = len(schema.keys ^ other.keys()) / max(len(other), 1)
    best = min(reversed(apart), key=lambda version: apart[version], default=schema.version)
    return best, apart.get(best, 1) <= NEARLY


@by_identity
def view_of(launch: Launch) -> View | None:
    """The launch on the VeRL in use, of a guess on the newest version that fits. None when its config is not known,
    when it only pictures a command, or when its family runs on a fork of which nothing is known."""
    verl = launch.verl
    if verl is None or verl.schema is None or launch.config is None or pictures(launch):
        return None
    if verl.guess and launch.family in FORKS_OF_THEIR_OWN:
        return None
    engine = engine_of(launch.overrides)
    schema = verl.schema
    if engine and verl.found.folders is None:
        schema = with_engine(schema, engine)
    return View(launch, schema, launch.config)


@by_identity
def on_unnamed_fork(launch: Launch) -> bool:
    """Whether the VeRL in use is only a guess, and the launch sets keys that no release has and nobody mistook for
    another: it runs on a VeRL that was changed for it, whose code may do anything."""
    view = view_of(launch)
    if view is None or launch.verl is None or not launch.verl.guess:
        return False
    unknown = [each.override for each in view.config.refusals if each.kind == "unknown-key" and each.override]
    if not unknown:
        return False
    from verlint_rules.config.unknown import is_of_nobody

    return any(is_of_nobody(view, override.key) for override in unknown)


def views_of(launch: Launch) -> Iterator[View]:
    """The launch on each version that it may run on."""
    return (View(launch, schema, config) for schema, config in launch.fits)


def everywhere(launch: Launch, holds: Callable[[View], bool]) -> bool:
    """Whether something holds on each version that the launch may run on."""
    view = view_of(launch)
    if view is None or launch.verl is None or not holds(view):
        return False
    return not launch.verl.guess or all(holds(each) for each in views_of(launch))


def refusals(launch: Launch, *kinds: str) -> Iterator[tuple[Refusal, Override]]:
    """What Hydra refuses of the launch for these reasons, on the VeRL in use or the newest one that fits."""
    view = view_of(launch)
    for refusal in view.config.refusals if view is not None else ():
        if refusal.kind in kinds and refusal.override is not None:
            yield refusal, refusal.override


def refused_everywhere(launch: Launch, override: Override, kind: str) -> bool:
    """Whether an override is refused for the same reason on each version that the launch may run on."""
    kept = _refused_of(launch)
    if kind not in kept:
        kept[kind] = _refused_on_all(launch, kind)
    return id(override) in kept[kind]


@by_identity
def _refused_of(launch: Launch) -> dict[str, frozenset[int]]:
    """What was asked of a launch already: a launch of many overrides is asked for each of them."""
    return {}


def _refused_on_all(launch: Launch, kind: str) -> frozenset[int]:
    view = view_of(launch)
    if view is None or launch.verl is None:
        return frozenset()
    refused = view.config.refused(kind)
    if refused and launch.verl.guess:
        refused = refused.intersection(*(each.config.refused(kind) for each in views_of(launch)))
    return refused


def starts_hydra(launch: Launch) -> bool:
    """Whether the entry point is one of VeRL's, or a program of the project, that Hydra starts, whatever its config."""
    if launch.verl is not None and launch.verl.found.program:
        return True
    module = call_of(launch.program.entry, ()).module
    return any(config_of(version, module) for version in reversed(versions()))


def in_document(launch: Launch) -> bool:
    """Whether the command itself stands in a document."""
    span = launch.command.span
    return span.source is not span.in_file().source and is_document(launch.command.span.in_file().source.path)


def pictures(launch: Launch) -> bool:
    """Whether the command stands in a block of a document that only pictures it: with dots, placeholders, or words that
    are no overrides."""
    if not in_document(launch):
        return False
    from verlint_rules.shell.illustration import is_illustration

    odd = any(each.error is not None and "=" not in each.word.shown for each in launch.overrides)
    return odd or is_illustration(launch.command.span.source.text)


def is_cut(launch: Launch, project: Project) -> bool:
    """Whether the command ends before its last line, so that the keys behind are not missing but lost."""
    from verlint_rules.shell.call_words import program_of_source
    from verlint_rules.shell.continuation import find_cuts

    span = launch.command.span
    program = program_of_source(project, span.source)
    return any(
        cut.command is not None and span.start <= cut.command.start < max(span.end, span.start + 1)
        for cut in find_cuts(span.source, program)
    )
