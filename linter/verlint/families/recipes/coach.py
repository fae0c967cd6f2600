"""LLM-as-a-Coach: how its stages are called. Source: microsoft/LMOps `llm-as-a-coach/usage_example.sh`,
`llm-as-a-coach/scripts`, `llm-as-a-coach/tools`."""

from __future__ import annotations

from verlint.families.recipes.model import (
    API,
    API_KEY,
    CLUSTER,
    CONTAINER,
    GPU,
    HF_KEY,
    HUB,
    MERGE,
    TRACKING,
    WANDB_KEY,
    WANDB_PROJECT,
    Alias,
    Cookbook,
    DataFiles,
    Input,
    Output,
    Pitfall,
    Recipe,
    Setup,
)

_TRAIN_SET, _VAL_SET = Input("train", ("data-prep",)), Input("val", ("data-prep",))
_CHECKPOINTS = Input("policy", ("train",), role="actor", steps="{eval_steps}")
_RESULTS = "${roots.results}/{run}/global_step_{result_step}"

_CALL = {
    "model": "${models.policy}",
    "exp_model_path": "${models.coach}",
    "exp_name": "{run}",
    "nnodes": "${resources.num_nodes}",
    "rollout_n": "{rollout_n}",
    "batch_size": "{batch_size}",
}
_LENGTHS = {
    "actor_lr": "{actor_lr}",
    "max_prompt_length": "{max_prompt_length}",
    "max_response_length": "{max_response_length}",
}
_KEEPING = {"save_freq": "{save_freq}", "save_optim": "True", "auto_resume": "True"}

_MEMORY = Pitfall(
    "gpu_memory_utilization is too high beside the trainer", "vLLM stops with out of memory when it wakes up"
)
_NO_KEY = Pitfall(
    "OPENAI_API_KEY is not in the environment of the Ray cluster",
    "a RuntimeError after all workers have started",
    API_KEY,
)

_EL = Recipe(
    name="train",
    kind="train",
    title="train on the coach's feedback (experiential learning)",
    tracks=("el",),
    run="train",
    launcher="scripts/train/train_el.sh",
    options={
        **_CALL,
        "kl_loss_type": "{kl_loss_type}",
        "kl_topk": "{kl_topk}",
        **_LENGTHS,
        "rm_prompt_version": "v2",
        **_KEEPING,
        "ref_model_path": "?{ref_model}",
        "iter_teacher_steps": "?{iter_teacher_steps}",
        "use_dataset": "?{use_dataset}",
        "multidata_ratio": "?{multidata_ratio}",
        "multidata_rm_prompt": "?{multidata_rm_prompt}",
        "multidata_fixed_teacher": "?{multidata_fixed_teacher}",
    },
    inputs=(_TRAIN_SET, _VAL_SET),
    outputs=(Output("ckpt"),),
    touches=(GPU, CLUSTER, HUB, API, TRACKING),
    credentials=(WANDB_KEY, WANDB_PROJECT),
    intent="single-update",
    fixed={"total_training_steps": 300},
    pitfalls=(
        _MEMORY,
        _NO_KEY,
        Pitfall(
            "save_freq does not divide iter_teacher_steps",
            "after a resume the teacher is the base model again",
            "iter_teacher_steps",
        ),
    ),
    notes=("the teacher is what ref_model_path names, by default the model of the call",),
)

_RL = Recipe(
    name="train",
    kind="train",
    title="train on the coach's scores (reinforcement learning)",
    tracks=("rl",),
    run="train",
    launcher="scripts/train/train_rl.sh",
    options={**_CALL, **_LENGTHS, **_KEEPING},
    inputs=(_TRAIN_SET, _VAL_SET),
    outputs=(Output("ckpt"),),
    touches=(GPU, CLUSTER, HUB, API, TRACKING),
    credentials=(WANDB_KEY, WANDB_PROJECT),
    intent="single-update",
    fixed={"total_training_steps": 300},
    pitfalls=(_MEMORY, _NO_KEY),
)

_STEPS = {"exp_name": "{run}", "start_ckpt": "{first_step}", "end_ckpt": "{last_step}", "step": "{stride}",
          "base_dir": "${roots.results}"}  # fmt: skip
_BENCHMARK_FILES = {
    "alpacaeval2": "alpacaeval2/alpaca_eval_gpt4_baseline.json",
    "wildbench": "wildbench/v2.json",
    "arena_hard_v2": "arena_hard_v2/prompts.json",
    "creativewritingv3": "creativewritingv3/creative_writing_prompts_v3.json",
}
"""The judged benchmarks with the files of their prompts. Source: scripts/eval/gen_fuzzy.py, tools/download_data.sh."""
_BENCHMARKS = ",".join(_BENCHMARK_FILES)

_JUDGE = "the judge is gpt-4o behind the API; OPENAI_MODEL names another one"
"""Source: scripts/eval/eval_gpt4o.py, eval_gpt4o_fuzzy.py."""

_OTHERS = (
    Recipe(
        name="data-prep",
        kind="data-prep",
        title="download the data sets",
        shell='bash tools/download_data.sh "<DATA_REPOSITORY>" "${roots.data}"',
        outputs=(
            Output("train", "${roots.data}/wildchat-if_rubric-4o_train.parquet"),
            Output("val", "${roots.data}/wildchat-if_rubric-4o_val.parquet"),
            Output("tulu3", "${roots.data}/tulu-3-sft-mixture-filtered.parquet"),
            *(Output(name, f"${{roots.data}}/{path}") for name, path in _BENCHMARK_FILES.items()),
        ),
        touches=(HUB,),
        credentials=(HF_KEY,),
        notes=("only alias qwen-el-self-iter reads tulu3; the tool checks for all files",),
    ),
    Recipe(
        name="eval",
        kind="eval",
        title="answer the validation prompts with the checkpoints",
        run="train",
        launcher="scripts/train/eval.sh",
        options={
            "model": "${models.policy}",
            "exp_model_path": "none",
            "exp_name": "{run}",
            "nnodes": "${resources.num_nodes}",
            "ckpts": "{eval_steps}",
            "max_prompt_length": "{max_prompt_length}",
            "max_response_length": "{max_response_length}",
        },
        append=("trainer.rm_prompt_version=v2",),
        inputs=(_TRAIN_SET, _VAL_SET, _CHECKPOINTS),
        outputs=(Output("samples", _RESULTS + "/evaluation"),),
        touches=(GPU, CLUSTER, HUB, MERGE),
        pitfalls=(
            Pitfall("the call is without trainer.rm_prompt_version=v2", "a ValueError before validation"),
            Pitfall("exp_model_path is an API model", "an AttributeError at the first batch: answers are scored later"),
        ),
    ),
    Recipe(
        name="eval-fuzzy",
        kind="eval-fuzzy",
        title="answer four judged benchmarks with the checkpoints",
        run="train",
        launcher="scripts/train/eval_fuzzy.sh",
        options={"model": "${models.policy}", "exp_name": "{run}", "ckpts": "{eval_steps}"},
        inputs=(_CHECKPOINTS, *(Input(name, ("data-prep",)) for name in _BENCHMARK_FILES)),
        outputs=(Output("answers", _RESULTS + "/eval_fuzzy"),),
        touches=(GPU, HUB, MERGE),
        pitfalls=(
            Pitfall("there is more than one node", "every rank answers everything: the launcher has no rank guard"),
            Pitfall(
                "the chat template thinks here, unlike in training", "longer answers, other scores than validation"
            ),
        ),
    ),
    Recipe(
        name="eval-endtask",
        kind="eval-endtask",
        title="IF-Eval of the checkpoints",
        run="train",
        launcher="scripts/train/eval_endtask.sh",
        options={"model": "${models.policy}", "exp_name": "{run}", "ckpts": "{eval_steps}"},
        inputs=(_CHECKPOINTS,),
        outputs=(Output("end_task", _RESULTS + "/end_task"),),
        touches=(GPU, MERGE, HUB),
        approvals=("unsafe-code-eval",),
        pitfalls=(
            Pitfall("--confirm_run_unsafe_code is set although IF-Eval runs no code", "another task name would run it"),
        ),
    ),
    Recipe(
        name="score",
        kind="score",
        title="score the validation answers with an API model",
        run="train",
        launcher="scripts/eval/eval_gpt4o.py",
        options=_STEPS,
        inputs=(Input("samples", ("eval",)),),
        outputs=(Output("scores", _RESULTS + "/evaluation_4o/scores_4o.json"),),
        touches=(API,),
        credentials=(API_KEY,),
        pitfalls=(
            Pitfall("the answers of a step are missing", "`Skipping` is printed, the exit code is 0"),
            Pitfall("the step is left at its default of 25", "checkpoints that are saved every 10 steps are skipped"),
        ),
        notes=(_JUDGE,),
    ),
    Recipe(
        name="score-fuzzy",
        kind="score",
        title="score the benchmark answers with an API model",
        run="train",
        launcher="scripts/eval/eval_gpt4o_fuzzy.py",
        options={"benchmark": _BENCHMARKS, **_STEPS},
        inputs=(Input("answers", ("eval-fuzzy",)),),
        outputs=tuple(
            Output(f"{name}_scores", _RESULTS + f"/eval_fuzzy/scores_4o_{name}.json") for name in _BENCHMARK_FILES
        ),
        touches=(API,),
        credentials=(API_KEY,),
        pitfalls=(Pitfall("the answers of a step are missing", "`Skipping` is printed, the exit code is 0"),),
        notes=(_JUDGE,),
    ),
)

_ITERATED = {
    "iter_teacher_steps": 30,
    "use_dataset": "wildchat,tulu3",
    "multidata_ratio": "1,0.25",
    "multidata_rm_prompt": "v2,empty",
    "multidata_fixed_teacher": "0,1",
}


def _alias(name: str, run: str, more: dict[str, object] | None = None) -> Alias:
    """A preset; its name says the model, the mode and the source of feedback."""
    model, track, feedback = name.split("-")[:3]
    settings: dict[str, object] = {
        "nodes": 4,
        "model": {"qwen": "Qwen/Qwen3-8B", "olmo": "allenai/Olmo-3-7B-Instruct"}[model],
    }
    if feedback != "self":
        settings["exp_model"] = feedback
    return Alias(name, run, track, "the policy itself" if feedback == "self" else feedback, settings | (more or {}))


ALIASES = (
    _alias("qwen-el-self", "wildchat-el-q3-8b-r8b"),
    _alias("qwen-el-self-iter", "wildchat-el-q3-8b-r8b-itert30-mopd025-fixt", dict(_ITERATED)),
    _alias("qwen-el-gpt4o", "wildchat-el-q3-8b-rgpt4o"),
    _alias("olmo-el-self", "wildchat-el-om3-7b-r7b"),
    _alias("olmo-el-gpt4o", "wildchat-el-om3-7b-rgpt4o"),
    _alias("qwen-rl-self", "wildchat-rl-q3-8b-r8b"),
    _alias("qwen-rl-gpt4o", "wildchat-rl-q3-8b-rgpt4o"),
    _alias("olmo-rl-self", "wildchat-rl-om3-7b-r7b"),
    _alias("olmo-rl-gpt4o", "wildchat-rl-om3-7b-rgpt4o"),
)
"""Source: usage_example.sh, whose presets name local copies of the models."""

COACH = Cookbook(
    family="coach",
    tracks=("el", "rl"),
    plans={
        "list": (),
        "data-prep": ("data-prep",),
        "train": ("train",),
        "eval": ("eval",),
        "eval-fuzzy": ("eval-fuzzy",),
        "eval-endtask": ("eval-endtask",),
        "score": ("score", "score-fuzzy"),
        "all": ("data-prep", "train", "eval", "score", "eval-fuzzy", "score-fuzzy", "eval-endtask"),
    },
    recipes=(_EL, _RL, *_OTHERS),
    defaults={
        "rollout_n": 8,
        "batch_size": 256,
        "max_prompt_length": 8192,
        "max_response_length": 4096,
        "kl_loss_type": "full",
        "kl_topk": 256,
        "actor_lr": 1e-6,
        "save_freq": 10,
        "total_training_steps": 300,
    },
    models={"policy": "model", "reference": "ref_model|=policy", "coach": "exp_model|=policy"},
    roots={"data": "EL_DATA_ROOT", "checkpoints": "EL_CHECKPOINT_ROOT", "results": "EL_RESULT_ROOT"},
    setups={
        "a100-h200": Setup(
            "conda",
            (("bash tools/setup_conda_env.sh", (CONTAINER, HUB)),
             ("ray start --head   # and `ray start --address=…` on the other nodes", (CLUSTER,))),
            ("conda", "ray", "vllm"),
        )
    },
    checkout="<COACH_CHECKOUT>",
    repository="the folder llm-as-a-coach of a clone of https://github.com/microsoft/LMOps",
    folder="LMOps/llm-as-a-coach",
    aliases=ALIASES,
    data={
        "coach": DataFiles(
            ("wildchat-if_rubric-4o_train.parquet", "wildchat-if_rubric-4o_val.parquet",
             "tulu-3-sft-mixture-filtered.parquet", *_BENCHMARK_FILES.values()),
            prompt_key="prompt", trains_on={"wildchat-if_rubric-4o_train.parquet": 64},
        )
    },
    profiles={"el": "coach", "rl": "coach"},
    warnings=(("eval-endtask allows generated code to run (HF_ALLOW_CODE_EVAL, --confirm_run_unsafe_code): that needs "
              "a recorded approval"),),
    notes=("the launchers bring up no Ray cluster, and their presets use 4 nodes",),
)  # fmt: skip
