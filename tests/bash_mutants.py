"""Launchers with small damage: what people's editors, merges and habits leave behind."""

from __future__ import annotations

import random

_TOKENS = [
    "'",
    '"',
    "`",
    "\\",
    "$",
    "${",
    "$(",
    "$((",
    "(",
    ")",
    "((",
    "))",
    "{",
    "}",
    "[",
    "]",
    "[[",
    "]]",
    ";",
    ";;",
    "&",
    "&&",
    "|",
    "||",
    "<",
    ">",
    "<<",
    "<<<",
    "\n",
    " ",
    "#",
    "if",
    "fi",
    "then",
    "do",
    "done",
    "esac",
    "case x in",
    "for",
    "while",
    "else",
    "=",
    "=(",
    "!",
    "in",
    "function f",
    "EOF",
    "\\\n",
    "*)",
    "%",
    "<(",
    "time",
    "\t",
]


def mutate(text: str, seed: int, *, size: int = 600) -> str:
    """A window of `text` (characters) with one to three changes."""
    chance = random.Random(seed)
    lines = text.split("\n")
    first = chance.randrange(len(lines))
    window = "\n".join(lines[first:])[:size]
    for _ in range(chance.choice([0, 1, 1, 1, 2, 3])):
        at = chance.randrange(len(window) + 1)
        kind = chance.randrange(5)
        if kind == 0:
            window = window[:at] + chance.choice(_TOKENS) + window[at:]
        elif kind == 1:
            window = window[:at] + window[at + chance.randrange(1, 4) :]
        elif kind == 2:
            window = window[:at] + " " + chance.choice(_TOKENS) + " " + window[at:]
        elif kind == 3:
            end = at + chance.randrange(1, 30)
            window = window[:end] + window[at:end] + window[end:]
        else:
            window = window[:at] + chance.choice(_TOKENS) + window[at + 1 :]
    return window
