"""Modes that VeRL gave up, has not yet, or never had in one of its loops.

Sources: `RolloutConfig.__post_init__` (from 0.7.0), `workers/rollout/{vllm,sglang}_rollout` (to 0.4.1),
`trainer/ppo/core_algos.py`, `trainer/ppo/ray_trainer.py` and `trainer/ppo/v1/trainer_base.py`."""

from __future__ import annotations

from verlint.verl.constraints import AT_STEP, AT_WORKERS, STOCK, Row
from verlint.verl.facts import ACTOR, ESTIMATOR, ROLLOUT, SAMPLES_OF_PROMPT, Facts

MODE = f"{ROLLOUT}.mode"
EAGER = f"{ROLLOUT}.enforce_eager"
FREE_CACHE = f"{ROLLOUT}.free_cache_engine"
NAME = f"{ROLLOUT}.name"
SUM_PI = f"{ACTOR}.calculate_sum_pi_squared"
USE_V1 = "trainer.use_v1"
_TOKEN_BASELINES = ("optimal_token_baseline", "tir_optimal_token_baseline")


def _graphs(facts: Facts) -> bool:
    if facts.text(NAME) not in ("vllm", "sglang") or facts.rollout_path != "spmd":
        return False
    return not facts.flag(EAGER) and facts.flag(FREE_CACHE)


def _token_baseline(facts: Facts) -> bool:
    return facts.text(ESTIMATOR) in _TOKEN_BASELINES


def _without_v1(facts: Facts) -> bool:
    return facts.trainer == "v1" and facts.trains


def _repeated_greedy(facts: Facts) -> bool:
    """The greedy samples are made of prompts that are repeated already, and put beside those that are not."""
    return facts.text(ESTIMATOR) == "remax" and facts.count(SAMPLES_OF_PROMPT, 1) > 1 and facts.trains


ROWS: tuple[Row, ...] = (
    Row(
        "D2",
        "0.7.0",
        (MODE,),
        lambda facts: facts.get(MODE) == "sync",
        lambda facts: f"{facts.said(MODE)} has been removed",
        lambda facts: f"remove {MODE}, async is the only mode",
        "RolloutConfig",
        AT_WORKERS,
    ),
    Row(
        "W33",
        "0.4.1",
        (MODE,),
        lambda facts: facts.get(MODE) == "async" and facts.text(NAME) in ("vllm", "sglang"),
        lambda facts: f"{facts.said(MODE)} needs workers that recipe.dapo.main_dapo of this version does not start",
        lambda facts: f"set {MODE}=sync, or use VeRL 0.7.0",
        "main_dapo: ActorRolloutRefWorker, not AsyncActorRolloutRefWorker",
        AT_WORKERS,
        until="0.6.1",
        entries=("recipe.dapo.main_dapo",),
    ),
    Row(
        "W9",
        "0.2.0",
        (EAGER, FREE_CACHE),
        _graphs,
        lambda facts: f"{facts.said(EAGER)} keeps CUDA graphs, which {facts.said(FREE_CACHE)} cannot free",
        lambda facts: f"set {FREE_CACHE}=False, or leave {EAGER}=True",
        "assert in vllm_rollout and sglang_rollout: disable CUDA graph if free cache engine",
        AT_WORKERS,
        until="0.4.1",
    ),
    Row(
        "T20",
        "0.7.1",
        (ESTIMATOR,),
        lambda facts: _token_baseline(facts) and facts.trains,
        lambda facts: f"{facts.said(ESTIMATOR)} cannot run in this version: it is called without old_log_probs",
        lambda facts: "use VeRL 0.8.0, or another estimator",
        "core_algos.py: TypeError",
        AT_STEP,
        until="0.7.1",
        entries=STOCK,
    ),
    Row(
        "T20",
        "0.9.0",
        (ESTIMATOR, USE_V1),
        lambda facts: _token_baseline(facts) and _without_v1(facts),
        lambda facts: (
            f"{facts.said(ESTIMATOR)} needs sum_pi_squared of the actor, "
            f"which the loop of {facts.said(USE_V1)} never asks for"
        ),
        lambda facts: f"set {USE_V1}=False and {SUM_PI}=True",
        "compute_advantage: assert",
        AT_STEP,
        entries=STOCK,
    ),
    Row(
        "T21n",
        "0.5.0",
        (SAMPLES_OF_PROMPT, ESTIMATOR),
        _repeated_greedy,
        lambda facts: (
            f"{facts.said(ESTIMATOR)} works with one sample of a prompt only in this version, not with "
            f"{facts.said(SAMPLES_OF_PROMPT)}"
        ),
        lambda facts: f"set {SAMPLES_OF_PROMPT}=1, or use VeRL 0.6.1",
        "RayPPOTrainer.fit: Two tensor dict must have identical batch size",
        AT_STEP,
        until="0.6.0",
        entries=STOCK,
    ),
    Row(
        "T21",
        "0.9.0",
        (ESTIMATOR, USE_V1),
        lambda facts: facts.text(ESTIMATOR) == "remax" and _without_v1(facts),
        lambda facts: (
            f"{facts.said(ESTIMATOR)} needs a greedy sample of every prompt, "
            f"which the loop of {facts.said(USE_V1)} never makes"
        ),
        lambda facts: f"set {USE_V1}=False",
        "core_algos.py: reward_baselines is missing",
        AT_STEP,
        entries=STOCK,
    ),
    Row(
        "T21d",
        "0.9.0",
        (ESTIMATOR, USE_V1),
        lambda facts: facts.text(ESTIMATOR) == "gdpo" and _without_v1(facts),
        lambda facts: (
            f"{facts.said(ESTIMATOR)} needs each component of the reward, "
            f"and the loop of {facts.said(USE_V1)} hands on their sum only"
        ),
        lambda facts: f"set {USE_V1}=False",
        "core_algos.py: GDPO reward key not found",
        AT_STEP,
        entries=STOCK,
    ),
)
