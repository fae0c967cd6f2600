"""Where the report of a call goes: formats and files, colours, the width of the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from verlint import disk
from verlint.cache.calls import write
from verlint.cli.main import UsageError, complain, drop_output
from verlint.report import FORMATS
from verlint.result import Report
from verlint.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

DEFAULT_WIDTH = 100


_OF_STATISTICS = ("full", "concise", "json")
"""Formats that a call with `--statistics` may have for standard output: text, or JSON."""


def output_targets(settings: Settings, *, statistics: bool = False) -> list[tuple[str, str]]:
    """(format, file) pairs of the call; file "" is standard output, where `statistics` may stand instead of a
    report."""
    targets = []
    for text in settings.output_format or ("full",):
        name, _, file = text.partition(":")
        if name not in FORMATS:
            from difflib import get_close_matches

            near = get_close_matches(name, FORMATS, n=1)
            hint = f" (did you mean `{near[0]}`?)" if near else ""
            raise UsageError(f"unknown output format `{name}`{hint}; formats: {', '.join(FORMATS)}")
        if statistics and not file and name not in _OF_STATISTICS:
            raise UsageError(f"--statistics prints text or json; for a report as well give {name} a file: {name}:FILE")
        targets.append((name, file))
    return targets


def emit(report: Report, targets: Sequence[tuple[str, str]], *, color: bool) -> bool:
    """Print the report in every format asked for; False when a file could not be written. A reader that has gone is
    no error."""
    from verlint.report import render

    written = True
    for name, file in targets:
        if not file:
            try:
                sys.stdout.write(_ended(render(report, name, color=color, width=output_width(sys.stdout))))
                sys.stdout.flush()
            except BrokenPipeError:
                drop_output()
            continue
        try:
            write(file, _ended(render(report, name, color=False, width=DEFAULT_WIDTH)))
        except OSError as error:
            complain(f"verlint: error: cannot write {file}: {error.strerror or error}")
            written = False
    return written


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def use_color(wish: str, stream: TextIO) -> bool:
    """Whether to colour: the option, else NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE (set and not empty), else a capable
    terminal."""
    if wish != "auto":
        return wish == "always"
    if disk.variable("NO_COLOR"):
        return False
    if disk.variable("FORCE_COLOR") or disk.variable("CLICOLOR_FORCE"):
        return True
    return stream.isatty() and disk.variable("TERM") != "dumb"


def output_width(stream: TextIO) -> int:
    """Columns of the output: COLUMNS, else the terminal's, else a default."""
    columns = disk.variable("COLUMNS")
    if columns.isdigit() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or DEFAULT_WIDTH
    except (OSError, ValueError):
        return DEFAULT_WIDTH
