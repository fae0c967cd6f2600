"""Programs that copy, move and remove files: `cp`, `mv`, `ln`, `rm`, `rmdir`. What they do is remembered for globs,
file tests and readers; that they succeed is taken for granted."""

from __future__ import annotations

from collections.abc import Callable

from verlint.languages.bash.pieces import MARK, Parts, cut, flat, plain
from verlint.value import Hole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.languages.bash.redirections import Redirections

_MAX_COPIED = 500
MOVERS = {"cp": "tS", "mv": "tS", "ln": "tS", "rm": "", "rmdir": ""}
"""The programs, and their options with a value."""


def move_files(shell: Redirections, name: str, arguments: list[Parts]) -> None:
    """Carry out the program of that name, as far as its files are known."""
    paths, letters, folder = _split(arguments, MOVERS[name])
    if name in ("rm", "rmdir"):
        for path in paths:
            _remove(shell, shell.locate(path), recursive=name == "rmdir" or bool(letters & {"r", "R"}))
        return
    if folder is None:
        if len(paths) == 1 and name == "ln":
            paths.append(plain("."))
        if len(paths) < 2:
            return
        folder = paths.pop()
    target = shell.locate(folder)
    if target is None:
        return
    into = shell.is_folder(target) and "T" not in letters
    for path in paths:
        source = shell.locate(path)
        whole = name != "cp" or bool(letters & {"r", "R", "a"})
        _copy(shell, source, _below(target, path) if into else target, folders=whole)
        if name == "mv":
            _remove(shell, source, recursive=True)


def _split(arguments: list[Parts], values: str) -> tuple[list[Parts], set[str], Parts | None]:
    """Operands, letters of options, and the folder of `-t`."""
    paths: list[Parts] = []
    letters: set[str] = set()
    folder: Parts | None = None
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        text = flat(word)
        if text == "--":
            return [*paths, *rest], letters, folder
        if not text.startswith("-") or MARK in text[:2] or text == "-":
            paths.append(word)
        elif text.startswith("--"):
            name, _, value = text[2:].partition("=")
            letters |= {"recursive": {"r"}, "archive": {"a"}, "no-target-directory": {"T"}}.get(name, set())
            if name == "target-directory" and value:
                folder = cut(word, len("--target-directory="), len(text))
        else:
            letters |= set(text[1:])
            if text[-1] in values and rest:
                value_word = rest.pop(0)
                folder = value_word if text[-1] == "t" else folder
    return paths, letters, folder


def _below(folder: str, path: Parts) -> str:
    name = flat(path).rstrip("/").rpartition("/")[2]
    return f"{folder}/{name}" if folder else name


def _copy(shell: Redirections, source: str | None, target: str, *, folders: bool) -> None:
    run = shell.run
    if MARK in target or target.rpartition("/")[2] in ("", ".", ".."):
        return
    if source is None or not shell.is_there(source):
        if not run.closed:  # where it comes from cannot be seen
            run.written[target] = (Hole(("unique", run.unique()), f"<{target}>", "content of a copied file"),)
    elif not shell.is_folder(source):
        run.written[target] = shell.content(source)
    elif folders:
        run.made.add(target)
        _each_below(shell, source, lambda name: _copy(shell, f"{source}/{name}", f"{target}/{name}", folders=True))


def _each_below(shell: Redirections, folder: str, act: Callable[[str], None]) -> None:
    for name in shell.names_in(folder)[:_MAX_COPIED]:
        if len(shell.run.written) < _MAX_COPIED:
            act(name)


def _remove(shell: Redirections, located: str | None, *, recursive: bool) -> None:
    run = shell.run
    if not located or (shell.is_folder(located) and not recursive):
        return
    run.gone.add(located)
    for each in [each for each in run.written if each == located or each.startswith(located + "/")]:
        del run.written[each]
    run.made -= {each for each in run.made if each == located or each.startswith(located + "/")}
