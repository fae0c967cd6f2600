"""Data files that the loader cannot read, and too few rows for one batch.

Sources: `utils/dataset/rl_dataset.py:_read_files_and_tokenize` (parquet only to 0.6.1; later also JSON),
`_create_dataloader` of `trainer/ppo/ray_trainer.py`, `trainer/ppo/v1/trainer_base.py` (from 0.9.0)."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.verl.constraints import AT_WORKERS, STOCK, Row
from verlint.verl.facts import TRAIN_BATCH, Facts
from verlint.verl.undecided import Undecided

OWN_CLASS = "data.custom_cls.path"
FILES = ("data.train_files", "data.val_files")
MOST_SAMPLES = "data.train_max_samples"
_OWN_BATCH = "data.gen_batch_size"
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


# ---- too few rows


def known_rows(facts: Facts) -> int:
    """The most training rows there can be: those of the files at hand, or as many as may be taken of them. Filters only
    take rows away."""
    most = facts.count_or_none(MOST_SAMPLES) if facts.at_least("0.6.1") else None
    try:
        found = facts.rows(FILES[0])
    except Undecided:
        if not most or most < 0:
            raise
        return most
    return min(found, most) if most and most > 0 else found


def known_rows_said(facts: Facts) -> str:
    """Those rows with where they are from."""
    most = facts.count_or_none(MOST_SAMPLES) if facts.at_least("0.6.1") else None
    known = known_rows(facts)
    return facts.said(MOST_SAMPLES) if most == known else f"{known} rows ({FILES[0]})"


def own_loading(facts: Facts) -> bool:
    """Whether a class of the launch decides what the loader gives."""
    own = (OWN_CLASS, "data.datagen.path", "data.sampler.class_path", "data.curriculum_class")
    return facts.caps_mini_batch or any(facts.get(key, None) is not None for key in own)


def _batch_key(facts: Facts) -> str:
    """The key of the prompts that the loader gives at once."""
    if facts.trainer == "v1" or not facts.at_least("0.4.0"):
        return TRAIN_BATCH
    return TRAIN_BATCH if facts.count_or_none(_OWN_BATCH) is None else _OWN_BATCH


def _too_few(facts: Facts) -> bool:
    if own_loading(facts) or facts.text("trainer.v1.trainer_mode", "sync") != "sync":
        return False
    return known_rows(facts) < facts.count(_batch_key(facts))


def _too_few_message(facts: Facts) -> str:
    return f"{known_rows_said(facts)} do not fill one batch of {facts.said(_batch_key(facts))}, and the rest is dropped"


def _none_to_validate(facts: Facts) -> bool:
    return not own_loading(facts) and facts.trainer == "v0" and facts.rows(FILES[1]) == 0


def _empty_rows() -> Iterator[Row]:
    def row(since: str, trainer: str, source: str, outcome: str) -> Row:
        return Row(
            "T2",
            since,
            (TRAIN_BATCH, _OWN_BATCH, MOST_SAMPLES, FILES[0]),
            lambda facts: facts.trainer == trainer and _too_few(facts),
            _too_few_message,
            lambda facts: f"set {_batch_key(facts)} to {known_rows(facts)} or less, or give more data",
            source,
            outcome,
            entries=STOCK,
        )

    yield row("0.2.0", "v0", "RayPPOTrainer._create_dataloader: Train dataloader is empty", AT_WORKERS)
    yield row("0.9.0", "v1", "PPOTrainer.fit: ZeroDivisionError", "VeRL stops once the models are loaded")
    yield Row(
        "T2v",
        "0.4.0",
        (FILES[1],),
        _none_to_validate,
        lambda facts: f"{FILES[1]} have no rows",
        lambda facts: "give a file with rows to validate on",
        "RayPPOTrainer._create_dataloader: Validation dataloader is empty",
        AT_WORKERS,
        entries=STOCK,
    )


def _rows() -> Iterator[Row]:
    yield from _empty_rows()
    for key in FILES:
        yield _rows_of(key, (".parquet",), "0.2.0", "0.6.1")
        yield _rows_of(key, (".parquet", ".json"), "0.7.0", "0.7.0")
        yield _rows_of(key, (".parquet", ".json", ".jsonl"), "0.7.1", "")


ROWS: tuple[Row, ...] = tuple(_rows())
