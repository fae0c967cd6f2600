"""A folder with entries: texts under a key. Made for several runs at once, and for a folder that somebody else may have
written to: an entry that is damaged, cut off, of another version or another user is none, and nothing in it is ever run
or made into objects here."""

from __future__ import annotations

import os
import sys

from verlint.disk import digest

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VARIABLE = "VERLINT_CACHE_DIR"
"""Names the folder; set and empty: nothing is kept."""

FORMAT = "verlint-1"
"""Of the entries; those of another format are not looked at."""

LARGEST = 16_000_000
"""Bytes of the largest entry."""
LARGEST_TEXT = 256_000_000
"""Most characters that an entry may hold."""
MOST = 200_000_000
"""Bytes of all entries together; the oldest go first."""
OLDEST = 30 * 86_400
"""Seconds after which an entry that nobody asks for is removed."""
BETWEEN = 3_600
"""Seconds between two looks for entries to remove."""

_IGNORE = "# made by verlint\n*\n"
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder holds what verlint can find again.\n"


def default_folder() -> str:
    """Where entries are kept when no call says so: `VERLINT_CACHE_DIR`, else the user's folder for such things. ""
    when there is none."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return named
    if os.name == "nt":
        local = os.environ.get("LOCALAPPDATA", "")
        return os.path.join(local, "verlint", "Cache") if local else ""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.expanduser("~/Library/Caches" if sys.platform == "darwin" else "~/.cache")
    return os.path.join(base, "verlint") if os.path.isabs(base) else ""


class Store:
    """The entries in a folder. No method raises for what is on disk: what cannot be read is not there, what cannot be
    written is not kept."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._entries = os.path.join(folder, FORMAT)

    def get(self, kind: str, key: str) -> list[str] | None:
        """The texts of an entry, None when there is none."""
        import zlib

        try:
            path = self._path(kind, key)
            handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
            try:
                status = os.fstat(handle)
                if status.st_size > LARGEST or not _is_ours(status):
                    return None
                data = os.read(handle, LARGEST)
            finally:
                os.close(handle)
            name, _, rest = data.partition(b"\n")
            if name != f"{FORMAT} {kind} {key} {digest(rest)}".encode():
                return None
            unpacking = zlib.decompressobj()
            text = unpacking.decompress(rest, LARGEST_TEXT)
            if unpacking.unconsumed_tail or not unpacking.eof:
                return None
            self._used(path, status)
            return text.decode("utf-8", "surrogatepass").split("\0")
        except (OSError, ValueError, zlib.error):
            return None

    def put(self, kind: str, key: str, texts: Sequence[str]) -> None:
        """Keep texts, none of which may hold a NUL (then nothing is kept)."""
        if any("\0" in text for text in texts):
            return
        import zlib

        rest = zlib.compress("\0".join(texts).encode("utf-8", "surrogatepass"), 1)
        if len(rest) > LARGEST - 1_000:
            return
        path = self._path(kind, key)
        new = f"{path}.{os.urandom(6).hex()}.new"
        try:
            self._make(os.path.dirname(path))
            handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(f"{FORMAT} {kind} {key} {digest(rest)}\n".encode() + rest)
                os.replace(new, path)
            except BaseException:
                os.unlink(new)
                raise
            self._trim()
        except OSError:
            return

    def _path(self, kind: str, key: str) -> str:
        return os.path.join(self._entries, kind, key)

    def _make(self, folder: str) -> None:
        if os.path.isdir(folder):
            return
        for each in (self.folder, folder):
            os.makedirs(each, 0o700, exist_ok=True)
        for name, text in (("CACHEDIR.TAG", _TAG), (".gitignore", _IGNORE)):  # not beside what else is in the folder
            path = os.path.join(self._entries, name)
            if not os.path.lexists(path):
                with open(path, "x", encoding="utf-8") as stream:
                    stream.write(text)

    def _used(self, path: str, status: os.stat_result) -> None:
        """Let an entry that is asked for stay longer."""
        from time import time

        if time() - status.st_mtime > 86_400:
            os.utime(path)

    # ---- what is removed

    def _trim(self) -> None:
        """Remove what nobody asks for any more, now and then; nothing of a folder that somebody has put a link to."""
        from time import time

        if os.path.islink(self._entries):
            return
        now, stamp = time(), os.path.join(self._entries, "trimmed")
        try:
            if 0 <= now - os.stat(stamp).st_mtime < BETWEEN:  # one of the future: the clock was put back
                return
        except FileNotFoundError:
            pass
        os.close(os.open(stamp, os.O_WRONLY | os.O_CREAT, 0o600))
        os.utime(stamp)
        left = MOST
        for used, size, path in sorted(self._every(), reverse=True):
            left -= size
            if left < 0 or now - used > OLDEST:
                os.unlink(path)

    def _every(self) -> Iterator[tuple[float, int, str]]:
        """When each entry was last used, its size and path."""
        for folder, _, names in os.walk(self._entries):
            for name in names if folder != self._entries else ():
                path = os.path.join(folder, name)
                status = os.lstat(path)
                yield status.st_mtime, status.st_size, path


def _is_ours(status: os.stat_result) -> bool:
    """Whether an entry was written by the user of this process, or by the system's."""
    return not hasattr(os, "geteuid") or status.st_uid in (os.geteuid(), 0)
