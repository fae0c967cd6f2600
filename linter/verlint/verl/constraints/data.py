"""Data files that the loader cannot read.

Source: `utils/dataset/rl_dataset.py:_read_files_and_tokenize` (parquet only to 0.6.1; later also JSON)."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.verl.constraints import AT_WORKERS, STOCK, Row
from verlint.verl.facts import Facts

OWN_CLASS = "data.custom_cls.path"
FILES = ("data.train_files", "data.val_files")
_KNOWN = (".parquet", ".json", ".jsonl", ".csv", ".tsv", ".txt", ".arrow", ".pkl", ".npy", ".zip", ".gz")
"""Endings that tell a kind of file; a path with another ending may be a folder or anything."""


def _others(facts: Facts, key: str, readable: tuple[str, ...]) -> list[str]:
    if facts.caps_mini_batch or facts.get(OWN_CLASS, None) is not None:
        return []
    return [path for path in facts.texts(key) if path.endswith(_KNOWN) and not path.endswith(readable)]


def _rows_of(key: str, readable: tuple[str, ...], since: str, until: str) -> Row:
    def rejects(facts: Facts) -> bool:
        return bool(_others(facts, key, readable))

    def message(facts: Facts) -> str:
        return f"{key} names {_others(facts, key, readable)[0]}, and only {', '.join(readable)} files are read"

    return Row(
        "T3",
        since,
        (key,),
        rejects,
        message,
        lambda facts: f"write the data as {readable[0]}, or give a class of your own with {OWN_CLASS}",
        "RLHFDataset",
        AT_WORKERS,
        until=until,
        entries=STOCK,
    )


def _rows() -> Iterator[Row]:
    for key in FILES:
        yield _rows_of(key, (".parquet",), "0.2.0", "0.6.1")
        yield _rows_of(key, (".parquet", ".json"), "0.7.0", "0.7.0")
        yield _rows_of(key, (".parquet", ".json", ".jsonl"), "0.7.1", "")


ROWS: tuple[Row, ...] = tuple(_rows())
