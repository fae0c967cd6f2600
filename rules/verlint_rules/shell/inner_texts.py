"""Texts in a launcher that are run as scripts of their own: here-documents, files written from them, `bash -c '…'`."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.script import Script
from verlint.languages.bash.syntax import Program
from verlint.lazy import pattern
from verlint.source import Source

_HOLDS = pattern(r"<<-?[ \t]*[\"'\\]?\w|\bsh\b.*-\w*c\b|\b(?:eval|ssh|wrap)\b")
"""How a text begins that holds another one."""


def inner_texts(script: Script) -> Iterator[tuple[Source, Program]]:
    """The texts of several lines that the launcher runs, each with its tree, once wherever it is run."""
    if script.document or not any(_HOLDS.search(text.text) for text in script.texts):
        return
    own = {id(text) for text in script.texts}
    seen: set[tuple[object, str]] = set()
    for path in script.resolution.paths:
        for command in path.commands:
            text = command.span.source
            if id(text) in own or "\n" not in text.text.strip() or not _is_within(text, own):
                continue
            key = (text.whole().order(), text.text)
            if key not in seen:
                seen.add(key)
                yield text, script.program(text)


def _is_within(text: Source, own: set[int]) -> bool:
    while text.parent is not None:
        text = text.parent
        if id(text) in own:
            return True
    return False
