"""The data files are of a kind that the loader reads.

Up to 0.6.1 VeRL reads parquet files only; 0.7.0 also `.json`, 0.7.1 also `.jsonl`. Another file stops the run when
the workers have started. Files of a class of one's own (`data.custom_cls.path`) may be anything, and so may paths
without one of the usual endings.

Fix: write the data as parquet.
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
