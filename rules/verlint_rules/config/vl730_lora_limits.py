"""A LoRA rank is one that the rollout engine can load, and its checkpoints are merged elsewhere.

vLLM loads adapters up to rank 512. VeRL stops at start-up with a larger `actor_rollout_ref.model.lora_rank` (0.6.1
and later; since 0.7.1 also `model.lora.rank`, which wins, and not for adapters that are merged before they are sent).

Up to 0.6.0 VeRL asks vLLM for room for exactly the rank of the adapters, and vLLM knows 8, 16, 32, 64, 128, 256, 320
and 512 (1 since 0.12): with any other the workers do not start. Newer versions round it up.

With `rollout.layered_summon=True` only the adapters are sent to vLLM, layer by layer, so vLLM must have loaded the
model itself. With the default `rollout.load_format` (dummy weights) VeRL stops when it first sends weights.

Fix: set the rank to 512 or less, or train the whole model.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint_rules.config.rejections import rejections


@rule("VL730", "lora-limits", on=Launch, severity=ERROR, since="0.1", fixable="unsafe", words=("lora",))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    from verlint.verl.constraints.lora import ROWS

    yield from rejections(launch, ctx, ROWS)
