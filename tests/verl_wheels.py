"""VeRL's wheels for tests: downloaded through pip once a session, skipped when that does not work."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts/build_verl_schemas.py"


@cache
def builder() -> ModuleType:
    """The script that makes the schema file, as a module."""
    spec = importlib.util.spec_from_file_location("build_verl_schemas", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["build_verl_schemas"] = module
    spec.loader.exec_module(module)
    return module


_FAILED: list[str] = []


def unpacked(version: str, folder: Path) -> Path:
    """The unpacked wheel of a version, below a folder that the session keeps. Skips without it."""
    if _FAILED:
        pytest.skip(f"no wheel of verl: {_FAILED[0]}")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        wheel: Path = builder().fetch(version, folder)
    except builder().WheelError as error:
        _FAILED.append(str(error).splitlines()[-1] if str(error) else "pip failed")
        pytest.skip(f"no wheel of verl {version}: {_FAILED[0]}")
    found: Path = builder().unpack(wheel, folder)
    return found
