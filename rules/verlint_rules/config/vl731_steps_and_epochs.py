"""The steps that a run is planned for are there before its epochs end.

`trainer.total_training_steps` only ends a run early and tells the learning rate schedule how long it is. A run ends
after `trainer.total_epochs` in any case. With `data.train_max_samples`, and where the training files are at hand as
parquet or lines of JSON, the steps of an epoch are known; when all epochs together have fewer steps than planned, the
run ends early and the learning rate never gets where it should. Filters only take rows away.

Where the size of the data is not known the rule is silent, and so it is with classes of one's own that load data.

Fix: remove `trainer.total_training_steps`, or raise `trainer.total_epochs`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import WARNING, Context, rule
from verlint_rules.config.rejections import rejections


@rule("VL731", "steps-and-epochs", on=Launch, severity=WARNING, since="0.1", words=("total_training_steps",))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    from verlint.verl.constraints.steps import ROWS

    yield from rejections(launch, ctx, ROWS)
