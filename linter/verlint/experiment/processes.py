"""How many processes of a Python program a command starts."""

from __future__ import annotations

from verlint.experiment.launch import Launch
from verlint.experiment.python_programs import LAUNCHERS
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.value import Text, whole

_NAMES = {"nnodes": "nodes", "nproc_per_node": "each"}
_MODULES = ("torch.distributed.run", "torch.distributed.launch")


def processes_of(launch: Launch) -> int | None:
    """The processes that `torchrun` starts on all nodes together; None when they are not known, or another program
    starts them."""
    words = _options(unwrap(launch.command.argv).argv)
    if words is None:
        return None
    counts: dict[str, int | None] = {"nodes": 1, "each": 1}
    waiting = ""
    for word in words:
        text = word.known or word.prefix
        if waiting:
            counts[waiting], waiting = _number(word.known), ""
            continue
        if not text.startswith("-"):
            if word.known is None:
                return None
            break
        name, equals, value = text.partition("=")
        key = _NAMES.get(name.lstrip("-").replace("-", "_"), "")
        if key and equals:
            counts[key] = _number(value if word.known is not None else None)
        elif key:
            waiting = key
        elif not equals and text in LAUNCHERS["torchrun"]:
            waiting = "other"
        elif text in ("-m", "--module"):
            break
    nodes, each = counts["nodes"], counts["each"]
    return None if nodes is None or each is None else nodes * each


def _options(words: tuple[Text, ...]) -> tuple[Text, ...] | None:
    """The words behind the name of the launcher."""
    if not words:
        return None
    if program_name(words[0]) == "torchrun":
        return words[1:]
    if len(words) > 2 and words[1].known == "-m" and words[2].known in _MODULES:
        return words[3:]
    return None


def _number(text: str | None) -> int | None:
    return None if text is None else whole(text)
