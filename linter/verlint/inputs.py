"""What a run reads beside its launchers: experience lists, system prompts, data roots.

Files are read as far as a rule needs them: texts up to the reader's limit, of a parquet file its first and last bytes.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from verlint import disk
from verlint.files.reader import Unreadable, decode, read_bytes
from verlint.record import dataclass, field
from verlint.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

LIST, PROMPT, DATA = "experience-list", "system-prompt", "data-root"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What must hold of the inputs of a call. `prompt_type` and `prompt_key` are "" when they are not known,
    `max_tokens` and `batch` 0. `train_files` are those that need the rows of one training batch."""

    min_lines: int = 1
    warn_absolute: bool = False
    listed_files: bool = False
    min_prompt_chars: int = 40
    prompt_type: str = ""
    max_tokens: int = 0
    profiles: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    train_files: tuple[str, ...] = ()
    batch: int = 0
    prompt_key: str = ""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file that a data root must hold: its path in the root, the profile that asks for it ("" for none), the column
    of the prompts ("" when that is not known), and the rows that it needs."""

    name: str
    profile: str
    prompt_key: str
    rows: int


@dataclass(frozen=True, slots=True, eq=False)
class Input:
    """One input. `path` is where it is on disk (None for a text given in the call), `shown` its name as printed.

    `source` is its text, None for a folder or when it cannot be read; then `problem` says why. `bom` says that its
    bytes begin with a mark."""

    kind: str
    shown: str
    path: Path | None
    wanted: Wanted = field(default_factory=Wanted)
    source: Source | None = None
    problem: str = ""
    bom: bool = False


def read_input(kind: str, name: str, wanted: Wanted) -> Input:
    """The input at a path."""
    path = Path(os.path.abspath(name))
    if kind == DATA:
        return Input(kind, name, path, wanted, None, _folder_problem(path))
    data = read_bytes(path, name)
    if isinstance(data, Unreadable):
        return Input(kind, name, path, wanted, None, data.reason)
    source = decode(data, name)
    if isinstance(source, Unreadable):
        return Input(kind, name, path, wanted, None, source.reason)
    problem = "" if source.text.strip() else "is empty"
    return Input(kind, name, path, wanted, source, problem, data.startswith(b"\xef\xbb\xbf"))


def _folder_problem(path: Path) -> str:
    problem, mode = look(path)
    if problem:
        return problem
    if not stat.S_ISDIR(mode):
        return "is not a folder"
    return look(os.path.join(path, "."))[0]  # needs the right to enter it


def look(path: str | Path) -> tuple[str, int]:
    """What keeps a path from being opened ("" for nothing), and its mode (0 then)."""
    try:
        return "", disk.status(path)[0]
    except FileNotFoundError:
        return ("is a symbolic link to nothing" if disk.is_link(path) else "does not exist"), 0
    except OSError as error:
        if error.errno == errno.ELOOP:
            return "is a symbolic link that leads in a circle", 0
        return f"cannot be read: {error.strerror or error}", 0
    except ValueError as error:
        return f"cannot be read: {error}", 0


def data_files(wanted: Wanted) -> list[DataFile]:
    """The files that a data root must hold, each once."""
    from verlint.families.recipes import profiles

    known, found = profiles(), dict[str, DataFile]()
    for profile in wanted.profiles:
        files = known[profile]
        for name in files.files:
            trains = name in files.trains_on
            rows = (wanted.batch or files.trains_on[name]) if trains else 1
            found.setdefault(name, DataFile(name, profile, wanted.prompt_key or files.prompt_key, rows))
    for name in wanted.train_files:
        found.setdefault(name, DataFile(name, "", wanted.prompt_key, wanted.batch or 1))
    for name in wanted.files:
        found.setdefault(name, DataFile(name, "", wanted.prompt_key, 1))
    return list(found.values())


def outside(root: Path, name: str) -> bool:
    """Whether a path below a root leads out of it, over links."""
    real = disk.real(root)
    return os.path.commonpath([real, disk.real(os.path.join(root, name))]) != real


def shown_files(inputs: Sequence[Input]) -> Iterator[str]:
    """A line for each whole parquet file of the inputs: its rows, and its columns where they can be read."""
    from verlint.verl.data_file import columns_of, rows_of

    for given in inputs:
        if given.kind != DATA or given.path is None or given.problem:
            continue
        for each in data_files(given.wanted):
            path = given.path / each.name
            if path.suffix != ".parquet" or (rows := rows_of(path)) is None or outside(given.path, each.name):
                continue
            try:
                columns = columns_of(path)
            except ValueError:
                continue
            names = "columns " + ", ".join(columns) if columns is not None else "columns not read: no pyarrow"
            yield f"{os.path.join(given.shown, each.name)}: {rows} row{'' if rows == 1 else 's'}; {names}"


def entries(source: Source) -> Iterator[tuple[str, int, int]]:
    """The lines of a list as the trainer reads them, each with its place; the end of a last line is no line."""
    at = 0
    for line in source.text.split("\n"):
        end = at + len(line)
        if end < len(source.text) or line:
            yield line, at, end
        at = end + 1


# The call ------------------------------------------------------------------------------------------------------------


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that say what is checked."""
    what = parser.add_argument_group("what is checked")
    what.add_argument("--experience-list", action="append", default=[], metavar="FILE", help="a list of experiences")
    what.add_argument("--system-prompt-file", action="append", default=[], metavar="FILE", help="a system prompt")
    what.add_argument("--system-prompt-text", action="append", default=[], metavar="TEXT", help="a system prompt")
    what.add_argument("--data-root", action="append", default=[], metavar="DIR", help="a folder of data files")
    must = parser.add_argument_group("what must hold")
    must.add_argument("--min-lines", type=int, default=1, metavar="N", help="least entries of a list (1)")
    must.add_argument("--warn-absolute-lines", action="store_true", help="report absolute paths in a list")
    must.add_argument("--require-listed-files", action="store_true", help="every file of a list must exist")
    must.add_argument("--min-prompt-chars", type=int, default=40, metavar="N", help="least characters of a prompt (40)")
    must.add_argument("--prompt-type", choices=("medmcqa", "safety", "custom"), default="", help="what it is for")
    must.add_argument("--experience-max-length", type=int, default=0, metavar="N", help="tokens a prompt may have")
    must.add_argument("--profile", action="append", default=[], metavar="NAME", help="files a data root must hold")
    must.add_argument("--expect-file", action="append", default=[], metavar="PATH", help="a file below the data root")
    must.add_argument("--expect-dir", action="append", default=[], metavar="PATH", help="a folder below the data root")
    must.add_argument("--train-file", action="append", default=[], metavar="PATH", help="a file that is trained on")
    must.add_argument("--train-batch-size", type=int, default=0, metavar="N", help="least rows of what is trained on")
    must.add_argument("--prompt-key", default="", metavar="NAME", help="the column that holds the prompts")


def inputs_of(arguments: argparse.Namespace) -> list[Input]:
    """The inputs of a call. Raises ValueError with what is wrong with it."""
    from verlint.families.recipes import profiles

    known = profiles()
    for name in arguments.profile:
        if name not in known:
            raise ValueError(f"--profile `{name}` is not known; allowed: {', '.join(known)}")
    for name in (*arguments.expect_file, *arguments.expect_dir, *arguments.train_file):
        if os.path.isabs(name) or ".." in Path(name).parts:
            raise ValueError(f"`{name}`: paths that are expected are relative to the data root and stay in it")
    for option in ("min_lines", "min_prompt_chars", "experience_max_length", "train_batch_size"):
        if getattr(arguments, option) < 0:
            raise ValueError(f"--{option.replace('_', '-')} takes 0 or more, not {getattr(arguments, option)}")
    wanted = Wanted(
        arguments.min_lines,
        arguments.warn_absolute_lines,
        arguments.require_listed_files,
        arguments.min_prompt_chars,
        arguments.prompt_type,
        arguments.experience_max_length,
        tuple(arguments.profile),
        tuple(arguments.expect_file),
        tuple(arguments.expect_dir),
        tuple(arguments.train_file),
        arguments.train_batch_size,
        arguments.prompt_key,
    )
    out = [read_input(LIST, name, wanted) for name in arguments.experience_list]
    out += [read_input(PROMPT, name, wanted) for name in arguments.system_prompt_file]
    for text in arguments.system_prompt_text:
        source = Source("<system prompt>", text)
        out.append(Input(PROMPT, source.path, None, wanted, source, "" if text.strip() else "is empty"))
    return out + [read_input(DATA, name, wanted) for name in arguments.data_root]


def inputs_of_words(words: Sequence[str]) -> list[Input]:
    """The inputs of a call given as words."""
    import argparse

    parser = argparse.ArgumentParser(prog="verlint inputs", allow_abbrev=False)
    add_options(parser)
    given: Any = parser.parse_args(list(words))
    return inputs_of(given)
