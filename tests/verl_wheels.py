"""VeRL's wheels for tests: downloaded through pip once a run, skipped when that does not work."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections.abc import Iterator
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


def wheels_folder(factory: pytest.TempPathFactory) -> Path:
    """The folder of this run, one for all its workers."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "verl-wheels"
    folder.mkdir(exist_ok=True)
    return folder


def unpacked(version: str, folder: Path) -> Path:
    """The unpacked wheel of a version, below a folder that the run keeps. Skips without it."""
    if _FAILED:
        pytest.skip(f"no wheel of verl: {_FAILED[0]}")
    try:
        with _alone(folder / f"{version}.lock"):
            wheel: Path = builder().fetch(version, folder)
            found: Path = builder().unpack(wheel, folder)
    except builder().WheelError as error:
        _FAILED.append(str(error).splitlines()[-1] if str(error) else "pip failed")
        pytest.skip(f"no wheel of verl {version}: {_FAILED[0]}")
    return found


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Wait until no other worker holds the lock."""
    fcntl = pytest.importorskip("fcntl", reason="needs file locks")
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
