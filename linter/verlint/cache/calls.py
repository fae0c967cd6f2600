"""Calls that were made before: where every question that the run asked has the same answer as then, it would print the
same, so that is printed and nothing else is imported."""

from __future__ import annotations

import os
import sys
from stat import S_ISREG

from verlint import disk
from verlint.cache.store import Store, default_folder

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TextIO

KIND = "calls"
_KEPT = (0, 1)
"""The exit codes of calls that are kept: no findings, or some."""
_PASSED = ("-", "--fix", "--write-baseline", "--add-ignore")
"""Words of calls that read what is no file, or that write: they are never looked up."""


_said: list[list[tuple[str, str]]] = []
_in_use: list[tuple[Store, str]] = []


def in_use() -> tuple[Store, str] | None:
    """Where the call that is carried out keeps what it finds, with what the code that finds it is known by; None when
    nothing is to be kept."""
    return _in_use[-1] if _in_use else None


def folder_of(words: Sequence[str]) -> str:
    """The folder that a call keeps entries in, "" for none."""
    named = default_folder()
    for number, word in enumerate(words):
        if word == "--no-cache":
            return ""
        if word == "--cache-dir":
            named = words[number + 1] if number + 1 < len(words) else ""
        elif word.startswith("--cache-dir="):
            named = word.partition("=")[2]
    return named


def kept(words: list[str], run: Callable[[list[str]], int]) -> int:
    """Carry out a call: as it went before where nothing has changed, else by `run`. Gives the exit code."""
    folder = folder_of(words)
    if not folder or any(word in _PASSED for word in words):
        return run(words)
    store = Store(os.path.abspath(folder))
    code_in_use = _code(store)
    key = _key(words, code_in_use) if code_in_use else ""
    before = None if not key else _before(store, key, words)
    code = None if before is None else _repeat(*before)
    if code is not None:
        return code
    said: list[tuple[str, str]] = []
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Heard(sys.stdout, "1", said), _Heard(sys.stderr, "2", said)
    _said.append(said)
    if key:
        _in_use.append((store, code_in_use))
    try:
        with disk.gathered() as questions:
            code = run(words)
    finally:
        sys.stdout, sys.stderr = streams
        _in_use.clear()
        _said.clear()
    are_named = all(name in ("1", "2") or _names_file(words, name) for name, _ in said)
    if key and code in _KEPT and questions.whole and are_named:
        _keep(store, key, code, said, questions)
    return code


def _code(store: Store) -> str:
    """What the code that runs here is known by, "" when that cannot be told: then nothing is kept."""
    from verlint.cache.code import code_in_use

    try:
        return code_in_use(store)
    except OSError:
        return ""


def _key(words: Sequence[str], code: str) -> str:
    """What a call is known by: its words, and what is as good as one."""
    return disk.digest("\0".join([code, os.getcwd(), *_terminal(), *words]).encode("utf-8", "surrogatepass"))


def _terminal() -> tuple[str, str]:
    """Whether the output goes to a terminal, and how wide it is."""
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return str(sys.stdout.isatty()), str(columns)


def _names_file(words: Sequence[str], name: str) -> bool:
    return len(name) > 1 and name[0] == "=" and any(word.endswith(f":{name[1:]}") for word in words)


def _before(store: Store, key: str, words: Sequence[str]) -> tuple[int, list[tuple[str, str]]] | None:
    """The exit code of the call, and what it wrote to which stream, if all is as it was."""
    texts = store.get(KIND, key)
    if texts is None or len(texts) < 2 or not (texts[0].isdecimal() and texts[1].isdecimal()):
        return None
    end = 2 + 2 * int(texts[1])
    asked = texts[end:]
    if end > len(texts) or len(asked) % 3 or int(texts[0]) not in _KEPT:
        return None
    if not disk.same(zip(asked[::3], asked[1::3], asked[2::3], strict=True)):
        return None
    files = [name for name in texts[2:end:2] if name not in ("1", "2")]
    if not all(_names_file(words, name) for name in files):  # an entry of somebody else must not write elsewhere
        return None
    return int(texts[0]), list(zip(texts[2:end:2], texts[3:end:2], strict=True))


def write(path: str, text: str) -> None:
    """Write a report into a file; a call that is made again writes it again. Raises OSError."""
    _write(path, text)
    if _said:
        _said[-1].append((f"={path}", text))


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
        stream.write(text)


def _repeat(code: int, said: Sequence[tuple[str, str]]) -> int | None:
    """Write what was written; None when that is not possible, or not in the same order. Gives the exit code."""
    files = [(name[1:], text) for name, text in said if name[0] == "="]
    if not all(_is_apart(path) for path, _ in files):
        return None
    try:
        for path, text in files:
            _write(path, text)
    except OSError:
        return None
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    for name, text in said:
        if name[0] != "=":
            (sys.stdout if name == "1" else sys.stderr).write(text)
    sys.stdout.flush()
    return code


def _is_apart(path: str) -> bool:
    """Whether what is written to a path cannot come between what the streams get, as in `/dev/stdout`."""
    try:
        there = os.stat(path)
        streams = [os.fstat(stream.fileno()) for stream in (sys.stdout, sys.stderr)]
    except (OSError, ValueError):  # there is none, or a stream is no file
        return True
    return S_ISREG(there.st_mode) and not any(os.path.samestat(there, each) for each in streams)


def _keep(store: Store, key: str, code: int, said: Sequence[tuple[str, str]], questions: disk.Gathered) -> None:
    texts = [str(code), str(len(said)), *(text for each in said for text in each)]
    for (kind, about), answer in questions.asked.items():
        texts += (kind, about, answer)
    store.put(KIND, key, texts)


class _Heard:
    """A stream that notes what is written to it."""

    def __init__(self, stream: TextIO, name: str, said: list[tuple[str, str]]) -> None:
        self._stream = stream
        self._name = name
        self._said = said

    def write(self, text: str) -> int:
        """Write, and note."""
        self._said.append((self._name, text))
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
