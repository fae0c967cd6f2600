"""Every role of an experiment has the model that the family means.

Roles are easily mixed up, and no check of the trainer looks at them:

- In OEL, extraction, deployment and consolidation of a round are about one policy: it wrote the experience and made the
  trajectories that it is then trained on. A stage that starts from another model or step mixes two policies.
- In OPCD, the teacher of the saved answers is the reference of the training stage (`--ref_model_path`, else its own
  model): their distributions are compared token by token.
- Student and reference share one tokenizer; so should the discriminator of GAD, which is to be verified. The names of
  the models say when they do not; where only folders are named, nothing is said.

Stages are joined as in VL802 and VL804; a policy of another round is the matter of VL802.

Fix: give the role the model that the message names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from verlint.experiment.handovers import Link
from verlint.experiment.stage import Experiment, Stage
from verlint.experiment.stage_settings import Setting, setting
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint.value import Literal, Text
from verlint_rules.families.agreement import Side, called, disagreeing, links_to_judge, of_side, rounds_differ


@rule("VL810", "model-roles", on=Experiment, severity=ERROR, since="0.1", words=("model",))
def check(experiment: Experiment, ctx: Context) -> Iterator[Finding]:
    links = [link for link in links_to_judge(experiment) if not rounds_differ(link)]
    for stage in experiment.stages:
        mine = [link for link in links if link.consumer is stage]
        if stage.family == "oel" and stage.kind == "consolidate":
            yield from _policies(stage, mine, ctx)
        yield from (found for link in mine if (found := _teacher(link, experiment, ctx)) is not None)
    if experiment.root or experiment.is_spec:
        yield from (found for stage in experiment.stages if (found := _tokenizers(stage, ctx)) is not None)


# ---- one policy a round


def _policies(stage: Stage, links: list[Link], ctx: Context) -> Iterator[Finding]:
    own = _policy(stage)
    producers = {link.producer.id if link.producer.spec else link.producer.order: link.producer for link in links
                 if link.kind.producer in ("extract", "deploy")}  # fmt: skip
    found = [each for producer in producers.values() if (each := _policy(producer)) is not None]
    if own is None:
        return
    for wrong, right in disagreeing(own, found):
        message = (
            f"{called(wrong.stage)} starts from `{wrong.setting.shown}`, {called(right.stage)} of the same round from "
            f"`{right.setting.shown}`: what one policy wrote and played is used to train another"
        )
        help = f"start it from {right.setting.shown}"
        yield of_side(_at_step(wrong, right), right, message, help, ctx)


def _at_step(wrong: Side, right: Side) -> Side:
    """The step of a policy rather than its run, where only that differs."""
    names = [setting(each.stage, "resume_policy_name") for each in (wrong, right)]
    step = setting(wrong.stage, "resume_policy_ckpt")
    if step is None or names[0] is None or names[1] is None or not names[0].same_as(names[1]):
        return wrong
    return Side(wrong.stage, step)


def _policy(stage: Stage) -> Side | None:
    """What a stage starts from: a step of an earlier run, else a model."""
    if stage.spec is not None:
        for dep in stage.spec.deps.values():
            if dep.role.given and dep.wanted is not None:
                text = Text((Literal(f"{dep.from_stage} step {dep.wanted.text}", dep.span),), dep.span)
                return Side(stage, Setting(f"deps.{dep.name}", text, dep.wanted.span))
    name, step = setting(stage, "resume_policy_name"), setting(stage, "resume_policy_ckpt")
    if name is not None and name.written and step is not None:
        parts = (*name.text.parts, Literal(" step "), *step.text.parts)
        return Side(stage, Setting(name.label, Text(parts, name.text.span), name.span, name.hops))
    if name is not None and name.written and "--resume_policy_name" in stage.options:
        return None  # the step is missing, which VL201 says
    model = name if name is not None and name.written else setting(stage, "model")
    return Side(stage, model) if model is not None and model.written and model.known else None


# ---- the teacher of saved answers


def _teacher(link: Link, experiment: Experiment, ctx: Context) -> Finding | None:
    if link.kind.consumer != "off-policy":
        return None
    from verlint_rules.families.pairs import meant_instead

    if meant_instead(link, experiment) is not None:
        return None
    teacher = setting(link.producer, "model")
    reference = setting(link.consumer, "ref_model_path")
    if reference is None or not reference.written:
        reference = setting(link.consumer, "model")
    if teacher is None or reference is None or teacher.same_as(reference) is not False:
        return None
    message = (
        f"the answers were generated by `{teacher.shown}`, the reference they are compared with is "
        f"`{reference.shown}`: the student is held to another model than the one that answered"
    )
    help = f"write --ref_model_path {teacher.shown}, or generate with {reference.shown}"
    return of_side(Side(link.consumer, reference), Side(link.producer, teacher), message, help, ctx)


# ---- tokenizers


def _tokenizers(stage: Stage, ctx: Context) -> Finding | None:
    student = setting(stage, "model")
    others = [("ref_model_path", "reference", "their distributions are compared token by token")]
    if stage.family == "gad":
        others.append(("reward_model", "discriminator", "it reads the student's tokens by their numbers"))
    for option, role, why in others:
        other = setting(stage, option)
        mine, theirs = ("", "") if student is None or other is None else (_tokenizer(student), _tokenizer(other))
        if student is None or other is None or not mine or not theirs or mine == theirs:
            continue
        message = (
            f"the student `{student.shown}` has the tokenizer of {mine}, the {role} `{other.shown}` that of {theirs}: "
            f"{why}"
        )
        help = f"take a {role} with the tokenizer of {mine}"
        if role == "reference":
            return of_side(Side(stage, other), Side(stage, student), message, help, ctx)
        verify = "grep -n tokenizer verl/verl/workers/fsdp_workers.py  # does the critic tokenize anew?"
        value = f"{other.label} = {other.shown}"
        found = ctx.unsure(other.span, message, value=value, hops=other.hops, help=help, verify=verify)
        return found.with_related(student.span, f"{student.label} = {student.shown}")
    return None


def _tokenizer(model: Setting) -> str:
    """The tokenizer that a model's name speaks for, "" for none."""
    from verlint.families.models import TOKENIZERS

    name = (model.known or "").rstrip("/").rsplit("/", 1)[-1].lower()
    return next((title for expression, title in TOKENIZERS if re.match(expression, name)), "")
