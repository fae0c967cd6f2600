"""A run that claims to be on-policy trains on samples of the policy that it updates.

Asynchronous trainers overlap generation and training: while the policy is updated, the engine still samples with older
weights, so the samples of an update come from a policy one or more updates back. That is the point of these trainers,
and it cannot be had together with exact on-policy training:

- VeRL 0.9 and newer: `trainer.v1.trainer_mode=colocate_async` or `separate_async` (with `trainer.use_v1`, the default).
- `one_step_off_policy`: every update trains on the batch before.
- `fully_async_policy`: unless `async_training.staleness_threshold=0` and `trigger_parameter_sync_step=1`, so that the
  weights are handed on after every update and no sample is left over. The defaults are 0.1 and 4.
- a replayed rollout (`skip.rollout`, `rollout.skip_rollout`): samples are read from a dump of an earlier run when there
  is one, whatever the policy is by then. That is a warning.

The claim is the spec's intent (`exact` or `single-update`), the OPO family, `algorithm.adv_estimator=opo`, or a
directive (`# verlint: on-policy=exact`). Launches without a claim may be as asynchronous as they like.

Fix: train with `verl.trainer.main_ppo` and `trainer.v1.trainer_mode=sync`, or declare the intent `off-policy`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.value import Value
from verlint_rules.on_policy.claim import claims_one_update, default_of, look_up, open_holes

MODE = "trainer.v1.trainer_mode"
_USE_V1 = "trainer.use_v1"
_STALENESS = "async_training.staleness_threshold"
_SYNC_STEP = "async_training.trigger_parameter_sync_step"
_ASYNCHRONOUS = frozenset(["colocate_async", "separate_async"])
_REPLAYED = (
    "skip.rollout.enable",
    "skip.rollout_tq.enable",
    "skip.async_rollout.enable",
    "actor_rollout_ref.rollout.skip.enable",
    "actor_rollout_ref.rollout.skip_rollout",
)
"""Switches that replay a dump. Sources: `utils/rollout_skip.py` (0.6.0 to 0.8.0), `utils/skip` (0.9)."""

_HELP = "train with verl.trainer.main_ppo in the mode sync, or declare the intent off-policy"


@rule(
    "VL608",
    "stale-rollouts",
    on=Launch,
    severity=ERROR,
    since="0.1",
    words=("opo", "exact", "single-update"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if not claims_one_update(launch):
        return
    entry = launch.program.entry
    if "one_step_off" in entry:
        message = "this trainer updates the policy on the rollout batch before: samples are one update old"
        yield ctx.fail(launch.head, message, help=_HELP)
    elif "fully_async" in entry:
        yield from _fully_asynchronous(launch, ctx)
    else:
        yield from _mode(launch, ctx)
    yield from _replayed(launch, ctx)


def _mode(launch: Launch, ctx: Context) -> Iterator[Finding]:
    mode = launch[MODE]
    if not mode.given or launch[_USE_V1].equals(False):
        return
    if mode.decided and str(mode) in _ASYNCHRONOUS:
        message = f"{mode} generates while it trains: samples come from older weights than the update starts from"
        yield ctx.fail(mode, message, help=f"set {MODE}=sync, or declare the intent off-policy")
    elif open_holes(mode):
        message = "samples come from older weights than the update starts from unless trainer_mode is sync"
        yield ctx.unsure(mode, message, help=f"set {MODE}=sync", verify=look_up(mode))


def _fully_asynchronous(launch: Launch, ctx: Context) -> Iterator[Finding]:
    staleness, step = launch[_STALENESS], launch[_SYNC_STEP]
    help_ = f"set {_STALENESS}=0 and {_SYNC_STEP}=1, or declare the intent off-policy"
    older, steps = staleness.number(), step.number()
    if older is not None and older > 0:
        message = f"staleness_threshold {staleness}{default_of(staleness)} lets samples of older weights into an update"
        yield ctx.fail(_place(staleness, launch), message, help=help_)
    elif steps is not None and steps > 1:
        message = (
            f"weights are handed to the rollout after every {steps} updates{default_of(step)}: "
            "all but the first train on samples of older weights"
        )
        yield ctx.fail(step, message, help=help_)
    elif older is None or steps is None:
        unknown = staleness if older is None else step
        message = f"samples come from older weights unless {_STALENESS} is 0 and {_SYNC_STEP} is 1"
        verify = look_up(unknown) if open_holes(unknown) else "grep -rn -A9 async_training --include=*.yaml ."
        yield ctx.unsure(unknown, message, help=help_, verify=verify)


def _replayed(launch: Launch, ctx: Context) -> Iterator[Finding]:
    for key in _REPLAYED:
        switch = launch[key]
        if switch.given and switch.equals(True):
            message = "rollouts are read from a dump of an earlier run where there is one, not sampled from the policy"
            yield ctx.fail(switch, message, help=f"set {key}=False", severity=WARNING)


def _place(value: Value, launch: Launch) -> Value:
    return value if value.given or _SYNC_STEP not in launch else launch[_SYNC_STEP]
