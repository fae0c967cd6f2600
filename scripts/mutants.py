#!/usr/bin/env python3
"""Mutation testing: small changes of the code that a test has to notice, made in a flat copy of the checkout.

    pip install cosmic-ray
    python scripts/mutants.py rules --number 200          # of the rules, each held against its own fixtures
    python scripts/mutants.py bash --number 100           # of the interpreter, against its tests, then real bash
    python scripts/mutants.py rules/verlint_rules/shell/vl901_broken_continuation.py --number 0     # all of one file

The changes are those of cosmic-ray. Survivors are printed as differences: code that no test looks at, or a change that
means the same. The copy lies in a temporary folder; nothing is changed here."""

from __future__ import annotations

import argparse
import difflib
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).resolve().parent.parent
RULES, BASH = "rules/verlint_rules", "linter/verlint/languages/bash"
SECONDS = 300
"""After so long a test run counts as having noticed: a loop no longer ends."""

OPERATORS = [
    name
    for name in operator_names()
    if "BinaryOperator_BitOr" not in name  # in annotations, which nothing evaluates
    and not re.search(r"Decorator|BitXor|_RShift|_LShift|_Pow|_Mod\b|_Div\b|_Is(?:Not)?_(?!Is)|Variable|NoOp", name)
]


def tests_of(path: str) -> list[list[str]]:
    """The arguments of pytest, quick ones first, of which one has to notice a change in a file."""
    code = re.search(r"/vl(\d+)_", path)
    if code:
        return [["tests/test_fixtures.py", "-k", f"VL{code.group(1)}"]]
    if path.startswith(BASH):
        return [
            ["tests/test_bash_values.py", "tests/test_bash_open.py", "tests/test_bash_parser.py"],
            ["tests/test_bash_bad_input.py", "tests/test_launch.py"],
            ["tests/test_oracle.py", "-k", "snippet or pitfall or idiom"],
            ["tests/test_fixtures.py", "-k", "VL9"],
        ]
    theme = path.split("/")[-2]
    return [["tests/test_fixtures.py", "-k", " or ".join(_codes(theme)) or "VL"]]


def _codes(theme: str) -> list[str]:
    return sorted({f"VL{path.name[2:5]}" for path in (ROOT / RULES / theme).glob("vl*.py")})


def places(path: str) -> list[tuple[str, int]]:
    """Every change that is possible in a file: its operator, and the how many-th place of it."""
    nodes = list(ast_nodes(get_ast((ROOT / path).read_text("utf-8"))))
    found = []
    for name in OPERATORS:
        operator = get_operator(name)()
        found += [
            (name, number) for number in range(sum(len(list(operator.mutation_positions(node))) for node in nodes))
        ]
    return found


def drawn(paths: Sequence[str], number: int, seed: int) -> Iterator[tuple[str, str, int]]:
    """Changes at random, each once: longer files have more of them. All with `number` 0."""
    if not number:
        yield from ((path, *place) for path in paths for place in places(path))
        return
    chance = random.Random(seed)
    known: dict[str, list[tuple[str, int]]] = {}
    sizes = [(ROOT / path).stat().st_size for path in paths]
    for path in chance.choices(paths, sizes, k=number):
        left = known.setdefault(path, places(path) if path not in known else [])
        if left:
            yield path, *left.pop(chance.randrange(len(left)))


def files(what: Sequence[str]) -> list[str]:
    """The files that are changed: of the rules, of the interpreter, or those named."""
    folders = {"rules": RULES, "bash": BASH}
    found = []
    for each in what:
        if each in folders:
            found += [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / folders[each]).rglob("*.py"))]
        else:
            found.append(each)
    return [path for path in found if not path.endswith("__init__.py")]


def is_noticed(copy: Path, path: str) -> bool:
    """Whether a test of the copy fails."""
    environment = {**os.environ, "PYTHONPATH": "linter:rules", "PYTHONDONTWRITEBYTECODE": "1"}
    for arguments in tests_of(path):
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--no-header", *arguments]
        try:
            done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return True
        if done.returncode not in (0, 5):
            return True
    return False


def main() -> int:
    """The command of this file."""
    parser = argparse.ArgumentParser(description="Change the code in small ways and see whether a test notices.")
    parser.add_argument("what", nargs="+", help="`rules`, `bash`, or files")
    parser.add_argument("--number", type=int, default=100, help="how many changes, taken at random; 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    called = parser.parse_args()
    tried = survived = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in filter(None, listed.split("\0")):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
        for path, name, place in drawn(files(called.what), called.number, called.seed):
            before = (ROOT / path).read_text("utf-8")
            changed = mutate_code(before, get_operator(name)(), place)
            tried += 1
            (copy / path).write_text(changed, "utf-8")
            if not is_noticed(copy, path):
                survived += 1
                print(f"# {path}: {name}")
                lines = difflib.unified_diff(before.splitlines(), changed.splitlines(), n=1, lineterm="")
                print("\n".join(list(lines)[2:]), flush=True)
            (copy / path).write_text(before, "utf-8")
    print(f"{tried} changes tried, {survived} not noticed")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
