"""Every command of many small scripts has the words that bash gives it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bash_oracle import Ran, agree, run_in_bash, run_in_verlint, started, temporary
from bash_snippets import SNIPPETS


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with temporary() as name:
        yield Path(name)


@pytest.fixture(scope="module")
def ran(folder: Path) -> dict[str, Ran]:
    return dict(zip(SNIPPETS, run_in_bash(list(SNIPPETS.values()), folder), strict=True))


@pytest.mark.parametrize("name", SNIPPETS)
def test_commands(name: str, ran: dict[str, Ran], folder: Path) -> None:
    snippet, theirs = SNIPPETS[name], ran[name]
    way = run_in_verlint(snippet, str(folder / str(list(SNIPPETS).index(name))))
    ours = started(way)
    shown = [[word.shown for word in command.argv] for command in ours]
    assert shown == [list(words) for words in theirs.commands] or (
        len(ours) == len(theirs.commands)
        and all(agree(command.argv, words) for command, words in zip(ours, theirs.commands, strict=True))
    ), theirs.errors
    if way.status is not None:
        assert way.status == theirs.status, theirs.errors
