"""Damaged fixtures break no demand of `fuzz.py`: no crash, places inside the file, output that reads again."""

from __future__ import annotations

import os
import random

import pytest

import verlint
from fixture_cases import EXAMPLES
from fuzz import damaged, examine, seeds
from verlint.example import project_copy

SEED = int(os.environ.get("VERLINT_FUZZ_SEED", "1"))
EACH = int(os.environ.get("VERLINT_FUZZ", "15"))
"""Inputs for each kind of file; `python tests/fuzz.py` tries as many as there is time for."""


@pytest.mark.parametrize("name", sorted({name for name, _ in seeds()}))
def test_damaged_fixtures(name: str) -> None:
    chance = random.Random(SEED)
    texts = [data for each, data in seeds() if each == name]
    for _ in range(EACH):
        data = damaged(chance.choice(texts), chance)
        try:
            examine(name, data)
        except Exception as error:
            pytest.fail(f"{type(error).__name__}: {error}\n{data!r}")


def test_all_rules_over_every_fixture() -> None:
    """Its own test runs a fixture with its own rule only, except the good ones."""
    crashed = []
    for example in [each for each in EXAMPLES if each.kind != "good"]:
        with project_copy(example):
            report = verlint.check(".")
        if report.crashed:
            crashed.append(example.name)
    assert crashed == []
