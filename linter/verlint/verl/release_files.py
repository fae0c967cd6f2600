"""The config files of each released VeRL, for configs of a project that are built on them.

Reads `config_files.json.gz`, which `scripts/build_verl_schemas.py` makes from the wheels; docs/verl-data.md describes
it. Unlike the schema, which holds whole configs, this holds each file with its defaults list, so that Hydra's groups
can be chosen from it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from functools import lru_cache

from verlint.verl.config_yaml import ConfigFile
from verlint.verl.schema import read_json, unpacked_file, versions

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import Any

FILE = "config_files.json.gz"


@lru_cache(maxsize=1)
def _lines() -> Mapping[str, bytes]:
    """The lines of the file by the path of the config, JSON unread."""
    out: dict[str, bytes] = {}
    for line in unpacked_file(FILE).split(b"\n"):
        path, _, data = line.partition(b"\t")
        out[path.decode()] = data
    return out


@lru_cache(maxsize=64)
def _rows(path: str) -> list[Any]:
    line = _lines().get(path)
    return [] if line is None else list(read_json(line.decode()))


def _row(version: str, path: str) -> Any:
    """What a version holds at a path, None for nothing."""
    place = versions().index(version)
    found = None
    for since, content in _rows(path):
        if versions().index(since) > place:
            break
        found = content
    return found


@lru_cache(maxsize=256)
def config_file(version: str, path: str) -> ConfigFile | None:
    """A config file of a released version by its path (`verl/trainer/config/ppo_trainer.yaml`), without the places of
    its keys; None when the version has none."""
    row = _row(version, path)
    return None if row is None else ConfigFile(row[0], {}, row[1], row[2])


@lru_cache(maxsize=16)
def _names(version: str) -> Mapping[str, frozenset[str]]:
    """The names of the files in each folder of a version."""
    out: dict[str, set[str]] = {}
    for path in _lines():
        if path and _row(version, path) is not None:
            folder, _, name = path.rpartition("/")
            out.setdefault(folder, set()).add(name)
    return {folder: frozenset(names) for folder, names in out.items()}


def is_folder(version: str, folder: str) -> bool:
    """Whether a released version has config files in a folder, or below it."""
    folder = posixpath.normpath(folder)
    return any(each == folder or each.startswith(folder + "/") for each in _names(version))


def names_in(version: str, folder: str) -> list[str]:
    """The names of the config files in a folder of a released version, sorted."""
    return sorted(_names(version).get(posixpath.normpath(folder), ()))
