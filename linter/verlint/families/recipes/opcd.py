"""OPCD: how its stages are called, on three tracks. Source: microsoft/LMOps `opcd/README.md`, `opcd/scripts`,
`opcd/tools`."""

from __future__ import annotations

from verlint.families.recipes.games import EVAL_RECORD, EXPERIENCE, GAME, NO_THINK, SETUPS, outside_benchmark
from verlint.families.recipes.model import (
    CLUSTER,
    GPU,
    HF_KEY,
    HUB,
    MERGE,
    TRACKING,
    WANDB_KEY,
    WANDB_PROJECT,
    ByHand,
    Cookbook,
    DataFiles,
    Input,
    Output,
    Pitfall,
    Recipe,
)

_MATH, _GAMES, _PROMPTS = "math", "textgame", "system-prompt"
_TRAIN = (GPU, CLUSTER, HUB, TRACKING)
_RUN = (GPU, CLUSTER, HUB, MERGE, TRACKING)
_KEYS = (WANDB_KEY, WANDB_PROJECT)

_TRAIN_SET = Input("train", ("data-prep",))
_TEST_SET = Input("test", ("data-prep",))
_NOTE = Input("note", ("extract",), option="exp_path", alone="{experience_path}")
_BATCHES = Input("batches", ("off-policy-data",), option="off_policy_save_dir", alone="{off_policy_data}")
_CHECKPOINTS = Input("policy", ("on-policy", "off-policy"), role="actor", steps="{eval_steps}")

_KL = {"kl_loss_type": "{kl_loss_type}", "kl_topk": "{kl_topk}", "actor_lr": "{actor_lr}"}
_GENERATED = {"total_training_steps": 50}
_FIXED = {**_GENERATED, "save_freq": 2}

_SILENT = Pitfall(
    "the experience file is not there (a relative path and another working folder)",
    "training goes on with an empty experience: the KL loss is near zero from the first step",
)
_TOKENIZER = Pitfall("reference and student have different tokenizers", "the KL loss is large and does not fall")
_OTHER_DATA = Pitfall(
    "experience, data or lengths differ from those of the generator", "an AssertionError over prompts in step 1"
)

_CHOOSE = ByHand(
    "choose-seed",
    "BEST_SEED",
    "choose the seed whose experience scored best on the problems held out, and write it for <BEST_SEED> into the spec",
    "head -v -c 2000 {run}/global_step_*/extract_{val_samples_limit}_samples/scores.json",
    after=True,
)
"""Source: README, BEST_EXP_PATH; trainer, `_validate`, which writes the scores of the samples held out."""

_DATA = (
    Recipe(
        name="data-prep",
        kind="data-prep",
        title="download the data sets",
        tracks=(_MATH,),
        launcher="tools/prepare_data.py",
        outputs=(
            Output("train", "${roots.data}/dapo_train.parquet"),
            Output("validation", "${roots.data}/dapo_validation.parquet"),
            Output("test", "${roots.data}/dapo_test.parquet"),
        ),
        touches=(HUB,),
        pitfalls=(Pitfall("a download fails", "the tool prints it and ends with exit code 0: look for the files"),),
    ),
    Recipe(
        name="data-prep",
        kind="data-prep",
        title="download the data sets",
        tracks=(_PROMPTS,),
        launcher="tools/prepare_data.py",
        outputs=(
            Output("train", "${roots.data}/sys_{prompt_type}_train.parquet"),
            Output("test", "${roots.data}/sys_{prompt_type}_test.parquet"),
        ),
        touches=(HUB,),
        pitfalls=(Pitfall("a download fails", "the tool prints it and ends with exit code 0: look for the files"),),
    ),
)

_EXTRACT = (
    Recipe(
        name="extract",
        kind="extract",
        title="extract experience from solved problems",
        tracks=(_MATH,),
        run="ext",
        launcher="scripts/math_extract.sh",
        options={
            "model": "${models.policy}",
            "exp_name": "{run}",
            "nnodes": "${resources.num_nodes}",
            "ckpts": "{seeds}",
            "prompt_version": "{prompt_version}",
            "exp_sel_with_prev": "{exp_sel_with_prev}",
            "val_samples_limit": "{val_samples_limit}",
            "max_response_length": "{max_response_length}",
        },
        inputs=(_TRAIN_SET, Input("validation", ("data-prep",))),
        outputs=(Output("note", "${roots.checkpoints}/{run}/" + EXPERIENCE),),
        touches=_RUN,
        credentials=(WANDB_KEY,),
        pitfalls=(
            Pitfall(
                "the validation set has fewer rows than val_samples_limit and the 900 held out for the scores together",
                "fewer experiences than asked for, silently",
            ),
        ),
        by_hand=_CHOOSE,
        notes=("the range stands for random seeds, each of which writes an experience",),
    ),
    Recipe(
        name="extract",
        kind="extract",
        title="extract experience from games of the policy",
        tracks=(_GAMES,),
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
            "exp_model_path": "?{exp_model}",
        },
        outputs=(Output("note", "${roots.checkpoints}/{run}/" + EXPERIENCE),),
        touches=_RUN,
        credentials=(WANDB_KEY,),
        pitfalls=(
            NO_THINK,
            Pitfall(
                "a record of OEL with its 16 fields is given",
                "the round is taken as a part of the experience model's path",
            ),
        ),
        by_hand=_CHOOSE,
        notes=("the range stands for random seeds, each of which writes an experience",),
    ),
)


def _trainer(track: str, name: str) -> Recipe:
    """Training on the policy's own samples, the teacher's answers, or training on these."""
    prefix = {_MATH: "math", _GAMES: "textgame", _PROMPTS: "sys"}[track]
    games, prompts = track == _GAMES, track == _PROMPTS
    generates, replays = name == "off-policy-data", name == "off-policy"
    script = "generate_offp" if generates else "train_offp" if replays else "consolidate"
    options = {"model": "${models.teacher}" if generates and not games else "${models.policy}"}
    if not games and not generates:
        options["ref_model_path"] = "${models.reference}"
    options |= {"exp_name": "{run}", "exp_path": "${deps.note}"}
    if prompts:
        options["experience_max_length"] = "{experience_max_length}"
    options["nnodes"] = "${resources.num_nodes}"
    if not games:
        options["rollout_n"] = "{rollout_n}"
    options |= _KL
    if replays:
        options["off_policy_save_dir"] = "${deps.batches}"
    options["max_response_length"] = "{max_response_length}"
    if games:
        options |= {"experience_max_length": "{experience_max_length}", **GAME}
    if prompts:
        options["system_prompt_type"] = "{prompt_type}"
        if not generates:
            options |= {"total_training_steps": "{total_training_steps}", "save_freq": "{save_freq}"}
    return Recipe(
        name=name,
        kind=name,
        title={
            "on-policy": "train on the policy's own answers, with the experience in the teacher's context",
            "off-policy-data": "let the teacher answer with the experience in its context",
            "off-policy": "train on the saved answers of the teacher",
        }[name],
        tracks=(track,),
        run={"on-policy": "onp", "off-policy-data": "offp-data", "off-policy": "offp"}[name],
        launcher=f"scripts/{prefix}_{script}.sh",
        options=options,
        inputs=(*(() if games else (_TRAIN_SET, _TEST_SET)), _NOTE, *((_BATCHES,) if replays else ())),
        outputs=(
            Output("batches", "${roots.checkpoints}/{run}/off_policy_data") if generates else Output("ckpt"),
        ),
        touches=_TRAIN,
        credentials=(*_KEYS, *((HF_KEY,) if prompts else ())),
        intent="off-policy" if generates or replays else "single-update",
        fixed=_GENERATED if generates else {} if prompts else _FIXED,
        pitfalls=(
            *((_OTHER_DATA,) if replays else (_SILENT,)),
            *((NO_THINK,) if games else ()),
            *(() if games or generates else (_TOKENIZER,)),
        ),
    )  # fmt: skip


_EVAL = (
    Recipe(
        name="eval",
        kind="eval",
        title="evaluate the checkpoints on problems",
        tracks=(_MATH,),
        run="eval",
        launcher="scripts/math_eval.sh",
        options={
            "model": "${models.policy}",
            "exp_name": "{subject}",
            "nnodes": "${resources.num_nodes}",
            "ckpts": "{eval_steps}",
            "use_bsl": "false",
            "max_response_length": "{max_response_length}",
        },
        inputs=(_TRAIN_SET, _TEST_SET, _CHECKPOINTS),
        outputs=(Output("scores", "${roots.results}/{subject}"),),
        touches=_RUN,
        credentials=(WANDB_KEY,),
        follows=True,
    ),
    Recipe(
        name="eval",
        kind="eval",
        title="play held-out games with the checkpoints",
        tracks=(_GAMES,),
        run="eval",
        launcher="scripts/textgame_eval_inturn.sh",
        options={**EVAL_RECORD, "exp_name": "{subject}"},
        inputs=(_CHECKPOINTS,),
        outputs=(Output("scores", "${roots.results}/{subject}"),),
        touches=_RUN,
        credentials=(WANDB_KEY,),
        follows=True,
    ),
    Recipe(
        name="eval",
        kind="eval",
        title="evaluate the checkpoints on the prompt's task",
        tracks=(_PROMPTS,),
        run="eval",
        launcher="scripts/sys_eval.sh",
        options={
            "model": "${models.policy}",
            "exp_name": "{subject}",
            "exp_path": "{experience_path}",
            "experience_max_length": "{experience_max_length}",
            "nnodes": "${resources.num_nodes}",
            "ckpts": "{eval_steps}",
            "use_bsl": "false",
            "max_response_length": "{max_response_length}",
            "system_prompt_type": "{prompt_type}",
        },
        inputs=(_TRAIN_SET, _TEST_SET, _CHECKPOINTS),
        outputs=(Output("scores", "${roots.results}/{subject}"),),
        touches=_RUN,
        credentials=(WANDB_KEY, HF_KEY),
        follows=True,
        notes=("report several checkpoints: scores of system prompts go up and down between them",),
    ),
)

_TRAINERS = tuple(
    _trainer(track, name)
    for track in (_MATH, _GAMES, _PROMPTS)
    for name in ("on-policy", "off-policy-data", "off-policy")
)

OPCD = Cookbook(
    family="opcd",
    tracks=(_MATH, _GAMES, _PROMPTS),
    plans={
        "data-prep": ("data-prep",),
        "extract": ("extract",),
        "on-policy": ("on-policy",),
        "off-policy": ("off-policy-data", "off-policy"),
        "eval": ("eval",),
        "all": ("data-prep", "extract", "on-policy", "off-policy-data", "off-policy", "eval"),
        "if-eval": ("if-eval",),
    },
    recipes=(*_DATA, *_EXTRACT, *_TRAINERS, *_EVAL, outside_benchmark(("on-policy", "off-policy"))),
    defaults={
        "exp_sel_with_prev": False,
        "seeds": "50..500/50",
        "val_samples_limit": 100,
        "val_samples_use": 50,
        "prompt_version": "v4",
        "textgame_max_steps": 5,
        "textgame_response_length": 1024,
        "max_response_length": 1024,
        "experience_max_length": 8192,
        "rollout_n": 1,
        "kl_loss_type": "full",
        "kl_topk": 256,
        "actor_lr": 5e-6,
        "total_training_steps": 50,
        "save_freq": 2,
    },
    models={"policy": "model", "reference": "ref_model|=policy", "teacher": "ref_model|=policy",
            "experience": "exp_model"},
    roots={"data": "OPCD_DATA", "checkpoints": "OPCD_CKPT", "results": "OPCD_RESULTS"},
    setups=SETUPS,
    checkout="<OPCD_CHECKOUT>",
    repository="the folder opcd of a clone of https://github.com/microsoft/LMOps",
    folder="LMOps/opcd",
    literal_root="/tmp",
    without=frozenset([(_GAMES, "data-prep"), (_PROMPTS, "extract")]),
    data={
        "opcd-math": DataFiles(
            ("dapo_train.parquet", "dapo_validation.parquet", "dapo_test.parquet"),
            prompt_key="content", trains_on={"dapo_train.parquet": 128},
        ),
        "opcd-sys-medmcqa": DataFiles(
            ("sys_medmcqa_train.parquet", "sys_medmcqa_test.parquet"),
            prompt_key="content", trains_on={"sys_medmcqa_train.parquet": 128},
        ),
        "opcd-sys-safety": DataFiles(
            ("sys_safety_train.parquet", "sys_safety_test.parquet"),
            prompt_key="content", trains_on={"sys_safety_train.parquet": 128},
        ),
    },
    profiles={_MATH: "opcd-math", _PROMPTS: "opcd-sys-{prompt_type}"},
    notes=(("the on-policy stage learns by reverse KL on the student's answers, the off-policy stage by forward KL on "
           "the teacher's"),),
)  # fmt: skip
