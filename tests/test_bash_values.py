"""Every command of many small scripts has the words that bash gives it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bash_oracle import Ran, Snippet, agree, run_in_bash, run_in_verlint, started, temporary
from bash_scripts import make_script
from bash_snippets import SNIPPETS

SCRIPTS = 300
"""How many random scripts are compared."""


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with temporary() as name:
        yield Path(name)


@pytest.fixture(scope="module")
def ran(folder: Path) -> dict[str, Ran]:
    return dict(zip(SNIPPETS, run_in_bash(list(SNIPPETS.values()), folder), strict=True))


def differences(snippet: Snippet, theirs: Ran, mount: Path) -> str:
    """What bash and the interpreter do not agree on, "" when there is nothing."""
    way = run_in_verlint(snippet, str(mount))
    ours = [command.argv for command in started(way)]
    pairs = zip(ours, theirs.commands, strict=False)
    wrong = next(
        (at for at, (mine, other) in enumerate(pairs) if not agree(mine, other)), min(len(ours), len(theirs.commands))
    )
    if wrong < max(len(ours), len(theirs.commands)):
        mine = [word.shown for word in ours[wrong]] if wrong < len(ours) else "nothing"
        other = list(theirs.commands[wrong]) if wrong < len(theirs.commands) else "nothing"
        return f"command {wrong + 1}: verlint has {mine}, bash has {other}; bash says: {theirs.errors}"
    if way.status not in (None, theirs.status):
        return f"verlint ends with {way.status}, bash with {theirs.status}: {theirs.errors}"
    return ""


@pytest.mark.parametrize("name", SNIPPETS)
def test_snippets(name: str, ran: dict[str, Ran], folder: Path) -> None:
    number = list(SNIPPETS).index(name)
    assert differences(SNIPPETS[name], ran[name], folder / str(number)) == ""


def test_random_scripts() -> None:
    snippets = [Snippet(make_script(seed), ["p q", "r"] if seed % 2 else []) for seed in range(SCRIPTS)]
    with temporary() as name:
        folder = Path(name)
        runs = run_in_bash(snippets, folder)
        found = {
            f"seed {seed}": text
            for seed, (snippet, run) in enumerate(zip(snippets, runs, strict=True))
            if (text := differences(snippet, run, folder / str(seed)))
        }
    assert found == {}
