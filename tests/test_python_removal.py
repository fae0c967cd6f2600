"""What is taken out of a Python text goes alone, and the text stays one of Python."""

from __future__ import annotations

import ast

import pytest

from verlint.languages.python.removal import without
from verlint.source import Source


@pytest.mark.parametrize(
    ("text", "gone", "left"),
    [
        ("f(a, run=True)\n", "run=True", "f(a)\n"),
        ("f(run=True, a=1)\n", "run=True", "f(a=1)\n"),
        ("f(run = True)\n", "run = True", "f()\n"),
        ("f(run=True,)\n", "run=True", "f()\n"),
        ("f(\n    a,\n    run=True,\n)  # é 🐙\n", "run=True", "f(\n    a,\n)  # é 🐙\n"),
        ("f(\r\n    run=True,\r\n    *a,\r\n)\r\n", "run=True", "f(\r\n    *a,\r\n)\r\n"),
        ("# é 🐙\nw = ['a', '--run', 'b']\n", "'--run'", "# é 🐙\nw = ['a', 'b']\n"),
        ("w = [\n    '--run'\n]", "'--run'", "w = [\n    \n]"),
        ("f(a,  # why\n  run=True)\n", "run=True", None),
        ("f(run=True,  # why\n  a=1)\n", "run=True", None),
        ("import os\nos.e['K'] = 'v'\nrun()\n", "os.e['K'] = 'v'", "import os\nrun()\n"),
        ("import os\r\nos.e['K'] = 'v'", "os.e['K'] = 'v'", "import os"),
        ("if a:\n\tos.e['K'] = 'v'\n", "os.e['K'] = 'v'", "if a:\n\tpass\n"),
        ("if a: os.e['K'] = 'v'\n", "os.e['K'] = 'v'", None),
        ("a = 1; os.e['K'] = 'v'\n", "os.e['K'] = 'v'", None),
        ("os.e['K'] = 'v'  # mine\n", "os.e['K'] = 'v'", None),
        ("f(run=True\n", "run=True", None),
        ("f(a + run)\n", "run", None),
    ],
)
def test_what_is_taken_out(text: str, gone: str, left: str | None) -> None:
    source = Source("tool.py", text)
    at = text.index(gone)
    found = without(source.span(at, at + len(gone)))
    made = None
    if found is not None:
        span, new = found
        made = text[: span.start] + new + text[span.end :]
        ast.parse(made)
    assert made == left
