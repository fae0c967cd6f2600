"""How many rows a data file has, and how many of a launch's files there are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraint_launches import launches_of, parquet_end
from verlint.verl.data_file import rows_of
from verlint.verl.undecided import Undecided


@pytest.mark.parametrize(
    ("name", "data", "rows"),
    [
        ("a.parquet", parquet_end(0), 0),
        ("a.parquet", parquet_end(100), 100),
        ("a.parquet", parquet_end(5000), 5000),
        ("a.parquet", parquet_end(100)[:-1], None),
        ("a.parquet", parquet_end(100).replace(b"PAR1", b"PARE"), None),
        ("a.parquet", b"PAR1", None),
        ("a.parquet", b"PAR1" + b"\x1c" * 40 + (40).to_bytes(4, "little") + b"PAR1", None),
        ("a.parquet", b"PAR1\x26\x02\x00\x03\x00\x00\x00PAR1", None),
        ("a.parquet", b"", None),
        ("a.jsonl", b'{"a": 1}\n\n{"a": 2}', 2),
        ("a.jsonl", b"", 0),
        ("a.json", b"[1, 2]", None),
        ("a.csv", b"a\n1\n", None),
    ],
)
def test_rows_of_a_file(name: str, data: bytes, rows: int | None, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    assert rows_of(tmp_path / name) == rows


def test_what_is_no_file_has_none(tmp_path: Path) -> None:
    (tmp_path / "folder.parquet").mkdir()
    assert rows_of(tmp_path / "folder.parquet") is None
    assert rows_of(tmp_path / "missing.jsonl") is None


@settings(max_examples=300, deadline=None)
@given(data=st.binary(max_size=200))
def test_broken_metadata_raise_nothing(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "broken.parquet"
    path.write_bytes(b"PAR1" + data + len(data).to_bytes(4, "little") + b"PAR1")
    rows_of(path)


@pytest.fixture
def put(tmp_path: Path) -> Callable[[str, int], None]:
    """Writes a file with so many lines of JSON."""

    def write(name: str, rows: int) -> None:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}\n" * rows)

    return write


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ("data.train_files=data/a.jsonl", 3),
        ("data.train_files=[data/a.jsonl,data/b.jsonl]", 7),
        ("data.train_files=<tmp>/data/b.jsonl", 4),
        ("data.train_files=[data/a.jsonl,data/none.jsonl]", None),
        ("data.train_files=[data/a.jsonl,$MORE]", None),
        ("data.train_files=hdfs://data/a.jsonl", None),
        ("data.train_files=~/a.jsonl", None),
        ("data.train_batch_size=8", None),
    ],
)
def test_rows_of_a_launch(
    words: str, rows: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put: Callable[[str, int], None]
) -> None:
    put("data/a.jsonl", 3)
    put("data/b.jsonl", 4)
    asked = [word.replace("<tmp>", str(tmp_path)) for word in words.split()]
    (launch,) = launches_of(tmp_path, monkeypatch, [asked], "0.8.0")
    (facts,) = launch.facts
    if rows is not None:
        assert facts.rows("data.train_files") == rows
        return
    with pytest.raises(Undecided):
        facts.rows("data.train_files")
