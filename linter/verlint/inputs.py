"""What a run reads beside its launchers: experience lists, system prompts, data roots.

Files are read as far as a rule needs them: texts up to the reader's limit, of a parquet file its first and last bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

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
    """What must hold of the inputs of a call. `prompt_type` is "" when it is not known, `max_tokens` 0."""

    min_lines: int = 1
    warn_absolute: bool = False
    listed_files: bool = False
    min_prompt_chars: int = 40
    prompt_type: str = ""
    max_tokens: int = 0
    profiles: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Input:
    """One input. `path` is where it is on disk (None for a text given in the call), `shown` its name as printed.

    `source` is its text, None for a folder or when it cannot be read; then `problem` says why. `crlf` and `bom` say how
    its bytes are."""

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
    try:
        os.listdir(path)
    except FileNotFoundError:
        return "is a symbolic link to nothing" if os.path.islink(path) else "does not exist"
    except NotADirectoryError:
        return "is not a folder"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    return ""


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


def inputs_of(arguments: argparse.Namespace) -> list[Input]:
    """The inputs of a call. Raises ValueError with what is wrong with it."""
    from verlint.families.recipes import profiles

    known = profiles()
    for name in arguments.profile:
        if name not in known:
            raise ValueError(f"--profile `{name}` is not known; allowed: {', '.join(known)}")
    for name in (*arguments.expect_file, *arguments.expect_dir):
        if os.path.isabs(name) or ".." in Path(name).parts:
            raise ValueError(f"`{name}`: paths that are expected are relative to the data root and stay in it")
    for name, number in (("--min-lines", arguments.min_lines), ("--min-prompt-chars", arguments.min_prompt_chars)):
        if number < 0:
            raise ValueError(f"{name} takes 0 or more")
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
