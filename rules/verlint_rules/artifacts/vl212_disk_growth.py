"""A run that keeps many checkpoints should say how many.

`trainer.max_actor_ckpt_to_keep` is null by default: every checkpoint stays. One of a 7B model takes about 15 GB of
weights, and near six times as much with the optimizer, which is saved by default. A full disk ends the run in the
middle of a save, and takes the newest checkpoint with it.

An information, with the number of copies that the run will leave: from 60 on, or from 30 on when the optimizer is
among them. Silent when the number of steps is not known.

Fix: set `trainer.max_actor_ckpt_to_keep` (and `max_critic_ckpt_to_keep`), or save less often; a later stage needs the
steps that it uses, so keep as many as reach back to the first of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import INFO, Context, rule
from verlint.verl.facts import Facts
from verlint.verl.undecided import Undecided
from verlint_rules.artifacts.training import FREQUENCY, contents, everywhere, is_training, saves

_KEEP = "trainer.max_actor_ckpt_to_keep"
_REMOVES = "trainer.remove_previous_ckpt_in_save"  # of VeRL 0.2
_STEPS = "trainer.total_training_steps"
_MANY, _MANY_WITH_OPTIMIZER = 60, 30


@rule("VL212", "disk-growth", on=Launch, severity=INFO, since="0.1", words=("save_freq",))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    frequency, steps = launch[FREQUENCY].number(), launch[_STEPS].number()
    if not is_training(launch) or not launch[FREQUENCY].given or not saves(launch) or not frequency or not steps:
        return
    copies = int(-(-steps // frequency))
    said = contents(launch)
    optimizer = said is None or "optimizer" in said[1]
    if copies < (_MANY_WITH_OPTIMIZER if optimizer else _MANY) or not everywhere(launch, _keeps_all):
        return
    what = "of the weights and the optimizer" if optimizer else "of the weights"
    message = f"{copies} copies {what} stay on disk: a save every {frequency} of {steps} steps, and none is removed"
    found = ctx.fail(launch[FREQUENCY], message, help=f"set {_KEEP}, or save less often")
    yield found.with_related(launch[_STEPS].span, f"{_STEPS} = {steps}")


def _keeps_all(facts: Facts) -> bool:
    try:
        removed = facts.get(_REMOVES, False) is True
        return facts.trains and not removed and facts.get(_KEEP, None) is None
    except Undecided:
        return False
