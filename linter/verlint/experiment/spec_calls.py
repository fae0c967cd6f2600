"""Stages of a spec that run a launcher: the call that the stage stands for, and what it would start."""

from __future__ import annotations

import posixpath

from verlint.experiment.spec import Spec, SpecCheckout, SpecStage
from verlint.files.tree import Tree
from verlint.languages.bash.command import Command
from verlint.languages.bash.replay import Entry, explore
from verlint.languages.bash.syntax import Program
from verlint.record import dataclass
from verlint.source import Source
from verlint.value import Literal, Text, Value

_MAX_PATHS = 6


@dataclass(frozen=True, slots=True)
class LauncherPlace:
    """A launcher that a stage names: its text, the folder it is started in, and its name seen from there."""

    source: Source
    start: str
    name: str


def launcher_place(path: str, spec: Spec, stage: SpecStage, tree: Tree) -> LauncherPlace | None:
    """The launcher of a stage on disk: relative to the stage's checkout, else to the folder of the spec, whose path
    below the root is `path`. None when it is not there or its name is not known."""
    name = stage.launcher.data
    if not (stage.launcher.given and stage.launcher.decided and isinstance(name, str) and name.endswith(".sh")):
        return None
    for folder in homes(path, spec, stage):
        source = tree.source(posixpath.normpath(posixpath.join(folder, name)))
        if source is not None:
            return LauncherPlace(source, "" if folder == "." else folder, name)
    return None


def homes(path: str, spec: Spec, stage: SpecStage) -> list[str]:
    """The folders in which the launcher of a stage may lie, the likeliest first."""
    from verlint.families import FAMILIES

    home = posixpath.dirname(path)
    checkout = checkout_of(spec, stage)
    if checkout is None or not checkout.path.given or not isinstance(checkout.path.data, str):
        return [home]
    family = FAMILIES.get(str(spec.family))
    around = checkout.path.data if family is None else family.launchers_in(checkout.path.data)
    places = [posixpath.normpath(posixpath.join(home, each)) for each in (checkout.path.data, around)]
    return list(dict.fromkeys([*places, home]))


def checkout_of(spec: Spec, stage: SpecStage) -> SpecCheckout | None:
    """The checkout of a stage: the one it names, or the only one there is."""
    checkout = spec.checkouts.get(str(stage.checkout.data)) if stage.checkout.given else None
    return checkout if checkout is not None or len(spec.checkouts) != 1 else next(iter(spec.checkouts.values()))


def call_arguments(stage: SpecStage, launcher: Source) -> list[Text] | None:
    """The words of the call, for launchers that take each argument as `--name value`; None for other conventions."""
    out: list[Text] = []
    for name, value in stage.args.items():
        option = f"--{name}"
        if option not in launcher.text:
            return None
        key_span = stage.places.get(f"args.{name}")
        out += [Text((Literal(option, key_span),), key_span), _word(value)]
    return out


def _word(value: Value) -> Text:
    if value.text is not None:
        return value.text
    return Text((Literal(str(value), value.span),), value.span)


def commands_of(place: LauncherPlace, arguments: list[Text], tree: Tree, programs: dict[int, Program]) -> list[Command]:
    """The commands of the call, on its expected path; where that ends in a failure (what an earlier stage makes is not
    there yet), on the path that gets furthest without."""
    entry = Entry(start=place.start, name=place.name, arguments=arguments)
    for most in (1, _MAX_PATHS):
        paths = explore([place.source], tree, entry, programs=programs, max_paths=most).paths
        passing = [path for path in paths if not path.status]
        if passing:
            return max(passing, key=lambda path: len(path.commands)).commands
    return paths[0].commands if paths else []
