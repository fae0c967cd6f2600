"""Python environments as commands make and activate them, and the containers a reader of a document goes into."""

from __future__ import annotations

from collections.abc import Sequence

from verlint.experiment.paths import Components, absolute, components, parent
from verlint.experiment.python_programs import enters_container, python_program
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.lazy import pattern
from verlint.value import Literal, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

Environment: TypeAlias = "tuple[str, Components]"
"""What an environment is known by: `venv` and its folder, or `conda` and its name."""

_CONDA = frozenset(["conda", "mamba", "micromamba"])
_SOURCED = pattern(r"(?:source|\.)\s")
_VALUES = frozenset(["-p", "--python", "--prompt", "--seed", "-n", "--name"])


def made(command: Command) -> Environment | None:
    """The environment that a command makes: `uv venv`, `python -m venv`, `virtualenv`, `conda create`."""
    argv = unwrap(command.argv).argv
    name = program_name(argv[0]) if argv else ""
    words: Sequence[Text] = argv[1:]
    if name == "uv" and words and words[0].known == "venv":
        return _venv(_operand(words[1:]) or Text((Literal(".venv"),)), command)
    if name == "virtualenv":
        return _venv(_operand(words), command)
    if name in _CONDA:
        verbs = [word.known for word in words[:2]]
        return _conda(_named(words)) if "create" in verbs else None
    program = python_program(command.argv)
    if program is not None and program.module and program.entry in ("venv", "virtualenv"):
        return _venv(_operand(program.arguments), command)
    return None


def activated(command: Command) -> Environment | None:
    """The environment that a command activates: `source P/bin/activate`, `conda activate N`."""
    argv = command.argv
    name = program_name(argv[0]) if argv else ""
    if name in ("source", ".") and len(argv) > 1:
        if argv[1].suffix.endswith("bin/activate"):
            return _venv(parent(parent(argv[1])), command)
        if program_name(argv[1]) == "activate" and len(argv) > 2:
            return _conda(argv[2])
    if name in _CONDA and len(argv) > 2 and argv[1].known == "activate":
        return _conda(argv[2])
    return None


def deactivates(command: Command) -> bool:
    """Whether a command leaves the environment that is active."""
    words = [word.known for word in command.argv[:2]]
    return words[:1] == ["deactivate"] or (words[0] in _CONDA and words[1:] == ["deactivate"] if words else False)


def goes_inside(command: Command) -> bool:
    """Whether a reader is in a new container, where nothing of what he did before holds."""
    return enters_container(unwrap(command.argv).argv)


def shell_of(command: Command) -> tuple[object, ...]:
    """What tells the shell that runs a command: the calls of scripts on the way to it; sourced files and functions run
    in the shell that calls them."""
    calls = command.around.stack
    return tuple(call.span.order() for call in calls if _is_child(call.name, call.span.text))


def _is_child(name: str, text: str) -> bool:
    return not _SOURCED.match(text) and ("/" in name or "." in name or text.startswith(("bash", "sh ", "zsh")))


def _venv(folder: Text | None, command: Command) -> Environment | None:
    return None if folder is None else ("venv", components(absolute(folder, command.around.cwd)))


def _conda(name: Text | None) -> Environment | None:
    return None if name is None else ("conda", (name.identity(),))


def _operand(words: Sequence[Text]) -> Text | None:
    at = 0
    while at < len(words):
        text = words[at].known or words[at].prefix
        if not text.startswith("-"):
            return words[at]
        at += 2 if text in _VALUES else 1
    return None


def _named(words: Sequence[Text]) -> Text | None:
    for at, word in enumerate(words[:-1]):
        if word.known in ("-n", "--name"):
            return words[at + 1]
    return None
