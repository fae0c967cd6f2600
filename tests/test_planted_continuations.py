"""Faults of continuations planted at random places in clean launchers: all are found, on the right line, with the words
that bash really loses; harmless edits give nothing."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from bash_oracle import Ran, Snippet, required_bash, run_in_bash
from verlint.engine import check_project
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Finding
from verlint.settings import Settings
from verlint.source import Source

COUNT = 300
KEYS = (
    "data.train_batch_size=256",
    "data.max_prompt_length=1024",
    "data.max_response_length=2048",
    'data.train_files="${DATA_ROOT}/train.parquet"',
    "actor_rollout_ref.actor.optim.lr=1e-6",
    "actor_rollout_ref.actor.ppo_mini_batch_size=256",
    "actor_rollout_ref.rollout.n=8",
    "actor_rollout_ref.rollout.name=vllm",
    "algorithm.adv_estimator=opo",
    "trainer.logger=console",
    "trainer.experiment_name='on policy, exact'",
    "trainer.save_freq=50",
    "trainer.test_freq=50",
    "trainer.n_gpus_per_node=8",
    "trainer.nnodes=1",
    "trainer.total_epochs=3",
)


def launcher(chance: random.Random) -> tuple[list[str], int, int]:
    """Lines of a clean launcher, and the lines (from 0) of its first and last override."""
    keys = chance.sample(KEYS, chance.randint(5, len(KEYS)))
    head = ["#!/bin/bash", "set -x", 'DATA_ROOT="${DATA_ROOT:-data}"', ""]
    head += chance.choice([[], ["# train", "export TOKENIZERS_PARALLELISM=true"], ["echo 'a \\", "b'"]])
    indent = chance.choice(["    ", "  ", "\t"])
    command = ["python3 -m verl.trainer.main_ppo \\", *(f"{indent}{key} \\" for key in keys[:-1]), indent + keys[-1]]
    return [*head, *command, "", "echo done"], len(head) + 1, len(head) + len(keys)


def planted(seed: int) -> tuple[str, str, int, str]:
    """A clean launcher, the same with one fault, the line (from 1) of the fault, and what it is."""
    chance = random.Random(seed)
    lines, first, last = launcher(chance)
    at = chance.randint(first - 1, last - 1)
    faults: dict[str, Callable[[str], list[str]]] = {
        "blank": lambda line: [line + chance.choice([" ", "  ", "\t"])],
        "comment": lambda line: [line + "  # " + chance.choice(["tuned", "was 128", "see the paper"])],
        "missing": lambda line: [line.removesuffix(" \\")],
        "commented": lambda line: [line.removesuffix(" \\") + "  # \\"],
        "comment line": lambda line: [line, chance.choice(["# note", "    # algorithm.use_kl_in_reward=False \\"])],
        "empty line": lambda line: [line, chance.choice(["", "   "])],
    }
    kind = chance.choice(sorted(faults))
    broken = [*lines[:at], *faults[kind](lines[at]), *lines[at + 1 :]]
    return "\n".join(lines) + "\n", "\n".join(broken) + "\n", at + 1, kind


def harmless(seed: int) -> str:
    """A clean launcher with an edit that changes nothing of its command."""
    chance = random.Random(seed)
    lines, first, last = launcher(chance)
    edits: list[Callable[[], list[str]]] = [
        lambda: [*lines[: first - 1], "", "# about the command", "", *lines[first - 1 :]],
        lambda: [*lines, "", "# nothing follows \\", "echo again"],
        lambda: [*lines[: last + 1], "# a comment below the command", *lines[last + 1 :]],
        lambda: [*lines[:3], "cat <<'EOF'", "trainer.nnodes=2 \\ ", "# in a text \\", "EOF", *lines[3:]],
        lambda: [*lines[:3], 'NOTE="one \\ # two', "", 'trainer.nnodes=2"', *lines[3:]],
        lambda: [*lines[:3], "# trainer.nnodes=2 \\", "# python3 -m verl.trainer.main_ppo \\", *lines[3:]],
        lambda: [*lines[:-1], "echo a \\", "    b", "echo 'x \\ '"],
    ]
    return "\n".join(chance.choice(edits)()) + "\n"


def findings(text: str) -> list[Finding]:
    source = Source("run.sh", text)
    settings = Settings(root=Path.cwd(), select=("VL901", "VL002"))
    file = Loaded(source, Kind.LAUNCHER, Path.cwd() / "run.sh")
    return list(check_project([file], settings, Path.cwd()).findings)


def words_of_launch(ran: Ran) -> list[str]:
    """The overrides that the launch got."""
    launches = [command for command in ran.commands if "verl.trainer.main_ppo" in command]
    assert len(launches) == 1
    return [word for word in launches[0] if "=" in word]


@pytest.mark.oracle
def test_planted_faults_are_found_with_what_bash_loses(tmp_path: Path) -> None:
    required_bash()
    cases = [planted(seed) for seed in range(COUNT)]
    ran = run_in_bash([Snippet(text) for clean, broken, *_ in cases for text in (clean, broken)], tmp_path)
    wrong = []
    for number, (clean, broken, line, kind) in enumerate(cases):
        whole, cut = words_of_launch(ran[2 * number]), words_of_launch(ran[2 * number + 1])
        lost = {word.partition("=")[0] for word in whole} - {word.partition("=")[0] for word in cut}
        found = findings(broken)
        if findings(clean) or len(found) != 1 or not lost:
            wrong.append((number, kind, [each.message for each in found], lost))
            continue
        [finding] = found
        assert finding.span is not None
        places = {finding.span.begin.line, *(each.span.begin.line for each in finding.related)}
        told = int(count[1]) if (count := re.search(r"without (\d+) overrides", finding.message)) else 1
        named = [name for name in lost if name in finding.message]
        if not {line, line + 1} & places or told != len(lost) or len(named) < min(len(lost), 3):
            wrong.append((number, kind, [finding.message, str(places)], lost))
    assert wrong == []


def test_harmless_edits_give_nothing() -> None:
    assert [(seed, found[0].message) for seed in range(COUNT) if (found := findings(harmless(seed)))] == []


WHOLE = """#!/usr/bin/env bash
set -euo pipefail
DATA_ROOT="${DATA_ROOT:?}"
CKPT_ROOT="${CKPT_ROOT:?}"
POLICY="${POLICY:?}"

python3 -m verl.trainer.main_ppo \\
    algorithm.adv_estimator=ESTIMATOR \\
    data.train_files="${DATA_ROOT}/train.parquet" \\
    data.val_files="${DATA_ROOT}/val.parquet" \\
    data.train_batch_size=64 \\
    data.max_prompt_length=1024 \\
    data.max_response_length=4096 \\
    actor_rollout_ref.model.path="${POLICY}" \\
    actor_rollout_ref.actor.optim.lr=1e-6 \\
    actor_rollout_ref.actor.ppo_mini_batch_size=64 \\
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 \\
    actor_rollout_ref.rollout.name=vllm \\
    actor_rollout_ref.rollout.n=8 \\
    actor_rollout_ref.rollout.tensor_model_parallel_size=1 \\
    actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=2 \\
    critic.model.path="${POLICY}" \\
    critic.ppo_micro_batch_size_per_gpu=2 \\
    trainer.n_gpus_per_node=1 \\
    trainer.nnodes=1 \\
    trainer.logger=console \\
    trainer.total_epochs=2 \\
    trainer.save_freq=50 \\
    trainer.default_local_dir="${CKPT_ROOT}/run"
"""


@pytest.mark.parametrize("estimator", ["opo", "gae"])
def test_a_cut_command_is_one_finding_of_all_rules(estimator: str) -> None:
    lines = WHOLE.replace("ESTIMATOR", estimator).splitlines()
    cuts = [at for at, line in enumerate(lines) if line.endswith("\\")]
    texts = {"whole.sh": lines} | {
        f"cut_{at + 1:02}.sh": [line + " " if at == number else line for number, line in enumerate(lines)]
        for at in cuts
    }
    files = [
        Loaded(Source(name, "\n".join(text) + "\n"), Kind.LAUNCHER, Path.cwd() / name) for name, text in texts.items()
    ]
    settings = Settings(root=Path.cwd())
    report = check_project(files, settings, Path.cwd())
    found = [(each.code, each.span.source.path, each.span.begin.line) for each in report.findings if each.span]
    assert found == [("VL901", f"cut_{at + 1:02}.sh", at + 1) for at in cuts]
