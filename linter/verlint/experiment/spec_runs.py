"""The shell text of a spec's stage (`run`) as commands, with references such as `${models.policy}` as variables."""

from __future__ import annotations

from verlint.experiment.spec import SpecStage
from verlint.files.tree import Tree
from verlint.languages.bash.command import Command
from verlint.languages.bash.replay import Entry, explore
from verlint.lazy import pattern
from verlint.source import Source

_REFERENCE = pattern(r"\$\{[A-Za-z_][\w.:-]*\}")
_NOT_IN_NAMES = pattern(r"[^\w${}]")


def run_text(stage: SpecStage) -> Source | None:
    """The text that a shell gets, with a variable of the same length for each reference; None without `run`."""
    source = stage.run_source
    if source is None:
        return None
    text = _REFERENCE.sub(lambda match: _NOT_IN_NAMES.sub("_", match.group()), source.text)
    return Source(source.path, text, source.parent, source.pieces)


def commands_of_run(stage: SpecStage, tree: Tree) -> list[Command]:
    """What the text starts, on its expected path; nothing without `run`."""
    text = run_text(stage)
    if text is None:
        return []
    resolution = explore([text], tree, Entry(arguments=[]), max_paths=1)
    return resolution.paths[0].commands if resolution.paths else []
