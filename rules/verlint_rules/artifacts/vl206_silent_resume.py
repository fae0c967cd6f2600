"""Two different runs must not save in one folder, where the second goes on from the first.

`trainer.resume_mode` is `auto` by default: a run looks into its `default_local_dir` and goes on from the newest
checkpoint there. A sweep that trains several settings into one folder therefore trains the first one, and then goes on
with its weights, optimizer and step number under the next setting; when the first run has reached the last step
already, the others end at once. Nothing but a line in the log tells.

Reported where both runs belong to one script, save in the same folder, and differ in what makes a run another one:
model, teacher, learning rate, estimator, number of samples, KL, seed, experience or experiment name. Silent where only
the length of the training or its data changes (the usual way to go on), where the folder is emptied or moved in
between, and where `resume_mode` says what is meant.

Fix: put the setting into the folder's name, or set `trainer.resume_mode=disable`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.experiment.paths import absolute, shown
from verlint.experiment.stage import Experiment
from verlint.experiment.stage_settings import Setting
from verlint.finding import Finding
from verlint.rule import WARNING, Context, rule
from verlint.value import Value
from verlint.verl.facts import short
from verlint_rules.artifacts.reuse import resumptions
from verlint_rules.artifacts.training import MODE

_A = "actor_rollout_ref.actor"
_TELLING = (
    *("actor_rollout_ref.model.path", "trainer.experiment_name", f"{_A}.optim.lr", "algorithm.adv_estimator"),
    *("actor_rollout_ref.rollout.n", f"{_A}.kl_loss_coef", f"{_A}.use_kl_loss", f"{_A}.loss_agg_mode", "data.seed"),
    *("trainer.experience_path", "actor_rollout_ref.model.ref_model_path", f"{_A}.kl_loss_type"),
    *(f"{_A}.clip_ratio_high", f"{_A}.entropy_coeff", "algorithm.kl_ctrl.kl_coef", f"{_A}.policy_loss.loss_mode"),
)


@rule("VL206", "silent-resume", on=Experiment, severity=WARNING, since="0.1", words=("default_local_dir",))
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    script = experiment.script
    if script is None or script.document or not experiment.root:
        return
    seen: set[object] = set()
    for each in resumptions(script, ctx.project):
        from verlint_rules.artifacts.world import worlds_differ

        changed = None if each.named else _changed(each.first, each.second)
        place = (each.at.span.order() if each.at.span is not None else None, each.second.span.order())
        if changed is None or place in seen or worlds_differ(each.first, each.second) is not None:
            continue
        seen.add(place)
        yield _finding(each.first, each.second, each.at, changed, ctx)


def _changed(first: Launch, second: Launch) -> tuple[Value, Value] | None:
    """The value that makes the second run another one."""
    for key in _TELLING:
        one, other = first[key], second[key]
        if (one.given or other.given) and _differ(one, other):
            return one, other
    return None


def _differ(one: Value, other: Value) -> bool:
    """Whether two values differ on every run, also below a root that is not known."""
    if one.text is None or other.text is None or one.span is None or other.span is None:
        return one.same_as(other) is False
    return Setting("", one.text, one.span).same_as(Setting("", other.text, other.span)) is False


def _finding(first: Launch, second: Launch, at: Value, changed: tuple[Value, Value], ctx: Context) -> Finding:
    one, other = changed
    folder = shown(absolute(at.text, second.command.around.cwd)) if at.text is not None else str(at)
    message = (
        f"the run with {short(other.key)} {other} goes on from the checkpoints of the one with {one}: both save in "
        f"{folder}, and resume_mode is auto"
    )
    help_ = f"put {short(other.key)} into the folder's name, or set {MODE}=disable"
    found = ctx.fail(at, message, help=help_)
    for run, what in ((first, "the first run"), (second, "the run that goes on from it")):
        stack = run.command.around.stack
        span = stack[0].span if stack else run.span
        if not found.related or found.related[0].span != span:
            found = found.with_related(span, what)
    return found.with_related(other.span if other.given else None, f"{short(other.key)} {other}")
