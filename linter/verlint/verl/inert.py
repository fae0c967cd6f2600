"""Keys that can be set without any effect: nothing reads them any more, or another key turns them off.

Hand-written beside the list of dead keys in `schemas.json.gz`. Source of each row: the named file of the released
wheels 0.2 to 0.9.1.
"""

from __future__ import annotations

from verlint.record import dataclass
from verlint.value import Data
from verlint.verl.rows import Row, Term, is_, is_not

_A, _R = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
_NO_CRITIC = (is_not("algorithm.adv_estimator", "gae"), is_not("critic.enable", True))
_GROUPS = ("grpo", "rloo", "opo", "grpo_passk", "remax", "gpg", "reinforce_plus_plus_baseline", "gdpo",
           "grpo_vectorized", "rloo_vectorized")  # fmt: skip
"""Estimators without a time axis: they know no gamma and no lambda. Source: `trainer/ppo/core_algos.py`."""


@dataclass(frozen=True)
class Dead:
    """A key that no code reads, in versions `since` to `until` when all terms of `when` hold. `instead` are the keys
    that count; where they hold the same value, or are all given, nothing is lost. `configs` limits it to launches of
    these configs, as other trainers may read the key."""

    key: str
    instead: tuple[str, ...]
    source: str
    since: str
    until: str = ""
    when: tuple[Term, ...] = ()
    configs: tuple[str, ...] = ()


DEAD: tuple[Dead, ...] = (
    Dead(
        f"{_A}.clip_ratio",
        (f"{_A}.clip_ratio_low", f"{_A}.clip_ratio_high"),
        "workers/actor/dp_actor.py, trainer/ppo/core_algos.py",
        "0.4.0",
        when=(
            is_not(f"{_A}.clip_ratio_low", None),
            is_not(f"{_A}.clip_ratio_high", None),
            is_not(f"{_A}.policy_loss.loss_mode", "dppo_tv", "dppo_kl"),
        ),
    ),
    Dead(f"{_A}.grad_clip", (f"{_A}.optim.clip_grad",), "workers/engine/fsdp/transformer_impl.py", "0.8.0"),
    Dead("critic.grad_clip", ("critic.optim.clip_grad",), "workers/engine/fsdp/transformer_impl.py", "0.8.0"),
    Dead(
        f"{_A}.use_torch_compile",
        (f"{_A}.fsdp_config.use_torch_compile",),
        "workers/engine/fsdp/transformer_impl.py",
        "0.8.0",
        when=(is_(f"{_A}.strategy", "fsdp", "fsdp2"),),
    ),
    Dead(
        "critic.ulysses_sequence_parallel_size",
        ("critic.fsdp.ulysses_sequence_parallel_size",),
        "workers/config/critic.py",
        "0.8.0",
    ),
    Dead(
        f"{_A}.entropy_checkpointing",
        (f"{_A}.fsdp_config.entropy_checkpointing",),
        "workers/engine/fsdp/transformer_impl.py",
        "0.8.0",
        "0.8.0",
    ),
    Dead(
        f"{_A}.entropy_from_logits_with_chunking",
        (f"{_A}.fsdp_config.entropy_from_logits_with_chunking",),
        "workers/engine/fsdp/transformer_impl.py",
        "0.8.0",
        "0.8.0",
    ),
    Dead(
        "trainer.balance_batch",
        (),
        "trainer/ppo/v1/trainer_base.py",
        "0.9.0",
        when=(is_("trainer.use_v1", True),),
        configs=("ppo_trainer", "ppo_megatron_trainer"),
    ),
)
"""Keys that are still in the config. Where a key is dead by the list of a version, it needs no row here."""


@dataclass(frozen=True)
class Inert:
    """A fact about a key that another key turns off. `harmless` are values that say the same as no value."""

    row: Row
    harmless: tuple[Data, ...] = ()


INERT: tuple[Inert, ...] = (
    Inert(
        Row(
            f"{_A}.kl_loss_coef",
            "use_kl_loss is False, so there is no KL in the loss",
            f"set {_A}.use_kl_loss=True, or take the coefficient away",
            "workers/actor/dp_actor.py, workers/utils/losses.py",
            when=(is_(f"{_A}.use_kl_loss", False),),
        ),
        (0, None),
    ),
    Inert(
        Row(
            "algorithm.kl_ctrl.kl_coef",
            "use_kl_in_reward is False, so there is no KL in the reward since VeRL 0.4",
            "set algorithm.use_kl_in_reward=True, or take the coefficient away",
            "trainer/ppo/ray_trainer.py",
            since="0.4.0",
            when=(is_("algorithm.use_kl_in_reward", False),),
        ),
        (0, None),
    ),
    Inert(
        Row(
            "algorithm.norm_adv_by_std_in_grpo",
            "the estimator is not grpo",
            "take it away, or choose algorithm.adv_estimator=grpo",
            "trainer/ppo/core_algos.py",
            since="0.4.0",
            when=(
                is_(
                    "algorithm.adv_estimator",
                    *("gae", "opo", "remax", "reinforce_plus_plus", "reinforce_plus_plus_baseline"),
                ),
            ),
        ),
        (True,),
    ),
    *(
        Inert(
            Row(
                key,
                "use_remove_padding is False, and entropy is computed in chunks for inputs without padding only",
                "set actor_rollout_ref.model.use_remove_padding=True, or take it away",
                source,
                since=since,
                until=until,
                when=(
                    is_("actor_rollout_ref.model.use_remove_padding", False),
                    is_(f"{_A}.strategy", "fsdp", "fsdp2"),
                    is_not(f"{_A}.use_prefix_grouper", True),
                ),
            ),
            (False,),
        )
        for key, source, since, until in (
            (f"{_A}.entropy_from_logits_with_chunking", "workers/actor/dp_actor.py", "0.4.1", "0.7.1"),
            (
                f"{_A}.fsdp_config.entropy_from_logits_with_chunking",
                "workers/engine/fsdp/transformer_impl.py",
                "0.8.0",
                "0.9.1",
            ),
        )
    ),
    Inert(
        Row(
            f"{_R}.ignore_eos",
            "no server of this version gets it",
            "take it away",
            "workers/rollout/vllm_rollout, workers/rollout/sglang_rollout",
            since="0.7.0",
            until="0.8.0",
        ),
        (False,),
    ),
    Inert(
        Row(
            "algorithm.lam",
            "only the estimator gae uses a lambda",
            "take it away, or choose algorithm.adv_estimator=gae",
            "trainer/ppo/core_algos.py",
            when=(is_("algorithm.adv_estimator", *_GROUPS, "reinforce_plus_plus"),),
        ),
        (1.0,),
    ),
    Inert(
        Row(
            "algorithm.gamma",
            "the estimator gives each answer one advantage and uses no discount",
            "take it away, or choose algorithm.adv_estimator=gae",
            "trainer/ppo/core_algos.py",
            when=(is_("algorithm.adv_estimator", *_GROUPS),),
        ),
        (1.0,),
    ),
    Inert(
        Row(
            "trainer.critic_warmup",
            "there is no critic to warm up, and the actor is not trained before that step either",
            "set trainer.critic_warmup=0",
            "trainer/ppo/ray_trainer.py, trainer/ppo/v1/trainer_base.py",
            when=_NO_CRITIC,
        ),
        (0, 1),
    ),
)
"""Keys that are read only when another key says so."""

TRUNCATION: tuple[Row, ...] = (
    Row(
        "data.truncation",
        "VeRL 0.3 shortens what is trained on only: vLLM gets prompts that are too long as they are",
        "set data.filter_overlong_prompts=True",
        "utils/dataset/rl_dataset.py: raw_prompt_ids",
        since="0.3.0",
        until="0.3.0",
        when=(
            is_not("data.filter_overlong_prompts", True),
            is_("data.truncation", "left", "right"),
            is_(f"{_R}.name", "vllm"),
        ),
    ),
    Row(
        "data.truncation",
        "VeRL 0.7 no longer applies it: prompts that are too long go on as they are",
        "set data.filter_overlong_prompts=True",
        "utils/dataset/rl_dataset.py",
        since="0.7.0",
        until="0.7.1",
        when=(is_not("data.filter_overlong_prompts", True),),
    ),
    Row(
        "data.truncation",
        "VeRL since 0.8 no longer applies it: prompts that are too long lose their beginning, with a line in the log",
        "set data.filter_overlong_prompts=True",
        "utils/dataset/rl_dataset.py, experimental/agent_loop",
        since="0.8.0",
        when=(is_not("data.filter_overlong_prompts", True), is_not("data.truncation", "left")),
    ),
)
"""What becomes of `data.truncation`."""

TELLING_DEFAULTS: tuple[str, ...] = (
    f"{_A}.entropy_coeff",
    f"{_A}.clip_ratio_low",
    f"{_A}.clip_ratio_high",
    f"{_A}.loss_agg_mode",
    f"{_A}.kl_loss_type",
    f"{_A}.use_kl_loss",
    f"{_A}.checkpoint.save_contents",
    "algorithm.use_kl_in_reward",
    "algorithm.kl_ctrl.kl_coef",
    "algorithm.norm_adv_by_std_in_grpo",
    "data.return_raw_chat",
    "data.filter_overlong_prompts",
    "data.shuffle",
    "actor_rollout_ref.model.use_remove_padding",
    f"{_R}.mode",
    f"{_R}.name",
    f"{_R}.calculate_log_probs",
    f"{_R}.enforce_eager",
    f"{_R}.top_k",
    f"{_R}.val_kwargs.do_sample",
    "trainer.use_v1",
    "trainer.val_before_train",
    "algorithm.filter_groups.metric",
)
"""Keys whose default decides what is trained, saved or measured, for telling changes between versions."""
