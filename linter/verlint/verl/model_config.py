"""The `config.json` of a model at hand: the few numbers of it that VeRL and its rollout engines check.

Names are those of Hugging Face's configs; a number is looked for at the top, then under `text_config` (and the
`llm_config` of some models that see)."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from verlint import disk
from verlint.record import dataclass
from verlint.verl.facts import HEADS, KV_HEADS, LAYERS, LONGEST

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import Any

NAME = "config.json"
LIMIT = 1_000_000
"""Largest file that is read, in bytes. Those of models have a few thousand."""

_PARTS = ("text_config", "llm_config")
_ROPE = ("rope_scaling", "rope_parameters")


class ModelConfigError(Exception):
    """A file that is no config of a model; the text says why, beginning with its path."""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """What a model's `config.json` says.

    `path` is the file as messages show it. `numbers` are heads (`HEADS`, `KV_HEADS`), the longest sequence in tokens
    (`LONGEST`) and layers (`LAYERS`); one that is left out, or that has two values, is missing. `scaled`: whether
    rotary positions are scaled, None when only newer releases of transformers can tell. `factor` is by how much, 1 when
    not said.
    `architectures` are the names of its classes; `lists_architectures`: whether it says them, as a list of texts."""

    path: str
    numbers: Mapping[str, int]
    scaled: bool | None = False
    factor: float = 1.0
    architectures: tuple[str, ...] = ()
    lists_architectures: bool = False


def read_model_config(path: Path, shown: str) -> ModelConfig:
    """The config in a file, or in the folder that holds one as `config.json`. Raises ModelConfigError."""
    if disk.is_dir(path):
        path, shown = path / NAME, f"{shown.rstrip('/')}/{NAME}"
    import json

    try:
        data = json.loads(_bytes(path).decode("utf-8-sig"))
    except OSError as error:
        raise ModelConfigError(f"{shown}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        text = str(error) if isinstance(error, ValueError) else "nested too deeply"
        raise ModelConfigError(f"{shown}: is no JSON: {text}") from error
    if not isinstance(data, dict):
        raise ModelConfigError(f"{shown}: is no config of a model: not a JSON object")
    found = _config(data, shown)
    if not set(found.numbers) - {LAYERS}:
        raise ModelConfigError(f"{shown}: is no config of a model: it has neither {HEADS} nor {LONGEST}")
    return found


def _bytes(path: Path) -> bytes:
    mode, size = disk.status(path)
    if not stat.S_ISREG(mode):
        raise OSError("is not a regular file")
    if size > LIMIT:
        raise OSError(f"is too large ({size / 1_000_000:.1f} MB; the limit is {LIMIT // 1_000_000} MB)")
    return disk.content(path, LIMIT)


def _config(data: Mapping[str, Any], shown: str) -> ModelConfig:
    parts = [data, *(part for name in _PARTS if isinstance(part := data.get(name), dict))]
    numbers: dict[str, int] = {}
    for name in (HEADS, KV_HEADS, LONGEST, LAYERS):
        values = set(_counts(parts, name))
        if len(values) == 1:
            numbers[name] = values.pop()
    scaling = data.get(_ROPE[0])
    scaled: bool | None = bool(scaling)
    if not scaling and any(part.get(name) for part in parts for name in _ROPE):
        scaled = None
    factor = scaling.get("factor", 1.0) if isinstance(scaling, dict) else 1.0
    if isinstance(factor, bool) or not isinstance(factor, (int, float)):
        scaled, factor = None, 1.0
    names = data.get("architectures")
    known = tuple(each for each in names if isinstance(each, str)) if isinstance(names, list) else ()
    said = isinstance(names, list) and len(known) == len(names)
    return ModelConfig(shown, numbers, scaled, float(factor), known, said)


def _counts(parts: list[Mapping[str, Any]], name: str) -> Iterator[int]:
    for part in parts:
        found = part.get(name)
        if isinstance(found, int) and not isinstance(found, bool) and found > 0:
            yield found
