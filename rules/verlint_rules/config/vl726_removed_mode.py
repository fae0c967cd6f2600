"""The modes that a launch asks for exist in the VeRL in use.

- `rollout.mode=sync` has been removed in 0.7; async is the default there and the only mode.
- Up to 0.4.1 CUDA graphs (`enforce_eager=False`) and freeing the cache (`free_cache_engine=True`, the default)
  exclude each other.
- `recipe.dapo.main_dapo` starts no workers for `rollout.mode=async` before 0.7.
- In 0.5.0 and 0.6.0 `remax` works with `rollout.n=1` only: the greedy answers are made of prompts that are repeated
  already.
- `optimal_token_baseline` cannot run in 0.7.1. Since 0.9 it, `remax` and `gdpo` need `trainer.use_v1=False`: the new
  trainer never computes or hands on what they are made from, and stops in the first step.

Fix: remove the key, or set the one that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint_rules.config.rejections import rejections


@rule("VL726", "removed-mode", on=Launch, severity=ERROR, since="0.1", words=("main_ppo", "main_dapo"))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    from verlint.verl.constraints.removed import ROWS

    yield from rejections(launch, ctx, ROWS)
