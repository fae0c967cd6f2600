"""Commands that merge the shards of a checkpoint into one model."""

from __future__ import annotations

from verlint.experiment.python_programs import python_program
from verlint.languages.bash.command import Command
from verlint.lazy import pattern
from verlint.value import Text

_MERGER = pattern(r"(?:.*/)?(?:\w*model_merger|merge_model\w*|model_merge\w*)\.py|verl\.model_merger(?:\.\w+)*")
_FOLDERS = ("--local_dir", "--local-dir", "--target_dir", "--backend_dir", "--hf_model_path")


def merged_folder(command: Command) -> Text | None:
    """The folder whose shards a command merges, None for other commands."""
    if command.builtin or command.function:
        return None
    program = python_program(command.argv)
    if program is None or _MERGER.fullmatch(program.entry) is None:
        return None
    words = program.arguments
    for word, after in zip(words, (*words[1:], None), strict=False):
        option, equals, _ = (word.known or word.prefix).partition("=")
        if option in _FOLDERS:
            return word.slice(len(option) + 1, 1_000_000) if equals else after
    return None
