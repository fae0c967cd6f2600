"""The folder of a log must exist before the log is opened.

Slurm opens the files of `--output` and `--error` before the script runs and makes no folders: the job fails at once,
with nothing to read, and a `mkdir` in the script comes too late. Bash opens the file of `> logs/run.log` before it
starts the command, so without the folder the training does not start; `tee logs/run.log` runs it, and keeps nothing.

Reported for relative paths whose folder, as far as its name is known, is neither on disk nor made, copied, cloned or
unpacked by an earlier command.
Absolute paths and those of the environment are left alone: they belong to the cluster.

Fix: `mkdir -p logs` before, as `--fix` writes it above a command; for Slurm keep the folder in the repository,
`logs/.gitkeep`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from verlint.experiment.paths import absolute, in_tree
from verlint.experiment.script import Script
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.command import Command
from verlint.languages.bash.replay import Path
from verlint.lazy import pattern
from verlint.memo import by_identity
from verlint.rule import WARNING, Context, rule
from verlint.source import Span
from verlint.value import Text

_GOES_ON = pattern(r"(?![ \t]*#)[^\n]*(?:\\|\||&&)[ \t]*\r?\n\Z")
_HEAD = pattern(r"([ \t]*)(?!(?:elif|else|then|do|done|fi|esac)\b|[})#|&]|\S*\))\S")
"""A line that starts a statement: not in the middle of one, nor another branch."""
_PLAIN = pattern(r"[\w.][\w./-]*")
_WRITES = frozenset([">", ">>", "&>", "&>>", ">|"])


@rule("VL922", "missing-log-folder", on=Script, severity=WARNING, since="0.1", fixable="safe")
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if not script.document:
        yield from _of_header(script, ctx)
        yield from _of_commands(script, ctx)


def _of_header(script: Script, ctx: Context) -> Iterator[Finding]:
    scheduler = script.scheduler
    if scheduler is None:
        return
    for name in ("output", "error"):
        asked = scheduler.get(name)
        if asked is None or asked.value.startswith("/"):
            continue
        folder = posixpath.dirname(asked.value.partition("%")[0] + "x")
        starts = {script.start, "", posixpath.dirname(script.path)}
        if not folder or any(script.tree.exists(posixpath.normpath(posixpath.join(start, folder))) for start in starts):
            continue
        yield ctx.fail(
            asked.span,
            f"Slurm opens this file before the script runs: without the folder `{folder}` the job fails at once",
            value=f"--{name} = {asked.value}",
            help=f"keep the folder in the repository ({folder}/.gitkeep), or make it before sbatch",
        )
        return


def _of_commands(script: Script, ctx: Context) -> Iterator[Finding]:
    """Redirections on which every path into the command finds no folder."""
    missing: dict[object, list[tuple[Command, str, Span, bool]]] = {}
    fine: set[object] = set()
    for path in script.resolution.paths:
        for place, found in _opened(path, script):
            if found is None:
                fine.add(place)
            else:
                missing.setdefault(place, []).append(found)
    made: set[str] = set()
    for place, found_there in missing.items():
        if place not in fine:
            command, folder, *_ = found_there[0]
            finding = _finding(*found_there[0], ctx)
            yield finding if folder in made else _with_fix(finding, command, folder)
            made.add(folder)


def _opened(path: Path, script: Script) -> Iterator[tuple[object, tuple[Command, str, Span, bool] | None]]:
    """The log files that commands of this script open, by place: what is missing, None when nothing is."""
    before: list[Command] = []
    for command in path.commands:
        if command.span.in_file().source is script.source and command.name not in ("mkdir", "["):
            for target, tee in _targets(command):
                folder = _folder(target, command, script)
                span = target.span or command.span
                known = folder is None or any(folder in _shown(each) for each in before)
                yield span.order(), None if known or folder is None else (command, folder, span, tee)
        before.append(command)


@by_identity
def _shown(command: Command) -> str:
    return " ".join(word.shown for word in command.argv)


def _targets(command: Command) -> Iterator[tuple[Text, bool]]:
    for redirect in command.redirects:
        if redirect.operator in _WRITES:
            yield redirect.target, False
    if command.name == "tee":
        yield from ((word, True) for word in command.words if not word.shown.startswith("-"))


def _folder(target: Text, command: Command, script: Script) -> str | None:
    """The folder of a file as it is written, as far as it is known, when it is known to be missing on disk."""
    written = target.known or target.prefix
    end = written.rfind("/")
    if end <= 0 or written.startswith(("/", "~")):
        return None
    place = in_tree(absolute(target.slice(0, end), command.around.cwd))
    if place is None:
        return None
    folder = posixpath.normpath(written[:end])
    # nobody knows for sure where the script is started: a folder that fits any likely place will do
    starts = ("", posixpath.dirname(script.path))
    places = {place, *(posixpath.normpath(posixpath.join(start, folder)) for start in starts)}
    return None if places & {"", "."} or any(map(script.tree.exists, places)) else folder


def _finding(command: Command, folder: str, span: Span, tee: bool, ctx: Context) -> Finding:
    name = command.name or "the command"
    message = (
        f"nothing makes the folder `{folder}`: tee prints an error, and the log is lost"
        if tee
        else f"nothing makes the folder `{folder}`: bash cannot open the log, and `{name}` does not start"
    )
    return ctx.fail(span, message, help=f"mkdir -p {folder}")


def _with_fix(finding: Finding, command: Command, folder: str) -> Finding:
    """The finding with a line above the command, where one can stand there."""
    source = command.span.source
    line = source.text.rfind("\n", 0, command.span.start) + 1
    while line and _GOES_ON.match(source.text, source.text.rfind("\n", 0, line - 1) + 1, line):
        line = source.text.rfind("\n", 0, line - 1) + 1
    head = _HEAD.match(source.text, line)
    if head is None or not _PLAIN.fullmatch(folder):
        return finding
    edit = Edit(source.span(line, line), f"{head[1]}mkdir -p {folder}\n")
    return finding.with_fix("make the folder", edit, safety=Safety.SAFE)
