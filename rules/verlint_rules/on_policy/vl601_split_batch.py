"""A run that claims to be on-policy updates the policy once for every rollout batch.

With `ppo_mini_batch_size` below `data.train_batch_size` VeRL cuts every rollout batch into several updates. Only the
first of them trains on samples of the policy that it updates; all later ones train on samples of an older policy, so
what runs is clipped PPO, not exact on-policy training. Nothing fails and no metric says so.

Both keys count prompts: VeRL multiplies them by `rollout.n` itself. A key that is left out has the default of the VeRL
config: 1024 prompts a rollout batch, 256 an update.

The claim is the spec's intent (`exact` or `single-update`), the OPO family, `algorithm.adv_estimator=opo`, or a
directive (`# verlint: on-policy=exact`). Launches without a claim may split their batches, and validation runs make no
update at all. An update batch above the rollout batch does not split it and is left to other rules.

Fix: give both keys the same value or the same variable. Where several updates are meant, declare it: intent `clipped`.
The unsafe fix writes the word of `data.train_batch_size` for `ppo_mini_batch_size`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint.value import State, Value
from verlint_rules.config.view import is_cut
from verlint_rules.on_policy.claim import (
    MINI_BATCH,
    TRAIN_BATCH,
    claims_one_update,
    default_of,
    in_config,
    look_up,
    open_holes,
    undecided,
)
from verlint_rules.on_policy.rewriting import same_word

_HELP = "give both keys the same value or variable; both count prompts, VeRL multiplies by rollout.n itself"


@rule(
    "VL601",
    "split-batch",
    on=Launch,
    severity=ERROR,
    since="0.1",
    fixable="unsafe",
    words=("opo", "exact", "single-update"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if not claims_one_update(launch):
        return
    rollout, update = launch[TRAIN_BATCH], launch[MINI_BATCH]
    left_open = [key for key in (TRAIN_BATCH, MINI_BATCH) if undecided(launch, key)]
    if left_open:
        if len(left_open) == 1 and not launch.leaves_words_out:
            yield _unknown_default(ctx, launch, rollout, update, left_open[0])
        return
    batch, mini = rollout.number(), update.number()
    if batch is not None and mini is not None:
        lost = not (rollout.given and update.given) and is_cut(launch, ctx.project)
        if 0 < mini < batch and not lost:
            yield same_word(_split(ctx, rollout, update, batch, mini), update, rollout)
    elif not _surely_same(rollout, update) and any(map(open_holes, (rollout, update))):
        yield _unknown_sizes(ctx, rollout, update)


def _split(ctx: Context, rollout: Value, update: Value, batch: float, mini: float) -> Finding:
    count = -int(-batch // mini)
    message = (
        f"{count} updates for one rollout batch: {_said(update)} splits {_said(rollout)}, "
        "so all but the first train on samples of an older policy"
    )
    value = f"{MINI_BATCH} = {update}"
    finding = ctx.fail(_place(rollout, update), message, value=value, hops=update.hops, help=_HELP)
    return _with_batch(finding, rollout, update)


def _unknown_sizes(ctx: Context, rollout: Value, update: Value) -> Finding:
    message = f"the rollout batch is split unless ppo_mini_batch_size is as large as {TRAIN_BATCH}"
    value, verify = f"{MINI_BATCH} = {update}", look_up(rollout, update)
    finding = ctx.unsure(_place(rollout, update), message, value=value, hops=update.hops, help=_HELP, verify=verify)
    return _with_batch(finding, rollout, update)


def _unknown_default(ctx: Context, launch: Launch, rollout: Value, update: Value, key: str) -> Finding:
    given = update if key == TRAIN_BATCH else rollout
    short = key.rsplit(".", 1)[-1]
    name = given.key.rsplit(".", 1)[-1]
    message = f"{name} is given and {short} is not: whether they agree depends on a config that is not known here"
    return ctx.unsure(given, message, help=_HELP, verify=in_config(launch, key))


def _place(rollout: Value, update: Value) -> Value:
    """What to point at: the update batch, unless only the rollout batch is written down."""
    return update if update.given or not rollout.given else rollout


def _with_batch(finding: Finding, rollout: Value, update: Value) -> Finding:
    if rollout.given and update.given:
        return finding.with_related(rollout.span, f"the rollout batch: {TRAIN_BATCH} = {rollout}")
    return finding


def _said(value: Value) -> str:
    short = value.key if value.key == TRAIN_BATCH else value.key.rsplit(".", 1)[-1]
    return f"{short} {value}{default_of(value)}"


def _surely_same(left: Value, right: Value) -> bool:
    if left.text is not None and right.text is not None and left.state is not State.ABSENT:
        return left.text.identity() == right.text.identity()
    return left.same_as(right) is True
