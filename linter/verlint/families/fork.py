"""The VeRL forks of OEL, OPCD and LLM-as-a-Coach: keys of their own, defaults, stages they run, and what they reject.

Sources: microsoft/LMOps `oel/verl`, `opcd/verl`, `llm-as-a-coach/verl`; `config` below stands for
`verl/trainer/config/ppo_trainer.yaml`, `trainer` for `verl/trainer/ppo/ray_trainer.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from verlint.families.conditions import Clash, Test, above, below, empty, ends, fewer_than_gpus, has, is_, like, not_
from verlint.value import Data

_STAGE = "trainer.stage"
_VAL_ONLY = "trainer.val_only"
_VAL_FIRST = "trainer.val_before_train"
_ON_POLICY = "trainer.on_policy_merge"
_OFF_POLICY = "trainer.generate_off_policy"
_OFF_DIR = "trainer.off_policy_save_dir"
_DEPLOY_DIR = "trainer.deploy_save_dir"
_KL = "actor_rollout_ref.actor.use_kl_loss"
_KL_TYPE = "actor_rollout_ref.actor.kl_loss_type"
_RM_PROMPT = "trainer.rm_prompt_version"
_SETTING = "trainer.setting"
_EXPERIENCE = "trainer.experience_path"
_COACH = "actor_rollout_ref.model.exp_model_path"

STAGES: Mapping[str, tuple[str, ...]] = {
    "oel": ("extract", "consolidate"),
    "opcd": ("extract", "consolidate"),
    "coach": ("consolidate", "rl"),
}
"""The values of `trainer.stage` that run. Source: trainer, `fit`; the loop of OEL and OPCD knows `consolidate` only,
`extract` is what their launchers call the run that ends after validation."""

PER_FORK_KEYS: Mapping[str, frozenset[str]] = {
    "coach": frozenset(
        [
            *("trainer.use_exp_model", "trainer.rm_prompt_version", "trainer.iter_teacher_steps"),
            *("trainer.multidata_rm_prompt", "trainer.multidata_fixed_teacher", "data.multidata_ratio"),
            *("actor_rollout_ref.actor.jsd_beta", "trainer.reward_scale"),
        ]
    ),
    "oel": frozenset(["trainer.train_oel", "trainer.deploy_save_dir"]),
    "opcd": frozenset(["trainer.off_policy_save_dir", "trainer.generate_off_policy"]),
}
"""Keys that only the launchers of one family set. Source: config of each fork, the launchers of each family."""

FORK_KEYS: frozenset[str] = frozenset(
    [
        *("trainer.experience_path", "trainer.experience_max_length", "trainer.multi_experience", "trainer.setting"),
        *("trainer.exp_sel_with_prev", "trainer.held_out_size", "trainer.held_out_rollout", "trainer.prompt_version"),
        *("trainer.train_system_prompt", "trainer.system_prompt_type", "trainer.on_policy_merge", "trainer.oel_round"),
        *("trainer.textgame_env_id", "trainer.textgame_max_steps", "trainer.textgame_total_steps"),
        *("trainer.eval_wo_experience", "trainer.eval_prepend_experience", "trainer.val_samples_limit"),
        *("actor_rollout_ref.actor.kl_topk", "actor_rollout_ref.model.exp_model_path"),
    ]
).union(*PER_FORK_KEYS.values())
"""Keys that no released VeRL has. Source: config of the forks beside that of VeRL 0.4.1."""

DEFAULTS: Mapping[str, Data] = {
    _STAGE: "generate",
    _VAL_ONLY: False,
    _VAL_FIRST: True,
    _ON_POLICY: True,
    _OFF_POLICY: False,
    _OFF_DIR: None,
    _DEPLOY_DIR: None,
    _EXPERIENCE: None,
    _SETTING: "math",
    _KL: False,
    _KL_TYPE: "full",
    _RM_PROMPT: "v1",
    "algorithm.use_kl_in_reward": False,
    "actor_rollout_ref.actor.kl_topk": 256,
    "actor_rollout_ref.actor.jsd_beta": -1,
    "actor_rollout_ref.rollout.n": 1,
    "trainer.train_oel": False,
    "trainer.multi_experience": False,
    "trainer.train_system_prompt": False,
    "trainer.use_exp_model": False,
    "trainer.eval_wo_experience": False,
    "trainer.eval_prepend_experience": False,
    "trainer.held_out_size": 500,
    "trainer.nnodes": 1,
    "trainer.n_gpus_per_node": 8,
    "trainer.iter_teacher_steps": -1,
    "trainer.resume_mode": "auto",
    "trainer.save_freq": -1,
}
"""What holds for keys that are not given. Source: config of the three forks, where they agree."""

_CONSOLIDATES: tuple[Test, ...] = (is_(_STAGE, "consolidate"),)

CLASHES: tuple[Clash, ...] = (
    Clash(
        ("oel", "opcd"),
        (like("trainer.textgame_env_id", r"^(?!.*(?:Sokoban|FrozenLake))."),),
        "trainer.textgame_env_id",
        "the VeRL fork plays Sokoban and FrozenLake only: it stops with an error at the first turn of "
        "`{trainer.textgame_env_id}`",
        "trainer.textgame_env_id=Sokoban-v0 or FrozenLake-v0-raw, or teach the fork this game",
        "verl/workers/rollout/vllm_rollout/vllm_rollout_spmd.py, _get_textgame_action_dict and _build_textgame_prompt",
        verify="grep -rn '{trainer.textgame_env_id}' verl",
    ),
    Clash(
        ("oel", "opcd"),
        (like("trainer.prompt_version", r"^(?!v[34]$)."),),
        "trainer.prompt_version",
        "the VeRL fork has a prompt for v3 and v4 only: with `{trainer.prompt_version}` it stops with an "
        "UnboundLocalError once the models are loaded",
        "trainer.prompt_version=v3 or v4, or write the prompt of this version into the fork",
        "trainer, fit: EXPERIENCE_UPDATE_PROMPT",
        verify="grep -n \"prompt_version == '{trainer.prompt_version}'\" verl/verl/trainer/ppo/ray_trainer.py",
    ),
    Clash(
        ("opcd",),
        (is_("trainer.train_system_prompt", True), like("trainer.system_prompt_type", r"^(?!(?:medmcqa|safety)$).")),
        "trainer.system_prompt_type",
        "the VeRL fork scores the answers of medmcqa and safety only: with `{trainer.system_prompt_type}` it stops "
        "with an UnboundLocalError where it scores",
        "trainer.system_prompt_type=medmcqa or safety, or teach the fork to score this type",
        "trainer: accs by system_prompt_type",
        verify="grep -n \"system_prompt_type == '{trainer.system_prompt_type}'\" verl/verl/trainer/ppo/ray_trainer.py",
    ),
    Clash(
        ("coach",),
        (is_(_STAGE, "consolidate"), not_(_RM_PROMPT, "v2")),
        at=_RM_PROMPT,
        message="stage consolidate needs rm_prompt_version `v2`, it is `{trainer.rm_prompt_version}`: the VeRL "
        "fork stops with a ValueError before it validates or trains",
        help="write trainer.rm_prompt_version=v2",
        source="llm-as-a-coach trainer, `fit`: trainer.stage=consolidate requires rm_prompt_version=v2",
    ),
    Clash(
        ("coach",),
        (is_(_STAGE, "rl"), not_(_RM_PROMPT, "v1")),
        at=_RM_PROMPT,
        message="stage rl needs rm_prompt_version `v1`, it is `{trainer.rm_prompt_version}`: the VeRL fork stops "
        "with a ValueError before it trains",
        help="write trainer.rm_prompt_version=v1",
        source="llm-as-a-coach trainer, `fit`: trainer.stage=rl requires rm_prompt_version=v1",
    ),
    Clash(
        ("coach",),
        (like(_COACH, r"^(?!(?:gpt4o|gpt54|gpt55)(?:_|$)).*gpt"),),
        at=_COACH,
        message="a coach with `gpt` in its name is taken for an API model, of which the VeRL fork knows gpt4o, gpt54 "
        "and gpt55: with `{actor_rollout_ref.model.exp_model_path}` it stops with a ValueError when its workers start",
        help="write gpt4o, gpt54 or gpt55 (and name the model in GPT_RM_MODEL), or link a local model to a path "
        "without `gpt`",
        source='llm-as-a-coach trainer, `init_workers`: use_gpt_rm = "gpt" in exp_model_path; verl/utils/gpt_rm.py, '
        "MODEL_CONFIGS",
    ),
    Clash(
        ("coach",),
        (like(_COACH, r"^(?i:none)$"), is_("trainer.use_exp_model", True), is_(_VAL_ONLY, False)),
        at=_COACH,
        message="training asks the coach in every step, and exp_model_path `{actor_rollout_ref.model.exp_model_path}` "
        "starts none: the VeRL fork stops with an AttributeError in the first step",
        help="name a local model or gpt4o, gpt54 or gpt55; `none` is for evaluations that only save the answers",
        source="llm-as-a-coach trainer, `init_workers`: exp_learner_wg = None; `fit`: exp_learner_wg.world_size",
    ),
    Clash(
        ("oel", "opcd"),
        (is_(_KL, True), like(_KL_TYPE, r"^(?!(?:kl|k1|abs|mse|k2|low_var_kl|k3|full|seqkd)$).")),
        at=_KL_TYPE,
        message="`{actor_rollout_ref.actor.kl_loss_type}` is no kl_loss_type of the VeRL fork: the first update fails "
        "with NotImplementedError",
        help="write full, or kl, abs, mse, low_var_kl or seqkd",
        source="oel, opcd verl/trainer/ppo/core_algos.py, `kl_penalty`",
        verify="grep -n 'kl_penalty ==\\|kl_penalty in' verl/verl/trainer/ppo/core_algos.py",
    ),
    Clash(
        ("coach",),
        (is_(_KL, True), like(_KL_TYPE, r"^(?!(?:kl|k1|abs|mse|k2|low_var_kl|k3|full|seqkd|k3ste|adv|ntp|jsd)$).")),
        at=_KL_TYPE,
        message="`{actor_rollout_ref.actor.kl_loss_type}` is no kl_loss_type of the VeRL fork: the first update fails "
        "with NotImplementedError",
        help="write full, or kl, abs, mse, low_var_kl, jsd or seqkd",
        source="llm-as-a-coach verl/trainer/ppo/core_algos.py, `kl_penalty`",
        verify="grep -n 'kl_penalty ==\\|kl_penalty in' verl/verl/trainer/ppo/core_algos.py",
    ),
    Clash(
        ("coach",),
        (like(_COACH, "gpt"), is_(_VAL_FIRST, True)),
        at=_COACH,
        near=_VAL_FIRST,
        message="validation is scored by the workers of the coach, and `{actor_rollout_ref.model.exp_model_path}` is "
        "an API model that has none: the VeRL fork stops with an AttributeError at its first batch",
        help="score with a local model, or write actor_rollout_ref.model.exp_model_path=none to save the answers only",
        source="llm-as-a-coach trainer, `init_workers`: exp_learner_wg = None; `_validate`: exp_learner_wg.world_size",
    ),
    Clash(
        ("oel", "opcd"),
        (is_(_STAGE, "extract"), not_(_VAL_ONLY, True)),
        at=_VAL_ONLY,
        near=_STAGE,
        message="stage extract runs inside validation, but val_only is `{trainer.val_only}`: the run goes on to the "
        "training loop, which stops with `Unknown trainer stage: extract`",
        help="write trainer.val_only=True",
        source="oel, opcd trainer, `fit`: only validation returns before the loop, which knows consolidate",
    ),
    Clash(
        ("oel", "opcd"),
        (is_(_STAGE, "extract"), is_(_VAL_ONLY, True), is_(_VAL_FIRST, False)),
        at=_VAL_FIRST,
        message="stage extract runs inside the validation before training, which val_before_train=False leaves out: "
        "the training loop stops with `Unknown trainer stage: extract`",
        help="write trainer.val_before_train=True",
        source="oel, opcd trainer, `fit`: val_only is looked at after the validation before training",
    ),
    Clash(
        ("oel", "opcd"),
        (
            *(is_(_STAGE, "extract"), is_(_SETTING, "textgame"), is_(_VAL_ONLY, True)),
            *(has("trainer.held_out_size"), fewer_than_gpus("trainer.held_out_size")),
        ),
        at="trainer.held_out_size",
        message="held-out games are rounded down to a multiple of the GPUs, and held_out_size="
        "`{trainer.held_out_size}` is below {trainer.nnodes} x {trainer.n_gpus_per_node} GPUs: none is left, and the "
        "fork stops with an AssertionError",
        help="hold out at least as many games as there are GPUs",
        source="oel, opcd trainer, `_validate_textgame`: HELD_OUT_SIZE -= HELD_OUT_SIZE % world_size; assert > 0",
    ),
    Clash(
        ("oel",),
        (not_(_SETTING, "textgame"),),
        at=_SETTING,
        near=_STAGE,
        message="the OEL fork runs text games only, setting is `{trainer.setting}`: it stops with an AssertionError",
        help="write trainer.setting=textgame",
        source="oel trainer, `_validate` and `fit`: assert setting == textgame",
    ),
    Clash(
        ("oel",),
        (*_CONSOLIDATES, is_("trainer.train_oel", False)),
        at="trainer.train_oel",
        near=_STAGE,
        message="stage consolidate of OEL needs train_oel, it is `False`: the VeRL fork stops with an AssertionError "
        "in the first step",
        help="write trainer.train_oel=True",
        source="oel trainer, `fit`: assert trainer.train_oel",
    ),
    Clash(
        ("oel",),
        (*_CONSOLIDATES, is_(_ON_POLICY, True), is_(_KL, False), is_("algorithm.use_kl_in_reward", False)),
        at=_KL,
        near=_STAGE,
        message="consolidation needs the reference worker as its teacher, but use_kl_loss is `False`, so none is "
        "started: the VeRL fork stops with an AssertionError in the first step",
        help="write actor_rollout_ref.actor.use_kl_loss=True",
        source="oel trainer, `fit`: assert use_reference_policy; main_ppo starts it for a KL only",
    ),
    Clash(
        ("opcd",),
        (
            *(*_CONSOLIDATES, is_(_OFF_POLICY, False), is_(_KL, False), not_(_KL_TYPE, "seqkd")),
            is_("algorithm.use_kl_in_reward", False),
        ),
        at=_KL,
        near=_STAGE,
        message="consolidation needs the reference worker as its teacher, but use_kl_loss is `False`, so none is "
        "started: the VeRL fork stops with an AssertionError in the first step",
        help="write actor_rollout_ref.actor.use_kl_loss=True",
        source="opcd trainer, `fit`: assert use_reference_policy; main_ppo starts it for a KL only",
    ),
    Clash(
        ("coach",),
        (*_CONSOLIDATES, is_(_VAL_ONLY, False), is_(_KL, False), is_("algorithm.use_kl_in_reward", False)),
        at=_KL,
        near=_STAGE,
        message="consolidation needs the reference worker as its teacher, but use_kl_loss is `False`, so none is "
        "started: the VeRL fork stops with an AssertionError in the first step",
        help="write actor_rollout_ref.actor.use_kl_loss=True",
        source="llm-as-a-coach trainer, `fit`: assert use_reference_policy",
    ),
    Clash(
        ("opcd",),
        (*_CONSOLIDATES, is_(_OFF_POLICY, True), is_(_ON_POLICY, True)),
        at=_ON_POLICY,
        near=_OFF_POLICY,
        message="generate_off_policy=True asks for the teacher's answers, on_policy_merge=True for the student's: the "
        "fork saves answers that were given without the experience, and trains nothing",
        help="write trainer.on_policy_merge=False to generate, or generate_off_policy=False to train on-policy",
        source="opcd trainer, `fit`: the on-policy branch generates, then the step is skipped",
    ),
    Clash(
        ("opcd",),
        (*_CONSOLIDATES, is_(_ON_POLICY, False), is_("trainer.train_oel", False), empty(_OFF_DIR)),
        at=_OFF_DIR,
        near=_ON_POLICY,
        message="an off-policy stage needs off_policy_save_dir, the folder of the teacher's answers, it is "
        "`{trainer.off_policy_save_dir}`: the VeRL fork finds nothing there and stops in the first step",
        help="name the folder that the generating stage writes, RUN/off_policy_data",
        source="opcd trainer, `fit`: os.path.join(off_policy_save_dir, …)",
    ),
    Clash(
        ("oel",),
        (*_CONSOLIDATES, is_("trainer.train_oel", True), empty(_DEPLOY_DIR)),
        at=_DEPLOY_DIR,
        near=_STAGE,
        message="deploy and consolidation of OEL share the folder deploy_save_dir, it is "
        "`{trainer.deploy_save_dir}`: the VeRL fork stops in the first step",
        help="name the folder of the round's trajectories, RUN/deploy_data",
        source="oel trainer, `fit`: os.path.join(deploy_save_dir, …)",
    ),
    Clash(
        ("oel", "opcd"),
        (*_CONSOLIDATES, is_(_EXPERIENCE, None)),
        at=_EXPERIENCE,
        near=_STAGE,
        message="stage consolidate looks for experience_path in every step, it is `null`: the VeRL fork stops with a "
        "TypeError in the first",
        help="name the experience of the stage; one that needs none names a file that is not there",
        source="oel, opcd trainer, `fit`: os.path.exists(experience_path)",
    ),
    Clash(
        ("opcd",),
        (
            *(*_CONSOLIDATES, is_(_ON_POLICY, False), is_(_OFF_POLICY, False), is_(_KL_TYPE, "seqkd")),
            above("actor_rollout_ref.rollout.n", 1),
        ),
        at="actor_rollout_ref.rollout.n",
        near=_KL_TYPE,
        message="kl_loss_type `seqkd` trains on the one teacher answer of each prompt, rollout.n is "
        "`{actor_rollout_ref.rollout.n}`: the VeRL fork asserts 1 unless off_policy_save_dir holds generated answers",
        help="write actor_rollout_ref.rollout.n=1",
        verify='ls "{trainer.off_policy_save_dir}"  # are generated answers there?',
        source="opcd trainer, `fit`: assert rollout.n == 1 where it makes the batch from teacher_response",
    ),
    Clash(
        ("coach",),
        (above("actor_rollout_ref.actor.jsd_beta", 0), below("actor_rollout_ref.actor.jsd_beta", 1),
         not_(_KL_TYPE, "full")),
        at=_KL_TYPE,
        near="actor_rollout_ref.actor.jsd_beta",
        message="jsd_beta `{actor_rollout_ref.actor.jsd_beta}` asks for the Jensen-Shannon divergence, which needs "
        "kl_loss_type `full`, it is `{actor_rollout_ref.actor.kl_loss_type}`: the VeRL fork stops with a ValueError",
        help="write actor_rollout_ref.actor.kl_loss_type=full, or jsd_beta=-1",
        source="llm-as-a-coach trainer, `_validate_config`: JSD requires kl_loss_type=full",
    ),
    Clash(
        ("coach",),
        (above("actor_rollout_ref.actor.jsd_beta", 0.9999999),),
        at="actor_rollout_ref.actor.jsd_beta",
        message="jsd_beta `{actor_rollout_ref.actor.jsd_beta}` is not below 1: the VeRL fork stops with a ValueError",
        help="take a value between 0 and 1, or -1 for plain KL",
        source="llm-as-a-coach trainer, `_validate_config`: jsd_beta must be between 0 and 1",
    ),
    Clash(
        ("oel", "opcd"),
        (is_("trainer.eval_prepend_experience", True), is_("trainer.eval_wo_experience", True), empty(_EXPERIENCE)),
        at="trainer.eval_prepend_experience",
        near=_EXPERIENCE,
        message="eval_prepend_experience=True reads experience_path, which is `{trainer.experience_path}`: the "
        "VeRL fork stops when it opens it",
        help="name the experience file, or write trainer.eval_prepend_experience=False",
        source="oel, opcd trainer, `_validate*`: open(experience_path)",
    ),
    Clash(
        ("oel", "opcd"),
        (
            *(is_("trainer.eval_prepend_experience", True), is_("trainer.eval_wo_experience", False)),
            is_("trainer.train_system_prompt", False),
        ),
        at="trainer.eval_prepend_experience",
        near="trainer.eval_wo_experience",
        message="eval_prepend_experience=True only counts in an evaluation (eval_wo_experience=True): the VeRL "
        "fork ignores it here",
        help="write trainer.eval_wo_experience=True to evaluate, or remove it",
        ignored=True,
        source="oel, opcd trainer, `_validate*`: eval_prepend_experience is read under eval_wo_experience",
    ),
    Clash(
        ("oel", "opcd"),
        (*_CONSOLIDATES, is_("trainer.multi_experience", True), ends(_EXPERIENCE, r"experience_\d+\.txt")),
        at=_EXPERIENCE,
        near="trainer.multi_experience",
        message="multi_experience=True reads experience_path as a list of files, but `{trainer.experience_path}` is "
        "one experience: each of its lines is opened as a file, which stops the first step",
        help="name the experience_list.txt of the run, or write trainer.multi_experience=False",
        source="oel, opcd trainer, `fit`: open(p) for each line of experience_path",
    ),
    Clash(
        ("oel", "opcd"),
        (*_CONSOLIDATES, is_(_SETTING, "textgame"), has("trainer.total_training_steps"),
         has("trainer.textgame_total_steps"),
         Test("trainer.total_training_steps", "differs", "trainer.textgame_total_steps")),
        at="trainer.total_training_steps",
        near="trainer.textgame_total_steps",
        message="text games run textgame_total_steps=`{trainer.textgame_total_steps}` steps, the VeRL fork ignores "
        "total_training_steps=`{trainer.total_training_steps}`",
        help="write the same number for both",
        ignored=True,
        source="oel, opcd trainer, `_init_textgame_training`: total_training_steps = textgame_total_steps",
    ),
)  # fmt: skip
"""Combinations that a fork rejects or ignores, each with what it does then."""
