"""Expressions that are compiled when they are first used give what `re.compile` gives."""

from __future__ import annotations

import re

import pytest

from verlint.lazy import _Pattern, pattern


def test_nothing_is_compiled_before_the_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_ = re.compile
    monkeypatch.setattr(re, "compile", lambda text, flags=0: compiled.append(text) or compile_(text, flags))
    lazy = _Pattern(r"(?P<word>\w+)=", re.IGNORECASE)
    assert compiled == []
    found = lazy.match("Key=1")
    assert found is not None
    assert found["word"] == "Key"
    assert lazy.fullmatch("key=") is not None
    assert compiled == [r"(?P<word>\w+)="]


@pytest.mark.parametrize("name", [name for name in dir(re.compile("")) if not name.startswith("_")])
def test_it_has_all_that_a_compiled_expression_has(name: str) -> None:
    lazy, eager = pattern(r"(a)(?P<n>b)?", re.MULTILINE), re.compile(r"(a)(?P<n>b)?", re.MULTILINE)
    mine, other = getattr(lazy, name), getattr(eager, name)
    assert callable(mine) == callable(other)
    assert callable(mine) or mine == other


def test_names_that_expressions_do_not_have() -> None:
    assert not hasattr(pattern("a"), "other")
