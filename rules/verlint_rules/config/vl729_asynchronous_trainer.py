"""The sizes of an asynchronous trainer fit together, and its rollout has GPUs.

Since 0.9 `trainer.v1.trainer_mode=separate_async` trains while other GPUs make samples. It wants
`data.train_batch_size` = `parameter_sync_step` x `ppo_mini_batch_size`, GPUs for the rollout (`rollout.nnodes`,
`rollout.n_gpus_per_node`) and a way to send weights there (`rollout.checkpoint_engine.backend` other than naive). All
trainers of that kind want `data.train_batch_size` to be a multiple of `data.gen_batch_size` and sane limits of
staleness.

The fully asynchronous trainer (`fully_async_main`) streams samples: `data.train_batch_size=0`,
`data.gen_batch_size=1`, `actor_rollout_ref.hybrid_engine=False`, log-probs of the rollout, and GPUs of its own for
the rollout.

Fix: set the key that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint_rules.config.rejections import rejections


@rule("VL729", "asynchronous-trainer", on=Launch, severity=ERROR, since="0.1", words=("main_ppo", "fully_async_main"))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    from verlint.verl.constraints.asynchronous import ROWS

    yield from rejections(launch, ctx, ROWS)
