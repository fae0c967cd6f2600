"""Each line of an experience list must name one experience file.

The trainer opens every line of the list, without blanks around it. A byte order mark stays part of the first name, a
folder cannot be opened, and a remote name is looked for on the disk: each of them stops the first step, after all
models are loaded. A line that stands twice gives its experience twice the weight. Empty lines and Windows line ends are
skipped by the trainer, and trip the shell loops that read such lists; they are reported as notes.

Whether the files exist is asked with `--require-listed-files` (relative ones count from the folder of the list),
absolute paths are reported with `--warn-absolute-lines`.

Fix: write one path a line, with Unix line ends, and copy remote files first.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from verlint import disk
from verlint.finding import Finding
from verlint.inputs import LIST, Input, entries
from verlint.rule import ERROR, INFO, WARNING, Context, rule
from verlint.source import Span
from verlint_rules.families.input_places import about

_REMOTE = re.compile(r"[A-Za-z][\w+.-]*://|hf:")


@rule("VL821", "list-entry", on=Input, severity=ERROR, since="0.1")
def check(given: Input, ctx: Context) -> Iterator[Finding]:
    source = given.source
    if given.kind != LIST or source is None or given.problem:
        return
    if given.bom:
        yield about(given, ctx, "a byte order mark becomes part of the first name", help="save it without one")
    if (at := source.text.find("\r")) >= 0:
        lines = source.text.count("\r")
        message = (
            f"Windows line ends in {lines} line{'s' if lines > 1 else ''}: shell loops read them as part of the names"
        )
        yield ctx.fail(source.span(at, at + 1), message, help="save it with Unix line ends", severity=INFO)
    seen: dict[str, Span] = {}
    named = 0
    for line, start, end in entries(source):
        name, span = line.rstrip("\r"), source.span(start, end)
        named += bool(name.strip())
        if name.strip() and name in seen:
            found = ctx.fail(span, "the entry stands here a second time: it counts twice", severity=WARNING)
            yield found.with_related(seen[name], "first here")
            continue
        seen[name] = span
        yield from _entry(given, name, span, ctx)
    if named < given.wanted.min_lines:
        yield about(given, ctx, f"the list has {named} entries, {given.wanted.min_lines} are expected")


def _entry(given: Input, name: str, span: Span, ctx: Context) -> Iterator[Finding]:
    assert given.path is not None
    if not name.strip():
        yield ctx.fail(span, "an empty line names no file", help="remove it", severity=INFO)
        return
    if _REMOTE.match(name):
        yield ctx.fail(span, "the entry is remote, and the trainer opens files only", help="copy it and name the copy")
        return
    if os.path.isabs(name) and given.wanted.warn_absolute:
        yield ctx.fail(span, "the path is absolute: it holds on this machine only", severity=WARNING)
    place = Path(os.path.join(given.path.parent, name.strip()))
    try:
        mode = disk.status(place)[0]
    except (FileNotFoundError, NotADirectoryError):
        mode = 0
    except (OSError, ValueError):
        yield ctx.fail(span, "the entry cannot be opened under this name")
        return
    if stat.S_ISDIR(mode):
        yield ctx.fail(span, "the entry is a folder", help="name the experience file in it")
    elif given.wanted.listed_files and not stat.S_ISREG(mode):
        yield ctx.fail(span, "the listed file does not exist", help="run the extraction of this seed, or correct it")
