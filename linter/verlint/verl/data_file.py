"""How many rows a data file has: of a parquet file from its last bytes, of lines of JSON by counting them. The names of
a parquet file's columns are read with pyarrow, where that is installed.

A parquet file ends with its metadata, their length in four bytes, and `PAR1`. The metadata are a struct in the compact
protocol of Apache Thrift; its third field is the number of rows (`FileMetaData` of the parquet format)."""

from __future__ import annotations

import stat
from pathlib import Path

from verlint import disk

LIMIT = 64_000_000
"""Largest file of lines that is read."""

LONGEST_END = 16_000_000
"""Most bytes of metadata that are read of a parquet file; thousands of row groups need less."""

_MAGIC = b"PAR1"
_END = 8
_ROWS = 3
_BOOLEANS, _BYTE, _NUMBERS, _DOUBLE, _BINARY, _LISTS, _MAP, _STRUCT = (1, 2), 3, (4, 5, 6), 7, 8, (9, 10), 11, 12
_DEEPEST = 16


def rows_of(path: Path) -> int | None:
    """The rows of a file, None when that cannot be told."""
    try:
        if not stat.S_ISREG(disk.status(path)[0]):
            return None
        if path.suffix == ".parquet":
            return _rows_of_parquet(path)
        return _lines(path) if path.suffix == ".jsonl" else None
    except (OSError, ValueError, IndexError):
        return None


def columns_of(path: Path) -> tuple[str, ...] | None:
    """The columns of a parquet file, None without pyarrow. Raises ValueError when pyarrow cannot read its metadata."""
    try:
        from pyarrow.parquet import read_schema
    except ImportError:
        return None
    disk.give_up()  # the package reads what it likes
    try:
        return tuple(str(name) for name in read_schema(path).names)
    except Exception as error:  # of several classes, by version
        raise ValueError(str(error)) from None


def _lines(path: Path) -> int | None:
    if disk.status(path)[1] > LIMIT:
        return None
    return sum(1 for line in disk.content(path, LIMIT).split(b"\n") if line.strip())


def _rows_of_parquet(path: Path) -> int | None:
    size = disk.status(path)[1]
    if size < 4 + _END or disk.piece(path, 0, 4) != _MAGIC:
        return None
    end = disk.piece(path, size - _END, _END)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != _MAGIC or not 0 < length <= min(LONGEST_END, size - 4 - _END):
        return None
    return _Compact(disk.piece(path, size - _END - length, length)).field(_ROWS)


class _Compact:
    """Reads a struct in Thrift's compact protocol. Broken data raise ValueError or IndexError."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def field(self, wanted: int) -> int | None:
        """A whole number that is a field of the struct, None when it has none of that number."""
        number = 0
        while header := self._byte():
            number = number + (header >> 4) if header >> 4 else self._signed()
            kind = header & 15
            if number == wanted:
                return self._signed() if kind in _NUMBERS else None
            self._skip(kind, 0)
        return None

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)

    def _skip(self, kind: int, depth: int) -> None:
        if depth > _DEEPEST:
            raise ValueError("nested too deeply")
        if kind in _NUMBERS:
            self._unsigned()
        elif kind in (_BYTE, _DOUBLE):
            self.at += 1 if kind == _BYTE else 8
        elif kind == _BINARY:
            length = self._unsigned()
            self.at += length
        elif kind in _LISTS:
            self._skip_list(depth)
        elif kind == _MAP:
            self._skip_map(depth)
        elif kind == _STRUCT:
            while header := self._byte():
                if not header >> 4:
                    self._signed()
                self._skip(header & 15, depth + 1)
        elif kind not in _BOOLEANS:
            raise ValueError(f"no kind of field: {kind}")

    def _skip_list(self, depth: int) -> None:
        header = self._byte()
        count = self._unsigned() if header >> 4 == 15 else header >> 4
        for _ in range(count):
            self._skip_element(header & 15, depth)

    def _skip_map(self, depth: int) -> None:
        count = self._unsigned()
        kinds = self._byte() if count else 0
        for _ in range(count):
            self._skip_element(kinds >> 4, depth)
            self._skip_element(kinds & 15, depth)

    def _skip_element(self, kind: int, depth: int) -> None:
        if kind in _BOOLEANS:  # a byte of its own in a list
            self.at += 1
        else:
            self._skip(kind, depth + 1)
        if self.at > len(self.data):
            raise ValueError("ends too early")
