"""The samples of a batch divide over GPUs, data parallel ranks and rollout workers.

A rollout batch has `data.train_batch_size` x `rollout.n` samples. VeRL deals them out in equal parts and stops when a
part would be smaller than the others:

- FSDP: the samples are a multiple of all GPUs. To VeRL 0.5 always; since 0.6 not with dynamic batching, where the
  first step still fails unless they are a multiple of the data parallel ranks (GPUs / sequence parallel size).
- Megatron: the GPUs are a multiple of tensor x pipeline x context parallel size, and of expert x expert tensor x
  pipeline parallel size (the tensor parallel size where no other is given for experts); the samples are one of the data
  parallel ranks x `ppo_micro_batch_size_per_gpu`; and the layers of the model one of the pipeline parallel size, unless
  `override_transformer_config` lays them out.
- With `trainer.balance_batch`, the default, all samples to 0.6.1 are a multiple of all GPUs, also where some of these
  share a sample.
- To 0.4.1 prompts are dealt to the GPUs before they are repeated, so `data.train_batch_size` itself must divide.
- Rollouts through the agent loop are dealt to `rollout.agent.num_workers` workers, 8 unless said otherwise.
- Since 0.8 the samples of an update (`ppo_mini_batch_size` x `rollout.n`) are a multiple of the data parallel ranks;
  before they were silently rounded down.
- With `actor.use_prefix_grouper` and `trainer.balance_batch` (since 0.7.1) all samples of a prompt stay on one rank, so
  `data.train_batch_size` is a multiple of the data parallel ranks.
- Supervised training (`fsdp_sft_trainer`, to 0.7.0): `data.train_batch_size` is a multiple of the processes that
  `torchrun` starts / `ulysses_sequence_parallel_size`.

Which of these holds depends on the version in use; a guessed version must agree in all that fit. The trainer of 0.9
(`trainer.use_v1`) pads batches, so there only the checks at start-up and that of updates hold. Launches whose sizes
or GPU counts are not known are left alone.

EasyR1 shares the prompts out among the GPUs as they are generated: `data.rollout_batch_size`, or
`data.mini_rollout_batch_size` where it is set, is a multiple of them.

Fix: take one of the sizes that the message names, or another number of GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint.verl.constraints import SUPERVISED
from verlint_rules.config.rejections import rejections


@rule(
    "VL720",
    "batch-divisibility",
    on=Launch,
    severity=ERROR,
    since="0.1",
    fixable="unsafe",
    words=("trainer.main", "main_dapo", "fsdp_sft_trainer"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if launch.program.entry == "verl.trainer.main":
        from verlint_rules.config.easyr1_sizes import batches

        yield from batches(launch, ctx)
        return
    if launch.entry in SUPERVISED:
        from verlint.verl.constraints.supervised import BATCHES

        yield from rejections(launch, ctx, BATCHES)
        return
    from verlint.verl.constraints.batch import ROWS

    yield from rejections(launch, ctx, ROWS)
