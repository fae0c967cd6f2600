"""A mini-batch is not above the rollout batch, and is whole micro-batches on every rank.

`ppo_mini_batch_size` counts prompts, as `data.train_batch_size` does; VeRL multiplies both by `rollout.n` itself.
Without dynamic batching a mini-batch above the rollout batch stops the run. With it nothing is checked up to 0.7.1, and
the loss is divided by the size of a mini-batch that is never full: the gradients shrink and nobody says so. 0.8 stops
at the first update, and the trainer of 0.9 fills each batch up with empty samples, which losses averaged by sequence
are divided by. Where it does not stop it is a warning. The forks of OEL, OPCD and Coach cap the mini-batch at the
batch, so a large number is fine there.

On one data parallel rank a mini-batch is `ppo_mini_batch_size` x `rollout.n` / ranks samples. That must be at least
one, and since 0.4 a multiple of `ppo_micro_batch_size_per_gpu`, up to 0.7.1 also with dynamic batching where the key
is set. The deprecated size on all GPUs must divide the mini-batch and reach at least one sample a GPU.

EasyR1 demands the same of `worker.actor.global_batch_size` (a divisor of `data.rollout_batch_size`, whole
`micro_batch_size_per_device_for_update` on each GPU) and of `micro_batch_size_per_device_for_experience`, which divides
all samples of a batch.

Fix: take one of the sizes that the message names; the size of the rollout batch makes one update of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint.verl.constraints import SUPERVISED
from verlint_rules.config.rejections import rejections


@rule(
    "VL722",
    "mini-batch-bounds",
    on=Launch,
    severity=ERROR,
    since="0.1",
    fixable="unsafe",
    words=("trainer.main", "main_dapo", "fsdp_sft_trainer"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if launch.program.entry == "verl.trainer.main":
        from verlint_rules.config.easyr1_sizes import mini_batches

        yield from mini_batches(launch, ctx)
        return
    if launch.entry in SUPERVISED:
        from verlint.verl.constraints.supervised import PARTS

        yield from rejections(launch, ctx, PARTS)
        return
    from verlint.verl.constraints.mini import ROWS as OF_BATCH
    from verlint.verl.constraints.ranks import ROWS as OF_RANKS

    yield from rejections(launch, ctx, (*OF_BATCH, *OF_RANKS))
