"""Faults planted at random: after the fix they are gone, nothing new is found, and the files are as before but for the
fixed words."""

from __future__ import annotations

import contextlib
import os
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from fixture_cases import EXAMPLES
from planted_fixes import BOM, Planted, changed, of_example
from verlint.cli.fixing import fix_files
from verlint.engine import check_project
from verlint.example import check_example
from verlint.files.loading import load
from verlint.finding import Finding, Verdict
from verlint.fix import apply_fixes, fixable
from verlint.result import Report
from verlint.rule import load_rules
from verlint.settings import Settings, read_settings
from verlint.record import replace

COUNT = int(os.environ.get("VERLINT_PLANTED", "8"))
"""How many projects are made for each rule."""

FIXABLE = [rule.code for rule in load_rules() if rule.fixable]


@cache
def originals(code: str) -> list[Planted]:
    bad = [each for each in EXAMPLES if each.code == code and each.kind == "bad"]
    return [of_example(each) for each in bad if fixable(check_example(each).findings, unsafe=True)]


@contextlib.contextmanager
def on_disk(planted: Planted) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="verlint-") as temporary:
        folder = Path(temporary).resolve()
        for path, data in planted.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        with contextlib.chdir(folder):
            yield folder


def check_here(folder: Path, select: tuple[str, ...] = ()) -> Report:
    settings = settings_here(folder)
    if select:
        settings = replace(settings, select=select)
    loading = load(["."], settings)
    return check_project(loading.files, settings, folder, unreadable=loading.unreadable)


def settings_here(folder: Path) -> Settings:
    settings = read_settings(folder)
    if settings.path is None or not settings.path.is_relative_to(folder):
        return Settings(root=folder)
    return replace(settings, ignore=())


def fix_here(folder: Path, code: str) -> Report:
    settings = replace(settings_here(folder), select=(code,))

    def check(loading):
        return check_project(loading.files, settings, folder, unreadable=loading.unreadable)

    return fix_files(load(["."], settings), check, lambda: load(["."], settings), unsafe=True)[0]


def bytes_here(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def problems(planted: Planted) -> tuple[bool, list[str], dict[str, bytes]]:
    """Whether there was something to fix, what is wrong with its fix, and the files behind it."""
    wrong: list[str] = []
    with on_disk(planted) as folder:
        before = check_here(folder)
        own = check_here(folder, (planted.code,))
        mended = fixable(own.findings, unsafe=True)
        if not mended:
            return False, [], {}
        report = fix_here(folder, planted.code)
        after_files = bytes_here(folder)
        after = check_here(folder)
        if report.crashed or after.crashed:
            wrong.append("crash")
        left = [f.message for f in fixable(report.findings, unsafe=True)]
        if left:
            wrong.append(f"left: {left}")
        fix_here(folder, planted.code)
        if bytes_here(folder) != after_files:
            wrong.append("a second run changes the files")
        wrong += new_findings(before, after)
        wrong += damage(planted, own, after_files)
    return True, wrong, after_files


def new_findings(before: Report, after: Report) -> list[str]:
    old, new = Counter(f.code for f in before.findings), Counter(f.code for f in after.findings)
    worse = [code for code in new if new[code] > old[code]]
    told = [f"{f.code} {f.span}: {f.message}" for f in after.findings if f.code in worse]
    return [f"new: {told}"] if worse else []


def damage(planted: Planted, own: Report, after: dict[str, bytes]) -> list[str]:
    wrong = []
    for path, data in planted.files.items():
        new = after[path]
        if new == data:
            continue
        if data.startswith(BOM) != new.startswith(BOM):
            wrong.append(f"{path}: mark")
        if data.endswith(b"\n") != new.endswith(b"\n"):
            wrong.append(f"{path}: last end")
        if data.count(b"\n") == data.count(b"\r\n") and new.count(b"\n") != new.count(b"\r\n") and b"\n" in data:
            wrong.append(f"{path}: line ends")
        comments, kept = Counter(_comments(data)), Counter(_comments(new))
        if planted.code != "VL008" and comments - kept:
            wrong.append(f"{path}: lost comments {comments - kept}")
    return wrong


def _comments(data: bytes) -> list[str]:
    return [found.strip(" \t\\\r") for found in re.findall(r"(?m)(?:^|[ \t])#[^!\n][^\n]*", data.decode())]


@pytest.mark.parametrize("code", FIXABLE)
def test_planted(code: str) -> None:
    wrong = []
    fixed = 0
    for seed in range(COUNT):
        chance = random.Random(f"{code} {seed}")
        planted = changed(chance.choice(originals(code)), chance)
        some, said, _ = problems(planted)
        fixed += some
        wrong += [(seed, planted.name, planted.done, said)] if said else []
    assert not wrong
    assert fixed
