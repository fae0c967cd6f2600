"""Bytes on disk to texts with offsets, or the reason why not. Nothing here raises for a bad file."""

from __future__ import annotations

import errno
import stat
from pathlib import Path

from verlint import disk
from verlint.record import dataclass
from verlint.source import Source

LIMIT = 5_000_000
"""Largest file that is read, in bytes. Launchers and specs are a thousandth of it; more is data with a script's
name."""

LAUNCHER_LIMIT = 128_000
"""Largest launcher that is followed, in characters. Those of VeRL and LMOps stay below 20,000."""

UTF8_BOM = b"\xef\xbb\xbf"
OTHER_BOMS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


@dataclass(frozen=True)
class Unreadable:
    """A path that gave no text: `path` as shown, `reason` in words, `offset` of the first bad byte where there is
    one."""

    path: str
    reason: str
    offset: int | None = None


def shown_path(path: str | Path) -> str:
    """A path as it is printed: "/" as separator, bytes that are no UTF-8 as escapes."""
    text = path.as_posix() if isinstance(path, Path) else path
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def read(path: Path, shown: str) -> Source | Unreadable:
    """The text of a file as a source with `shown` as its path. A byte order mark is left out, line ends are kept."""
    data = read_bytes(path, shown)
    return data if isinstance(data, Unreadable) else decode(data, shown)


def read_bytes(path: Path, shown: str) -> bytes | Unreadable:
    """The bytes of a regular file of at most `LIMIT` bytes."""
    try:
        mode, size = disk.status(path)
        if stat.S_ISDIR(mode):
            return Unreadable(shown, "is a folder")
        if not stat.S_ISREG(mode):
            return Unreadable(shown, "is not a regular file (give a stream as - on standard input)")
        if size > LIMIT:
            return Unreadable(shown, too_large(size))
        data = disk.content(path, LIMIT + 1)
    except FileNotFoundError:
        broken = disk.is_link(path)
        return Unreadable(shown, "is a symbolic link to nothing" if broken else "does not exist")
    except OSError as error:
        if error.errno == errno.ELOOP:
            return Unreadable(shown, "is a symbolic link that leads in a circle")
        return Unreadable(shown, f"cannot be read: {error.strerror or error}")
    except ValueError as error:
        return Unreadable(shown, f"cannot be read: {error}")
    return data if len(data) <= LIMIT else Unreadable(shown, too_large(len(data)))


def too_large(size: int) -> str:
    """The reason given for a file of `size` bytes."""
    return f"is too large ({size / 1_000_000:.1f} MB; the limit is {LIMIT // 1_000_000} MB)"


def too_long(text: str) -> str:
    """Why a text is not followed as a launcher, "" when it can be."""
    if len(text) <= LAUNCHER_LIMIT:
        return ""
    return f"is too long for a launcher ({len(text) / 1_000:.0f} kB; the limit is {LAUNCHER_LIMIT // 1_000} kB)"


def decode(data: bytes, shown: str) -> Source | Unreadable:
    """A source of UTF-8 bytes, or where and why they are none."""
    for mark, name in OTHER_BOMS.items():
        if data.startswith(mark):
            return Unreadable(shown, f"is {name} text, not UTF-8", 0)
    if (zero := data.find(b"\0")) >= 0:
        return Unreadable(shown, f"is not text: NUL at byte {zero}, line {_line(data, zero)}", zero)
    body = data.removeprefix(UTF8_BOM)
    try:
        return Source(shown, body.decode("utf-8"))
    except UnicodeDecodeError as error:
        at = error.start + len(data) - len(body)
        reason = f"is not UTF-8: byte 0x{data[at]:02x} at byte {at}, line {_line(data, at)}"
        return Unreadable(shown, reason, at)


def _line(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1
