"""Launches of override sets on a version of VeRL, through the project that every run makes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from verlint.engine import check_project
from verlint.experiment.launch import Launch
from verlint.experiment.project import Project
from verlint.files.loading import load
from verlint.finding import Finding
from verlint.settings import Settings

MAIN = "verl.trainer.main_ppo"


def starter_of(entry: str) -> str:
    """What starts an entry point: Python, or torchrun with eight processes."""
    return "torchrun --nproc_per_node=8" if "sft" in entry else "python3"


def launches_of(
    folder: Path, monkeypatch: pytest.MonkeyPatch, sets: Sequence[Sequence[str]], version: str, entry: str = MAIN
) -> list[Launch]:
    """A launch for each override set, in a launcher of its own hundred."""
    monkeypatch.chdir(folder)
    found: list[Launch] = []
    for start in range(0, len(sets), 100):
        name = f"run_{start:05}.sh"
        lines = [
            " ".join([f"{starter_of(entry)} -m", entry, *(f"'{word}'" for word in words)])
            for words in sets[start : start + 100]
        ]
        (folder / name).write_text("\n".join(lines) + "\n")
        settings = Settings(root=folder, verl_of_call=version)
        found += [launch for launch, _ in Project(load([name], settings).files, settings, folder).launches]
    return found


def findings_of(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: Sequence[str], version: str, code: str, entry: str = MAIN
) -> list[Finding]:
    """What a rule says of a launch on a version."""
    monkeypatch.chdir(folder)
    (folder / "run.sh").write_text(
        " ".join([f"{starter_of(entry)} -m", entry, *(f"'{word}'" for word in words)]) + "\n"
    )
    settings = Settings(root=folder, verl_of_call=version, select=(code,))
    return list(check_project(load(["run.sh"], settings).files, settings, folder).findings)


def parquet_end(rows: int) -> bytes:
    """A parquet file of no columns with a number of rows below 8192: its two marks and the metadata between them."""
    number = rows * 2  # zigzag
    coded = bytes([number]) if number < 128 else bytes([number & 127 | 128, number >> 7])
    root = b"\x48\x04root\x15\x00\x00"
    metadata = b"\x15\x02\x19\x1c" + root + b"\x16" + coded + b"\x19\x0c\x00"
    return b"PAR1" + metadata + len(metadata).to_bytes(4, "little") + b"PAR1"
