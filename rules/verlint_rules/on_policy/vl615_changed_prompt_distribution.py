"""The prompts of an update are those of the rollout batch that the config names.

- `data.gen_batch_size` from VeRL 0.4 on replaces `data.train_batch_size` as the batch of the data loader in
  `main_ppo`, so the run trains on that many prompts a step, and equal batch sizes no longer mean one update. (The
  trainer that is the default since 0.9 only fetches prompts in portions of that size; DAPO's recipe uses it as meant.)
- `algorithm.filter_groups.enable=True` does nothing in `main_ppo` up to VeRL 0.8: only DAPO's recipe reads it there.

In a run that claims to be on-policy (the spec's intent `exact` or `single-update`, the OPO family,
`algorithm.adv_estimator=opo`, a directive) the filter itself is a departure where it works: groups whose answers are
all right or all wrong are dropped and replaced, so the prompts of an update are no sample of the data any more.
`rollout.over_sample_rate` does the same with the answers that take longest.

Fix: remove the key, or use the recipe that reads it. For other batches set `data.train_batch_size` itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import WARNING, Context, rule
from verlint.value import Value
from verlint_rules.on_policy.claim import (
    MINI_BATCH,
    TRAIN_BATCH,
    claims_one_update,
    default_of,
    has_stock_entry,
    stock_config,
    trains,
)
from verlint_rules.on_policy.in_versions import in_versions

_FILTER = "algorithm.filter_groups.enable"
_PORTION = "data.gen_batch_size"
_SURPLUS = "actor_rollout_ref.rollout.over_sample_rate"
_USE_V1 = "trainer.use_v1"


@rule(
    "VL615",
    "changed-prompt-distribution",
    on=Launch,
    severity=WARNING,
    since="0.1",
    words=("filter_groups", "gen_batch_size", "over_sample_rate"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    given = [key for key in (_FILTER, _PORTION, _SURPLUS) if key in launch]
    if not given or not trains(launch):
        return
    claimed = claims_one_update(launch)
    yield from _filter(launch, ctx, claimed)
    yield from _portion(launch, ctx)
    if claimed:
        yield from _surplus(launch, ctx)


def _filter(launch: Launch, ctx: Context, claimed: bool) -> Iterator[Finding]:
    switch = launch[_FILTER]
    if not switch.given or switch.equals(True) is not True:
        return
    # the trainer that is the default since 0.9 reads it, the older one never does
    old = in_versions(launch, before="0.9")
    if has_stock_entry(launch) and (old or (old is False and launch[_USE_V1].equals(False))):
        message = "filter_groups does nothing: main_ppo of this version does not read it, only the recipe of DAPO does"
        yield ctx.fail(switch, message, help="start recipe.dapo.main_dapo, or remove algorithm.filter_groups")
    elif claimed:
        message = "filter_groups drops groups by their rewards: the prompts of an update are no sample of the data"
        yield ctx.fail(switch, message, help=f"set {_FILTER}=False")


def _portion(launch: Launch, ctx: Context) -> Iterator[Finding]:
    portion, batch = launch[_PORTION], launch[TRAIN_BATCH]
    if not portion.given or portion.number() is None or portion.same_as(batch):
        return
    old = in_versions(launch, since="0.4", before="0.9")
    read_as_batch = old or (in_versions(launch, since="0.9") and launch[_USE_V1].equals(False))
    if read_as_batch and has_stock_entry(launch) and (batch.given or stock_config(launch)):
        yield _with_batch(_replaced(launch, ctx, portion, batch), batch)


def _replaced(launch: Launch, ctx: Context, portion: Value, batch: Value) -> Finding:
    message = (
        f"gen_batch_size {portion} takes the place of train_batch_size {batch}{default_of(batch)}: "
        f"the data loader gives {portion} prompts a step"
    )
    size, update = portion.number(), launch[MINI_BATCH].number()
    if size and update and update < size and (launch[MINI_BATCH].given or stock_config(launch)):
        message += f", which are {-int(-size // update)} updates of {update}"
    return ctx.fail(portion, message, help=f"remove {_PORTION} and set {TRAIN_BATCH}")


def _surplus(launch: Launch, ctx: Context) -> Iterator[Finding]:
    rate = launch[_SURPLUS]
    number = rate.number()
    if rate.given and number is not None and number > 0 and in_versions(launch, since="0.8") is not True:
        message = (
            f"over_sample_rate {rate} drops the answers that take longest: what is left is no sample of the policy"
        )
        yield ctx.fail(rate, message, help=f"set {_SURPLUS}=0")


def _with_batch(finding: Finding, batch: Value) -> Finding:
    return finding.with_related(batch.span, f"train_batch_size = {batch}") if batch.given else finding
