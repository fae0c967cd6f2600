"""A stage has the text or the teacher that it is meant to train with; the fork goes on without.

When the experience of a consolidation is not there, the forks of OEL and OPCD print one line and train with an empty
text: teacher and student see the same prompt, and the run learns nothing, for as long as it was planned. The same holds
for a system prompt, and for a path that is empty because a variable was. Where a list of experience files is read as
one text, the teacher is told file names. And in LLM-as-a-Coach a run that resumes looks for its iterated teacher at the
last multiple of `iter_teacher_steps`: when `save_freq` does not divide it there is no such checkpoint, and the base
model takes the teacher's place.

Reported are an empty path, a prompt file that the folder of the project does not have, a list that is read as one text,
and teachers that are not saved. A deployment of OEL, which names no experience by intent, is left alone, and so are
paths outside of the project: earlier stages write them.

Fix: name the file that is there, or a `save_freq` that divides `iter_teacher_steps`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.experiment.paths import absolute, in_tree
from verlint.finding import Finding
from verlint.rule import WARNING, Context, rule
from verlint.value import Value
from verlint_rules.config.excerpts import is_excerpt
from verlint_rules.families.forks import end_of, forks_of, held

_PATH = "trainer.experience_path"


@rule(
    "VL812",
    "silent-fallback",
    on=Launch,
    severity=WARNING,
    since="0.1",
    words=("experience_path", "iter_teacher_steps"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    forks = forks_of(launch, ctx)
    if forks == frozenset(["coach"]):
        yield from _teacher(launch, ctx)
    elif forks and not is_excerpt(launch, ctx) and held(launch, "trainer.stage").equals("consolidate"):
        deploys = held(launch, "trainer.train_oel").equals(True) and held(launch, "trainer.on_policy_merge").equals(
            False
        )
        if not deploys:
            yield from _experience(launch, ctx)


def _experience(launch: Launch, ctx: Context) -> Iterator[Finding]:
    path = launch[_PATH]
    if not path.given:
        return
    if path.decided and path.data == "":
        message = "the experience has no path: the VeRL fork trains with an empty text, and teacher and student agree"
        yield ctx.fail(path, message, help="name the experience of the stage; the variable behind it is empty")
        return
    if end_of(path).endswith("experience_list.txt") and held(launch, "trainer.multi_experience").equals(False):
        message = (
            "the list of experience files is read as one experience, as multi_experience is `False`: the teacher is "
            "told file names"
        )
        found = ctx.fail(path, message, help="write trainer.multi_experience=True, or name one experience")
        multi = held(launch, "trainer.multi_experience")
        yield found.with_related(multi.span if multi.given else None, f"{multi.key} = {multi}")
        return
    yield from _missing(launch, path, ctx)


def _missing(launch: Launch, path: Value, ctx: Context) -> Iterator[Finding]:
    """A file that should lie in a folder of the project, and does not."""
    if path.text is None or path.text.known is None or path.text.known.startswith(("/", "<", "{")):
        return
    place = in_tree(absolute(path.text, launch.command.around.cwd))
    folder = posixpath.dirname(place) if place is not None else ""
    if place is None or not folder or not ctx.project.tree.exists(folder) or ctx.project.tree.exists(place):
        return
    others = sorted(name for name in ctx.project.tree.listing(folder) if name.endswith(".txt"))
    if not others:
        return
    near = _near(posixpath.basename(place), others)
    message = f"`{path}` is not there: the VeRL fork trains with an empty text, and teacher and student agree"
    help = f"name {near}" if near else f"name one of {', '.join(others[:4])}"
    yield ctx.fail(path, message, near=near, help=help)


def _near(name: str, names: list[str]) -> str:
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, names, n=1, cutoff=0.7)), "")


def _teacher(launch: Launch, ctx: Context) -> Iterator[Finding]:
    steps, every = held(launch, "trainer.iter_teacher_steps"), held(launch, "trainer.save_freq")
    period, saved = steps.number(), every.number()
    if period is None or saved is None or period <= 0 or saved <= 0 or period % saved == 0:
        return
    if held(launch, "trainer.resume_mode").equals("disable") is not False:
        return
    message = (
        f"the teacher changes every {steps} steps, but is saved every {every}: a run that resumes finds no teacher of "
        f"step {steps}, and goes on with the base model in its place"
    )
    found = ctx.fail(every, message, help=f"take a save_freq that divides {steps}")
    yield found.with_related(steps.span, f"{steps.key} = {steps}")
