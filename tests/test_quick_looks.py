"""Quick looks before an expression is compiled: what they let through or read themselves is what the expression says."""

from __future__ import annotations

import re
from itertools import product

import pytest

from verlint.languages.hydra import lexing
from verlint.secret import _NAMED, _SIGNS, _SPELLINGS
from verlint.verl.versions import version_key
from verlint_rules.shell.vl903_unguarded_test import _variable
from verlint_rules.shell.vl917_not_exported import _FIRST_WORDS, _FOR_PROGRAMS


def _by_expression(text: str) -> list[lexing.Token]:
    out = []
    at = 0
    while at < len(text):
        token = lexing._any(text, at)
        out.append(token)
        if token.kind == lexing.BAD:
            return out
        at = token.end
    return [*out, lexing.Token(lexing.END, "", at)]


def test_tokens_of_lists() -> None:
    texts = ["".join(each) for size in range(6) for each in product("[],' \\a", repeat=size)]
    assert [text for text in texts if lexing.tokens(text, 0) != _by_expression(text)] == []


@pytest.mark.parametrize(
    "text",
    ["0.2.0.post2", "v0.3", "0.9.x", "1", "v", "", "main", "0.5.1rc1", "0..1", " 0.4 ", ".5", "0.8.0.dev", "v1.2.3.4"],
)
def test_numbers_of_a_version(text: str) -> None:
    match = re.match(r"v?(\d+(?:\.\d+)*)", text.strip())
    assert version_key(text) == (tuple(map(int, match[1].split("."))) if match else None)


def test_a_word_that_is_a_variable() -> None:
    expression = re.compile(r"(?P<quote>\"?)\$(?:(?P<bare>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)\})(?P=quote)")
    for text in map("".join, product(('"', ""), ("$", "${", ""), ("A_1", "1", ""), ("}", ""), ('"', ""))):
        match = expression.fullmatch(text)
        assert _variable(text) == ((match["bare"] or match["braced"]) if match else ""), text


def test_first_words_of_variables_for_programs() -> None:
    alternatives = re.sub(r"\(\?!.*?\)", "", _FOR_PROGRAMS.pattern).removeprefix("(?:").split("|")
    words = {word for each in alternatives if (word := each.partition("_")[0]).isupper() and "_" in each}
    assert words - _FIRST_WORDS <= {"HUB", "DATASETS", "API", "BASE"}  # what stands behind HF_ and WANDB_


def test_signs_of_a_secret() -> None:
    forms = {form for word in _NAMED for form in _forms(word)}
    assert forms <= set(_SIGNS)
    assert set(_SPELLINGS) <= forms


def _forms(word: str) -> list[str]:
    return [first + rest for first in (word[0], word[0].upper()) for rest in (word[1:], word[1:].upper())]
