"""The runtime environment that `ray job submit` gives a job."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from verlint.files.tree import Tree
from verlint.languages.bash.command import Command
from verlint.languages.bash.pieces import flat
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.languages.runtime_env import EnvVar, RuntimeEnv, read_runtime_env
from verlint.record import replace
from verlint.source import Source, Span
from verlint.value import Hole, Literal, Text


def runtime_env_of(command: Command, tree: Tree) -> RuntimeEnv | None:
    """What a `ray job submit` is told by `--runtime-env-json`, or by the file of `--runtime-env`; None without either,
    and when it cannot be read. In a JSON word a `$NAME` of the shell stays unknown."""
    argv = unwrap(command.argv).argv
    if len(argv) < 3 or program_name(argv[0]) != "ray" or [each.known for each in argv[1:3]] != ["job", "submit"]:
        return None
    given = _option(argv, "--runtime-env-json")
    if given is not None:
        return _of_word(given)
    path = _option(argv, "--runtime-env")
    source = None if path is None else _file(path, command.around.cwd, tree)
    return None if source is None else read_runtime_env(source)


def _option(argv: Sequence[Text], name: str) -> Text | None:
    for at, word in enumerate(argv):
        text = word.known or word.prefix
        if text == "--":
            return None
        if text == name:
            return argv[at + 1] if at + 1 < len(argv) else None
        if text.startswith(name + "="):
            return word.slice(len(name) + 1, 1_000_000)
    return None


def _file(path: Text, cwd: Text, tree: Tree) -> Source | None:
    """A file seen from the working directory, or given from the folder the launcher is started in."""
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
    return None if place.startswith("..") else tree.source(place)


def _of_word(word: Text) -> RuntimeEnv | None:
    """The environment that a word holds as JSON; values keep what is known of their pieces."""
    source = Source("", flat(word.parts))
    found = read_runtime_env(source)
    if found is None:
        return None
    variables = {name: _with_pieces(each, word, source) for name, each in found.env_vars.items()}
    folder = found.working_dir
    return replace(found, env_vars=variables, working_dir=None if folder is None else _pieces(folder, word, source))


def _with_pieces(variable: EnvVar, word: Text, source: Source) -> EnvVar:
    value = _pieces(variable.value, word, source)
    inside = variable.span.in_file()
    return replace(variable, value=value, span=_place(word, inside.start, inside.end) or word.span or variable.span)


def _pieces(text: Text, word: Text, source: Source) -> Text:
    """The value as a part of the word."""
    span = text.parts[0].span if text.parts else text.span
    if span is None:
        return replace(text, parts=(), span=word.span)
    inside = span.in_file()
    return replace(word.slice(inside.start, inside.end), span=_place(word, inside.start, inside.end) or word.span)


def _place(word: Text, start: int, end: int) -> Span | None:
    """Where a part of the word is written; None where it is not in one quoted or bare run."""
    at = 0
    for part in word.parts:
        length = len(part.text) if isinstance(part, Literal) else 1
        if at <= start < at + length:
            span = part.span
            if span is None or isinstance(part, Hole) or end > at + length:
                return span
            inset = 1 if span.end - span.start == length + 2 else 0
            if span.end - span.start != length + 2 * inset:
                return span
            first = span.start + inset
            return Span(span.source, first + start - at, first + end - at)
        at += length
    return None
