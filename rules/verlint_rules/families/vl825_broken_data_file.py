"""A data file must be whole, and hold enough rows for one batch.

A download that broke off leaves a parquet file without its end: the trainer stops when it opens it, after the cluster
is up. A training set with fewer rows than one batch is dropped whole, as the loader drops the last incomplete batch:
VeRL stops with `Train dataloader is empty`. A file without the column of the prompt stops with a KeyError in the first
worker that reads it.

Looked at are the files of the profiles and those that are expected: the four bytes at both ends of a parquet file and
the number of rows in its footer, whether a JSON file parses. Names of columns are read where pyarrow is installed
(`pip install "verlint[data]"`).

Fix: download or export the file again; take a smaller batch for a small set.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from verlint.families.recipes import profiles
from verlint.finding import Finding
from verlint.inputs import DATA, Input
from verlint.rule import ERROR, Context, rule
from verlint.verl.data_file import rows_of
from verlint_rules.families.input_places import in_file

_MAGIC = b"PAR1"
_LARGEST_JSON = 20_000_000


@rule("VL825", "broken-data-file", on=Input, severity=ERROR, since="0.1")
def check(given: Input, ctx: Context) -> Iterator[Finding]:
    if given.kind != DATA or given.path is None or given.problem:
        return
    known = profiles()
    told: set[str] = set()
    for files in [known[name] for name in given.wanted.profiles]:
        for name in files.files:
            told.add(name)
            yield from _file(given, name, files.prompt_key, files.trains_on.get(name, 0), ctx)
    for name in given.wanted.files:
        if name not in told:
            yield from _file(given, name, "", 0, ctx)


def _file(given: Input, name: str, prompt_key: str, batch: int, ctx: Context) -> Iterator[Finding]:
    assert given.path is not None
    path, shown = given.path / name, os.path.join(given.shown, name)
    root = os.path.realpath(given.path)
    if not os.path.isfile(path) or os.path.commonpath([root, os.path.realpath(path)]) != root:
        return
    try:
        if path.suffix == ".parquet":
            yield from _parquet(path, shown, prompt_key, batch, ctx)
        elif path.suffix == ".json" and path.stat().st_size <= _LARGEST_JSON:
            json.loads(path.read_bytes())
    except OSError as error:
        yield in_file(shown, ctx, f"the file cannot be read: {error.strerror or error}")
    except (ValueError, RecursionError) as error:
        where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        yield in_file(shown, ctx, f"the file is no JSON{where}", help="download it again")


def _parquet(path: Path, shown: str, prompt_key: str, batch: int, ctx: Context) -> Iterator[Finding]:
    size = path.stat().st_size
    with path.open("rb") as stream:
        start = stream.read(4)
        stream.seek(max(0, size - 4))
        end = stream.read(4)
    if start != _MAGIC:
        yield in_file(shown, ctx, "the file is no parquet file: it does not begin with PAR1", help="download it again")
        return
    if end != _MAGIC or size < 12:
        yield in_file(shown, ctx, "the parquet file has no end: it was cut off", help="download or export it again")
        return
    rows = rows_of(path)
    if rows is None:
        yield in_file(shown, ctx, "the footer of the parquet file cannot be read", help="download or export it again")
        return
    if rows < max(batch, 1):
        what = f"fewer than one batch of {batch}" if batch else "none"
        message = f"the file has {rows} rows, {what}: the trainer stops with an empty data loader"
        yield in_file(shown, ctx, message, help="take a smaller data.train_batch_size, or more data")
    columns = _columns(path)
    if columns is not None and prompt_key and prompt_key not in columns:
        message = f"no column `{prompt_key}`, which holds the prompt; columns: {', '.join(columns)}"
        yield in_file(shown, ctx, message, help="name the column in data.prompt_key, or export it under this name")


def _columns(path: Path) -> list[str] | None:
    """The names of the columns, None without pyarrow or when it cannot tell."""
    try:
        import pyarrow.parquet  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return None
    try:
        return [str(name) for name in pyarrow.parquet.read_schema(path).names]
    except Exception:
        return None
