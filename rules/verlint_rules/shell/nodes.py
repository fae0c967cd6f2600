"""What a launcher does on the nodes of its job: Ray's own command, and the conditions that tell the nodes apart."""

from __future__ import annotations

from verlint.languages.bash.command import Command, Guard
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.lazy import pattern

RANK = pattern(
    r"\b(?!\w*LOCAL)(?:\w*(?:NODE_?RANK|_RANK|PROCID|NODEID|NODE_ID|NODE_INDEX|COMPLETION_INDEX)|RANK|RANK_ID)\b", 2
)
"""Names that hold the number of a node, or of a process among those of all nodes."""


def ray_verb(command: Command) -> str:
    """What Ray's command is to do (`start`, `stop`, `job` …), "" for another program."""
    argv = unwrap(command.argv).argv
    return (argv[1].known or "") if len(argv) > 1 and program_name(argv[0]) == "ray" else ""


def rank_guard(command: Command) -> Guard | None:
    """The condition on a rank under which a command stands."""
    return next((guard for guard in command.around.guards if RANK.search(guard.text)), None)
