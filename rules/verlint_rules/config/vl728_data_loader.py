"""The data files are of a kind that the loader reads, and have rows for a batch.

Up to 0.6.1 VeRL reads parquet files only; 0.7.0 also `.json`, 0.7.1 also `.jsonl`. Another file stops the run when
the workers have started. Files of a class of one's own (`data.custom_cls.path`) may be anything, and so may paths
without one of the usual endings.

The loader gives whole batches only. With fewer rows than `data.train_batch_size` (to 0.8 `data.gen_batch_size` where it
is set) there is none, and VeRL stops; the trainer of 0.9 does so once the models are loaded. Rows are counted in
`.parquet` and `.jsonl` files that are there, and `data.train_max_samples` is known without any. Filters only take rows
away, so what is too few stays too few. Classes of one's own that load, sample or make data may do otherwise.

Fix: write the data as parquet, or set a batch that the rows fill.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint_rules.config.rejections import rejections


@rule("VL728", "data-loader", on=Launch, severity=ERROR, since="0.1", words=("main_ppo", "main_dapo"))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    from verlint.verl.constraints.data import ROWS

    yield from rejections(launch, ctx, ROWS)
