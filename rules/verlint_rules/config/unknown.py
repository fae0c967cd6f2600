"""Overrides of keys that a config does not have, and why it does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from verlint.experiment.launch import Launch
from verlint.languages.hydra.override import Override
from verlint.record import dataclass
from verlint.verl.passthrough import is_open
from verlint.verl.renames import Rename, rename_of
from verlint.verl.schema import Schema, facts, forks, leaves_of, schema, versions
from verlint_rules.config.view import View, refusals, refused_everywhere, view_of


@dataclass(frozen=True)
class Unknown:
    """An override of a key that is not there. `certain`: on no version that the launch may run on; `rename`: what
    became of the key."""

    override: Override
    certain: bool
    rename: Rename | None


def unknown_keys(launch: Launch) -> Iterator[Unknown]:
    """The overrides that Hydra refuses because there is no such key."""
    view = view_of(launch)
    if view is None:
        return
    found = [override for _, override in refusals(launch, "unknown-key")]
    guess = launch.verl is not None and launch.verl.guess
    if guess and any(_only_of_a_fork(view, override.key) for override in found):
        return  # it runs on a fork that nothing names
    for override in found:
        yield Unknown(
            override, refused_everywhere(launch, override, "unknown-key"), rename_of(override.key, view.version)
        )


def _only_of_a_fork(view: View, key: str) -> bool:
    if view.schema.history(key).spans:
        return False
    found = (schema(fork) for fork in forks())
    return any(each is not None and key in each for each in found)


def is_of_nobody(view: View, key: str) -> bool:
    """Whether a key is one of no release and no known fork, and was not mistaken for one: somebody added it."""
    from verlint.verl.slips import is_misplaced, is_misspelt

    if is_open(key) or rename_of(key, view.version) is not None or view.schema.history(key).spans:
        return False
    if is_misspelt(view.schema, key) or is_misplaced(view.schema, key) or _only_of_a_fork(view, key):
        return False
    if in_own_section(view, key):
        return False
    part = missing_part(view, key)
    return not (
        part != key and (view.schema.history(part).spans or engines_with(view, part) or configs_with(view, part))
    )


def in_own_section(view: View, key: str) -> bool:
    """Whether a key is one of a section that the project's own config adds to VeRL's: all its keys are known."""
    top, _, rest = key.partition(".")
    verl = view.launch.verl
    if not rest or verl is None or top not in view.schema or not _is_own(top, verl.found.places):
        return False
    return not any(
        name.partition(".")[0] == top for version in versions() for name in leaves_of(version, view.schema.name) or ()
    )


def _is_own(top: str, places: Mapping[str, object]) -> bool:
    return any(name.partition(".")[0] == top for name in places)


def missing_part(view: View, key: str) -> str:
    """The first part of a key that is not there: `a.b` for `a.b.c` when there is an `a` and no `a.b`."""
    names = key.split(".")
    for count in range(1, len(names)):
        head = ".".join(names[:count])
        if head not in view.schema:
            return head
    return key


def engines_with(view: View, section: str) -> list[str]:
    """The engines (`model_engine=…`) whose config has a section that this one has not."""
    found = []
    name = view.schema.name.partition(" ")[0]
    for engine in facts("groups", view.schema.version).get("model_engine", []):
        other = leaves_of(view.schema.version, f"{name} model_engine={engine}")
        if other is not None and any(each.startswith(section + ".") or each == section for each in other):
            found.append(engine)
    return found


def configs_with(view: View, section: str) -> list[str]:
    """The further configs of the version (`--config-name`) that have a section."""
    others = ("ppo_trainer", "ppo_megatron_trainer")
    name = view.schema.name.partition(" ")[0]
    if name not in others:
        return []
    return [each for each in others if each != name and _has(leaves_of(view.schema.version, each), section)]


def _has(leaves: object, section: str) -> bool:
    return isinstance(leaves, dict) and any(each.startswith(section + ".") or each == section for each in leaves)


def near_keys(schema: Schema, key: str, spans: Sequence[tuple[str, str]]) -> list[str]:
    """Keys that somebody who wrote this one may have meant; none for a key that other versions have, as it was no
    slip."""
    return [] if spans else schema.near(key)
