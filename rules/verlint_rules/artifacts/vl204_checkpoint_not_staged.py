"""A run that goes on from a copied step needs the step, its roles and the tracker file in its folder.

With `trainer.resume_mode=auto` a run reads `latest_checkpointed_iteration.txt` in its `default_local_dir` and loads
`global_step_N` from there, policy and critic alike. A hand-over by hand (copy the step, write its number) fails
without a word when it is not complete: without the tracker the run starts at step 0, with a new optimizer, and numbers
its checkpoints from 1; with another number in it the wrong step is looked for; with the policy alone the
critic (in GAD the discriminator) is missing.

Reported where a launch saves in the folder it also starts from, and commands before it have copied a step there. In a
spec the `deps` of a GAD adversarial stage that are staged into its folder must name both roles at one step, the step of
`resume_step`, and the stage's own `exp_name`. Silent where the launch names the path itself
(`resume_mode=resume_path`), and where a program of unknown effect may have filled the folder.

Fix: copy the whole `global_step_N`, and write N into `latest_checkpointed_iteration.txt` beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.experiment.checkpoints import Ledger, Save, Use, ledger_of_script
from verlint.experiment.paths import Components, absolute, components, is_below, last_component, parent, shown
from verlint.experiment.stage import Experiment
from verlint.finding import Finding
from verlint.languages.bash.command import Command
from verlint.languages.bash.replay import Path
from verlint.record import dataclass
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint.value import Text, whole
from verlint_rules.artifacts.training import MODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import Spec, SpecDep, SpecStage

_TRACKER = "latest_checkpointed_iteration.txt"


@rule(
    "VL204", "checkpoint-not-staged", on=Experiment, severity=ERROR, since="0.1", words=("global_step_", "stage_into")
)
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    if experiment.spec is not None:
        if experiment.spec.spec is not None:
            yield from _of_spec(experiment.spec.spec, ctx)
        return
    script = experiment.script
    if script is None or not experiment.root:
        return
    ledger = ledger_of_script(script, ctx.project.launch)
    if ledger.cut_short or not any(save.steps for save in ledger.saves):
        return
    trackers = _trackers(script.resolution.paths[:1])
    for save in ledger.saves:
        if not save.steps and save.place.path == 0:
            yield from _of_run(save, ledger, trackers, ctx)


@dataclass(frozen=True, slots=True)
class _Tracker:
    """A tracker file that a command writes: its folder, and the step in it where that is known."""

    folder: Components
    step: Text | None
    command: Command
    inner: int


def _trackers(paths: Sequence[Path]) -> list[_Tracker]:
    out: list[_Tracker] = []
    for path in paths:
        for inner, command in enumerate(path.commands):
            for redirect in command.redirects:
                target = absolute(redirect.target, command.around.cwd)
                if redirect.operator in (">", ">|", ">>") and last_component(target).known == _TRACKER:
                    out.append(_Tracker(components(parent(target)), _printed(command), command, inner))
            for word in command.argv[1:]:
                if last_component(word).known == _TRACKER:
                    target = absolute(word, command.around.cwd)
                    out.append(_Tracker(components(parent(target)), None, command, inner))
    return out


def _printed(command: Command) -> Text | None:
    words = [word for word in command.argv[1:] if word.known not in ("-n", "%s", "%s\\n", "%d", "%d\\n")]
    return words[0] if command.name in ("echo", "printf") and len(words) == 1 else None


def _of_run(run: Save, ledger: Ledger, trackers: Sequence[_Tracker], ctx: Context) -> Iterator[Finding]:
    copies = [save for save in ledger.saves if save.steps and save.key == run.key and save.place.before(run.place)]
    starts = [use for use in ledger.uses if use.key == run.key and _belongs(use, run) and use.step is not None]
    if not copies or not starts or _may_be_filled(starts, ledger, copies):
        return
    copied = {step for save in copies for step in save.steps}
    start = starts[0]
    if start.step not in copied:
        yield _other_step(start, sorted(copied), copies[0], ctx)
        return
    lacking = _lacking_role(starts, copies)
    if lacking is not None:
        yield _without_role(lacking, copies[0], ctx)
    launch = ctx.project.launch(run.command)
    if launch is None or (launch[MODE].given and launch[MODE].equals("auto") is not True):
        return
    written = [each for each in trackers if is_below(each.folder, run.key) and each.inner < run.place.inner]
    if not written:
        yield _without_tracker(run, start, copies[0], ctx)
        return
    step = written[-1].step
    if step is not None and step.known is not None:
        number = whole(step.known.strip())
        if number is not None and number != start.step:
            yield _other_tracker(step, number, start, ctx)


def _belongs(use: Use, run: Save) -> bool:
    """Whether a use is the start of a run: in the same command of the driver, on the same path."""
    return use.place.call == run.place.call and use.place.path == run.place.path


def _may_be_filled(starts: Sequence[Use], ledger: Ledger, copies: Sequence[Save]) -> bool:
    own = {id(save.command) for save in copies}
    return id(starts[0].command) in own or ledger.made_otherwise(starts[0])


def _lacking_role(starts: Sequence[Use], copies: Sequence[Save]) -> Use | None:
    """The first use of a role that no copy brings; None when a copy may bring any."""
    roles: set[str] = set()
    for save in copies:
        if save.roles is None:
            return None
        roles |= save.roles
    return next((use for use in starts if use.role and use.role not in roles), None)


def _run_span(use: Use) -> Span:
    stack = use.command.around.stack
    return stack[0].span if stack else use.command.span


def _other_step(start: Use, copied: Sequence[int], copy: Save, ctx: Context) -> Finding:
    listed = ", ".join(map(str, copied))
    message = f"the run starts from step {start.step} of its own folder, but step {listed} is copied there"
    value = f"{shown(start.folder)}/global_step_{start.step}"
    help_ = f"start from step {listed}, or copy step {start.step}"
    found = ctx.fail(start.step_span or start.span, message, value=value, hops=(), near=listed, help=help_)
    return found.with_related(copy.command.span, f"copies step {listed}")


def _without_role(start: Use, copy: Save, ctx: Context) -> Finding:
    message = f"the run loads the {start.role} of step {start.step} from its own folder, but no command copies it there"
    value = f"{shown(start.folder)}/global_step_{start.step}/{start.role}"
    found = ctx.fail(copy.command.span, message, value=value, help=f"copy the whole global_step_{start.step}")
    return found.with_related(_run_span(start), f"the run that loads the {start.role}")


def _without_tracker(run: Save, start: Use, copy: Save, ctx: Context) -> Finding:
    message = (
        f"step {start.step} is copied for the next run, but {_TRACKER} is not written: the run starts at step 0, with "
        "a new optimizer"
    )
    folder = shown(run.folder)
    found = ctx.fail(
        copy.command.span, message, value=f"{folder}/{_TRACKER}", help=f'echo {start.step} > "{folder}/{_TRACKER}"'
    )
    return found.with_related(_run_span(start), "the run that should go on from it")


def _other_tracker(step: Text, number: int, start: Use, ctx: Context) -> Finding:
    message = f"the tracker says step {number}, but the run starts from step {start.step}"
    found = ctx.fail(step, message, help=f"write {start.step} into {_TRACKER}")
    return found.with_related(_run_span(start), f"starts from step {start.step}")


# ---- specs


def _of_spec(spec: Spec, ctx: Context) -> Iterator[Finding]:
    if not spec.family.equals("gad"):
        return
    for stage in spec.stages.values():
        staged = [dep for dep in stage.deps.values() if dep.stage_into.given]
        if stage.kind.equals("adversarial") and staged:
            yield from _of_stage(stage, staged, ctx)


def _of_stage(stage: SpecStage, staged: Sequence[SpecDep], ctx: Context) -> Iterator[Finding]:
    roles = {str(dep.role) for dep in staged if dep.role.given}
    sources = {str(dep.from_stage) for dep in staged}
    for dep in (each for each in stage.deps.values() if not each.stage_into.given and str(each.from_stage) in sources):
        if dep.role.given and str(dep.role) not in roles:
            message = f"the {dep.role} is not staged into the run's folder, as {staged[0].name} is"
            found = ctx.fail(dep.name_span, message, help=f"add stage_into: {staged[0].stage_into}")
            yield found.with_related(staged[0].stage_into.span, f"where {staged[0].name} is staged")
            roles.add(str(dep.role))
    lacking = [role for role in ("actor", "critic") if role not in roles]
    if lacking and len(lacking) < 2:
        only = " and ".join(sorted(roles))
        message = f"only the {only} is staged into the run's folder: the stage loads the {lacking[0]} too"
        yield ctx.fail(staged[0].name_span, message, help=f"add a dep with role: {lacking[0]} at the same step")
    yield from _steps_agree(stage, staged, ctx)
    name = stage.args.get("exp_name")
    for dep in staged:
        if name is not None and name.given and dep.stage_into.same_as(name) is False:
            message = f"{dep.name} is staged into {dep.stage_into}, but the stage saves as {name}"
            found = ctx.fail(dep.stage_into, message, help=f"write stage_into: {name}")
            yield found.with_related(name.span, "the name of the run")
            return


def _steps_agree(stage: SpecStage, staged: Sequence[SpecDep], ctx: Context) -> Iterator[Finding]:
    steps = [(dep, dep.wanted.first) for dep in staged if dep.wanted is not None and dep.wanted.known]
    if not steps:
        return
    first, number = steps[0]
    for dep, other in steps[1:]:
        if other != number and dep.wanted is not None and first.wanted is not None:
            message = f"{dep.name} is staged at step {other}, {first.name} at step {number}"
            found = ctx.fail(dep.wanted.span, message, help=f"stage both at one step, such as {number}")
            yield found.with_related(first.wanted.span, f"{first.name} at step {number}")
            return
    resume = stage.args.get("resume_step")
    if resume is not None and resume.decided and resume.number() is not None and resume.number() != number:
        message = f"the stage resumes at step {resume}, but step {number} is staged into its folder"
        found = ctx.fail(resume, message, help=f"resume at step {number}, or stage step {resume}")
        if first.wanted is not None:
            found = found.with_related(first.wanted.span, f"{first.name} at step {number}")
        yield found
