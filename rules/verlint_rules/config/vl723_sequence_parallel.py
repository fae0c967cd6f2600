"""Sequence parallelism needs inputs without padding, and heads that divide.

With `ulysses_sequence_parallel_size` above 1 several GPUs share a sequence, which VeRL does only for inputs whose
padding is removed. It stops at start-up unless `actor_rollout_ref.model.use_remove_padding` (for the critic
`critic.model.use_remove_padding`) is True. Before 0.7 the default is False. The check holds for FSDP, for FSDP2 since
0.5; since 0.6 it looks at the actor alone, since 0.8 the critic has none at start-up.
Supervised training with `fsdp_sft_trainer` has both keys at the top of its config, and the same demand.

The GPUs of a sequence also share its attention heads. Since 0.3 VeRL stops when its workers start unless
`num_attention_heads` is a multiple of the size, and one of the size and `num_key_value_heads` a multiple of the other.
The numbers are read from the model's `config.json`: that of `--model-config`, else that in the folder which
`actor_rollout_ref.model.path` names, when it is there. Without one nothing is said of heads. The same holds for the
critic, its size and the model of `critic.model.path`.

Fix: set `use_remove_padding=True` for the model, or the size that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint.verl.constraints import SUPERVISED
from verlint_rules.config.rejections import rejections


@rule(
    "VL723",
    "sequence-parallel",
    on=Launch,
    severity=ERROR,
    since="0.1",
    fixable="safe",
    words=("main_ppo", "main_dapo", "fsdp_sft_trainer"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if launch.entry in SUPERVISED:
        from verlint.verl.constraints.supervised import SEQUENCES

        yield from rejections(launch, ctx, SEQUENCES)
        return
    from verlint.verl.constraints.sequence import ROWS

    yield from rejections(launch, ctx, ROWS)
