"""A data root must hold the files that the stages read.

The launchers take the folder and add fixed names to it. A file that is not there is found missing by the trainer, after
the cluster is up; a validation run needs the training file too. Which files belong together is known as a profile of
each family (`--profile`); others are named with `--expect-file` and `--expect-dir`.

Links that lead out of the root are not followed: what they lead to is not on the machines that get a copy of the root.

Fix: run the data preparation, or correct the folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from difflib import get_close_matches

from verlint.families.recipes import profiles
from verlint.finding import Finding
from verlint.inputs import DATA, Input
from verlint.rule import ERROR, Context, rule
from verlint_rules.families.input_places import in_file


@rule("VL824", "incomplete-data-root", on=Input, severity=ERROR, since="0.1")
def check(given: Input, ctx: Context) -> Iterator[Finding]:
    if given.kind != DATA or given.path is None or given.problem:
        return
    known = profiles()
    files = [(name, f" of profile {profile}") for profile in given.wanted.profiles for name in known[profile].files]
    for name, whose in dict.fromkeys([*files, *((name, "") for name in given.wanted.files)]):
        yield from _missing(given, name, f"the file{whose}", os.path.isfile, ctx)
    for name in given.wanted.folders:
        yield from _missing(given, name, "the folder", os.path.isdir, ctx)


def _missing(given: Input, name: str, what: str, exists: Callable[[str], bool], ctx: Context) -> Iterator[Finding]:
    assert given.path is not None
    place, shown = os.path.join(given.path, name), os.path.join(given.shown, name)
    root, real = os.path.realpath(given.path), os.path.realpath(place)
    if os.path.lexists(place) and os.path.commonpath([root, real]) != root:
        yield in_file(shown, ctx, f"{what} is a link that leads out of the data root", help="copy it into the root")
    elif not exists(place):
        folder = os.path.dirname(place)
        near = get_close_matches(os.path.basename(name), os.listdir(folder) if os.path.isdir(folder) else [], 1, 0.8)
        hint = f"; `{near[0]}` is there" if near else ""
        yield in_file(shown, ctx, f"{what} does not exist{hint}", help="run the data preparation")
