"""The GPUs, and the heads of the model, are a multiple of what one rollout engine spans.

One engine of the rollout spans `rollout.tensor_model_parallel_size` GPUs, since 0.6 times its data and pipeline
parallel sizes. VeRL starts as many engines as fit and stops when GPUs are left over. The default of the tensor
parallel size is 2, so a run on one GPU must say 1.

vLLM and SGLang share the attention heads of the model among the GPUs of the tensor parallel size and stop when they
do not divide. `num_attention_heads` is read from the model's `config.json`: that of `--model-config`, else that in the
folder which `actor_rollout_ref.model.path` names, when it is there. Without one nothing is said of heads.

Other things of the same kind: `expert_parallel_size` above 1 is tensor x data parallel size, pipeline parallelism is
not implemented for the engines, `moe_tensor_parallel_size` is for trtllm alone, and prefill apart from decode is for
some engines only, on one node. The teacher of a distillation (since 0.8) has GPUs of its own, a multiple of what one
of its engines spans.

In EasyR1 the GPUs are a multiple of `worker.rollout.tensor_parallel_size`, whose default is 2 as well.

Fix: set `actor_rollout_ref.rollout.tensor_model_parallel_size` to a divisor of the GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint_rules.config.rejections import rejections


@rule("VL725", "rollout-parallelism", on=Launch, severity=ERROR, since="0.1", words=("trainer.main", "main_dapo"))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if launch.program.entry == "verl.trainer.main":
        from verlint_rules.config.easyr1_sizes import parallelism

        yield from parallelism(launch, ctx)
        return
    from verlint.verl.constraints.distillation import POOLS
    from verlint.verl.constraints.rollout import ROWS

    yield from rejections(launch, ctx, (*ROWS, *POOLS))
