"""Each role has one of the two micro-batch sizes, the one that its workers read.

`*_micro_batch_size` counts the samples of one pass on all GPUs together and is deprecated;
`*_micro_batch_size_per_gpu` counts those of one GPU. Without dynamic batching VeRL wants exactly one of them for the
actor, for the log-probs of the rollout, for those of the reference policy (where there is one: a KL in loss or reward
since 0.4, always before) and for the critic (where one is trained), and stops at start-up otherwise. The defaults are
null since 0.2, so leaving both out is not enough. The workers of 0.8 read the size per GPU only.

Fix: set the size per GPU and remove the other one, or turn on dynamic batching (`use_dynamic_bsz`).
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint_rules.config.rejections import rejections


@rule(
    "VL721",
    "micro-batch-choice",
    on=Launch,
    severity=ERROR,
    since="0.1",
    fixable="unsafe",
    words=("main_ppo", "main_dapo"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    from verlint.verl.constraints.micro import ROWS
    from verlint.verl.constraints.ranks import ROWS as OF_RANKS

    yield from rejections(launch, ctx, ROWS, alike=OF_RANKS)
