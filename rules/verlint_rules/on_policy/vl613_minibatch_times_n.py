"""Batch sizes count prompts; VeRL multiplies them by `rollout.n` itself.

`data.train_batch_size` and `actor.ppo_mini_batch_size` are both numbers of prompts. An update batch written as
`train_batch_size * rollout.n`, often to make the run on-policy, is n times as large as the whole rollout batch. With a
fixed micro-batch VeRL 0.3 and newer refuse that at the start, which the bounds of a mini-batch (VL722) report. With
`use_dynamic_bsz=True` nobody looks: the update is made once, on the samples there are, but its loss is divided by the
size that was asked for, so up to VeRL 0.7 the gradient is n times too small. VeRL 0.8 stops at the first update; the
trainer that is the default since 0.9 pads the batch up to that size. The run was on-policy with equal batches.

The rule looks for that one slip: the value is the product of the other two, or is computed from them. Other update
batches above the rollout batch are left to the checks of batch sizes. Launchers of forks whose actor takes at most the
batch there is (OEL, OPCD, LLM-as-a-Coach) are fine, and so are huge numbers that only mean "all of it".

Fix: give `ppo_mini_batch_size` the value of `data.train_batch_size` for one update a batch. The unsafe fix writes that
word.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.lazy import pattern
from verlint.rule import WARNING, Context, look_into, rule
from verlint.value import Literal, Value
from verlint_rules.on_policy.claim import (
    MINI_BATCH,
    SAMPLES,
    TRAIN_BATCH,
    default_of,
    distils,
    has_own_actor,
    look_up,
    open_holes,
    stock_config,
    trains,
)
from verlint_rules.on_policy.in_versions import in_versions
from verlint_rules.on_policy.rewriting import same_word

_DYNAMIC = "actor_rollout_ref.actor.use_dynamic_bsz"
_USE_V1 = "trainer.use_v1"
_LEGACY = "trainer.use_legacy_worker_impl"
_CAPPING_MARK = "actor_rollout_ref.actor.kl_topk"
"""A key of those forks only whose actor takes at most the batch there is (`workers/actor/dp_actor.py` of the forks)."""

_PRODUCT = pattern(r"\$\(\(\s*\$?\{?(\w+)\}?\s*\*\s*\$?\{?(\w+)\}?\s*\)\)")
_VARIABLE = pattern(r"\$\{?([A-Za-z_]\w*)")
_ASSIGNED = pattern(r"(?:(?:export|local|declare|readonly)\s+)?([A-Za-z_]\w*)=")
_COUNTS = "VeRL counts prompts and multiplies by rollout.n itself"
_HELP = f"give {MINI_BATCH} the value of {TRAIN_BATCH}: both count prompts"


@rule(
    "VL613",
    "minibatch-times-n",
    on=Launch,
    severity=WARNING,
    since="0.1",
    fixable="unsafe",
    words=("ppo_mini_batch_size",),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    rollout, update, samples = launch[TRAIN_BATCH], launch[MINI_BATCH], launch[SAMPLES]
    if not update.given or not trains(launch) or not has_own_actor(launch) or _capped(launch):
        return
    batch, mini, size = rollout.number(), update.number(), samples.number()
    if batch and mini and size is not None and size > 1:
        if mini == batch * size and (rollout.given or stock_config(launch)) and not _told_with_the_bounds(launch):
            yield _with_places(_product(launch, ctx, rollout, update, samples), rollout, update, samples)
    elif not samples.given or not _is_computed(rollout, update, samples):
        return
    elif size is not None and size > 1:
        message = (
            f"ppo_mini_batch_size {update} is train_batch_size x rollout.n: {_COUNTS}, so {_effect(launch, str(size))}"
        )
        yield _with_places(ctx.fail(update, message, help=_HELP), rollout, update, samples)
    elif size is None or _open_to_callers(samples):
        name = _name_of(samples)
        look = look_into(name) if " " in name else f"grep -rn -e '{name}' ."
        verify = look_up(samples) if open_holes(samples) else look
        message = (
            f"ppo_mini_batch_size is computed as train_batch_size x rollout.n, but {_COUNTS}: "
            f"with rollout.n above 1 {_effect(launch, 'n')}"
        )
        yield _with_places(ctx.unsure(update, message, help=_HELP, verify=verify), rollout, update, samples)


def _product(launch: Launch, ctx: Context, rollout: Value, update: Value, samples: Value) -> Finding:
    message = (
        f"ppo_mini_batch_size {update} is train_batch_size {rollout}{default_of(rollout)} x rollout.n {samples}: "
        f"{_COUNTS}, so {_effect(launch, str(samples))}"
    )
    return ctx.fail(update, message, help=_HELP)


def _effect(launch: Launch, times: str) -> str:
    """What VeRL makes of an update batch that is that many times too large."""
    if _refused(launch):
        return "VeRL stops, as an update is larger than the batch"
    if in_versions(launch, since="0.9"):
        return f"it pads the batch to {times} times its samples"
    if in_versions(launch, before="0.8"):
        return f"the loss comes out {times} times too small"
    return f"depending on the version the loss comes out {times} times too small, the batch is padded, or VeRL stops"


def _told_with_the_bounds(launch: Launch) -> bool:
    """Whether the bounds of a mini-batch speak of it: with a fixed micro-batch in every version, else where VeRL
    refuses it."""
    return _refused(launch) or (stock_config(launch) and launch[_DYNAMIC].equals(False) is True)


def _refused(launch: Launch) -> bool:
    """Whether VeRL refuses such an update batch."""
    if stock_config(launch) and launch[_DYNAMIC].equals(False) and in_versions(launch, since="0.3"):
        return True  # at the start
    if in_versions(launch, since="0.9"):
        return launch[_USE_V1].equals(False) is True
    # at the first update: the workers of 0.8 cut the batch into equal parts
    if in_versions(launch, since="0.8"):
        return True
    return bool(in_versions(launch, since="0.7") and launch[_LEGACY].equals("disable"))


def _capped(launch: Launch) -> bool:
    """Whether the actor takes at most the batch there is."""
    schema = None if launch.verl is None else launch.verl.schema
    return distils(launch) or (schema is not None and _CAPPING_MARK in schema)


def _is_computed(rollout: Value, update: Value, samples: Value) -> bool:
    """Whether the update batch is written as the product of the other two."""
    for text in _written(update):
        for match in _PRODUCT.finditer(text):
            left, right = match.groups()
            for one, other in ((left, right), (right, left)):
                if _is_factor(other, samples) and _is_factor(one, rollout):
                    return True
    return False


def _is_factor(word: str, value: Value) -> bool:
    """Whether a word of an expression stands for the value: a variable that it came by, or its number."""
    return word in _names(value) or word == str(value.number())


def _written(value: Value) -> list[str]:
    """The texts that a value passed on its way: the word, and the assignments before it."""
    spans = [value.span, *(hop.span for hop in value.hops)]
    if value.text is not None:
        spans += [hop.span for part in value.text.parts for hop in part.hops]
    return [span.text for span in spans if span is not None]


def _names(value: Value) -> frozenset[str]:
    """The variables that a value stands in for or passed through."""
    out: set[str] = set()
    for text in _written(value):
        out.update(_VARIABLE.findall(text))
        if (match := _ASSIGNED.match(text)) is not None:
            out.add(match[1])
    return frozenset(out)


def _open_to_callers(value: Value) -> bool:
    return bool(_name_of(value))


def _name_of(value: Value) -> str:
    """The option or variable by which a caller may set another value."""
    parts = value.text.parts if value.text is not None else ()
    return next((part.overridable for part in parts if isinstance(part, Literal) and part.overridable), "")


def _with_places(finding: Finding, rollout: Value, update: Value, samples: Value) -> Finding:
    for value in (rollout, samples):
        if value.given:
            finding = finding.with_related(value.span, f"{value.key.rsplit('.', 1)[-1]} = {value}")
    return same_word(finding, update, rollout)
