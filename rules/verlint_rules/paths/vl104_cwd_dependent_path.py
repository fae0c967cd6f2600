"""What a run writes should not depend on the folder it is started from.

A relative `trainer.default_local_dir` lies below the working directory: started from another folder the same launcher
finds none of its checkpoints, begins anew without a word (`resume_mode=auto`), and fills another disk. Under
`ray job submit` the working directory is a copy of the uploaded files below `/tmp/ray` on the head node: it goes with
the session, and checkpoints with it. That holds for the default of VeRL too, which is relative.

An experience file that is named relatively is worse than a missing data file: the forks go on without it.

Silent where the launcher goes to a folder of its own first, for launchers that another script calls by a relative path
(that fails at once elsewhere), for folders that the caller can choose (`${CKPT_DIR:-checkpoints}`), for documents and
tests, for data that is only read, since its absence is an error, and for runs that save nothing.

Fix: build the path on a root from the environment, or on the launcher's own folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.files.kinds import Kind
from verlint.finding import Finding
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.lazy import pattern
from verlint.rule import WARNING, Context, rule
from verlint.value import Hole, Literal, Text, Value
from verlint_rules.artifacts.training import FOLDER, is_test, is_training, saves

_WRITTEN = (FOLDER, "trainer.rollout_data_dir", "trainer.validation_data_dir")
_EXPERIENCE = "trainer.experience_path"
_GOES = pattern(r"^[ \t]*(?:\(?[ \t]*)?(?:cd|pushd)[ \t]", re.MULTILINE)
_RELATIVE = pattern(r"(?![~$/<\[{])[\w.]")


@rule(
    "VL104",
    "cwd-dependent-path",
    on=Launch,
    severity=WARNING,
    since="0.1",
    words=("default_local_dir", "_data_dir", "experience_path", "job submit"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if is_test(launch) or not is_training(launch):
        return
    submitted = _submitted(launch)
    if not submitted and not _starts_anywhere(launch, ctx):
        return
    for key in _WRITTEN:
        value = launch[key]
        if _is_relative(value) and (submitted or not _is_chosen(value)) and (key != FOLDER or saves(launch)):
            yield _written(value, submitted, ctx)
    if submitted and saves(launch) and not launch[FOLDER].given and not launch.passes_arguments:
        message = f"{FOLDER} is not given, and its default is relative: {_where(True)}"
        yield ctx.fail(launch.head, message, help=f"set {FOLDER} to a folder that all nodes share")
    experience = launch[_EXPERIENCE]
    if not submitted and not _is_of_spec(experience, ctx) and _is_relative(experience) and _is_there(experience, ctx):
        message = (
            "the experience is looked for below the folder that the launcher is started in; where it is not found, "
        )
        message += "the run goes on without it"
        yield ctx.fail(experience, message, help="build the path on the launcher's own folder or on a root")


def _written(value: Value, submitted: bool, ctx: Context) -> Finding:
    message = f"relative path: {_where(submitted)}"
    return ctx.fail(value, message, help="build it on a root: ${CKPT_ROOT}/…, or on the launcher's own folder")


def _where(submitted: bool) -> str:
    if submitted:
        return (
            "a submitted job runs in a copy of its files below /tmp/ray, and what it saves there goes with the session"
        )
    return "what is saved lies below the folder that the launcher is started in, and is not found from another one"


def _submitted(launch: Launch) -> bool:
    """Whether the run is a job of `ray job submit`."""
    argv = unwrap(launch.command.argv).argv
    words = [word.known for word in argv[1:3]]
    return bool(argv) and program_name(argv[0]) == "ray" and words == ["job", "submit"]


def _starts_anywhere(launch: Launch, ctx: Context) -> bool:
    """Whether the launcher runs where its user happens to be."""
    command = launch.command
    source = command.span.in_file().source
    if command.around.stack or ctx.project.kinds.get(id(source)) is not Kind.LAUNCHER:
        return False
    first = command.around.cwd.parts[0] if command.around.cwd.parts else None
    return isinstance(first, Hole) and not _goes(source.text[: command.span.in_file().start])


def _goes(text: str) -> bool:
    """Whether a text goes to a folder."""
    return ("cd" in text or "pushd" in text) and _GOES.search(text) is not None


def _is_relative(value: Value) -> bool:
    text: Text | None = value.text
    if not value.given or text is None or not text.parts or text.elastic or value.equals(None):
        return False
    first = text.parts[0]
    written = text.shown
    return isinstance(first, Literal) and _RELATIVE.match(written) is not None and "://" not in written


def _is_of_spec(value: Value, ctx: Context) -> bool:
    """Whether the path is written in a spec, which says what it is relative to."""
    first = value.text.parts[0] if value.text is not None and value.text.parts else None
    span = first.span if first is not None else None
    return span is not None and ctx.project.kinds.get(id(span.in_file().source)) is Kind.SPEC


def _is_chosen(value: Value) -> bool:
    """Whether the path begins with a default, in whose place the caller can give an absolute path."""
    first = value.text.parts[0] if value.text is not None and value.text.parts else None
    return isinstance(first, Literal) and bool(first.overridable)


def _is_there(value: Value, ctx: Context) -> bool:
    """Whether the file is one of the project, so that it is meant to be read."""
    known = value.text.known if value.text is not None else None
    if known is None:
        return False
    tree = ctx.project.tree
    return any(
        tree.exists(f"{folder}/{known}".lstrip("/")) for folder in {"", *(each.start for each in ctx.project.scripts)}
    )
