"""What is said about `[` with empty variables is what a real bash says."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from verlint_rules.shell.tests_of_variables import Outcome, Word, is_false_anyway, judge

BASH = shutil.which("bash")

TESTS = [
    "",
    "-eq 0",
    "0 -eq",
    "= yes",
    "yes =",
    "!= yes",
    "! -eq 0",
    "! = yes",
    "-n",
    "-f",
    "-z",
    "! -n",
    "-n x",
    "-z x",
    "! x",
    "'' -eq 0",
    "0 -eq ''",
    "'' = yes",
    "-eq 1 -o -eq 1",
    "-eq 1 -o 1 -eq 1",
    "1 -eq 1 -a -eq 1",
    "1 -eq 1 -a 2 -eq 2",
    "x = x -a -n y",
    "( -eq 0 )",
    "( -n x )",
    "x y z",
    "! x = y",
]


@pytest.mark.skipif(BASH is None, reason="bash is the oracle here")
@pytest.mark.parametrize("arguments", TESTS)
def test_bash_agrees(arguments: str) -> None:
    written = arguments.replace("(", r"\(").replace(")", r"\)")
    done = subprocess.run([BASH or "", "-c", f"[ {written} ]"], capture_output=True, text=True, check=False)
    outcome = judge([Word(each.strip("'")) for each in arguments.split()])
    if done.returncode == 2:
        assert outcome in (Outcome.UNARY, Outcome.BINARY, Outcome.NUMBER, Outcome.ARGUMENTS), done.stderr
    elif outcome is Outcome.ALWAYS_TRUE:
        assert done.returncode == 0
    else:
        assert outcome is Outcome.RIGHT


@pytest.mark.parametrize(
    ("test", "harmless"),
    [
        ("X -eq 0", False),
        ("X -eq 1", True),
        ("1 -lt X", True),
        ("X -ne 0", True),
        ("X -ne 1", False),
        ("X = yes", True),
        ("X != yes", False),
        ("X -ge 0", False),
    ],
)
def test_whether_the_answer_is_right_by_chance(test: str, harmless: bool) -> None:
    words = test.split()
    empty = [word == "X" for word in words]
    assert is_false_anyway([None if word == "X" else word for word in words], empty) is harmless
