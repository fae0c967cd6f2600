"""A launch that is meant to evaluate starts a whole training run.

The trainer returns after validation only inside the block that `trainer.val_before_train` opens. With
`trainer.val_only=True` and `trainer.val_before_train=False` that block is skipped: no score is printed, and training
goes on for all its epochs, updates the policy and writes checkpoints over those of the run.

A launcher that is called an evaluation, or a spec's stage of kind `eval`, but starts the trainer without
`trainer.val_only=True` trains as well; that is a warning. Not counted are launches of zero steps or epochs, and those
whose caller passes further overrides.

Fix: set `trainer.val_before_train=True` next to `trainer.val_only=True`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.experiment.project import Project
from verlint.finding import Finding, Safety
from verlint.rule import ERROR, WARNING, Context, rule
from verlint_rules.config.rewriting import one_more
from verlint_rules.evaluation.validation import (
    VAL_BEFORE_TRAIN,
    VAL_ONLY,
    is_evaluation_name,
    is_trainer,
    never_trains,
)
from verlint_rules.on_policy.rewriting import spelled_like, value_edit, with_value

_KINDS = ("eval", "evaluate", "evaluation")


@rule(
    "VL505",
    "evaluation-that-trains",
    on=Launch,
    severity=ERROR,
    since="0.1",
    fixable="safe",
    words=("val_only", "eval"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    name = _evaluation(launch, ctx.project)
    if not name and VAL_ONLY not in launch:
        return
    only, before = launch[VAL_ONLY], launch[VAL_BEFORE_TRAIN]
    if only.given and only.truthy() is not False:
        if before.truthy() is False:
            yield from _skipped(launch, ctx)
        elif before.given and before.truthy() is None:
            yield ctx.unsure(
                before,
                "val_only counts only when val_before_train is True: with False this evaluation trains",
                verify=f"echo {before}",
                help=f"set {VAL_BEFORE_TRAIN}=True",
            )
        return
    if only.given and only.truthy() is None:
        return
    if not name or not is_trainer(launch) or never_trains(launch) or (launch.passes_arguments and not only.given):
        return
    at = only if only.given else launch.head
    finding = ctx.fail(
        at,
        f"{name} starts the trainer without val_only: it trains, and saves what it trained",
        help=f"set {VAL_ONLY}=True and {VAL_BEFORE_TRAIN}=True",
        severity=WARNING,
    )
    yield _evaluating(finding, launch)


def _evaluating(finding: Finding, launch: Launch) -> Finding:
    """The finding with an unsafe fix that sets both switches, where the trainer is told anything."""
    only, before = launch[VAL_ONLY], launch[VAL_BEFORE_TRAIN]
    told = [launch[key] for key in launch.by_key if key.startswith("trainer.")]
    made = [one_more(launch, each, VAL_ONLY, "True") for each in told[:1]]
    edits = [value_edit(only, spelled_like(only, on=True))] if only.given else made
    if before.given and before.truthy() is not True:
        edits.append(value_edit(before, spelled_like(before, on=True)))
    sure = [edit for edit in edits if edit is not None]
    if not edits or len(sure) < len(edits):
        return finding
    return finding.with_fix("only evaluate", *sure, safety=Safety.UNSAFE)


def _skipped(launch: Launch, ctx: Context) -> Iterator[Finding]:
    only, before = launch[VAL_ONLY], launch[VAL_BEFORE_TRAIN]
    message = "val_only is read only in the validation before training, which is off: the whole training runs"
    if only.truthy() is None:
        message = "with val_only on, nothing is validated and the whole training runs: val_before_train is off"
        finding = ctx.unsure(before, message, verify=f"echo {only}", help=f"set {VAL_BEFORE_TRAIN}=True")
        yield finding.with_related(only.span, "val_only")
        return
    at = before if before.given else only
    finding = ctx.fail(at, message, help=f"set {VAL_BEFORE_TRAIN}=True").with_related(only.span, "val_only is on")
    yield with_value(finding, before, spelled_like(before, on=True), safe=True) if before.given else finding


def _evaluation(launch: Launch, project: Project) -> str:
    """What says that a launch is an evaluation, "" when nothing does."""
    path = launch.command.span.in_file().source.path
    for experiment in project.experiments if project.specs else ():
        for stage in experiment.stages if experiment.is_spec else ():
            if any(each is launch for each in stage.launches) and stage.spec is not None:
                return f"stage `{stage.id}`" if str(stage.spec.kind) in _KINDS else ""
    if path.endswith((".sh", ".bash", ".slurm", ".sbatch")) and is_evaluation_name(path):
        return f"`{path.rsplit('/', 1)[-1]}`"
    return ""
