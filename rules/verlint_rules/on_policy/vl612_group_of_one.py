"""An estimator that compares the answers of a group needs more than one answer to a prompt.

GRPO, OPO, RLOO and their kin subtract a baseline that they take from the other answers to the same prompt. With
`rollout.n=1`, which is the default, there are none: the baseline is 0, and what runs is plain REINFORCE on the raw
reward, with all its variance and no signal from prompts that are always right. OPO's own code then gives every sample
an advantage of 0, so nothing is learned at all.

Distillation trainers minimise a KL and use no advantages, so there one answer is fine; so it is for `gae`, `remax` and
`reinforce_plus_plus`, which take their baseline from elsewhere. Silent too for tests and for trials of at most 3 steps
(`trainer.total_training_steps`), which are not run for what they learn, and for commands that leave the key out with
others: excerpts in documents, and those that end before their last line. A changed VeRL may make the groups itself, by
a key of its own (`rollout.n_agent=5`, `env.rollout.n=8`), which is as good.

EasyR1, whose default is `worker.rollout.n` 1, does not start at all with `grpo` or `rloo` then, which is an error.

Fix: set `actor_rollout_ref.rollout.n` to the size of the group, such as 8, or use another estimator.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.languages.hydra.override import Override
from verlint.rule import WARNING, Context, rule
from verlint.value import Value
from verlint_rules.artifacts.training import is_test
from verlint_rules.config.excerpts import is_excerpt
from verlint_rules.on_policy.claim import ESTIMATOR, SAMPLES, default_of, distils, stock_config, trains, undecided
from verlint_rules.on_policy.in_versions import in_versions

_TRIAL = 3
"""Steps of a run that only shows that everything starts."""
_GROUPED = frozenset(
    [
        *("gdpo", "gpg", "grpo", "grpo_passk", "grpo_vectorized", "opo", "reinforce_plus_plus_baseline"),
        *("rloo", "rloo_vectorized", "optimal_token_baseline", "tir_optimal_token_baseline"),
    ]
)
"""Estimators whose baseline is taken from the group. Source: VeRL `trainer/ppo/core_algos.py`, 0.2 to 0.9.1."""

_GROUP_SIZES = frozenset(
    [
        "n_agent",
        "group_size",
        "num_generations",
        "n_samples_per_prompt",
        "n_samples",
        "num_samples_per_prompt",
        "n_resp_per_prompt",
        "rollout_n",
        "n_rollouts",
    ]
)
"""Names that forks of VeRL and other trainers give to the size of the group."""


@rule(
    "VL612",
    "group-of-one",
    on=Launch,
    severity=WARNING,
    since="0.1",
    words=("grpo", "opo", "rloo", "gpg", "gdpo", "plus_plus_baseline", "optimal_token_baseline"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if launch.program.entry == "verl.trainer.main":
        from verlint_rules.config.easyr1_sizes import groups

        yield from groups(launch, ctx)
        return
    estimator, size = launch[ESTIMATOR], launch[SAMPLES]
    if size.equals(1) is not True or not trains(launch) or distils(launch) or _is_trial(launch):
        return
    if str(estimator) not in _GROUPED or undecided(launch, ESTIMATOR):
        return
    if any(_makes_groups(override) for override in launch.settings):
        return
    if not size.given and (launch.passes_arguments or not stock_config(launch) or is_excerpt(launch, ctx)):
        return
    place = size if size.given or not estimator.given else estimator
    message = (
        f"{estimator} takes its baseline from the group, and rollout.n {size}{default_of(size)} makes groups of one: "
        f"{_effect(launch, estimator)}"
    )
    finding = ctx.fail(place, message, help=f"set {SAMPLES} to the size of the group, such as 8", value=_shown(size))
    if size.given and estimator.given:
        finding = finding.with_related(estimator.span, f"adv_estimator = {estimator}")
    yield finding


def _makes_groups(override: Override) -> bool:
    """Whether a key that a fork added gives the number of answers, or of environments, to a prompt."""
    head, _, name = override.key.rpartition(".")
    if override.key == SAMPLES or head.endswith("val_kwargs") or override.value.equals(1) is True:
        return False
    return name in _GROUP_SIZES or (name == "n" and head.endswith("rollout"))


def _is_trial(launch: Launch) -> bool:
    steps = launch["trainer.total_training_steps"].number()
    return is_test(launch) or (steps is not None and steps <= _TRIAL)


def _effect(launch: Launch, estimator: Value) -> str:
    if launch.family == "opo" and estimator.equals("grpo") and in_versions(launch, before="0.4"):
        return "OPO's code gives every sample an advantage of 0"
    return "the baseline is 0, which is plain REINFORCE"


def _shown(size: Value) -> str:
    return f"{SAMPLES} = {size}"
