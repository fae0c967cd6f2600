"""New texts for files that were read: those of one call all, or none of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from verlint.cli.main import UsageError
from verlint.files.reader import UTF8_BOM
from verlint.result import Loaded


class RewriteError(UsageError):
    """A file could not be given its text; the words are for the user and say in which state the files are."""


class Rewriting:
    """What a call does to its files. Whenever a write fails, all that were written get back what they held before."""

    def __init__(self) -> None:
        self._before: dict[Path, bytes] = {}

    def write(self, texts: Sequence[tuple[Loaded, str]]) -> None:
        """Give files their texts; a mark of UTF-8 stays, a link stays a link, permissions stay. All new texts are on
        disk before the first file is replaced. Raises RewriteError, then every file is as it was before the call."""
        ready: list[tuple[Path, str]] = []
        try:
            for file, text in texts:
                shown = file.source.path
                target = Path(os.path.realpath(file.path))
                before = _held(file, target)
                ready.append((target, _beside(target, _mark(file) + text.encode("utf-8"))))
                self._before.setdefault(target, before)
            for (file, _), (target, new) in zip(texts, ready, strict=True):
                shown = file.source.path
                os.replace(new, target)
        except OSError as error:
            for _, new in ready:
                _drop(new)
            raise RewriteError(f"cannot write {shown}: {error.strerror or error}; {self._undone()}") from error
        except BaseException:
            for _, new in ready:
                _drop(new)
            self._undone()
            raise

    def _undone(self) -> str:
        """Take everything back; says what has become of the files."""
        kept: list[str] = []
        for target, data in self._before.items():
            try:
                if target.read_bytes() != data:
                    os.replace(_beside(target, data), target)
            except OSError:
                kept.append(str(target))
        if kept:
            return f"the fixes already made stay in {', '.join(kept)}, which cannot be written again"
        return "no file was changed"


def _mark(file: Loaded) -> bytes:
    return UTF8_BOM if file.bom else b""


def _held(file: Loaded, target: Path) -> bytes:
    """The bytes of a file, which must still be those that were read."""
    data = target.read_bytes()
    if data != _mark(file) + file.source.text.encode("utf-8"):
        raise OSError("it was changed while it was checked")
    if not os.access(target, os.W_OK):
        raise OSError("it is write-protected")
    return data


def _beside(target: Path, data: bytes) -> str:
    """A new file in the folder of another, with the same permissions; gives its path."""
    handle, name = tempfile.mkstemp(prefix=".verlint-", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, target.stat().st_mode & 0o7777)
    except BaseException:
        _drop(name)
        raise
    return name


def _drop(name: str) -> None:
    if os.path.exists(name):
        os.unlink(name)
