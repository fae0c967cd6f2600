"""GAD: how its stages are called. Source: microsoft/LMOps `gad/README.md`, `gad/scripts`, `gad/tools`."""

from __future__ import annotations

from verlint.families.recipes.model import (
    BRANCH,
    CONTAINER,
    GPU,
    HUB,
    INSIDE,
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
    Setup,
)

_TRAIN_SET, _TEST_SET = Input("train", ("data-prep",)), Input("test", ("data-prep",))
_KEYS = (WANDB_KEY, WANDB_PROJECT)
_SAVES = {"save_freq": 50}
_TRAIN = (GPU, TRACKING, HUB, BRANCH)
_KEY_LOST = Pitfall(
    "the lines `export WANDB_PROJECT='YOUR_PROJECT_NAME'` and `export WANDB_API_KEY='YOUR_WANDB_API_KEY'` stand in the "
    "launcher, as they do for seqkd, warmup and adversarial",
    "wandb refuses the key: remove both lines",
)
_PROMPTS = (
    "the prompts to answer; no tool of the checkout writes it, and what 4k stands for is not said there: export it "
    "with the columns of lmsys_gpt5_chat_filtered_test.parquet"
)
_OPENED = (
    "opened when the trainer starts, though generation trains on nothing; no tool of the checkout writes it: give it "
    "the columns of lmsys_gpt5_chat_filtered_train.parquet"
)
_WRONG_BRANCH = Pitfall("verl is on the branch of another stage", "unknown keys, or the training of that stage")

GAD = Cookbook(
    family="gad",
    tracks=("lmsys",),
    plans={
        "data-prep": ("data-prep",),
        "seqkd": ("seqkd",),
        "warmup": ("warmup",),
        "adversarial": ("adversarial",),
        "generation": ("generation",),
        "all": ("data-prep", "seqkd", "warmup", "adversarial", "generation"),
    },
    recipes=(
        Recipe(
            name="data-prep",
            kind="data-prep",
            title="export the answers of the teacher, GPT-5-Chat, from the hub: ytz20/LMSYS-Chat-GPT-5-Chat-Response",
            launcher="tools/export_lmsys_parquet.py",
            outputs=(
                Output("train", "${roots.data}/lmsys_gpt5_chat_filtered_train.parquet"),
                Output("test", "${roots.data}/lmsys_gpt5_chat_filtered_test.parquet"),
            ),
            touches=(HUB,),
            notes=("the checkout's own tool takes no options and writes both files to /tmp",),
        ),
        Recipe(
            name="seqkd",
            kind="seqkd",
            title="train the student on the teacher's answers",
            run="seqkd",
            launcher="scripts/train/gpt5-chat-filtered-7b-seqkd-lr5e-6.sh",
            options={"model": "${models.student}", "exp_name": "{run}", "nnodes": "${resources.num_nodes}"},
            inputs=(_TRAIN_SET, _TEST_SET),
            outputs=(Output("ckpt"),),
            touches=_TRAIN,
            credentials=_KEYS,
            intent="off-policy",
            fixed=_SAVES,
            optional=True,
            pitfalls=(_KEY_LOST, _WRONG_BRANCH),
            notes=("a baseline: no other step of the plan reads its checkpoints",),
        ),
        Recipe(
            name="warmup",
            kind="warmup",
            title="train student and discriminator before they play against each other",
            run="warmup",
            launcher="scripts/train/gpt5-chat-filtered-7b-warmup-lr1e-6.sh",
            options={
                "model": "${models.student}",
                "reward_model": "${models.discriminator}",
                "exp_name": "{run}",
                "nnodes": "${resources.num_nodes}",
            },
            inputs=(_TRAIN_SET, _TEST_SET),
            outputs=(Output("ckpt"),),
            touches=_TRAIN,
            credentials=_KEYS,
            intent="off-policy",
            fixed=_SAVES,
            pitfalls=(_KEY_LOST, _WRONG_BRANCH),
        ),
        Recipe(
            name="adversarial",
            kind="adversarial",
            title="train the student against the discriminator",
            run="gad",
            launcher="scripts/train/gpt5-chat-filtered-7b-adversarial-lr1e-6.sh",
            options={"exp_name": "{run}", "nnodes": "${resources.num_nodes}", "resume_step": "{resume_step}"},
            inputs=(
                Input("student", ("warmup",), role="actor", step="{resume_step}", staged=True,
                      place="${roots.checkpoints}/{run}/global_step_{resume_step}/actor"),
                Input("discriminator", ("warmup",), role="critic", step="{resume_step}", staged=True,
                      place="${roots.checkpoints}/{run}/global_step_{resume_step}/critic"),
                _TRAIN_SET,
                _TEST_SET,
            ),
            outputs=(Output("ckpt"),),
            touches=(GPU, TRACKING, BRANCH, MERGE),
            credentials=_KEYS,
            intent="clipped",
            fixed=_SAVES,
            pitfalls=(
                Pitfall("latest_checkpointed_iteration.txt is missing or names another step",
                        "training starts at step 0 and writes over the copied checkpoint, without a word"),
                Pitfall("only the actor was copied", "the discriminator's merge fails, its model load fails later"),
                _KEY_LOST,
                _WRONG_BRANCH,
            ),
        ),
        Recipe(
            name="generation",
            kind="generation",
            title="answer the test prompts with the checkpoints",
            run="gad",
            launcher="scripts/generate/generate.sh",
            before=("export OMPI_COMM_WORLD_RANK=0",),
            options={
                "model": "${models.student}",
                "exp_name": "{run}",
                "val_data": "{val_data}",
                "ckpts": "{eval_steps}",
                "nnodes": "${resources.num_nodes}",
                "ngpus": "{gpus_per_node}",
            },
            ranged=True,
            inputs=(
                Input("student", ("adversarial",), role="actor", steps="{eval_steps}"),
                Input("prompts", (), place="${roots.data}/{val_data}_gpt5_chat_4k_filtered_test.parquet",
                      note=_PROMPTS),
                Input("opened", (), place="${roots.data}/lmsys_gpt5_chat_4k_filtered_train.parquet", note=_OPENED),
            ),
            outputs=(Output("answers", "${roots.results}/{run}"),),
            touches=(GPU, HUB, MERGE, BRANCH),
            pitfalls=(
                Pitfall("OMPI_COMM_WORLD_RANK is not set (with MPI leave the export out)",
                        "an error text, then the script ends with exit code 0"),
                Pitfall("the 4k files that no tool writes are missing", "a FileNotFoundError when the trainer starts"),
                Pitfall("the huggingface folder holds a half-done merge", "the merge is skipped, the load fails"),
            ),
            notes=("ROUGE-L is only a diagnostic: judge the answers with a model",),
        ),
    ),
    defaults={"save_freq": 50, "val_data": "lmsys"},
    models={"student": "model", "discriminator": "reward_model|=student"},
    roots={"data": "GAD_DATA_ROOT", "checkpoints": "GAD_CKPT_ROOT", "results": "GAD_RESULT_ROOT"},
    setups={
        "a100-h200": Setup(
            "docker",
            (("bash local_docker.sh", (CONTAINER,)), ("bash local_setup.sh", (CONTAINER, HUB))),
            ("container", "vllm"),
            (INSIDE,),
        )
    },
    checkout="<GAD_CHECKOUT>",
    repository="the folder gad of a clone of https://github.com/microsoft/LMOps",
    folder="LMOps/gad",
    labels={"train": "train, the teacher's answers", "test": "test, the teacher's answers",
            "opened": "train, not trained on"},
    inner="a clone of https://github.com/YTianZHU/verl, installed from there (pip install -e)",
    literal_root="/tmp",
    data={
        "gad": DataFiles(
            ("lmsys_gpt5_chat_filtered_train.parquet", "lmsys_gpt5_chat_filtered_test.parquet"),
            prompt_key="content", trains_on={"lmsys_gpt5_chat_filtered_train.parquet": 256},
        )
    },
    profiles={"lmsys": "gad"},
    notes=("the trainers have no rank guard: start each on one rank only",),
)  # fmt: skip
