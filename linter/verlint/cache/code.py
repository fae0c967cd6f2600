"""What the code of verlint itself is known by: an entry that other code has written is of no use.

Reading all of it would take longer than a run that finds everything known. So the sizes and times of its files are
looked at, and what was read under the same ones is kept. The times differ where the same code is installed anew, as in
CI; then it is read once more, and is known by the same text."""

from __future__ import annotations

import os
import sys

from verlint.disk import digest

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from collections.abc import Iterator

    from verlint.cache.store import Store

KIND = "code"
_UNREAD = ("__pycache__", "pages")


def code_in_use(store: Store) -> str:
    """What the code that runs here is known by: verlint's, its rules', that of Python and of the packages on its path
    by their names and versions."""
    files = [each for folder in _folders() for each in _files(folder, folder)]
    files.sort()
    signature = digest("\0".join(said for _, said in files).encode("utf-8", "surrogatepass"))
    known = store.get(KIND, signature)
    if known is None or len(known) != 1:
        known = [_read([path for path, _ in files])]
        store.put(KIND, signature, known)
    return digest(
        "\0".join([known[0], sys.version, sys.platform, *sys.path, *_packages()]).encode("utf-8", "surrogatepass")
    )


def _folders() -> Iterator[str]:
    for name in ("verlint", "verlint_rules"):
        yield from __import__(name).__path__


def _files(folder: str, top: str) -> Iterator[tuple[str, str]]:
    """The files below a folder, each with what changes when it is changed."""
    with os.scandir(folder) as found:
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _UNREAD:
                    yield from _files(entry.path, top)
            elif not entry.name.endswith(".pyc"):
                is_ = entry.stat()
                yield entry.path, f"{entry.path} {is_.st_size} {is_.st_mtime_ns} {is_.st_ctime_ns} {is_.st_ino}"


def _read(paths: list[str]) -> str:
    parts: list[str] = []
    for path in paths:
        with open(path, "rb") as stream:
            parts.append(f"{os.path.basename(path)} {digest(stream.read())}")
    return digest("\n".join(parts).encode("utf-8", "surrogatepass"))


def _packages() -> Iterator[str]:
    """The packages that could be imported: rules and readers use some of them."""
    for folder in dict.fromkeys(sys.path):
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        yield from sorted(name for name in names if name.endswith((".dist-info", ".egg-info")))
