"""Launchers with a fault: what bash rejects must be rejected, and nothing else."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

TOKENS = (
    *"\"'`$(){}[];|&<>\\#\n =!*?", "fi", "done", "do", "then", "esac", "case x in", "if", "while", "for", "${", "$(", "$((", "))",
    ";;", "<<E\n", "[[", "]]", "((", "function ", "}", "&&", "||", "<(", "\\\n",
)  # fmt: skip
_ALL = r"""
cd "$1" && shift
for name; do
    bash -n "$name" >/dev/null 2>error
    printf '%s\0' "$? $(<error)"
done
"""


def make(rng: random.Random, texts: Sequence[str], count: int) -> list[str]:
    """So many texts, each with a place or two where something was put in or taken out."""
    return [_mutant(rng, rng.choice(texts)) for _ in range(count)]


def _mutant(rng: random.Random, text: str) -> str:
    for _ in range(rng.choice((1, 1, 1, 2))):
        at = rng.randrange(len(text) + 1)
        kind = rng.random()
        if kind < 0.4:
            text = text[:at] + rng.choice(TOKENS) + text[at:]
        elif kind < 0.75:
            text = text[:at] + text[at + rng.choice((1, 1, 2, 5)) :]
        elif kind < 0.85:
            lines = text.split("\n")
            del lines[rng.randrange(len(lines))]
            text = "\n".join(lines)
        else:
            text = text[:at]
    return text


def bash_verdicts(bash: str, texts: Sequence[str], folder: Path) -> list[str]:
    """What `bash -n` says of each, "" when nothing is wrong. It says so of a broken `[[` but still exits with 0."""
    for number, text in enumerate(texts):
        (folder / str(number)).write_bytes(text.encode())
    names = [str(number) for number in range(len(texts))]
    environment = {"PATH": str(Path(bash).parent), "LANG": "C.UTF-8"}
    done = subprocess.run(
        [bash, "-c", _ALL, "bash", str(folder), *names], capture_output=True, env=environment, check=True
    )
    return [_verdict(text) for text in done.stdout.decode("utf-8", "replace").split("\0")[:-1]]


def _verdict(said: str) -> str:
    status, _, errors = said.partition(" ")
    lines = [line for line in errors.splitlines() if "warning: here-document" not in line]
    return "" if status == "0" and not lines else lines[0] if lines else f"exit status {status}"
