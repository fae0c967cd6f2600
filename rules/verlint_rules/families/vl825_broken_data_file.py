"""A data file must be whole, hold the column of the prompts, and enough rows for one batch.

A download that broke off leaves a parquet file without its end: the trainer stops when it opens it, after the cluster
is up. A training set with fewer rows than one batch is dropped whole, as the loader drops the last incomplete batch:
VeRL stops with `AssertionError: Train dataloader is empty!`. A file without the column of the prompts stops with a
KeyError when the first prompt is read.

Looked at are the files of the profiles and those that are expected: the four bytes at both ends of a parquet file and
the number of rows in its footer, whether a JSON file parses (of at most 20 MB). The columns are read where pyarrow is
installed (`pip install "verlint[data]"`).

The batch and the column are those of the profile's launchers, or what `--train-batch-size` and `--prompt-key` say; for
a spec, those that its stages give.

Fix: download or export the file again; take a smaller batch for a small set.
"""

from __future__ import annotations

import codecs
import json
import os
import stat
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from verlint import disk
from verlint.finding import Finding
from verlint.inputs import DATA, DataFile, Input, data_files, look, outside
from verlint.rule import ERROR, Context, rule
from verlint.verl.data_file import LONGEST_END, columns_of, rows_of
from verlint_rules.families.input_places import in_file

_MAGIC = b"PAR1"
_LARGEST_JSON = 20_000_000
_AGAIN = "download or export it again"


@rule("VL825", "broken-data-file", on=Input, severity=ERROR, since="0.1")
def check(given: Input, ctx: Context) -> Iterator[Finding]:
    if given.kind != DATA or given.path is None or given.problem:
        return
    for wanted in data_files(given.wanted):
        path, shown = given.path / wanted.name, os.path.join(given.shown, wanted.name)
        if not stat.S_ISREG(look(path)[1]) or outside(given.path, wanted.name):
            continue  # VL824 says so
        try:
            if path.suffix == ".parquet":
                yield from _parquet(path, shown, wanted, ctx)
            elif path.suffix == ".json" and disk.status(path)[1] <= _LARGEST_JSON:
                _parse(path)
        except OSError as error:
            yield in_file(shown, ctx, f"the file cannot be read: {error.strerror or error}")
        except (ValueError, RecursionError) as error:
            where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
            yield in_file(shown, ctx, f"the file is no JSON{where}", help="download it again")


def _parse(path: Path) -> None:
    """Parses a JSON file without keeping what it holds. Raises ValueError."""
    data = disk.content(path)
    decode = codecs.getincrementaldecoder("utf-8")().decode
    for at in range(0, len(data), 1 << 16):
        decode(data[at : at + (1 << 16)], at + (1 << 16) >= len(data))
    text = data.decode("latin-1")  # a byte a character: what is not ASCII stands in strings only
    del data
    json.loads(text, object_pairs_hook=lambda _: None, parse_int=bool, parse_float=bool)


def _parquet(path: Path, shown: str, wanted: DataFile, ctx: Context) -> Iterator[Finding]:
    size = disk.status(path)[1]
    start, last = disk.piece(path, 0, 4), disk.piece(path, max(0, size - 8), 8)
    length, end = int.from_bytes(last[:4], "little"), last[4:]
    if start != _MAGIC:
        yield in_file(shown, ctx, "the file is no parquet file: it does not begin with PAR1", help="download it again")
        return
    if end != _MAGIC or size < 12:
        yield in_file(shown, ctx, "the parquet file has no end: it was cut off", help=_AGAIN)
        return
    if LONGEST_END < length <= size - 12:
        return  # more than is read of one file
    try:
        rows, columns = rows_of(path), columns_of(path)
    except ValueError:
        rows, columns = None, None
    if rows is None:
        yield in_file(shown, ctx, "the footer of the parquet file cannot be read", help=_AGAIN)
        return
    if rows < wanted.rows:
        message = f"the file has {rows} row{'' if rows == 1 else 's'}"
        if wanted.rows > 1:
            message += f", fewer than one batch of {wanted.rows}: VeRL stops with `Train dataloader is empty!`"
        yield in_file(shown, ctx, message, help="take a smaller data.train_batch_size, or more data")
    key = wanted.prompt_key
    if columns is not None and key and key not in columns:
        near = get_close_matches(key, columns, 1)
        hint = f"; `{near[0]}` is there" if near else ""
        message = f"no column `{key}`, which holds the prompts{hint}; columns: {', '.join(columns)}"
        yield in_file(shown, ctx, message, help="name the column in data.prompt_key, or export it under this name")
