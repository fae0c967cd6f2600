"""OPO: the configuration that makes a run exact on-policy. Source: microsoft/LMOps `opo/README.md`."""

from __future__ import annotations

from collections.abc import Mapping

from verlint.families.recipes.model import (
    CLUSTER,
    CONTAINER,
    GPU,
    HUB,
    TRACKING,
    WANDB_KEY,
    ByHand,
    Cookbook,
    Input,
    Output,
    Pitfall,
    Recipe,
    Setup,
)

SIX_KEYS: Mapping[str, tuple[object, str]] = {
    "data.train_batch_size": ("{batch_size}", "the rollout batch: all of it is used in one update"),
    "actor_rollout_ref.actor.ppo_mini_batch_size": (
        "{batch_size}",
        "the same number: a smaller one makes later updates on answers of an older policy",
    ),
    "actor_rollout_ref.actor.use_kl_loss": (False, "no KL term in the loss: it would pull towards the reference"),
    "actor_rollout_ref.actor.kl_loss_coef": (0.0, "the same, for code that reads the coefficient only"),
    "actor_rollout_ref.actor.entropy_coeff": (0.0, "no entropy bonus; the default of VeRL 0.2 is 0.001"),
    "algorithm.kl_ctrl.kl_coef": (
        0.0,
        "no KL penalty in the reward; with use_kl_loss=False VeRL 0.2 adds it, by default with 0.001",
    ),
}
"""The six keys of the recipe, each with its value and why. Source: README; defaults of verl v0.2."""

OPO = Cookbook(
    family="opo",
    tracks=(),
    plans={"config": ("config",)},
    recipes=(
        Recipe(
            name="config",
            kind="config",
            title="exact on-policy training with the optimal reward baseline",
            run="opo",
            entry="verl.trainer.main_ppo",
            overrides={
                "algorithm.adv_estimator": "grpo",
                **{key: value for key, (value, _) in SIX_KEYS.items()},
                "data.train_files": "{train_data}",
                "data.val_files": "{val_data}",
                "actor_rollout_ref.model.path": "${models.policy}",
                "actor_rollout_ref.actor.optim.lr": "{actor_lr}",
                "actor_rollout_ref.actor.ppo_epochs": 1,
                "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": "{micro_batch}",
                "actor_rollout_ref.rollout.name": "vllm",
                "actor_rollout_ref.rollout.temperature": 1.0,
                "actor_rollout_ref.rollout.n": "{rollout_n}",
                "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu": "{micro_batch}",
                "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu": "{micro_batch}",
                "trainer.logger": ["console", "wandb"],
                "trainer.nnodes": "${resources.num_nodes}",
                "trainer.n_gpus_per_node": "{gpus_per_node}",
                "trainer.total_training_steps": "{total_training_steps}",
                "trainer.save_freq": "{save_freq}",
                "trainer.remove_previous_ckpt_in_save": True,
                "trainer.default_local_dir": "${roots.checkpoints}/{run}",
                "trainer.resume_mode": "disable",
            },
            inputs=(Input("train", ()),),
            outputs=(Output("ckpt"),),
            touches=(GPU, CLUSTER, HUB, TRACKING),
            credentials=(WANDB_KEY,),
            intent="exact",
            by_hand=ByHand(
                "baseline", "OPTIMAL_BASELINE",
                ("put the optimal baseline into VeRL 0.2: compute_opo_outcome_advantage of microsoft/LMOps, "
                 "opo/verl/trainer/ppo/core_algos.py, into the checkout's core_algos.py, and a call of it where "
                 "ray_trainer.py computes the advantages of grpo; then write provides: [optimal-reward-baseline]"),
                "grep -n compute_opo_outcome_advantage verl/trainer/ppo/core_algos.py verl/trainer/ppo/ray_trainer.py",
            ),
            pitfalls=(
                Pitfall("the checkout's ray_trainer.py does not call compute_opo_outcome_advantage",
                        "the run is plain GRPO, with advantages divided by their standard deviation",
                        about="algorithm.adv_estimator=grpo"),
                Pitfall("opo/verl/trainer/ppo/core_algos.py is laid over the whole file of that name",
                        "an ImportError: it holds one function, not the whole module",
                        about="algorithm.adv_estimator=grpo"),
                Pitfall("the whole batch does not fit in one update", "out of memory in the update: lower the micro "
                        "batch, never the mini batch"),
            ),
            notes=("algorithm.adv_estimator=grpo: v0.2.0 has no opo; the changed code computes its baseline there",
                   "trainer.remove_previous_ckpt_in_save=True: each save deletes the one before, the last one stays",
                   *(f"{key}={value}: {why}" for key, (value, why) in SIX_KEYS.items())),
        ),
    ),
    defaults={"actor_lr": 1e-6, "rollout_n": 8, "batch_size": 128, "micro_batch": 8, "total_training_steps": 100,
              "save_freq": 50},
    models={"policy": "model"},
    roots={"data": "OPO_DATA", "checkpoints": "OPO_CKPT"},
    setups={"a100-h200": Setup("conda", (("pip install -e .   # in the checkout of verl", (CONTAINER, HUB)),
                                         ("ray start --head", (CLUSTER,))), ("ray", "vllm"))},
    checkout="<VERL_CHECKOUT>",
    repository="a clone of https://github.com/volcengine/verl at tag v0.2",
    folder="verl",
    warnings=(
        "OPO is not mixed into another recipe unless its baseline and all six keys are ported there explicitly",
        "equal rollout and update batches keep a whole batch in one update: expect more memory per step",
    ),
    notes=("VeRL 0.4 and newer have algorithm.adv_estimator=opo instead of grpo with changed code",),
)  # fmt: skip
