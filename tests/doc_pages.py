"""The written pages and their fenced blocks; verlint run on them in this process."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from checkout import ROOT
from verlint.cli.main import main

SKILL = ROOT / "docs/agent-skill/SKILL.md"
PAGES = sorted(
    [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + [*(ROOT / "docs").glob("*.md"), SKILL]
)
CUT = "…"
"""A line of an excerpt that stands for lines left out."""


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block: language, text, the last line of prose before it, and where it starts in the page."""

    language: str
    text: str
    before: str
    start: int


def fences(page: Path) -> list[Fence]:
    text = page.read_text("utf-8")
    found = re.finditer(
        r"^(?P<in>[ \t]*)(?P<mark>`{3,})(\w*)\n(.*?)^(?P=in)(?P=mark)[ \t]*$", text, re.DOTALL | re.MULTILINE
    )
    return [
        Fence(
            match[3],
            textwrap.dedent(match[4]),
            (text[: match.start()].strip().splitlines() or [""])[-1],
            match.start(),
        )
        for match in found
    ]


def prose(page: Path) -> str:
    """The text without its fenced blocks."""
    return re.sub(r"^[ \t]*(`{3,}).*?^[ \t]*\1[ \t]*$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def run(command: str, folder: Path) -> tuple[int, list[str]]:
    """The exit code of a `verlint …` command in a folder and the lines it prints, 100 columns wide."""
    words = shlex.split(command)
    assert words[0] == "verlint", command
    said = io.StringIO()
    with (
        contextlib.chdir(folder),
        mock.patch.dict(os.environ, {"COLUMNS": "100", "NO_COLOR": "1"}),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
    ):
        code = main(words[1:])
    return code, [line.rstrip() for line in said.getvalue().splitlines()]


def missing_line(shown: list[str], real: list[str]) -> str | None:
    """The first line of an excerpt that is not in the real output at its place. Between two lines nothing is left out
    without a `…`, and nothing behind the last one."""
    at, gap = 0, False
    for line in shown:
        if line.strip() == CUT:
            gap = True
            continue
        if gap and not line:
            continue
        if line not in (real[at:] if gap else real[at : at + 1]):
            return line
        at = real.index(line, at) + 1
        gap = False
    return None if gap or at == len(real) else f"(more: {real[at]})"


def steps(text: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a `console` block, each with the lines shown below it."""
    command, shown = "", list[str]()
    for line in text.splitlines():
        if line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = line[2:], []
        else:
            shown.append(line)
    if command:
        yield command, shown


def apply_diff(text: str, folder: Path) -> None:
    """Make the changes of a unified diff in the files of a folder; the lines it shows must be there exactly once."""
    for part in re.split(r"^(?=--- )", text, flags=re.MULTILINE):
        if not part.strip():
            continue
        head, target, *lines = part.splitlines()
        name = target.removeprefix("+++ ")
        assert head == f"--- {name}", part
        file = folder / name
        for hunk in re.split(r"^@@.*\n", "\n".join(lines) + "\n", flags=re.MULTILINE):
            if not hunk:
                continue
            rows = [line or " " for line in hunk.splitlines()]
            old, new = ("".join(f"{row[1:]}\n" for row in rows if row[0] in signs) for signs in (" -", " +"))
            whole = file.read_text("utf-8")
            assert whole.count(old) == 1, f"{name} holds this {whole.count(old)} times:\n{old}"
            file.write_text(whole.replace(old, new), "utf-8")
