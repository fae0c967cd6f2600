"""A policy to resume is named together with the step to resume from.

A run saves many checkpoints. The launchers that can start from one take a pair, the run's name and the step
(`--resume_policy_name`, `--resume_policy_ckpt`), and use it only when both are given: with one of the two they go on
without a word from `--model`, or from no model at all, so the round starts from the wrong policy. In the comma record
of the extraction driver a name without a step is taken for a model id of the hub; the name of a run is none.

Looked at are calls in drivers, documents and launchers, comma records, the arguments of a spec's stages and its
`deps` on checkpoints. A model id (`Org/Model`) or an absolute path without a step is right in a record. A launcher that
only passes on what its caller gives is silent.

Fix: add the step, one that the run saved, or leave out both and give the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from verlint.experiment.paths import absolute, in_tree, written_at
from verlint.experiment.records import fields, records_of
from verlint.experiment.stage import Called, Experiment, called_file
from verlint.families import FAMILIES
from verlint.finding import Finding, Verdict
from verlint.languages.bash.command import Command
from verlint.record import dataclass, replace
from verlint.rule import ERROR, Context, rule
from verlint.source import Span
from verlint.value import Text, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import Spec, SpecDep, SpecStage
    from verlint.experiment.taught import TaughtCall

PAIRS = sorted({pair for family in FAMILIES.values() for kind in family.stages.values() for pair in kind.resumes})
"""Options that name a run and a step of it."""


@rule(
    "VL201",
    "resume-without-step",
    on=Experiment,
    severity=ERROR,
    since="0.1",
    words=("resume", "textgame_", "schema", "stages:", "taught launchers"),
)
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    if experiment.spec is not None:
        if experiment.spec.spec is not None:
            yield from _of_spec(experiment.spec.spec, ctx)
        return
    if experiment.script is None:
        return
    found: dict[object, list[Finding | None]] = {}
    for path in experiment.script.resolution.paths:
        for command in path.commands:
            place = (command.span.order(), tuple(call.span.order() for call in command.around.stack))
            findings = list(_of_call(command, ctx, experiment.root))
            found.setdefault(place, []).extend(findings or [None])
    for each in found.values():
        yield from _agreed([finding for finding in each if finding is not None], everywhere=None not in each)


def _agreed(findings: Sequence[Finding], *, everywhere: bool) -> Iterator[Finding]:
    """What holds on some of the paths only is not certain."""
    for finding in findings:
        if everywhere or finding.verdict is Verdict.UNSURE:
            yield finding
        else:
            yield replace(
                finding, verdict=Verdict.UNSURE, verify=f"bash -x {finding.file}  # see which options it passes"
            )


# ---- calls


@dataclass(frozen=True, slots=True)
class _Given:
    """A word that is given for one half of a pair, and where."""

    text: Text
    span: Span | None

    @property
    def empty(self) -> bool:
        return self.text.known == ""


def _of_call(command: Command, ctx: Context, root: bool) -> Iterator[Finding]:
    called = called_file(command)
    if called is None or any(word.elastic for word in called.arguments):
        return
    taught = ctx.project.taught_call(command)
    yield from _of_record(called, taught, ctx)
    for name_option, step_option in _pairs(taught):
        name, step = _option(called, name_option), _option(called, step_option)
        has_name, has_step = name is not None and not name.empty, step is not None and not step.empty
        if name is not None and has_name and not has_step and not _has_default(command, called, step_option, ctx):
            yield from _without_step(name, name_option, step_option, called, ctx, root)
        elif step is not None and has_step and not has_name and not _has_default(command, called, name_option, ctx):
            yield from _without_name(step, name_option, step_option, called, ctx)


def _pairs(taught: TaughtCall | None) -> list[tuple[str, str]]:
    """Options that name a run and a step of it, as the call's launcher spells them."""
    if taught is None:
        return PAIRS
    pair = tuple(taught.launcher.spelling(name) for name in ("resume_policy_name", "resume_policy_ckpt"))
    return [(pair[0], pair[1])] if all(pair) else []


def _without_name(step: _Given, name_option: str, step_option: str, called: Called, ctx: Context) -> Iterator[Finding]:
    at = step.span or called.path.span
    if step.text.known is None or at is None:
        return
    yield ctx.fail(
        at,
        f"step {step.text.known} of a policy to resume is given, but not of which run: {name_option} is missing",
        value=f"{step_option} = {step.text.shown}",
        hops=step.text.trail(),
        help=f"add {name_option} RUN, or leave out {step_option}",
    )


def _without_step(
    name: _Given, name_option: str, step_option: str, called: Called, ctx: Context, root: bool
) -> Iterator[Finding]:
    model = _option(called, "--model")
    instead = (
        f"--model {model.text.shown}"
        if model is not None and not model.empty
        else "no model at all: model.path is empty"
    )
    value = f"{name_option} = {name.text.shown}"
    help = f"add {step_option} N, a step that the run saved; without it the launcher starts from {instead}"
    at = name.span or called.path.span
    assert at is not None
    if name.text.known is not None or name.text.prefix or name.text.suffix:
        message = f"the policy `{name.text.shown}` is named without a step: {step_option} is missing"
        yield ctx.fail(at, message, value=value, hops=name.text.trail(), help=help)
    elif root and all(isinstance(hole.key, tuple) and hole.key[0] == "env" for hole in name.text.holes):
        message = f"a policy to resume may be named without a step: {step_option} is missing"
        yield ctx.unsure(
            at, message, value=value, hops=name.text.trail(), help=help, verify=f'echo "{name.text.shown}"'
        )


def _option(called: Called, option: str) -> _Given | None:
    """What a call gives for an option; the last one counts. An option without a word gives nothing."""
    found: _Given | None = None
    words = called.arguments
    for at, word in enumerate(words):
        if word.known == option:
            after = words[at + 1] if at + 1 < len(words) else None
            if after is None or (after.known or "").startswith("--"):
                found = None
            else:
                found = _Given(after, _joined(word.span, after.span))
        elif word.prefix.startswith(option + "="):
            found = _Given(word.slice(len(option) + 1, 1_000_000), word.span)
    return found


def _joined(first: Span | None, second: Span | None) -> Span | None:
    if first is None or second is None or first.source is not second.source:
        return second or first
    return first.join(second)


def _has_default(command: Command, called: Called, option: str, ctx: Context) -> bool:
    """Whether the called script starts with a value of its own for an option."""
    path = in_tree(absolute(called.path, command.around.cwd))
    source = ctx.project.tree.source(path) if path is not None else None
    if source is None:
        return False
    variable = re.escape(option.lstrip("-"))
    return re.search(rf"^[ \t]*{variable}=[\"']?(?:\$\{{\w+:?-)?[\w/]", source.text, re.M | re.I) is not None


# ---- records


def _of_record(called: Called, taught: TaughtCall | None, ctx: Context) -> Iterator[Finding]:
    path = called.path.known
    if path is None or not called.arguments:
        return
    given = fields(called.arguments[0])
    own = taught.launcher.record if taught is not None else None
    known = records_of(path) if own is None else (own,)
    if own is not None:  # what is taught may be left out at the end
        given = [*given, *[Text()] * (len(own.fields) - len(given))]
    record = next((each for each in known if len(each.fields) == len(given)), None)
    for name_field, step_field in record.resumes if record is not None else ():
        assert record is not None
        name, step = (given[record.fields.index(field)] for field in (name_field, step_field))
        at = written_at(name) or written_at(step) or called.arguments[0].span
        if at is None or name.known is None:
            continue
        if name.known and step.known == "" and not _is_model(name.known):
            yield ctx.fail(
                at,
                f"the policy `{name.known}` is named without a step, so it is taken for a model id",
                value=f"{name_field} = {name.known}",
                help=f"write a step that the run saved into {step_field}, the field behind it",
            )
        elif not name.known and step.known:
            yield ctx.fail(
                at,
                f"step {step.known} of a policy to resume is given, but not of which run",
                value=f"{step_field} = {step.known}",
                help=f"write the name of the run into {name_field}, the field before it",
            )


def _is_model(name: str) -> bool:
    """Whether a name is a path, or a model id of the hub."""
    return name.startswith(("/", "~", ".")) or re.fullmatch(r"[\w.-]+/[\w.-]+", name) is not None


# ---- specs


def _of_spec(spec: Spec, ctx: Context) -> Iterator[Finding]:
    for stage in spec.stages.values():
        for name_option, step_option in PAIRS:
            yield from _of_arguments(stage, name_option.lstrip("-"), step_option.lstrip("-"), ctx)
        policy = stage.args.get("resume_policy")
        if policy is not None and _is_run_name(policy):
            yield ctx.fail(
                policy,
                f"stage `{stage.id}` resumes `{policy}` without a step",
                help="refer to a checkpoint among the stage's deps, which names stage, role and step",
            )
        for dep in stage.deps.values():
            source = spec.stages.get(str(dep.from_stage)) if dep.from_stage.decided else None
            if source is not None and dep.wanted is None and _is_checkpoint(source, dep):
                yield ctx.fail(
                    dep.role.span or dep.name_span,
                    f"stage `{stage.id}` uses a checkpoint of `{source.id}` without saying which step",
                    value=f"stages.{stage.id}.deps.{dep.name}.from = {source.id}",
                    help="add step: N, or steps: FIRST..LAST/STRIDE",
                ).with_related(source.id_span, "the stage that saves it")


def _of_arguments(stage: SpecStage, name_key: str, step_key: str, ctx: Context) -> Iterator[Finding]:
    name, step = _argument(stage, name_key), _argument(stage, step_key)
    if name is not None and step is None:
        yield ctx.fail(
            name,
            f"stage `{stage.id}` resumes `{name}` without a step: {step_key} is missing",
            help=f"add {step_key}: N, a step that the run saved",
        )
    elif step is not None and name is None:
        yield ctx.fail(
            step,
            f"stage `{stage.id}` resumes step {step}, but not of which run: {name_key} is missing",
            help=f"add {name_key}: RUN, or leave out {step_key}",
        )


def _argument(stage: SpecStage, key: str) -> Value | None:
    """An argument of a stage that is not empty, however its dashes are written."""
    for name, value in stage.args.items():
        if name.lstrip("-").replace("-", "_") == key and not (value.decided and value.data in (None, "")):
            return value
    return None


def _is_run_name(policy: Value) -> bool:
    if not policy.decided or not isinstance(policy.data, str) or not policy.data:
        return False
    written = policy.span.text if policy.span is not None else ""
    return "${" not in written and "global_step_" not in policy.data and not _is_model(policy.data)


def _is_checkpoint(source: SpecStage, dep: SpecDep) -> bool:
    """Whether a dep is on a checkpoint, and its stage saves more than one step (or does not say)."""
    outs = [out for out in source.outs.values() if out.is_checkpoint]
    if not dep.role.given:
        out = source.outs.get(dep.name)
        if out is None or not out.is_checkpoint:
            return False
    single = [out for out in outs if out.steps is not None and out.steps.known and len(set(out.steps)) == 1]
    return not (outs and len(single) == len(outs))
