"""Keys that only work together are set together.

VeRL checks many pairs of keys, some at start-up, some in the first step, when the models are loaded and the samples
are made: dynamic batching of actor and log-probs (since 0.8 both or none), sampling in validation and the temperature
of training, log-probs of the rollout and bypass mode, statistics of the engine and prometheus, group filtering and
its metric, the overlong penalty, its longest response and its log, resuming and an HDFS folder, multi-turn and its
tools, Megatron, its bridge, and the models that VeRL loads without one, fused kernels and padded sequences,
conversations (`rollout.mode=async`, multi-turn with SGLang) and `data.return_raw_chat` (to 0.6.1), dynamic context
parallelism and packed sequences, a distillation and its teacher.

Which pairs there are depends on the version in use; the message names the check.

Fix: set or remove the key that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint_rules.config.rejections import rejections


@rule(
    "VL727", "unmatched-pair", on=Launch, severity=ERROR, since="0.1", fixable="unsafe", words=("main_ppo", "main_dapo")
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    from verlint.verl.constraints.distillation import PAIRS
    from verlint.verl.constraints.pairs import ROWS

    yield from rejections(launch, ctx, (*ROWS, *PAIRS))
