"""A stage must run on the branch of the VeRL fork that implements it.

GAD keeps its stages on four branches of one fork: `seqkd`, `warmup`, `gad` (adversarial stage) and `eval` (generation).
The launchers look alike and none of them asks for the branch: on a wrong one the command starts, trains something else
(on `warmup` the student is fine-tuned on the teacher's answers, whatever the launcher's name) and saves it under the
name of the stage. An editable install makes every switch take effect, so a checkout that an earlier stage left behind
counts too.

Reported as certain when the branch is one that another stage needs; a branch of another name, a tag or a commit may
hold the right code and is one to verify. Silent when the branch is not known before the run. In a spec, a stage in a
checkout of something else than VeRL is reported too, when one of VeRL is declared beside it.

Fix: check out the branch of the stage just before its launcher, or declare it in the spec. The unsafe fix writes the
branch that the stage needs.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.stage import Experiment, Stage
from verlint.finding import Edit, Finding, Safety, Verdict
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint.value import Literal, Text, Value
from verlint_rules.branches.needs import branch_name, branches_of, checkout_folder, needed_branch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import SpecCheckout


@rule(
    "VL301",
    "branch-mismatch",
    on=Experiment,
    severity=ERROR,
    families=("coach", "gad", "oel", "opcd", "opo"),
    since="0.1",
    fixable="unsafe",
)
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    served: set[tuple[str, int, int]] = set()
    for stage in experiment.stages:
        needed, actual = needed_branch(stage), branch_name(stage.branch)
        if needed and stage.spec is not None and (found := _elsewhere(experiment, stage, needed, ctx)) is not None:
            yield found
            continue
        if not needed or actual is None or stage.branch_span is None:
            continue
        if actual == needed:
            served.add(stage.branch_span.order())
        elif stage.spec is None:
            yield _in_driver(stage, needed, actual, stage.branch_span.order() in served, ctx)
        elif not _undeclared(experiment, stage, actual):
            yield _in_spec(stage, needed, actual, ctx)


def _in_driver(stage: Stage, needed: str, actual: str, stale: bool, ctx: Context) -> Finding:
    """At the checkout; where that is right for an earlier stage, at the call that lacks its own."""
    assert stage.branch_span is not None
    folder = checkout_folder(stage)
    value = f"branch of {folder} = {actual}"
    if stale:
        message = f"stage {stage.kind} needs branch `{needed}`, the checkout is still on `{actual}`"
        found = _finding(stage, stage.span, message, value, f"run git -C {folder} checkout {needed} before it", ctx)
        return found.with_related(stage.branch_span, "checked out here, for an earlier stage")
    message = f"stage {stage.kind} needs branch `{needed}`, the checkout is on `{actual}`"
    found = _finding(stage, stage.branch_span, message, value, f"check out {needed} here", ctx)
    found = found.with_related(stage.span, "the stage that runs on it")
    word = _branch_word(stage.branch, actual)
    return (
        found
        if word is None or found.verdict is Verdict.UNSURE
        else found.with_fix(f"check out {needed}", Edit(word, needed), safety=Safety.UNSAFE)
    )


def _in_spec(stage: Stage, needed: str, actual: str, ctx: Context) -> Finding:
    assert stage.branch_span is not None
    message = f"stage `{stage.id}` declares branch `{actual}`, its kind {stage.kind} needs `{needed}`"
    found = _finding(
        stage, stage.branch_span, message, f"stages.{stage.id}.branch = {actual}", f"write branch: {needed}", ctx
    )
    written = stage.branch_span.text
    if written.strip("\"'") != actual or found.verdict is Verdict.UNSURE:
        return found
    edit = Edit(stage.branch_span.in_file(), written.replace(actual, needed))
    return found.with_fix(f"declare {needed}", edit, safety=Safety.UNSAFE)


def _elsewhere(experiment: Experiment, stage: Stage, needed: str, ctx: Context) -> Finding | None:
    """A stage in a checkout that is none of VeRL, beside one that is: its branch is that of something else."""
    spec = experiment.spec.spec if experiment.spec is not None else None
    own = spec.checkouts.get(str(stage.spec.checkout)) if spec is not None and stage.spec is not None else None
    folder = checkout_folder(stage)
    if spec is None or own is None or stage.spec is None or _may_hold(own, folder):
        return None
    right = next((each for each in spec.checkouts.values() if _may_hold(each, folder, certain=True)), None)
    if right is None:
        return None
    message = f"stage `{stage.id}` runs in checkout `{own.name}`, its kind {stage.kind} needs branch `{needed}` of VeRL"
    found = ctx.fail(stage.spec.checkout, message, help=f"write checkout: {right.name}")
    return found.with_related(right.name_span, "the checkout of VeRL")


def _may_hold(checkout: SpecCheckout, folder: str, *, certain: bool = False) -> bool:
    """Whether a checkout is, or may be, one of VeRL: by its name, its folder or its repository."""
    said = (checkout.url, checkout.path)
    if folder in checkout.name.lower() or any(folder in str(each).lower() for each in said if each.given):
        return True
    return not certain and not all(each.decided for each in said if each.given)


def _finding(stage: Stage, at: Span, message: str, value: str, help: str, ctx: Context) -> Finding:
    hops = (
        stage.branch.trail()
        if isinstance(stage.branch, Text)
        else stage.branch.hops
        if stage.branch is not None
        else ()
    )
    if _branch_of_another_stage(stage):
        return ctx.fail(at, message, value=value, hops=hops, help=help)
    verify = f"git -C {checkout_folder(stage)} branch -a --contains {branch_name(stage.branch)}"
    return ctx.unsure(at, message, value=value, hops=hops, help=help, verify=verify)


def _branch_of_another_stage(stage: Stage) -> bool:
    return branch_name(stage.branch) in branches_of(stage.family)


def _undeclared(experiment: Experiment, stage: Stage, actual: str) -> bool:
    """Whether the spec's checkout has no such branch, which VL004 says."""
    spec = experiment.spec.spec if experiment.spec is not None else None
    checkout = spec.checkouts.get(str(stage.spec.checkout)) if spec is not None and stage.spec is not None else None
    if checkout is None or not checkout.branches:
        return False
    return all(branch.decided for branch in checkout.branches) and actual not in map(str, checkout.branches)


def _branch_word(branch: Text | Value | None, actual: str) -> Span | None:
    """Where the branch is written in the checkout command, if it stands there as it is."""
    if not isinstance(branch, Text) or len(branch.parts) != 1:
        return None
    part = branch.parts[0]
    if not isinstance(part, Literal) or part.span is None or part.span.text != actual:
        return None
    return part.span.in_file()
