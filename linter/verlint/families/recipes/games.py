"""What the text games of OEL and OPCD have in common: game options, set-up of the nodes, the benchmark outside."""

from __future__ import annotations

from verlint.families.recipes.model import (
    CLUSTER,
    CONTAINER,
    GPU,
    HF_KEY,
    HUB,
    INSIDE,
    MERGE,
    Input,
    Output,
    Pitfall,
    Recipe,
    Setup,
)

GAME = {
    "textgame_name": "{textgame_name}",
    "textgame_max_steps": "{textgame_max_steps}",
    "textgame_no_think": "{textgame_no_think}",
}
"""Options of the game, in the order of the launchers."""

GAMES = ("Sokoban", "FrozenLake")
"""A game's name holds one of these, else the fork stops. Source: trainer, `_init_textgame_training`."""

EXPERIENCE = "global_step_{seed}/extract_{val_samples_limit}_samples/experiences/experience_{val_samples_use}.txt"
"""Where extraction leaves the experience after so many samples. Source: trainer, `_validate`."""

EVAL_RECORD = {
    "exp_name": "{run}",
    "ckpts": "{eval_steps}",
    "model": "${models.policy}",
    "use_bsl": "false",
    "max_response_length": "{max_response_length}",
    **GAME,
}

NO_THINK = Pitfall(
    "textgame_no_think does not fit the model",
    "answers of a thinking model are cut in the middle of the thought, scores near zero",
)

SETUPS = {
    "a100-h200": Setup(
        "docker",
        (
            ("bash run_docker.sh", (CONTAINER,)),
            ("bash setup.sh", (CONTAINER, HUB)),
            ("bash ray_node_setup.sh", (CLUSTER,)),
        ),
        ("container", "ray", "vllm"),
        (INSIDE,),
    ),
    "b200": Setup(
        "docker",
        (
            ("bash run_docker_b200.sh", (CONTAINER,)),
            ("bash setup_b200.sh", (CONTAINER, HUB)),
            (". .venv/bin/activate", (CONTAINER,)),
            ("bash ray_node_setup.sh", (CLUSTER,)),
        ),
        ("container", "ray", "vllm"),
        (INSIDE,),
    ),
}
"""Source: README of oel and opcd; for B200 Ray is installed inside `.venv`, so that comes first."""


_MERGED = "merged by an evaluation of this step, or with tools/merge_model2hf.py"


def outside_benchmark(producers: tuple[str, ...]) -> Recipe:
    """IF-Eval of a merged checkpoint with lm-evaluation-harness. Source: README, out-of-distribution evaluation."""
    return Recipe(
        name="if-eval",
        kind="eval-endtask",
        title="IF-Eval of the policy, outside of the task",
        run="if-eval",
        shell="lm_eval --model vllm"
        ' --model_args "pretrained=${roots.checkpoints}/{subject}/global_step_{if_eval_step}/actor/huggingface,'
        'enable_thinking={if_eval_thinking}"'
        " --tasks ifeval --batch_size auto"
        " --gen_kwargs temperature=0.7,top_p=0.8,top_k=20,min_p=0,do_sample=True"
        ' --apply_chat_template --seed 42 --output_path "${roots.results}/{subject}/if-eval"',
        inputs=(Input("policy", producers, role="actor", step="{if_eval_step}", note=_MERGED),),
        outputs=(Output("if_eval", "${roots.results}/{subject}/if-eval"),),
        touches=(GPU, HUB, MERGE),
        credentials=(HF_KEY,),
        follows=True,
        optional=True,
        pitfalls=(
            Pitfall("the checkpoint is not merged yet", "lm_eval finds no config.json under actor/huggingface"),
            Pitfall("lm_eval asks for another transformers than the trainer", "the trainer breaks after the install"),
        ),
        notes=("install lm-evaluation-harness in an environment of its own",
               "merge first: python tools/merge_model2hf.py --local_dir …/global_step_N/actor"),
    )  # fmt: skip
