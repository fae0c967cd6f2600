"""Loops over lines that nobody knows before the run: their body is looked at, with a name for each field."""

from __future__ import annotations

import pytest

from bash_oracle import Checkout
from verlint.languages.bash.replay import Entry, explore
from verlint.report.commands import Listing, Masker, text_of


def shown(text: str, files: dict[str, str] | None = None, *, closed: bool = False) -> str:
    """What `verlint show` prints of a launcher."""
    checkout = Checkout({"run.sh": text, **(files or {})})
    source = checkout.source("run.sh")
    assert source is not None
    arguments: list[str] | None = [] if closed else None
    resolution = explore([source], checkout, Entry(name="run.sh", arguments=arguments, closed=closed))
    return text_of(resolution, Listing(100), Masker([source]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "while read -r model step; do\n  train --model $model --step $step\ndone < models.txt\nafter\n",
            (
                "always\n"
                "  run.sh:2:3\n"
                "    train --model ${model}… --step ${step}…\n"
                "  run.sh:4:1\n"
                "    after\n"
                "  not known before the run:\n"
                "    ${model}: field 1 of a line of models.txt\n"
                "    ${step}: field 2 of a line of models.txt\n"
            ),
        ),
        (
            'list | while IFS= read -r line; do train "$line"; done\n',
            (
                "always\n"
                "  run.sh:1:1\n"
                "    list\n"
                "  run.sh:1:36\n"
                "    train ${line}\n"
                "  not known before the run:\n"
                "    ${line}: a line of $(list)\n"
            ),
        ),
        (
            'while read -r name; do train "$name"; done < <(list)\n',
            (
                "always\n"
                "  run.sh:1:48  (in the background; inside $( ))\n"
                "    list\n"
                "  run.sh:1:24\n"
                "    train ${name}\n"
                "  not known before the run:\n"
                "    ${name}: a line of $(list)\n"
            ),
        ),
        ("while read -r name; do train $name; done < /dev/null\n", "always\n  (nothing is started)\n"),
    ],
)
def test_lines_that_nobody_knows(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_lines_of_a_file_that_is_there() -> None:
    text = "while read -r name; do train $name; done < names.txt\n"
    assert shown(text, {"names.txt": "a\nb\nlast"}) == (
        "always\n  run.sh:1:24\n    train a\n  run.sh:1:24\n    train b\n"
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("while :; do train; done\nafter\n", "never gets past run.sh:1:1"),
        ("f() { x=$(f); }\nf\nafter\n", "not followed any further: run.sh:2:1 starts too much"),
        (
            "i=0\nwhile [ $i -lt 5000 ]; do i=$((i + 1)); done\n",
            "a loop of many turns is left early: what it changes is not known",
        ),
    ],
)
def test_what_is_not_followed_is_said(text: str, line: str) -> None:
    assert f"  ({line})\n" in shown(text)


def test_a_closed_world_has_no_unknown_lines() -> None:
    assert shown("while read -r name; do train $name; done < names.txt\n", closed=True) == (
        "always\n  (nothing is started)\n"
    )


def test_line_ends_and_control_characters_in_words() -> None:
    assert shown("python -c 'import x\nprint(\"it\\'\"'\"'s\")' $'a\\tb\\e[1m' 'c\\d'\n") == (
        "always\n  run.sh:1:1\n    python -c $'import x\\nprint(\"it\\\\\\'s\")' $'a\\tb\\x1b[1m' 'c\\d'\n"
    )
