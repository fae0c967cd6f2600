"""What verlint asks of the machine, at one place: whether a file is there, what is in it, what the environment says.

A result depends on the answers. While somebody gathers (`gathered`), every question is noted with its answer, so that a
stored result is only taken again when each question would be answered the same (`same`). Nothing that a check goes
through may ask past this module; a test proves it."""

from __future__ import annotations

import os
import stat

try:
    from _blake2 import blake2b  # a tenth of the time of importing `hashlib`
except ImportError:  # another implementation of Python
    from hashlib import blake2b

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, MutableMapping
    from typing import Any, TypeVar

    T = TypeVar("T")
    Name = str | os.PathLike[str]
    Asked = dict[tuple[str, str], str]

LARGEST = 1_000_000_000
"""Most bytes that are read of one file."""

_gathering: list[Gathered] = []
_memories: list[dict[Any, Any]] = []


class Gathered:
    """The questions that were asked, each with its answer. `whole` is false when the same question had two answers, or
    when something was looked at in a way that is not noted: then nothing can be built on it."""

    def __init__(self) -> None:
        self.asked: Asked = {}
        self.whole = True

    def __enter__(self) -> Gathered:
        _gathering.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        """What was asked here was also asked where this is a part of."""
        _gathering.remove(self)
        add(self)

    def note(self, kind: str, about: str, answer: str) -> None:
        """Note an answer."""
        if self.asked.setdefault((kind, about), answer) != answer:
            self.whole = False


def gathered() -> Gathered:
    """Gathers what is asked until the end of its `with`."""
    return Gathered()


def add(found: Gathered) -> None:
    """Take what was gathered elsewhere, in another process or before, as asked now."""
    if _gathering:
        into = _gathering[-1]
        into.whole = into.whole and found.whole
        for (kind, about), answer in found.asked.items():
            into.note(kind, about, answer)


def give_up() -> None:
    """Say that something is looked at that is not noted: what comes of it must not be stored."""
    for each in _gathering:
        each.whole = False


def remembered(memory: MutableMapping[Any, Any], key: Hashable, ask: Callable[[], T]) -> T:
    """An answer that is found once and kept in `memory`, with the questions it took: they count for everybody who gets
    it."""
    found = memory.get(key)
    if found is None or (found[1] is None and _gathering):
        if _gathering:
            with Gathered() as questions:
                answer = ask()
            found = memory[key] = (answer, questions)
        else:
            found = memory[key] = (ask(), None)
    elif _gathering:
        add(found[1])
    return found[0]


def memory() -> dict[Any, Any]:
    """A memory for `remembered` that outlives a project, until `forget`."""
    _memories.append({})
    return _memories[-1]


def forget() -> None:
    """Let go of what is remembered beside projects: the disk may be another by now."""
    for each in _memories:
        each.clear()


def same(asked: Iterable[tuple[str, str, str]]) -> bool:
    """Whether every question (its kind, and what it is about) has the answer that is given with it."""
    return all(_ANSWERS[kind](about) == answer for kind, about, answer in asked)


class Answers:
    """The answers as they are now, each question asked once."""

    def __init__(self) -> None:
        self._known: Asked = {}

    def are_same(self, asked: Iterable[tuple[str, str, str]]) -> bool:
        """As `same`."""
        known = self._known
        for kind, about, answer in asked:
            if (kind, about) not in known:
                known[kind, about] = _ANSWERS[kind](about)
            if known[kind, about] != answer:
                return False
        return True


def gathers() -> bool:
    """Whether somebody wants to know what is asked."""
    return bool(_gathering)


def digest(data: bytes) -> str:
    """What bytes are known by."""
    return blake2b(data, digest_size=20).hexdigest()


# ---- questions


def here() -> str:
    """The current folder; what is kept is kept for it."""
    return os.getcwd()


def exists(path: Name) -> bool:
    """Whether there is something, behind a link too."""
    return _yes("exists", path, os.path.exists)


def lexists(path: Name) -> bool:
    """Whether there is something, be it a link to nothing."""
    return _yes("lexists", path, os.path.lexists)


def is_dir(path: Name) -> bool:
    """Whether there is a folder."""
    return _yes("folder", path, os.path.isdir)


def is_file(path: Name) -> bool:
    """Whether there is a regular file."""
    return _yes("file", path, os.path.isfile)


def is_link(path: Name) -> bool:
    """Whether there is a symbolic link."""
    return _yes("link", path, os.path.islink)


def is_executable(path: Name) -> bool:
    """Whether there is something that may be run."""
    return _yes("executable", path, _executable)


def real(path: Name) -> str:
    """The path without links. Raises OSError and ValueError as `os.path.realpath` does."""
    return _try("real", path, lambda: os.path.realpath(path), str)


def real_strict(path: Name) -> None:
    """Raises OSError when a path leads to nothing or in a circle."""
    _try("strict", path, lambda: os.path.realpath(path, strict=True), lambda _: "")


def status(path: Name) -> tuple[int, int]:
    """What kind of thing there is (as in `st_mode`), and the size of a file, 0 for others. Raises OSError and
    ValueError as `os.stat` does."""
    return _try("status", path, lambda: _status(path), _shown_status)


def content(path: Name, limit: int = LARGEST) -> bytes:
    """The bytes of a file, at most so many. Raises OSError."""
    return _try(f"bytes {limit}", path, lambda: _bytes(path, limit), digest)


def text(path: Name) -> str:
    """The text of a file, whatever its line ends; what is no UTF-8 is replaced. Raises OSError."""
    return content(path).decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def piece(path: Name, start: int, length: int) -> bytes:
    """Some bytes of a file. Raises OSError."""
    return _try(f"piece {start} {length}", path, lambda: _piece(path, start, length), digest)


def names(path: Name, *starts: str) -> list[str]:
    """The names in a folder, sorted; only those that start in one of some ways, if any are given. Raises OSError."""
    return _try(" ".join(("names", *starts)), path, lambda: _names(path, starts), _shown_names)


def entries(path: Name) -> list[tuple[str, bool, bool]]:
    """The names in a folder, sorted, each with whether it is a folder (over a link too), and a link. Raises OSError."""
    return _try("entries", path, lambda: _entries(path), _shown_entries)


def variable(name: str, default: str = "") -> str:
    """A variable of the environment."""
    found = os.environ.get(name)
    if _gathering:
        _gathering[-1].note("variable", name, _shown_variable(found))
    return default if found is None else found


def walk(top: Name, complain: Callable[[OSError], None] | None = None) -> Iterator[tuple[str, list[str], list[str]]]:
    """Folders below one with the names of the folders and of the other things in each, as `os.walk`: links to folders
    are not followed, and the list of folders may be changed."""
    try:
        found = entries(top)
    except OSError as error:
        if complain is not None:
            complain(error)
        return
    links = {name for name, _, link in found if link}
    folders = [name for name, folder, _ in found if folder]
    yield os.fspath(top), folders, [name for name, folder, _ in found if not folder]
    for name in folders:
        if name not in links:
            yield from walk(os.path.join(top, name), complain)


def git_files(top: Name) -> list[str] | None:
    """Paths below a folder that git tracks or does not ignore; None where git is missing or says nothing.

    Only git's own listing runs: the settings that could start a program of the repository are switched off.
    """
    found = _listed_by_git(top)
    if _gathering:
        _gathering[-1].note("git", os.fspath(top), _shown_git(found))
    return found


# ---- how they are answered


def _yes(kind: str, path: Name, ask: Callable[[Name], bool]) -> bool:
    found = ask(path)
    if _gathering:
        _gathering[-1].note(kind, os.fspath(path), "1" if found else "")
    return found


def _try(kind: str, path: Name, ask: Callable[[], T], shown: Callable[[T], str]) -> T:
    try:
        found = ask()
    except (OSError, ValueError) as error:
        if _gathering:
            _gathering[-1].note(kind, os.fspath(path), _shown_error(error))
        raise
    if _gathering:
        _gathering[-1].note(kind, os.fspath(path), shown(found))
    return found


def _executable(path: Name) -> bool:
    return os.access(path, os.X_OK)


def _status(path: Name) -> tuple[int, int]:
    found = os.stat(path)
    kind = stat.S_IFMT(found.st_mode)
    return kind, found.st_size if kind == stat.S_IFREG else 0


def _bytes(path: Name, limit: int) -> bytes:
    # `open` alone would take half of the time; a pipe is not waited for
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        size = os.fstat(handle).st_size
        wanted = min(limit, size + 1)
        data = os.read(handle, wanted)
        if len(data) == size < wanted:
            return data
        parts, left = [data], limit - len(data)  # it has grown, or the system gives it in pieces
        while data and left:
            data = os.read(handle, min(1 << 20, left))
            parts.append(data)
            left -= len(data)
        return b"".join(parts)
    finally:
        os.close(handle)


def _piece(path: Name, start: int, length: int) -> bytes:
    with open(path, "rb") as stream:
        stream.seek(start)
        return stream.read(length)


def _names(path: Name, starts: tuple[str, ...]) -> list[str]:
    return sorted(name for name in os.listdir(path) if not starts or name.startswith(starts))


def _entries(path: Name) -> list[tuple[str, bool, bool]]:
    with os.scandir(path) as found:
        return sorted((entry.name, _is_folder(entry), entry.is_symlink()) for entry in found)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # as `os.walk` takes it
        return False


def _listed_by_git(top: Name) -> list[str] | None:
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(top), "ls-files", "-co", "--exclude-standard", "-z"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    try:
        said = _spawned(command, environment) if hasattr(os, "posix_spawnp") else _run(command, environment)
    except OSError:
        return None
    return None if said is None else sorted({os.fsdecode(name).rstrip("/") for name in said.split(b"\0") if name})


def _run(command: list[str], environment: dict[str, str]) -> bytes | None:
    import subprocess

    done = subprocess.run(command, capture_output=True, env=environment, stdin=subprocess.DEVNULL, check=False)
    return None if done.returncode else done.stdout


def _spawned(command: list[str], environment: dict[str, str]) -> bytes | None:
    """What a command prints, None when it fails; `subprocess` takes longer to import than git to answer."""
    nothing = os.open(os.devnull, os.O_RDWR)
    out, into = os.pipe()
    to = [(os.POSIX_SPAWN_DUP2, handle, number) for number, handle in enumerate((nothing, into, nothing))]
    try:
        process = os.posix_spawnp(command[0], command, environment, file_actions=to)
    except OSError:
        os.close(out)
        raise
    finally:
        os.close(into)
        os.close(nothing)
    with open(out, "rb") as stream:
        said = stream.read()
    try:
        _, status = os.waitpid(process, 0)
    except ChildProcessError:  # whoever started this ignores SIGCHLD: how the command ended, nobody is told
        return said or None
    return None if status else said


# ---- answers as texts, to be stored and compared


def _shown_error(error: OSError | ValueError) -> str:
    return f"error {error.errno}" if isinstance(error, OSError) else "error"


def _shown_status(found: tuple[int, int]) -> str:
    return f"{found[0]:o} {found[1]}"


def _shown_names(found: list[str]) -> str:
    return digest("\0".join(found).encode("utf-8", "surrogatepass"))


def _shown_entries(found: list[tuple[str, bool, bool]]) -> str:
    return _shown_names([f"{name}\0{folder:d}{link:d}" for name, folder, link in found])


def _shown_variable(found: str | None) -> str:
    return "" if found is None else "=" + digest(found.encode("utf-8", "surrogatepass"))  # it may hold a secret


def _shown_git(found: list[str] | None) -> str:
    return "" if found is None else _shown_names(found)


def _answer(ask: Callable[[], T], shown: Callable[[T], str]) -> str:
    try:
        return shown(ask())
    except (OSError, ValueError) as error:
        return _shown_error(error)


class _Answers(dict[str, "Callable[[str], str]"]):
    """Who answers each kind of question; those about parts of a file say which part in the name of their kind."""

    def __missing__(self, kind: str) -> Callable[[str], str]:
        name, *numbers = kind.split(" ")
        if name == "names":
            starts = tuple(numbers)
            return lambda path: _answer(lambda: _names(path, starts), _shown_names)
        if not all(number.isdecimal() for number in numbers):
            numbers = []
        if name == "bytes" and len(numbers) == 1:
            limit = int(numbers[0])
            return lambda path: _answer(lambda: _bytes(path, limit), digest)
        if name == "piece" and len(numbers) == 2:
            start, length = map(int, numbers)
            return lambda path: _answer(lambda: _piece(path, start, length), digest)
        return lambda path: f"no such question: {path}"


_ANSWERS = _Answers(
    {
        "exists": lambda path: "1" if os.path.exists(path) else "",
        "lexists": lambda path: "1" if os.path.lexists(path) else "",
        "folder": lambda path: "1" if os.path.isdir(path) else "",
        "file": lambda path: "1" if os.path.isfile(path) else "",
        "link": lambda path: "1" if os.path.islink(path) else "",
        "executable": lambda path: "1" if _executable(path) else "",
        "real": lambda path: _answer(lambda: os.path.realpath(path), str),
        "strict": lambda path: _answer(lambda: os.path.realpath(path, strict=True), lambda _: ""),
        "status": lambda path: _answer(lambda: _status(path), _shown_status),
        "entries": lambda path: _answer(lambda: _entries(path), _shown_entries),
        "variable": lambda name: _shown_variable(os.environ.get(name)),
        "git": lambda path: _shown_git(_listed_by_git(path)),
    }
)
