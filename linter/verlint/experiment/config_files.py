"""Config files that a launch names: what they set, each value with its place in the file.

`config=FILE` is EasyR1's way (OmegaConf merges the file below the words of the call), `--config-name NAME` with
`--config-path` or `--config-dir` is Hydra's, and a program of the project names one in its `@hydra.main`. What such a
file takes from others of the project by its defaults list is read too. Files of the VeRL package are not looked at
here: what they hold is the default of that VeRL."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.languages.hydra.override import Form, Override
from verlint.languages.yaml import Mapping, Node, Scalar, Sequence, parse_yaml
from verlint.lazy import pattern
from verlint.record import dataclass, replace
from verlint.source import Source, Span
from verlint.value import Data, Hole, Hop, Literal, State, Text, Value
from verlint.verl.config_yaml import scalar
from verlint.verl.in_use import ROOT, Call, call_of
from verlint.verl.interpolation import ConfigError

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from collections import abc

    from verlint.files.made import Files
    from verlint.verl.defaults_list import Part
    from verlint.verl.programs import HydraMain

_PACKAGE = pattern(r"(?:^|/)verl/(?:trainer|experimental|workers|utils)/")
_TRAINER = pattern(
    r"^actor_rollout_ref[ \t]*:|^[ \t]*- (?:/?)(?:ppo|ppo_megatron|sft)_trainer(?:_engine)?[ \t]*$", re.MULTILINE
)
_EASY_FILE = pattern(r"^worker[ \t]*:", re.MULTILINE)
_WHOLE = ("ppo_trainer", "ppo_megatron_trainer")
SUFFIXES = (".yaml", ".yml")
_OF_A_COPY = 20
"""Lines that repeat a default in a file that is a copy of VeRL's config. Fewer are written by somebody who meant
them."""
_EASY = "verl.trainer.main"
"""The entry point of EasyR1; VeRL has none of that name."""


@dataclass(frozen=True, slots=True)
class ConfigOfLaunch:
    """The config file of a launch: what it sets, and the config of VeRL it is built on ("" when it says none)."""

    source: Source
    overrides: tuple[Override, ...]
    base: str


def read_trainer_config(source: Source) -> ConfigOfLaunch | None:
    """What a config file sets; None for what is no mapping."""
    file = parse_yaml(source)
    if file.error is not None or not isinstance(file.root, Mapping):
        return None
    defaults = _defaults(file.root.get("defaults"))
    if "_self_" in defaults[:-1]:
        return ConfigOfLaunch(source, (), _base(defaults))  # what follows takes the place of what the file sets
    return ConfigOfLaunch(source, tuple(_overrides(file.root, "")), _base(defaults))


def in_package(path: str) -> bool:
    """Whether a path is that of a file of the VeRL package."""
    return _PACKAGE.search(path) is not None


@dataclass(frozen=True, slots=True)
class Named:
    """The config file that a launch names, by its name in one of some folders below the root of the project. `own`: it
    is that of a program of the project, whose config is composed with it."""

    source: Source
    name: str
    folders: tuple[str, ...]
    own: bool = False


def named_config(launch: Launch, tree: Files) -> Named | None:
    """The config file that a launch names; None for one that names none, or one that is not there."""
    call = call_of(launch.program.entry, launch.options)
    if call.entry == _EASY:
        override = launch.by_key.get("config")
        path = None if override is None else override.value_text.known
        place = None if path is None else _below(launch, path)
        source = _at(place, tree)
        if source is None or place is None:
            return None
        return Named(source, posixpath.basename(place), (posixpath.dirname(place),))
    if call.undecided:
        return None
    program = own_program(launch, tree)
    name = call.config_name or ("" if program is None else program[1].config_name)
    folders = tuple(_folders(call, launch, program)) if name else ()
    source = _in_folders(name, folders, tree)
    return None if source is None else Named(source, name, folders, program is not None)


def _in_folders(config: str, folders: tuple[str, ...], tree: Files) -> Source | None:
    """The file of a config by its path below the first folder that has it, those of the VeRL package left out."""
    for folder in folders:
        path = posixpath.join(folder, config)
        for file in () if in_package(path) else (path,) if path.endswith(SUFFIXES) else (f"{path}.yaml", f"{path}.yml"):
            source = _at(file, tree)
            if source is not None:
                return source
    return None


def is_of_trainer(named: Named, tree: Files) -> bool:
    """Whether a config, or one that it is made of, has the sections of VeRL's trainers, or is built on one of those."""
    if _TRAINER.search(named.source.text) is not None:
        return True
    sources: dict[str, Source] = {}
    _parts(named, tree, sources)
    return any(_TRAINER.search(source.text) is not None for source in sources.values())


def sources_of(named: Named, tree: Files) -> list[Source]:
    """The files of the project that a config is made of, itself first; as far as they are at hand."""
    sources: dict[str, Source] = {}
    _parts(named, tree, sources)
    return [named.source, *(each for each in sources.values() if each is not named.source)]


def own_program(launch: Launch, tree: Files) -> tuple[str, HydraMain] | None:
    """The program of the project that a launch starts, by its path below the root, and what its `@hydra.main` says."""
    entry = launch.program.entry
    if not entry or entry.startswith("verl."):
        return None
    if not launch.program.module and not entry.endswith(".py"):
        return None
    from verlint.verl.programs import hydra_main

    path = entry.replace(".", "/") + ".py" if launch.program.module else entry
    for file in (path, f"src/{path}") if launch.program.module else (path,):
        place = _below(launch, file)
        source = None if place is None or in_package(place) else _at(place, tree)
        main = None if source is None else hydra_main(source.text)
        if place is not None and main is not None:
            return posixpath.normpath(place), main
    return None


def _folders(call: Call, launch: Launch, program: tuple[str, HydraMain] | None) -> Iterator[str]:
    """The folders, below the root of the project, in which the name of a config may stand for a file."""
    if call.config_path.startswith(ROOT):
        yield call.config_path.removeprefix(ROOT)
    elif call.config_path.startswith("/"):
        yield call.config_path
    elif program is not None:
        given = call.config_path or program[1].config_path
        if given is not None and not given.startswith(("pkg://", "/")):
            yield posixpath.join(posixpath.dirname(program[0]), given)
    elif call.entry.endswith(".py") and (place := _below(launch, posixpath.dirname(call.entry))) is not None:
        yield posixpath.join(place, call.config_path)
    if call.config_dir.startswith(ROOT):
        yield call.config_dir.removeprefix(ROOT)
    elif call.config_dir.startswith("/"):
        yield call.config_dir
    elif call.config_dir and (place := _below(launch, call.config_dir)) is not None:
        yield place


def _below(launch: Launch, path: str) -> str | None:
    """A path of the call below the root of the project, None when the working directory is not known."""
    cwd = launch.command.around.cwd
    first = cwd.parts[0] if cwd.parts else None
    rest = Text(cwd.parts[1:]).known
    if path.startswith("/") or rest is None or not isinstance(first, Hole):
        return None
    if not (isinstance(first.key, tuple) and first.key[0] == "cwd"):
        return None
    return posixpath.join(str(first.key[1]), rest.lstrip("/"), path)


def _at(path: str | None, tree: Files) -> Source | None:
    if path is None:
        return None
    place = posixpath.normpath(path)
    return None if place.startswith("..") else tree.source(place)


# ---- files that are made of several


def read_with_others(named: Named, tree: Files) -> ConfigOfLaunch | None:
    """What a config file sets, with what it takes from others of the project.

    What VeRL's own configs hold is not at hand here. A file that one of them follows in the defaults list is left out,
    as it may be changed by that."""
    found = _read_all(named, tree)
    if found is None or _EASY_FILE.search(named.source.text):
        return found
    from verlint.verl.schema import leaves_of, versions

    configs = [leaves_of(version, name) or {} for version in versions() for name in _WHOLE]
    kept = tuple(each for each in found.overrides if not _is_copied(each, configs, anywhere=named.own))
    if len(found.overrides) - len(kept) < _OF_A_COPY:
        kept = found.overrides
    return replace(found, overrides=kept, base="" if named.own else found.base)


def _is_copied(override: Override, configs: list[abc.Mapping[str, Data]], *, anywhere: bool) -> bool:
    """Whether a line only repeats VeRL's default, as a copy of its config does: that of some version where the config
    is composed with the file itself, else that of every version that has the key."""
    mine = override.value.data if override.value.state is State.KNOWN else override.value_text.known
    same = [
        type(each[override.key]) is type(mine) and each[override.key] == mine
        for each in configs
        if override.key in each
    ]
    return bool(same) and (any(same) if anywhere else all(same))


def _read_all(named: Named, tree: Files) -> ConfigOfLaunch | None:
    own = read_trainer_config(named.source)
    if own is None or "defaults" not in named.source.text:
        return own
    sources: dict[str, Source] = {}
    parts = _parts(named, tree, sources)
    if parts is None:
        return own
    base = ""
    out: list[Override] = []
    for part in parts:
        file = sources.get(posixpath.normpath(part.config_path))
        if file is None:
            out, base = [], base or ("" if "/" in part.config_path else part.config_path)
            continue
        root = parse_yaml(file).root
        if isinstance(root, Mapping):
            out += _overrides(root, part.package + "." if part.package else "")
    return ConfigOfLaunch(named.source, tuple(out), base)


def _parts(named: Named, tree: Files, sources: dict[str, Source]) -> list[Part] | None:
    """The parts of a config in their order, those that are not at hand as empty ones; None when it cannot be told.
    `sources` takes the files by their names."""
    from verlint.verl.config_yaml import ConfigFile, read_config
    from verlint.verl.defaults_list import DefaultsList
    from verlint.verl.group_choices import Choices

    nothing = ConfigFile({}, {}, None, [])

    def load(config: str) -> ConfigFile:
        source = _in_folders(config, named.folders, tree)
        if source is None:
            return nothing
        sources[posixpath.normpath(config)] = source
        return read_config(source)

    try:
        return DefaultsList(load, Choices()).parts(named.name)
    except ConfigError:
        return None


# ---- contents


def _defaults(node: Node | None) -> list[str]:
    """The entries of a defaults list that name configs, groups left out."""
    items = node.items if isinstance(node, Sequence) else ()
    return [each.text if isinstance(each, Scalar) else "" for each in items]


def _base(defaults: list[str]) -> str:
    """The config of VeRL that a file is built on, "" for one that chooses groups as well."""
    if "" in defaults:
        return ""
    return next((each for each in defaults if each != "_self_" and "/" not in each), "")


def _overrides(node: Mapping, prefix: str) -> Iterator[Override]:
    for name, entry in node.flat.items():
        if not prefix and name in ("defaults", "hydra"):
            continue
        key, value = prefix + name, entry.value
        if isinstance(value, Scalar) and value.text == "???":
            continue  # it takes nothing's place
        if isinstance(value, Mapping) and value.flat:
            yield from _overrides(value, key + ".")
        else:
            yield _override(key, entry.key.span, value)


def _override(key: str, key_span: Span, node: Node) -> Override:
    span = node.span
    text = Text((Literal(_written(node), span),), span)
    hop = Hop(key_span.join(span) if key_span.source is span.source else span)
    if "${" in span.text:
        value = Value(State.UNKNOWN, key, None, None, span, (hop,), "reference to another value")
    else:
        value = Value(State.KNOWN, key, _data(node), text, span, (hop,))
    word = Text((Literal(f"{key}=", key_span), *text.parts), span)
    return Override(word, Form.FORCE, key, key_span, "", value, text)


def _written(node: Node) -> str:
    return node.text if isinstance(node, Scalar) else " ".join(node.span.text.split())


def _data(node: Node) -> Data:
    """The value as OmegaConf types it."""
    if isinstance(node, Scalar):
        return node.text if node.style else scalar(node.text)
    if isinstance(node, Sequence):
        return [_data(each) for each in node.items]
    return {key: _data(entry.value) for key, entry in node.flat.items()}
