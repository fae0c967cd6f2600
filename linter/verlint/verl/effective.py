"""The config a launch gets from the VeRL in use: released versions, forks, the version that fits best, defaults."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from operator import attrgetter

from verlint.languages.hydra.override import Form, Override
from verlint.record import replace
from verlint.value import Data
from verlint.verl.in_use import Call, Found, VerlInUse
from verlint.verl.interpolation import Broken, ConfigError, Tree, Unknown, has_reference, leaves
from verlint.verl.overriding import Applied, apply, own
from verlint.verl.passthrough import is_open
from verlint.verl.schema import RECIPES, Schema, config_of, forks, known_version, leaves_of, schema, versions
from verlint.verl.versions import version_key

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import TypeAlias

    from verlint.verl.compose import ConfigFolders, Place
    from verlint.verl.group_choices import Choices

At: TypeAlias = "Callable[[str], tuple[Schema, ConfigFolders] | None]"
_KEY_OF = attrgetter("key")
FORK_FAMILIES = frozenset(["oel", "opcd", "coach"])
"""Families that run on a fork of their own, whose keys are known."""


def config_of_call(found: Found, overrides: Sequence[Override], *, multirun: bool = False) -> Applied | None:
    """The config of a call on the VeRL that was found; None when its config is not known."""
    if found.schema is None:
        return None
    if found.folders is not None:
        try:
            return found.folders.apply(found.config, overrides, multirun=multirun)
        except ConfigError:
            return None
    return applied(found.schema, overrides, multirun=multirun)


def composed_at(found: Found, version: str, overrides: Sequence[Override]) -> Applied | None:
    """The config of a call on a released version; None when the version has no such config."""
    if found.at is not None:
        known = found.at(version)
        if known is None:
            return None
        try:
            return known[1].apply(found.config, overrides)
        except ConfigError:
            return None
    base = schema(version, found.config)
    return None if base is None else applied(base, overrides)


def _schema_at(found: Found, version: str) -> Schema | None:
    if found.at is None:
        return schema(version, found.config)
    known = found.at(version)
    return None if known is None else known[0]


def fits_of(verl: VerlInUse, overrides: tuple[Override, ...], newest: Applied) -> Iterator[tuple[Schema, Applied]]:
    """The keys and the config of a call on each version that it may run on, the newest (`newest` is its config) first:
    the one that was found, or all that a guess leaves. Configs are composed as they are asked for."""
    found = verl.found
    if found.schema is None:
        return
    engine = engine_of(overrides)
    for version in reversed(found.fitting or (found.schema.version,)):
        first = version == found.schema.version
        base = found.schema if first else _schema_at(found, version)
        if base is not None:
            chosen = with_engine(base, engine) if engine and found.folders is None else base
            config = newest if first else verl.composed(version, overrides)
            if config is not None:
                yield chosen, config


class Defaults(Mapping[str, Data]):
    """The config of a launch beside its overrides: values with their references resolved, by key.

    Of a guess only those defaults that all versions that fit agree on. Keys whose value only the host knows are left
    out; `unknown` gives what is known of them."""

    def __init__(self, verl: VerlInUse, overrides: tuple[Override, ...]) -> None:
        self._verl = verl
        self._overrides = overrides
        self._known: dict[str, object] = {}

    @cached_property
    def _configs(self) -> list[Applied]:
        verl = self._verl
        if not verl.guess:
            found = verl.applied(self._overrides)
            return [] if found is None else [found]
        each = [verl.composed(version, self._overrides) for version in verl.fitting]
        return [one for one in each if one is not None]

    def _value(self, key: str) -> object:
        if key not in self._known:
            self._known[key] = self._look_up(key)
        return self._known[key]

    def _look_up(self, key: str) -> object:
        verl = self._verl
        if (
            verl.guess
            and verl.found.at is None
            and (found := _common(verl.found.config, verl.fitting, key)) is not _HANGS_ON_OTHERS
        ):
            return found
        values = [_at(config, key) for config in self._configs]
        if not values or not all(_same(each, values[0]) for each in values):
            return _NOTHING
        return values[0]

    def unknown(self, key: str) -> Unknown | None:
        """Why the value of a key is not known, with the value of the override it hangs on; None when it is known, or
        there is no such key."""
        found = self._value(key)
        return found if isinstance(found, Unknown) else None

    def __getitem__(self, key: str) -> Data:
        found = self._value(key)
        if found is _NOTHING or isinstance(found, (Unknown, dict)) or found == "???":
            raise KeyError(key)
        return found  # type: ignore[return-value]

    def __iter__(self) -> Iterator[str]:
        chosen = self._verl.schema
        return iter([key for key in chosen.leaves if key in self] if chosen is not None else [])

    def __len__(self) -> int:
        return sum(1 for _ in self)


_NOTHING = object()
_HANGS_ON_OTHERS = object()


@lru_cache(maxsize=4096)
def _common(config: str, fitting: tuple[str, ...], key: str) -> object:
    """The default that all versions agree on, _NOTHING when they do not or one has no such key, _HANGS_ON_OTHERS when
    it takes a config to tell."""
    raw = [(leaves_of(version, config) or {}).get(key, _NOTHING) for version in fitting]
    if not raw or any(each is _NOTHING for each in raw):
        return _NOTHING
    if any(has_reference(each) or isinstance(each, dict) for each in raw):
        return _HANGS_ON_OTHERS
    return raw[0] if all(_same(each, raw[0]) for each in raw) else _NOTHING


def _same(left: object, right: object) -> bool:
    return type(left) is type(right) and left == right


def _at(config: Applied, key: str) -> object:
    """The resolved value at a key."""
    resolver = config.resolver
    try:
        node = resolver.find(key, _NOTHING)
    except Broken as error:
        return Unknown(str(error), broken=True)
    return _decided(resolver.deep(node, tuple(key.split(".")))) if isinstance(node, (dict, list)) else node


def _decided(node: object) -> object:
    """The node, or the first unknown in it."""
    for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        if isinstance(each, Unknown):
            return each
        inner = _decided(each)
        if isinstance(inner, Unknown):
            return inner
    return node


# ---- configs of released versions and forks


def applied(base: Schema, overrides: Sequence[Override], *, multirun: bool = False) -> Applied:
    """The config of a call on a version whose keys are known, and what Hydra refuses of the call."""

    def composed(choices: Choices) -> Tree:
        for group, choice in choices.replaced.items():
            options = base.groups.get(group.partition("@")[0], [])
            for each in choice if isinstance(choice, list) else [choice]:
                if each not in options:
                    raise ConfigError(f"there is no {group}/{each}; there is {', '.join(options)}")
        engine = choices.replaced.get("model_engine")
        return (with_engine(base, str(engine)) if engine else base).tree

    out = apply(overrides, lambda key: key in base.groups, composed, multirun=multirun)
    if any(each.key in base.groups and not _is_known(base, each) and each.error is None for each in overrides):
        out.leave_keys_open()  # only the engines of the PPO configs are known
    return out


def _is_known(base: Schema, override: Override) -> bool:
    """Whether the choice of a group is one whose keys are known: an engine of the PPO configs, or for supervised
    training what is chosen without it. Source: `config/sft_trainer_engine.yaml` of the wheels 0.6.0 to 0.9.1."""
    if override.key == "model_engine":
        return True
    return base.name == "sft_trainer_engine" and override.key in ("engine", "optim") and override.value.data == "fsdp"


def with_engine(base: Schema, engine: str) -> Schema:
    """The schema for an engine, the given one when there is none of its own."""
    name = base.name.partition(" ")[0]
    found = schema(base.version, name if engine == "dp" else f"{name} model_engine={engine}")
    return base if found is None or base.title != f"VeRL {base.version}" else found


def engine_of(overrides: Sequence[Override]) -> str:
    """The engine that a call chooses, "" when it chooses none."""
    if "model_engine" not in map(_KEY_OF, overrides):
        return ""
    for override in reversed(overrides):
        if override.key == "model_engine" and override.error is None and isinstance(override.value.data, str):
            return override.value.data
    return ""


def said_version(text: str, source: str, config: str) -> Found:
    """A released version, or a fork, that is named."""
    if text in forks():
        base = schema(text, config)
        return Found(
            f"the {text} fork of VeRL {forks()[text]['base']}",
            forks()[text]["base"],
            source,
            schema=base,
            config=config,
        )
    known = known_version(text)
    label = said_label(text)
    found = schema(known, config) if known and config else None
    problem = (
        "" if found is not None else f"nothing is known of VeRL {text}" if not known else _no_config(config, known)
    )
    return Found(label, text, source, schema=found, config=config, problem=problem)


def said_label(text: str) -> str:
    """What to call a version that is named."""
    known = known_version(text)
    same = known and _trimmed(known) == _trimmed(text)
    return f"VeRL {text}" if same or not known else f"VeRL {known}, the nearest known to {text}"


def _no_config(config: str, version: str) -> str:
    return f"VeRL {version} has no config {config}" if config else f"VeRL {version} has no such entry point"


def _trimmed(text: str) -> tuple[int, ...]:
    return ((version_key(text) or ()) + (0, 0, 0))[:3]


def best_fit(config: str, overrides: Sequence[Override]) -> Found:
    """The released versions that know most of the keys that a call sets; among equals the newest gives the schema."""
    engine = engine_of(overrides)

    def at(version: str) -> Schema | None:
        base = schema(version, config)
        return with_engine(base, engine) if base is not None and engine else base

    found = _fitting(overrides, at)
    if found is None:
        return Found("every VeRL version", source="best fit", guess=True, problem=f"no version has a config {config}")
    return replace(found, schema=schema(found.text, config), config=config)


def best_fit_among(overrides: Sequence[Override], at: At) -> Found | None:
    """The same of a config of the project, which `at` gives for a version. Its groups are chosen later."""

    def keys(version: str) -> Schema | None:
        made = at(version)
        return None if made is None else made[0]

    return _fitting(overrides, keys)


def _fitting(overrides: Sequence[Override], at: Callable[[str], Schema | None]) -> Found | None:
    wanted = what_fits(overrides)[1:]
    schemas = {version: found for version in versions() if (found := at(version)) is not None}
    if not schemas:
        return None
    misfits = {version: sum(key not in each for key in wanted) for version, each in schemas.items()}
    least = min(misfits.values())
    fitting = tuple(version for version, count in misfits.items() if count == least)
    label = "every VeRL version" if len(fitting) == len(versions()) else f"VeRL {_spans(fitting)} (best fit)"
    newest = fitting[-1]
    return Found(label, newest, "best fit", guess=True, schema=schemas[newest], fitting=fitting)


def what_fits(overrides: Sequence[Override]) -> tuple[str, ...]:
    """What `best_fit` goes by: the engine that a call chooses, then the keys that it sets."""
    return (engine_of(overrides), *(each.key for each in overrides if _asks_for_key(each)))


def _asks_for_key(override: Override) -> bool:
    plain = override.form is Form.SET and override.error is None and "." in override.key
    return plain and own(override.key) and not is_open(override.key)


def _spans(fitting: tuple[str, ...]) -> str:
    """Versions in words: `0.6.0 to 0.7.1`."""
    return fitting[0] if len(fitting) == 1 else f"{fitting[0]} to {fitting[-1]}"


def nearest_version(keys: Mapping[str, Data], config: str, said: str) -> str:
    """The version of a checkout: the released one whose keys are nearest to its own, or what its version file says
    when that is newer."""
    best, least = "", -1
    for version in versions():
        other = leaves_of(version, config)
        if other is not None:
            apart = len(keys.keys() ^ other.keys())
            if least < 0 or apart <= least:
                best, least = version, apart
    newer = (version_key(said) or ()) > (version_key(best) or ())
    return said if newer else best


def schema_on_disk(
    folders: ConfigFolders, config: str, said: str, title: str
) -> tuple[Schema, Mapping[str, Place], str]:
    """The keys of a config of a checkout, where they are written, and the version it is nearest to. Raises
    ConfigError."""
    tree, places = folders.compose(config)
    flat = leaves(tree)
    text = nearest_version(flat, config, said)
    return Schema(known_version(text), config, flat, title), places, text


def config_name(call: Call, version: str) -> str:
    """The config that a call starts with on a released version, "" when the version has no such entry point."""
    if call.undecided or (call.names_configs and not is_of_package(call)):
        return ""
    if call.module.startswith(RECIPES):
        return config_of(version, call.module, call.config_name)
    return call.config_name or config_of(version, call.module)


def is_of_package(call: Call) -> bool:
    """Whether `--config-path` names the configs of the release itself: Hydra takes a relative path from the folder of
    the entry point, wherever the launcher is started, and the configs of each lie in `config` beside it."""
    given = posixpath.normpath(call.config_path) if call.config_path else ""
    elsewhere = call.config_dir or call.searchpath is not None
    return given == "config" and not elsewhere and call.module.startswith(("verl.trainer.", "verl.experimental."))
