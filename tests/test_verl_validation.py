"""Rows of constraints against the real start-up checks of VeRL's wheels, on generated override sets."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from constraint_launches import launches_of
from verl_wheels import unpacked, wheels_folder
from verlint.experiment.launch import Launch
from verlint.verl.constraints import Row, violations
from verlint.verl.constraints.batch import ROWS as BATCH
from verlint.verl.constraints.distillation import PAIRS as TEACHER_PAIRS
from verlint.verl.constraints.distillation import POOLS as TEACHER_POOLS
from verlint.verl.constraints.distillation import TOKENS as TEACHER_TOKENS
from verlint.verl.constraints.lora import ROWS as LORA
from verlint.verl.constraints.micro import ROWS as MICRO
from verlint.verl.constraints.mini import ROWS as MINI
from verlint.verl.constraints.pairs import ROWS as PAIRS
from verlint.verl.constraints.ranks import ROWS as RANKS
from verlint.verl.constraints.removed import ROWS as REMOVED
from verlint.verl.constraints.rollout import ROWS as ROLLOUT
from verlint.verl.constraints.sequence import ROWS as SEQUENCE
from verlint.verl.constraints.tokens import ROWS as TOKENS
from verlint.verl.constraints.values import ROWS as VALUES

pytestmark = [pytest.mark.verl_oracle, pytest.mark.network, pytest.mark.slow]

SCRIPT = Path(__file__).parent / "verl_validation.py"
COUNT = int(os.environ.get("VERLINT_SETS", "60"))
FEW = max(COUNT // 10, 20)
"""Override sets of the versions with a table of their own below, and of the others. `VERLINT_SETS=1000` takes some
minutes."""
TEACHER = (*TEACHER_TOKENS, *TEACHER_POOLS, *TEACHER_PAIRS)
ROWS = (*BATCH, *MICRO, *MINI, *RANKS, *SEQUENCE, *TOKENS, *ROLLOUT, *REMOVED, *PAIRS, *LORA, *VALUES, *TEACHER)
WORKERS = frozenset(
    [
        *("W1", "W2", "W5", "W6a", "W6r", "D2", "D4", "D5", "D6", "D6p", "D7", "D7d", "D7o", "D8"),
        *("D16t", "D16d", "D16k", "D16p", "D16n", "D16l", "D16m"),
    ]
)
"""Checks of workers that the real code below runs as well."""

A, R, F, M, C = (
    *(f"actor_rollout_ref.{role}" for role in ("actor", "rollout", "ref", "model")),
    "critic",
)
BASE: dict[str, tuple[object, ...]] = {
    f"{R}.name": ("vllm",),
    "data.train_batch_size": (128, 8, 16, 30, 32, 60, 64, 96, 100, 256, 1024),
    f"{A}.ppo_mini_batch_size": (32, 4, 8, 16, 24, 64, 128, 256),
    f"{R}.n": (1, 1, 2, 3, 4, 5, 8),
    "trainer.n_gpus_per_node": (8, 1, 2, 3, 4, 6),
    "trainer.nnodes": (1, 1, 2, 4),
    f"{A}.use_dynamic_bsz": (False, True),
    f"{A}.ppo_micro_batch_size_per_gpu": (4, None, 1, 2, 3, 8, 16),
    f"{R}.log_prob_micro_batch_size_per_gpu": (4, None),
    "algorithm.adv_estimator": ("grpo", "gae", "rloo"),
    f"{C}.ppo_micro_batch_size_per_gpu": (4, None, 2),
    f"{F}.log_prob_micro_batch_size_per_gpu": (4, 4, None),
}
RARE: dict[str, tuple[object, ...]] = {
    f"{A}.ppo_micro_batch_size": (8, 16, 32, 64),
    f"{R}.log_prob_micro_batch_size": (8, 32),
    f"{F}.log_prob_micro_batch_size": (8, 32),
    f"{C}.ppo_micro_batch_size": (8, 16, 32),
    f"{C}.ppo_mini_batch_size": (8, 64, 512),
    f"{C}.use_dynamic_bsz": (True, False),
    f"{A}.ulysses_sequence_parallel_size": (2, 4),
    f"{C}.ulysses_sequence_parallel_size": (2, 4),
    f"{F}.ulysses_sequence_parallel_size": (2,),
    f"{M}.use_remove_padding": (True, False),
    f"{C}.model.use_remove_padding": (True, False),
    f"{A}.use_kl_loss": (True, False),
    "algorithm.use_kl_in_reward": (True, False),
    f"{R}.val_kwargs.do_sample": (True,),
    f"{R}.temperature": (0, 0.0, 0.7),
    f"{A}.strategy": ("fsdp2",),
    f"{R}.log_prob_use_dynamic_bsz": (True, False),
    f"{M}.lora_rank": (32, 1024),
    f"{R}.tensor_model_parallel_size": (1, 4),
}
MEGATRON: dict[str, tuple[object, ...]] = {
    f"{A}.megatron.tensor_model_parallel_size": (1, 2, 3),
    f"{A}.megatron.pipeline_model_parallel_size": (1, 2),
    f"{A}.megatron.context_parallel_size": (1, 2),
}
OF_VERSION: dict[str, dict[str, tuple[object, ...]]] = {
    "0.4.1": {
        f"{R}.multi_turn.enable": (True,),
        f"{R}.multi_turn.tool_config_path": ("tools.yaml",),
        "reward_model.enable": (True,),
        "reward_model.micro_batch_size_per_gpu": (4,),
    },
    "0.6.1": {
        "reward_model.enable": (True,),
        "reward_model.micro_batch_size_per_gpu": (4,),
        "critic.enable": (True, False),
        f"{R}.expert_parallel_size": (2, 4),
        f"{R}.pipeline_model_parallel_size": (2,),
    },
    "0.7.0": {
        "reward_model.enable": (True,),
        "reward_model.use_reward_loop": (False,),
        "critic.enable": (True, False),
        f"{R}.expert_parallel_size": (2, 4),
        f"{R}.mode": ("sync", "async"),
    },
    "0.9.1": {
        "critic.enable": (True, False),
        f"{R}.expert_parallel_size": (2, 4),
        f"{R}.mode": ("sync", "async"),
        f"{A}.megatron.router_replay.mode": ("R2", "R3"),
        "algorithm.rollout_correction.bypass_mode": (True,),
        f"{M}.lora.rank": (64, 1024),
        f"{M}.lora.merge": (True,),
    },
}

T = "distillation.teacher_models.teacher_model"
GROUPS: tuple[dict[str, tuple[object, ...]], ...] = (
    {
        "distillation.enabled": (True,),
        "distillation.nnodes": (1, 2),
        "distillation.n_gpus_per_node": (8, 8, 6, 3),
        f"{T}.model_path": ("/models/teacher", "/models/teacher", "/models/teacher", None),
        f"{T}.inference.max_model_len": (None, None, 1024, 1025, 4096),
        f"{T}.inference.tensor_model_parallel_size": (2, 1, 4),
        "distillation.distillation_loss.loss_mode": ("k3", "k1", "forward_kl_topk"),
        "distillation.distillation_loss.topk": (32, 32, None),
        "distillation.distillation_loss.use_policy_gradient": (False, True),
        "distillation.distillation_loss.policy_loss_mode": ("vanilla", "vanilla", "vanilla", "gspo"),
    },
    {
        f"{R}.name": ("sglang", "vllm", "trtllm"),
        f"{R}.disaggregation.enabled": (True, True, False),
        f"{R}.disaggregation.prefill_replicas": (1, 1),
        f"{R}.disaggregation.decode_replicas": (1, 2, 0),
        f"{R}.disaggregation.bootstrap_port": (None, 8000, 0, 70000),
    },
    {f"{R}.trace.max_samples_per_step_per_worker": (-1, 0, 4, None)},
)
"""Keys that matter only together; one group now and then."""

OTHERS = ("0.2.0.post2", "0.3.0.post1", "0.4.0", "0.5.0", "0.6.0", "0.7.1", "0.8.0", "0.9.0")
OF_OTHERS: dict[str, tuple[object, ...]] = {
    "critic.enable": (True, False),
    f"{R}.mode": ("async", "sync"),
    f"{R}.expert_parallel_size": (2, 4),
    f"{R}.multi_turn.enable": (True,),
}
RUNS = [(version, config) for config in ("ppo_trainer", "ppo_megatron_trainer") for version in OF_VERSION]
RUNS += [(version, "ppo_trainer") for version in OTHERS]


def variations(version: str, keys: frozenset[str]) -> Iterator[list[str]]:
    """Override sets: a base that VeRL takes, some of it changed, some rare keys added."""
    draw = random.Random(f"verlint {version}")
    rare = {
        key: values for key, values in {**RARE, **MEGATRON, **OF_VERSION.get(version, OF_OTHERS)}.items() if key in keys
    }
    if any(key in keys for key in MEGATRON):
        rare.pop(f"{A}.strategy", None)
    for _ in range(COUNT if version in OF_VERSION else FEW):
        chosen: dict[str, object] = {}
        changed = draw.choice((0.1, 0.25, 0.4))
        for key, values in BASE.items():
            if key in keys:
                chosen[key] = draw.choice(values) if draw.random() < changed else values[0]
        for key in draw.sample(sorted(rare), draw.choice((0, 1, 1, 2, 3))):
            chosen[key] = draw.choice(rare[key])
        group = draw.choice(GROUPS) if draw.random() < 0.3 else {}
        for key, values in group.items():
            if key in keys:
                chosen[key] = draw.choice(values)
        yield [f"{key}={'null' if value is None else value}" for key, value in chosen.items()]


def covered(row: Row) -> bool:
    """Whether the real code below runs the check of the row."""
    return row.validated or row.id in WORKERS


def found_in(launch: Launch) -> list[str]:
    """The rows that a launch violates."""
    return [each.row.id for each in violations(launch.facts, ROWS) if covered(each.row)]


@pytest.mark.parametrize(("version", "config"), RUNS)
def test_verl_rejects_what_the_rows_reject(
    version: str, config: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from verlint.verl.schema import schema

    root = unpacked(version, wheels_folder(tmp_path_factory))
    known = schema(version, config)
    assert known is not None
    sets = list(variations(version, known.keys))
    real = subprocess.run(
        [sys.executable, "-W", "ignore", str(SCRIPT), str(root), version, config],
        input=json.dumps(sets), text=True, capture_output=True, check=True,
    )  # fmt: skip
    errors: list[str | None] = json.loads(real.stdout)
    launches = launches_of(tmp_path, monkeypatch, [[f"--config-name={config}", *words] for words in sets], version)
    table: Counter[tuple[str, str]] = Counter()
    wrong: list[str] = []
    for words, error, launch in zip(sets, errors, launches, strict=True):
        rows = found_in(launch)
        table["accepted" if error is None else "rejected", "silent" if not rows else "found"] += 1
        if (error is None) != (not rows):
            wrong.append(f"{error} / {rows} / {' '.join(words)}")
    print(f"\nVeRL {version} {config}: {dict(table)}")
    assert wrong == []
    assert min(table["accepted", "silent"], table["rejected", "found"]) > len(sets) // 10
