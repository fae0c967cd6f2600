"""A launcher or spec must be readable text.

A file that cannot be read is not checked at all, and what it starts is missing from the experiment: a run that says
"all checks passed" would say nothing about it. Bash reads bytes, so a launcher in UTF-16 or with a NUL in it fails on
the cluster as well.

Files that are neither named nor look like launchers or specs are left out in silence.

Fix: save the file as UTF-8 text, correct the path, or leave the file out with `exclude` in the settings when it is no
launcher.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import Path

from verlint.files.reader import Unreadable
from verlint.finding import Finding, Verdict
from verlint.rule import ERROR, Context, rule

_HELP = (
    ("does not exist", "correct the path"),
    ("is a symbolic link", "mend the link or remove it"),
    ("is too large", "leave it out with `exclude` in the settings when it is data"),
    ("cannot be read", "give yourself the right to read it"),
    ("is not text", "save it as plain text, or leave it out with `exclude` in the settings"),
    ("is not UTF-8", "save it as UTF-8"),
    ("is UTF-", "save it as UTF-8"),
)


@rule("VL001", "unreadable-source", on=Unreadable, severity=ERROR, since="0.1")
def check(file: Unreadable, ctx: Context) -> Iterator[Finding]:
    yield Finding(
        code=ctx.rule.code,
        slug=ctx.rule.slug,
        severity=ctx.rule.severity,
        verdict=Verdict.FAIL,
        message=f"the file {file.reason}; nothing of it is checked",
        span=None,
        path=file.path,
        near=_near(file.path, ctx) if file.reason == "does not exist" else "",
        help=next((text for start, text in _HELP if file.reason.startswith(start)), ""),
    )


def _near(path: str, ctx: Context) -> str:
    """The file of a similar name in the same folder, "" when there is none."""
    from difflib import get_close_matches

    folder, name = posixpath.split(path)
    inside = ctx.project.tree.relative(Path.cwd() / folder)
    near = get_close_matches(name, [] if inside is None else ctx.project.tree.listing(inside), 1, 0.7)
    return posixpath.join(folder, near[0]) if near else ""
