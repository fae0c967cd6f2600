"""What the launches of a stage read and write, by the configuration keys that name the places.

Sources: `ppo_trainer.yaml` and the trainers of VeRL 0.2 to 0.9.1, and of the forks of the families.
"""

from __future__ import annotations

from collections.abc import Mapping

from verlint.record import dataclass


@dataclass(frozen=True, slots=True)
class Flow:
    """A key that names files or a folder. `role` says what they are, `roles` what they are for some kinds of stage.

    A launch reads them, except that stages of the kinds `writers` write them ("*" for all). Kinds and families in
    `idle` name the place and do not use it."""

    key: str
    role: str
    roles: Mapping[str, str] | None = None
    writers: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()

    def role_in(self, kind: str) -> str:
        """What the files are for a kind of stage."""
        return (self.roles or {}).get(kind, self.role)

    def written_by(self, kind: str) -> bool:
        """Whether a stage of this kind writes them."""
        return kind in self.writers or "*" in self.writers


FLOWS: tuple[Flow, ...] = (
    Flow("data.train_files", "training data"),
    Flow("data.val_files", "validation data"),
    Flow("trainer.experience_path", "experience", roles={"consolidate": "experience list"}, idle=("deploy", "coach")),
    Flow("trainer.deploy_save_dir", "trajectories", writers=("deploy",)),
    Flow("trainer.off_policy_save_dir", "teacher's answers", writers=("off-policy-data",)),
    Flow(
        "trainer.validation_data_dir",
        "results",
        roles={"extract": "experience", "generation": "answers"},
        writers=("*",),
    ),
    Flow("trainer.rollout_data_dir", "rollouts", writers=("*",)),
)
"""Deploy is told an experience that is not there on purpose, and the trainer of Coach knows none. Source:
oel/scripts/textgame_generate_deploy.sh, llm-as-a-coach trainer."""


@dataclass(frozen=True, slots=True)
class ModelRole:
    """A key that names a model. `starts` says that the launch trains from it, rather than asking it."""

    key: str
    role: str
    starts: bool = False


MODEL_ROLES: tuple[ModelRole, ...] = (
    ModelRole("actor_rollout_ref.model.path", "policy", starts=True),
    ModelRole("critic.model.path", "critic", starts=True),
    ModelRole("actor_rollout_ref.model.ref_model_path", "reference"),
    ModelRole("actor_rollout_ref.model.exp_model_path", "experience"),
    ModelRole("reward_model.model.path", "reward"),
)

NO_MODEL = frozenset(["", "none", "null", "None"])
"""What the launchers write for no model."""

LOGGERS: Mapping[str, str] = {"wandb": "WANDB_API_KEY", "swanlab": "SWANLAB_API_KEY"}
"""Loggers that need a credential. Source: VeRL `verl/utils/tracking.py`."""

OUTPUT_OPTIONS = (
    *("--out_dir", "--output_dir", "--output", "--out", "--save_dir", "--local_dir", "--local_save_dir"),
    *("--output_path", "--target_dir", "--output-dir", "--out-dir", "--save-dir"),
)
"""Options by which tools are told where to write. Source: LMOps `tools/`, VeRL `examples/data_preprocess`."""

MERGED = "merge_model2hf"
"""Part of the name of tools whose `--local_dir` is what they read. Source: LMOps `*/tools/merge_model2hf.py`."""

SCORES: Mapping[str, str] = {"score": "eval"}
"""Kinds of stages that read the results of another kind by the run's name. Source: LMOps `eval_gpt4o*.py`."""
