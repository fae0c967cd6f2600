"""Steps of a run against its epochs.

Source: `trainer/ppo/ray_trainer.py:_create_dataloader` and `fit`: the learning rate is scheduled over
`trainer.total_training_steps` where it is given, and the run ends after `trainer.total_epochs` in any case."""

from __future__ import annotations

from verlint.verl.constraints import STOCK, Row
from verlint.verl.constraints.data import MOST_SAMPLES, known_rows, known_rows_said, own_loading
from verlint.verl.facts import TRAIN_BATCH, Facts

STEPS = "trainer.total_training_steps"
EPOCHS = "trainer.total_epochs"


def _reachable(facts: Facts) -> int:
    """The most steps there can be; a part of a batch at the end of an epoch is dropped."""
    return known_rows(facts) // facts.count(TRAIN_BATCH) * facts.count(EPOCHS)


def _ends_early(facts: Facts) -> bool:
    steps = facts.count_or_none(STEPS)
    if steps is None or facts.count(TRAIN_BATCH) <= 0:
        return False
    if facts.get("data.gen_batch_size", None) is not None or own_loading(facts):
        return False
    return facts.trainer == "v0" and facts.trains and 0 < _reachable(facts) < steps


def _message(facts: Facts) -> str:
    epoch = f"{known_rows_said(facts)} // {facts.said(TRAIN_BATCH)}"
    return f"{facts.said(STEPS)} is above the {_reachable(facts)} steps there are: {epoch} x {facts.said(EPOCHS)}"


ROWS: tuple[Row, ...] = (
    Row(
        "S26",
        "0.2.0",
        (STEPS, EPOCHS, MOST_SAMPLES, TRAIN_BATCH),
        _ends_early,
        _message,
        lambda facts: f"remove {STEPS}, or raise {EPOCHS}",
        "RayPPOTrainer._create_dataloader",
        "the run ends early, with the learning rate scheduled for a longer one",
        entries=STOCK,
        silent=True,
    ),
)
