"""What a Python tool touches beyond its own text: files, credentials, programs it starts."""

from __future__ import annotations

from verlint.record import dataclass
from verlint.source import Span
from verlint.value import Text


@dataclass(frozen=True, slots=True)
class FileUse:
    """A file, folder or data set that a tool reads or writes.

    `how` is "read", "write", "folder" (it is made) or "hub" (a data set or model of a hub, or a path). `span` is the
    call, `by` what is called. Options of the tool are holes with the key `option_key(source, dest)`."""

    path: Text
    how: str
    span: Span
    by: str


@dataclass(frozen=True, slots=True)
class Credential:
    """An environment variable that holds a key. `required` says that the tool fails without it, `by` what asks."""

    name: str
    span: Span
    required: bool
    by: str


@dataclass(frozen=True, slots=True)
class Started:
    """A program that a tool starts: its words, or a shell text (then `words` has that alone). `open` says that more
    words may be added to the list. `variables` are set for it; `bare` says that it has no others. `folder` is where it
    starts, None for that of the tool."""

    words: tuple[Text, ...]
    shell: bool
    span: Span
    open: bool = False
    variables: tuple[tuple[str, Text], ...] = ()
    bare: bool = False
    folder: Text | None = None
