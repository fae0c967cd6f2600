"""OEL: how its stages are called. Source: microsoft/LMOps `oel/README.md`, `oel/usage_example.sh`, `oel/scripts`,
`oel/tools`."""

from __future__ import annotations

from verlint.families.recipes.games import EVAL_RECORD, GAME, NO_THINK, SETUPS, outside_benchmark
from verlint.families.recipes.model import (
    CLUSTER,
    GPU,
    HUB,
    MERGE,
    TRACKING,
    WANDB_KEY,
    WANDB_PROJECT,
    Cookbook,
    DataFiles,
    Input,
    Output,
    Pitfall,
    Recipe,
)

_POLICY = Input("policy", ("consolidate",), option="resume_policy", role="actor", step="{resume_step}", previous=True)

_EXTRACT = Recipe(
    name="extract",
    kind="extract",
    title="extract experience from games of the policy",
    run="ext",
    launcher="scripts/textgame_extract_inturn.sh",
    options={
        "exp_name": "{run}",
        "ckpts": "{seeds}",
        "model": "${models.policy}",
        "prompt_version": "{prompt_version}",
        "val_samples_limit": "{val_samples_limit}",
        "exp_sel_with_prev": "{exp_sel_with_prev}",
        "max_response_length": "{experience_max_length}",
        "textgame_name": "{textgame_name}",
        "textgame_max_response": "{textgame_response_length}",
        "textgame_max_steps": "{textgame_max_steps}",
        "textgame_no_think": "{textgame_no_think}",
        "oel_round": "{round}",
        "exp_model_path": "?{exp_model}",
    },
    inputs=(_POLICY,),
    outputs=(Output("experience", "${roots.checkpoints}/{run}"),),
    touches=(GPU, CLUSTER, HUB, MERGE, TRACKING),
    credentials=(WANDB_KEY,),
    pitfalls=(
        NO_THINK,
        Pitfall(
            "prompt_version is neither v3 nor v4", "the prompt of the extraction is undefined: a NameError at once"
        ),
        Pitfall("more than 500 samples are taken", "the games of one round overlap with those of the next"),
    ),
    notes=("the range stands for random seeds of the extraction, not for training steps",),
)

_LIST = Recipe(
    name="experience-list",
    kind="experience-list",
    title="list the experience files that consolidation reads",
    run="ext",
    launcher="tools/make_exp_list.py",
    options={
        "exp_name": "{run}",
        "ckpts": "{seeds}",
        "val_samples_limit": "{val_samples_limit}",
        "val_samples_use": "{val_samples_use}",
    },
    inputs=(Input("experience", ("extract",)),),
    outputs=(Output("experience_list", "${roots.checkpoints}/{run}/experience_list.txt"),),
    pitfalls=(
        Pitfall(
            "limit or range differ from those of the extraction",
            "the list is written all the same; consolidation stops with FileNotFoundError",
        ),
    ),
)

_DEPLOY = Recipe(
    name="deploy",
    kind="deploy",
    title="collect trajectories of the policy",
    run="dep",
    launcher="scripts/textgame_generate_deploy.sh",
    options={
        "model": "${models.policy}",
        "exp_name": "{run}",
        "nnodes": "${resources.num_nodes}",
        "max_response_length": "{max_response_length}",
        "experience_max_length": "{experience_max_length}",
        **GAME,
        "oel_round": "{round}",
        "total_training_steps": "{total_training_steps}",
    },
    inputs=(_POLICY,),
    outputs=(Output("deploy_data", "${roots.checkpoints}/{run}/deploy_data"),),
    touches=(GPU, CLUSTER, HUB, MERGE, TRACKING),
    credentials=(WANDB_KEY, WANDB_PROJECT),
    pitfalls=(NO_THINK,),
)

_CONSOLIDATE = Recipe(
    name="consolidate",
    kind="consolidate",
    title="train the experience into the policy",
    run="con",
    launcher="scripts/textgame_consolidate.sh",
    options={
        "model": "${models.policy}",
        "exp_name": "{run}",
        "exp_path": "${deps.experience_list}",
        "nnodes": "${resources.num_nodes}",
        "kl_loss_type": "{kl_loss_type}",
        "kl_topk": "{kl_topk}",
        "actor_lr": "{actor_lr}",
        "max_response_length": "{max_response_length}",
        "experience_max_length": "{experience_max_length}",
        **GAME,
        "deploy_save_dir": "${deps.deploy_data}",
        "oel_round": "{round}",
        "total_training_steps": "{total_training_steps}",
        "save_freq": "{save_freq}",
    },
    inputs=(
        _POLICY,
        Input("experience_list", ("experience-list",), option="exp_path", alone="{experience_path}"),
        Input("deploy_data", ("deploy",), option="deploy_save_dir", alone="{deploy_data}"),
    ),
    outputs=(Output("ckpt"),),
    touches=(GPU, CLUSTER, HUB, MERGE, TRACKING),
    credentials=(WANDB_KEY, WANDB_PROJECT),
    intent="single-update",
    pitfalls=(
        NO_THINK,
        Pitfall(
            "experience and turns do not fit into 20480 tokens",
            "prompts are cut at their end, where the situation stands: the loss falls, the scores do not rise",
        ),
        Pitfall("the run name was used before", "training resumes at the old run's last step and ends after few steps"),
    ),
)

_EVAL = Recipe(
    name="eval",
    kind="eval",
    title="play held-out games with the checkpoints",
    run="con",
    launcher="scripts/textgame_eval_inturn.sh",
    options=EVAL_RECORD,
    inputs=(Input("policy", ("consolidate",), role="actor", steps="{eval_steps}"),),
    outputs=(Output("scores", "${roots.results}/{run}"),),
    touches=(GPU, CLUSTER, HUB, MERGE, TRACKING),
    credentials=(WANDB_KEY,),
    optional=True,
    pitfalls=(
        Pitfall(
            "a step of the range was not saved",
            "the merge fails without an end of the script, an empty folder is left, the model load fails later",
        ),
    ),
)

_ROUND = ("extract", "experience-list", "deploy", "consolidate", "eval")

OEL = Cookbook(
    family="oel",
    tracks=("textgame",),
    plans={
        "extract": ("extract",),
        "experience-list": ("experience-list",),
        "deploy": ("deploy",),
        "consolidate": ("consolidate",),
        "eval": ("eval",),
        "round": _ROUND,
        "rounds": _ROUND,
        "if-eval": ("if-eval",),
    },
    recipes=(_EXTRACT, _LIST, _DEPLOY, _CONSOLIDATE, _EVAL, outside_benchmark(("consolidate",))),
    defaults={
        "exp_sel_with_prev": True,
        "seeds": "50..500/50",
        "val_samples_limit": 100,
        "val_samples_use": 50,
        "prompt_version": "v4",
        "textgame_max_steps": 5,
        "textgame_response_length": 1024,
        "max_response_length": 1024,
        "experience_max_length": 8192,
        "kl_loss_type": "full",
        "kl_topk": 256,
        "actor_lr": 5e-6,
        "total_training_steps": 100,
        "save_freq": 2,
    },
    models={"policy": "model", "experience": "exp_model"},
    roots={"checkpoints": "OEL_ROOT", "results": "OEL_RESULT_ROOT"},
    setups=SETUPS,
    checkout="<OEL_CHECKOUT>",
    repository="the folder oel of a clone of https://github.com/microsoft/LMOps",
    folder="LMOps/oel",
    literal_root="/tmp",
    rounds=True,
    data={"oel": DataFiles(files=())},
    notes=(("extraction and deployment of round 1 do not need each other: on nodes of their own they may run at once; "
            "later rounds merge the policy into one folder in both: one after the other"),
           "scores of several checkpoints tell more than that of the last one"),
)  # fmt: skip
