"""The path to resume from must end in the step's folder, and must be read at all.

With `trainer.resume_mode=resume_path` the trainer takes everything behind the last `global_step_` of
`trainer.resume_from_path` for a number: `…/global_step_12/actor` and even `…/global_step_12/` end the run, after the
models are loaded. A path without `global_step_`, or no path at all, ends it the same way. In every other mode the path
is not read: with `auto` the run starts from the newest checkpoint of its own folder, or from nothing, and nothing in
the log says that the named step was left out.

Silent for launchers of VeRL 0.2, which takes the path from `resume_mode`; for SFT, whose trainer finds the step
anywhere in the path; for paths that only the host knows; and, where the mode is not `resume_path`, for paths that name
no step.

Fix: name the folder `…/global_step_N` itself, and set `trainer.resume_mode=resume_path`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.languages.bash.pieces import MARK, flat
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.value import Literal, Value
from verlint.verl.facts import Facts
from verlint.verl.undecided import Undecided
from verlint_rules.artifacts.training import FROM, MODE, everywhere, is_training
from verlint_rules.config.view import in_document, is_cut

_MARKER = "global_step_"


@rule("VL213", "resume-path-shape", on=Launch, severity=ERROR, since="0.1", words=("resume_",))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if not is_training(launch) or (launch.facts and not any(facts.at_least("0.3.0") for facts in launch.facts)):
        return
    mode, path = launch[MODE], launch[FROM]
    if mode.given and mode.equals("resume_path"):
        if path.given:
            yield from _shape(path, mode, ctx)
        elif not _may_be_elsewhere(launch, ctx) and everywhere(launch, _no_path):
            message = "resume_mode is resume_path, but no path is given: the run ends once the models are loaded"
            yield ctx.fail(mode, message, help=f"set {FROM}=…/global_step_N, or {MODE}=auto")
    elif path.given and not _is_choice(mode) and _step_of(path) is not None and not _may_be_elsewhere(launch, ctx):
        yield from _unread(launch, path, mode, ctx)


def _no_path(facts: Facts) -> bool:
    try:
        return facts.get(FROM, None) in (None, False, "")
    except Undecided:
        return False


def _may_be_elsewhere(launch: Launch, ctx: Context) -> bool:
    """Whether the other key may be set by words that are not seen here."""
    return launch.passes_arguments or in_document(launch) or is_cut(launch, ctx.project)


def _shape(path: Value, mode: Value, ctx: Context) -> Iterator[Finding]:
    fault = _fault(path)
    if fault is None:
        return
    message, right = fault
    found = ctx.fail(path, f"{message}; the run ends once the models are loaded", help=right)
    yield found.with_related(mode.span, "the mode that reads the path")


def _fault(path: Value) -> tuple[str, str] | None:
    """What is wrong with a path, and what to write."""
    right = "name the folder …/global_step_N itself"
    if path.decided and not isinstance(path.data, str):
        return f"resume_from_path is {path}, no path", right
    if path.text is None:
        return None
    text = flat(path.text.parts)
    head, marker, tail = text.rpartition(_MARKER)
    if not marker:
        known = path.text.known
        if known is not None:
            return f"`{known}` names no step: the trainer looks for {_MARKER}N in it", right
        return None if text[-1:].isdigit() or text.endswith(MARK) else _ending(path, right)
    if MARK in tail and "/" not in tail and re.fullmatch(rf"[\d{MARK}]*", tail):
        return None
    if re.fullmatch(r"\d+", tail):
        return None
    number = re.match(r"\d+", tail)
    if number is not None:
        right = f"write …/{_MARKER}{number.group()}"
    shown = path.text.slice(len(head) + len(marker), len(text)).shown
    if not shown:
        return f"the path ends in {_MARKER} without a number", right
    return f"`{shown}` behind {_MARKER} is taken for the step, and is no number", right


def _ending(path: Value, right: str) -> tuple[str, str] | None:
    assert path.text is not None
    shown = path.text.suffix.rpartition("/")[2] or "/"
    return f"the path ends in `{shown}`, where the trainer reads the number of the step", right


def _step_of(path: Value) -> str | None:
    """The step that a path names, as written."""
    if path.text is None:
        return None
    head, marker, tail = flat(path.text.parts).rpartition(_MARKER)
    return path.text.slice(len(head) + len(marker), len(head) + len(marker) + len(tail)).shown if marker else None


def _is_choice(mode: Value) -> bool:
    """Whether the caller may choose the mode (`${RESUME_MODE:-auto}`)."""
    parts = mode.text.parts if mode.text is not None else ()
    return mode.given and any(isinstance(part, Literal) and part.overridable for part in parts)


def _unread(launch: Launch, path: Value, mode: Value, ctx: Context) -> Iterator[Finding]:
    known = mode.data if mode.given and mode.decided else "auto" if not mode.given else None
    if known not in ("auto", "disable"):
        return
    default = "" if mode.given else ", the default"
    starts = "at the newest checkpoint of its own folder, else at step 0" if known == "auto" else "at step 0"
    message = f"the path is not read: resume_mode is {known}{default}, so the run starts {starts}"
    found = ctx.fail(path, message, help=f"set {MODE}=resume_path, or take the path away", severity=WARNING)
    yield found.with_related(mode.span if mode.given else launch.head, f"resume_mode is {known}")
