"""The `#SBATCH` lines of a batch script: what it asks of Slurm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.source import Source, Span

_LINE = pattern(r"#SBATCH\b(?P<rest>[^\n]*)")
_OPTION = pattern(
    r"[ \t]+(?:--(?P<long>[a-z][a-z-]*)(?:[= ][ \t]*(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\s#-][^\s#]*))?"
    r"|-(?P<short>[A-Za-z])[ \t]*(?P<given>\"[^\"\n]*\"|'[^'\n]*'|[^\s#-][^\s#]*)?)"
)
_NAMES = {"N": "nodes", "n": "ntasks", "G": "gpus", "o": "output", "e": "error", "D": "chdir", "c": "cpus-per-task"}
"""Long names of the short options that matter here; sbatch(1)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The value of one option, and where it is written."""

    value: str
    span: Span


@lru_cache(maxsize=64)
def batch_header(source: Source) -> Mapping[str, Asked]:
    """The options in the `#SBATCH` lines that Slurm reads, by long name, the last one counting: those before the first
    command. None of them: the file is no batch script."""
    found: dict[str, Asked] = {}
    for start, line in _head(source.text):
        header = _LINE.match(line)
        if header is None:
            continue
        at = start + header.start("rest")
        for option in _OPTION.finditer(header["rest"]):
            name = option["long"] or _NAMES.get(option["short"], option["short"])
            value = (option["value"] or option["given"] or "").strip("\"'")
            found[name] = Asked(value, source.span(at + option.start() + 1, at + option.end()))
    return found


def _head(text: str) -> Iterator[tuple[int, str]]:
    """The lines up to the first command, each with its offset: Slurm looks no further."""
    at = 0
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            return
        yield at, line
        at += len(line)


def is_batch_script(source: Source) -> bool:
    """Whether Slurm runs the file from a copy of its own: it has a header."""
    return "#SBATCH" in source.text and bool(batch_header(source))
