"""Real Hydra over a config folder, to compare with: composing, and what overrides make of a composed config."""

from __future__ import annotations

import os
import pickle
import random
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

hydra = pytest.importorskip("hydra", reason="hydra-core is the oracle here")
from hydra._internal.config_loader_impl import ConfigLoaderImpl  # noqa: E402
from hydra.core.global_hydra import GlobalHydra  # noqa: E402
from hydra.core.override_parser.overrides_parser import OverridesParser  # noqa: E402
from omegaconf import OmegaConf, _utils, base  # noqa: E402
from omegaconf.errors import OmegaConfBaseException  # noqa: E402

REFUSED = (OmegaConfBaseException, hydra.errors.HydraException, TypeError, ValueError, IndexError, AssertionError)

for module in (base, _utils):  # a config says the same references again and again, and ANTLR takes a third of the time
    module.parse = cache(module.parse)


@contextmanager
def _in_folder(folder: Path) -> Iterator[None]:
    """Hydra takes `file://verl/…` from the working directory."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        os.chdir(before)
        GlobalHydra.instance().clear()


def compose(root: Path, folder: Path, name: str, overrides: Sequence[str] = ()) -> Any:
    """The config as OmegaConf holds it. Raises one of REFUSED."""
    with _in_folder(root):
        GlobalHydra.instance().clear()
        with hydra.initialize_config_dir(str(folder), version_base=None):
            return hydra.compose(name, list(overrides))


def unresolved(config: Any) -> Any:
    """A config as plain data, references as they are."""
    return OmegaConf.to_container(config)


def resolved(config: Any) -> Any:
    """A config as plain data, references resolved."""
    return OmegaConf.to_container(config, resolve=True)


BROKEN = "<cannot be resolved>"


def resolved_at(config: Any, key: str) -> Any:
    """The value at a key as plain data, BROKEN when OmegaConf cannot resolve it."""
    try:
        found = OmegaConf.select(config, key)
        return resolved(found) if OmegaConf.is_config(found) else found
    except REFUSED:
        return BROKEN


class Oracle:
    """Applies override sets without a config group to one composed config, as Hydra does after composing."""

    def __init__(self, config: Any) -> None:
        OmegaConf.set_struct(config, True)
        self._stored = pickle.dumps(config)
        self._parser = OverridesParser.create()

    def apply(self, words: Sequence[str]) -> Any | None:
        """The config after the overrides, None when Hydra refuses them."""
        config = pickle.loads(self._stored)
        try:
            overrides = self._parser.parse_overrides(list(words))
            if any(each.is_sweep_override() for each in overrides):
                return None
            ConfigLoaderImpl._apply_overrides_to_config(overrides, config)
        except REFUSED:
            return None
        return config


VALUES = (
    *("1", "0", "-1", "0.5", "1e-6", "1_000", "true", "False", "null", "abc", "", "'quoted text'", '"a,b"', "[1,2]"),
    *("[]", "[a,'b',null]", "{x:1}", "{}", "{x:{y:2},z:[3]}", "???", "/data/train.parquet", "0x10", "nan", "1,2"),
    *("${trainer.nnodes}", "${oc.select:nothing.here,7}", "${.other}", "'${trainer.nnodes} nodes'", "a=b", "~/x"),
)


def override_sets(keys: Sequence[str], count: int, seed: int) -> Iterator[list[str]]:
    """Lists of overrides: of keys that are there, misspelt ones, sections, keys below leaves; all forms, all values."""
    draw = random.Random(seed)
    sections = sorted({key.rsplit(".", at)[0] for key in keys for at in (1, 2) if key.count(".") >= at})
    for _ in range(count):
        words: list[str] = []
        for _ in range(draw.randint(1, 4)):
            key = draw.choice(keys)
            shape = draw.random()
            if shape < 0.12:
                key = draw.choice(sections)
            elif shape < 0.24:
                key += draw.choice(("_x", ".deeper", ".deeper.still"))
            elif shape < 0.3:
                key = f"{draw.choice(sections)}.new_key"
            elif shape < 0.33 and words:
                key = words[-1].lstrip("+~").partition("=")[0]
            elif shape < 0.36:
                key += draw.choice((".0", ".7"))
            sign = draw.choices(("", "+", "++", "~"), (60, 18, 12, 10))[0]
            value = "=" + draw.choice(VALUES)
            if sign == "~" and draw.random() < 0.8:
                value = ""
            words.append(sign + key + value)
        yield words
