"""What the stages of a family hand over to each other, and which settings they must share.

Sources: the launchers in microsoft/LMOps `oel/scripts`, `opcd/scripts`, and the trainers of their forks.
"""

from __future__ import annotations

from collections.abc import Mapping

from verlint.record import dataclass


@dataclass(frozen=True)
class Handover:
    """A stage of kind `producer` makes something that one of kind `consumer` reads.

    They belong together when the consumer's `option` (a path, a list of paths or a name) has the producer's run name as
    a component. `what` names the thing, `missing` says what the VeRL fork does when it is not there. `checkpoint` marks
    checkpoints, which other rules follow."""

    producer: str
    consumer: str
    option: str
    what: str
    missing: str = ""
    checkpoint: bool = False


@dataclass(frozen=True)
class Shared:
    """Settings that a producer and a consumer must share.

    `names` are the settings, written `of producer=of consumer` where the two call one thing by different names.
    `effect` says what happens when they differ."""

    producer: str
    consumer: str
    names: tuple[str, ...]
    effect: str


_GAME = ("textgame_name", "textgame_max_steps", "textgame_no_think")
_OTHER_GAME = "the student is trained on situations that the experience is not about"

HANDOVERS: Mapping[str, tuple[Handover, ...]] = {
    "oel": (
        Handover("extract", "experience-list", "exp_name", "the experience files", "the list names files that are "
                 "not there, and consolidation stops when it opens the first"),
        Handover("extract", "consolidate", "exp_path", "the experience", "consolidation stops when it opens a file of "
                 "the list"),
        Handover("experience-list", "consolidate", "exp_path", "the experience list", "the VeRL fork goes on with "
                 "an empty experience: nothing is learned from the text"),
        Handover("deploy", "consolidate", "deploy_save_dir", "the trajectories", "the VeRL fork stops with an "
                 "AssertionError in the first step"),
        Handover("consolidate", "extract", "resume_policy_name", "the policy", checkpoint=True),
        Handover("consolidate", "deploy", "resume_policy_name", "the policy", checkpoint=True),
        Handover("consolidate", "consolidate", "resume_policy_name", "the policy", checkpoint=True),
    ),
    "opcd": (
        Handover("extract", "on-policy", "exp_path", "the experience", "the VeRL fork goes on with an "
                 "empty experience: teacher and student see the same prompt, and nothing is learned"),
        Handover("extract", "off-policy-data", "exp_path", "the experience", "the VeRL fork goes on with an empty "
                 "experience: the teacher answers without it"),
        Handover("off-policy-data", "off-policy", "off_policy_save_dir", "the teacher's answers", "the VeRL fork "
                 "stops in the first step, where it opens them"),
    ),
}  # fmt: skip
"""Source: defaults and paths of the launchers; what a missing input does: trainer, `fit`, of each fork."""

SHARED: Mapping[str, tuple[Shared, ...]] = {
    "oel": (
        Shared("extract", "consolidate", _GAME, _OTHER_GAME),
        Shared(
            "extract",
            "consolidate",
            ("max_response_length=experience_max_length",),
            "the experience is cut to another length where it is used than where it was written",
        ),
        Shared("deploy", "consolidate", (*_GAME, "max_response_length", "experience_max_length"),
               "the trajectories do not fit what is trained on them"),
        Shared("extract", "experience-list", ("ckpt_start", "ckpt_end", "ckpt_step", "ckpts", "val_samples_limit"),
               "the list names files that extraction does not write"),
    ),
    "opcd": (
        Shared("extract", "on-policy", _GAME, _OTHER_GAME),
        Shared("extract", "off-policy-data", _GAME, _OTHER_GAME),
    ),
}  # fmt: skip
"""Source: the documented experiments, which share all of these; the fork compares none of them."""

PAIR: Mapping[str, tuple[str, ...]] = {
    "exp_path": ("math", "sys"),
    "rollout_n": ("math", "sys"),
    "max_response_length": ("math", "textgame"),
    "experience_max_length": ("sys", "textgame"),
    "kl_loss_type": (),
    "kl_topk": (),
    "textgame_name": (),
    "textgame_max_steps": (),
    "textgame_no_think": (),
    "system_prompt_type": (),
}
"""What OPCD's generating and training stage must share, with the tracks it counts in (all when none is named).

Source: opcd trainer, `fit`: the prompts of the saved batch are asserted to be those that the training stage builds from
exp_path, lengths and data; the saved top-k indices are used as they are."""

TRACKS: Mapping[str, str] = {"math_": "math", "sys_": "sys", "textgame_": "textgame"}
"""How the names of OPCD's launchers begin, and the track that each belongs to."""

KEYS: Mapping[str, tuple[str, ...]] = {
    "exp_name": ("trainer.experiment_name",),
    "exp_path": ("trainer.experience_path",),
    "deploy_save_dir": ("trainer.deploy_save_dir",),
    "off_policy_save_dir": ("trainer.off_policy_save_dir",),
    "oel_round": ("trainer.oel_round",),
    "textgame_name": ("trainer.textgame_env_id",),
    "textgame_max_steps": ("trainer.textgame_max_steps",),
    "textgame_no_think": ("trainer.textgame_no_think",),
    "max_response_length": ("data.max_response_length",),
    "experience_max_length": ("trainer.experience_max_length",),
    "total_training_steps": ("trainer.textgame_total_steps", "trainer.total_training_steps"),
    "rollout_n": ("actor_rollout_ref.rollout.n",),
    "kl_loss_type": ("actor_rollout_ref.actor.kl_loss_type",),
    "kl_topk": ("actor_rollout_ref.actor.kl_topk",),
    "system_prompt_type": ("trainer.system_prompt_type",),
    "val_samples_limit": ("trainer.val_samples_limit",),
    "save_freq": ("trainer.save_freq",),
    "ref_model_path": ("actor_rollout_ref.model.ref_model_path",),
    "model": ("actor_rollout_ref.model.path",),
}
"""The configuration key that holds an option of the launchers, for stages that do not name the option."""

PROMPT_TYPES = ("medmcqa", "safety")
"""The system prompts of OPCD, each with data and a way to score. Source: opcd trainer, `_validate_system_prompt`."""

FIXED_STEPS: Mapping[str, int] = {
    "math_generate_offp.sh": 50,
    "sys_generate_offp.sh": 50,
    "textgame_generate_offp.sh": 50,
}
"""Steps of generators that have no option for them. Source: opcd/scripts, total_training_steps=50."""

DATA_LAUNCHERS: Mapping[str, str] = {
    "opcd": r"(?:^|/)(?:math|sys)_\w+\.sh$",
    "coach": r"(?:^|/)(?:train_el|train_rl|eval)\.sh$",
    "gad": r"(?:^|/)[\w.-]*(?:seqkd|warmup|adversarial)[\w.-]*\.sh$",
}
"""Launchers of a family that read what its data-prep stage makes. Source: data.train_files of the launchers; the text
games of OPCD and OEL read no data sets."""
