"""What follows from the config of a launch, and what stays undecided."""

from __future__ import annotations

from pathlib import Path

import pytest

from constraint_launches import launches_of
from verlint.verl.facts import Facts, padded
from verlint.verl.undecided import Undecided, certain, outcomes

A, R = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"


@pytest.mark.parametrize(
    ("words", "version", "fact", "expected"),
    [
        ("trainer.nnodes=4", "0.4.1", "n_gpus", 32),
        (f"{A}.ulysses_sequence_parallel_size=2", "0.4.1", "dp", 4),
        (f"{A}.fsdp_config.ulysses_sequence_parallel_size=2", "0.8.0", "dp", 4),
        ("data.train_batch_size=60", "0.4.1", "samples", 60),
        (f"{R}.n=4", "0.4.1", "mini_samples", 1024),
        (f"{R}.n=4", "0.4.1", "mini_per_rank", 128),
        ("data.max_prompt_length=100 data.max_response_length=200", "0.4.1", "longest", 300),
        ("", "0.7.1", "implementation", "legacy"),
        ("trainer.use_legacy_worker_impl=disable", "0.6.1", "implementation", "legacy"),
        ("trainer.use_legacy_worker_impl=disable", "0.7.0", "implementation", "engine"),
        ("", "0.8.0", "implementation", "engine"),
        ("", "0.8.0", "trainer", "v0"),
        ("", "0.9.0", "trainer", "v1"),
        ("trainer.use_v1=False", "0.9.1", "trainer", "v0"),
        ("", "0.6.1", "rollout_path", "spmd"),
        (f"{R}.mode=async", "0.6.1", "rollout_path", "agent_loop"),
        ("", "0.7.0", "rollout_path", "agent_loop"),
        ("", "0.4.1", "critic_used", True),
        ("algorithm.adv_estimator=grpo", "0.4.1", "critic_used", False),
        ("algorithm.adv_estimator=grpo critic.enable=True", "0.6.0", "critic_used", True),
        ("", "0.3.0", "ref_used", True),
        ("", "0.4.0", "ref_used", False),
        (f"{A}.use_kl_loss=True", "0.4.0", "ref_used", True),
        ("", "0.4.1", "caps_mini_batch", False),
        ("# verlint: family=oel", "", "caps_mini_batch", True),
        ("trainer.val_only=True", "0.6.1", "trains", False),
        ("trainer.val_only=True trainer.val_before_train=False", "0.6.1", "trains", True),
        ("data.train_batch_size=100", "0.8.0", "per_rank", None),
        ("data.train_batch_size=100", "0.9.1", "per_rank", 32),
        ("trainer.n_gpus_per_node=$GPUS", "0.4.1", "n_gpus", None),
        (f"{A}.ulysses_sequence_parallel_size=3", "0.4.1", "dp", None),
        ("trainer.n_gpus_per_node=1e1", "0.4.1", "n_gpus", None),
        (f"+{A}.use_kl_loss=True", "0.4.1", "ref_used", None),
    ],
)
def test_a_fact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, version: str, fact: str, expected: object
) -> None:
    monkeypatch.chdir(tmp_path)
    comment, words = (words + "\n", "") if words.startswith("#") else ("", words)
    (tmp_path / "run.sh").write_text(f"{comment}python3 -m verl.trainer.main_ppo data.seed=1 {words}\n")
    found = one(tmp_path, version)
    if expected is None:
        with pytest.raises(Undecided):
            getattr(found, fact)
    else:
        assert getattr(found, fact) == expected


def one(folder: Path, version: str) -> Facts:
    """The facts of the only launch of a launcher, on the version to judge by."""
    from verlint.experiment.project import Project
    from verlint.files.loading import load
    from verlint.settings import Settings

    settings = Settings(root=folder, verl_of_call=version)
    ((launch, _),) = Project(load(["run.sh"], settings).files, settings, folder).launches
    return launch.facts[0]


def test_an_unknown_switch_is_tried_both_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.sh").write_text(
        f"python3 -m verl.trainer.main_ppo {A}.use_dynamic_bsz=$DYN data.train_batch_size=8\n"
    )
    found = one(tmp_path, "0.4.1")
    assert certain(found, lambda facts: facts.flag(f"{A}.use_dynamic_bsz")) is None
    assert certain(found, lambda facts: facts.samples == 8 or facts.flag(f"{A}.use_dynamic_bsz")) is True
    assert {answer for answer, _ in outcomes(found, lambda facts: facts.flag(f"{A}.use_dynamic_bsz"))} == {True, False}


def test_a_guess_has_the_facts_of_each_version_that_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (launch,) = launches_of(
        tmp_path, monkeypatch, [[f"{R}.agent.num_workers=4", "trainer.use_legacy_worker_impl=auto"]], ""
    )
    assert [each.version for each in launch.facts] == ["0.7.1", "0.7.0", "0.6.1", "0.6.0", "0.5.0"]
    assert [each.rollout_path for each in launch.facts] == ["agent_loop"] * 2 + ["spmd"] * 3


def test_a_development_version_is_older_than_its_release() -> None:
    order = ["0.7", "0.7.1", "0.8.0.dev", "0.8.0", "0.9.1.dev", "0.9.1", "0.10.0.dev"]
    assert sorted(order, key=padded) == order
