"""The runtime environment that `ray job submit` gives a job."""

from __future__ import annotations

import posixpath

from verlint.files.tree import Tree
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.languages.runtime_env import RuntimeEnv, option_of, read_runtime_env, runtime_env_of_word
from verlint.source import Source
from verlint.value import Hole, Text


def runtime_env_of(command: Command, tree: Tree) -> RuntimeEnv | None:
    """What a `ray job submit` is told by `--runtime-env-json`, or by the file of `--runtime-env`; None without either,
    and when it cannot be read. In a JSON word a `$NAME` of the shell stays unknown."""
    argv = unwrap(command.argv).argv
    if len(argv) < 3 or program_name(argv[0]) != "ray" or [each.known for each in argv[1:3]] != ["job", "submit"]:
        return None
    given = option_of(argv, "--runtime-env-json")
    if given is not None:
        return runtime_env_of_word(given)
    path = option_of(argv, "--runtime-env")
    source = None if path is None else _file(path, command, tree)
    return None if source is None else read_runtime_env(source)


def _file(path: Text, command: Command, tree: Tree) -> Source | None:
    """A file seen from the working directory, or given from the folder the launcher is started in. One that the
    launcher writes before is a text of the launcher."""
    cwd = command.around.cwd
    if (path.known or "").startswith("/"):
        return command.made.get(path.known or "")
    parts = path.parts if isinstance(path.parts[0] if path.parts else None, Hole) else (*cwd.parts, *path.parts)
    first, rest = parts[0], Text(parts[1:]).known
    if not isinstance(first, Hole) or rest is None or not (isinstance(first.key, tuple) and first.key[0] == "cwd"):
        return None
    if parts is not path.parts and len(cwd.parts) > 1:
        behind, own = Text(cwd.parts[1:]).known, path.known
        rest = None if behind is None or own is None else posixpath.join(behind, own)
        if rest is None:
            return None
    place = posixpath.normpath(posixpath.join(str(first.key[1]) or ".", rest.lstrip("/")))
    return None if place.startswith("..") else command.made.get(place) or tree.source(place)
