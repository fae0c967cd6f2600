"""A data root must hold the files that the stages read.

The launchers take the folder and add fixed names to it. A file that is not there is found missing by the trainer, after
the cluster is up; a validation run needs the training file too. Which files belong together is known as a profile of
each family (`--profile`); others are named with `--expect-file`, `--train-file` and `--expect-dir`.

Links that lead out of the root are not followed: what they lead to is not on the machines that get a copy of the root.

Fix: run the data preparation, or correct the folder.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from difflib import get_close_matches

from verlint import disk
from verlint.finding import Finding
from verlint.inputs import DATA, Input, data_files, look, outside
from verlint.rule import ERROR, Context, rule
from verlint_rules.families.input_places import in_file


@rule("VL824", "incomplete-data-root", on=Input, severity=ERROR, since="0.1")
def check(given: Input, ctx: Context) -> Iterator[Finding]:
    if given.kind != DATA or given.path is None or given.problem:
        return
    for each in data_files(given.wanted):
        yield from _missing(given, each.name, f" of profile {each.profile}" if each.profile else "", ctx)
    for name in given.wanted.folders:
        yield from _missing(given, name, "", ctx, folder=True)


def _missing(given: Input, name: str, whose: str, ctx: Context, *, folder: bool = False) -> Iterator[Finding]:
    assert given.path is not None
    what, shown = f"the {'folder' if folder else 'file'}{whose}", os.path.join(given.shown, name)
    problem, mode = look(given.path / name)
    if problem == "does not exist":
        hint = f"; `{near}` is there" if (near := _near(os.path.join(given.path, name))) else ""
        yield in_file(
            shown, ctx, f"{what} {problem}{hint}", help="make it with the data preparation, or correct the folder"
        )
    elif problem:
        yield in_file(shown, ctx, f"{what} {problem}")
    elif outside(given.path, name):
        yield in_file(shown, ctx, f"{what} is a link that leads out of the data root", help="copy it into the root")
    elif folder and not stat.S_ISDIR(mode):
        yield in_file(shown, ctx, f"{what} is not a folder")
    elif not folder and not stat.S_ISREG(mode):
        yield in_file(shown, ctx, f"{what} is {'a folder' if stat.S_ISDIR(mode) else 'not a regular file'}")


def _near(place: str) -> str:
    """The name beside a place that is most like it, "" for none."""
    try:
        beside = disk.names(os.path.dirname(place))
    except OSError:
        return ""
    return next(iter(get_close_matches(os.path.basename(place), beside, 1, 0.8)), "")
