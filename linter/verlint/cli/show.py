"""`verlint show`: what a launcher would run, without running it; of a Python tool, what it takes and touches."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verlint.cli.main import FAILED, OK, complain
from verlint.files.kinds import Kind
from verlint.result import Loaded

if TYPE_CHECKING:
    from verlint.files.tree import Tree
    from verlint.languages.bash.replay import Resolution
    from verlint.report.commands import Masker
    from verlint.source import Source

FORMATS = ("text", "json")
TAKES_ARGUMENTS = True
"""What stands behind `--` is for the launcher."""


class ShowError(Exception):
    """A call that cannot be carried out; the text is for the user."""


def add_parser(subparsers: Any) -> None:
    """Add the verb to the parser of `verlint`."""
    parser = subparsers.add_parser(
        "show",
        help="what a launcher would run: commands, conditions, values and where they come from",
        usage="verlint show [options] LAUNCHER [-- ARG ...]",
        description="Show what a launcher would run. Nothing is run. Without arguments behind -- the options of the "
        "launcher and the environment stay open; with them it is called with exactly these.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "launcher", metavar="LAUNCHER", help="a shell file, a file of jobs (sky.yaml, a workflow), or a Python tool"
    )
    parser.add_argument("--cwd", metavar="DIR", help="the folder it is started in (default: guessed)")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="an environment variable")
    parser.add_argument(
        "--closed",
        action="store_true",
        help="no further arguments, and variables that nobody sets are empty",
    )
    parser.add_argument("--environment", action="store_true", help="show what every command gets in its environment")
    parser.add_argument("--builtins", action="store_true", help="show what the shell itself runs as well")
    parser.add_argument(
        "--why", action="append", default=[], metavar="WORD", help="where the words that contain WORD come from"
    )
    parser.add_argument("--config", action="store_true", help="show the config that each launch of VeRL gets")
    parser.add_argument("--all", action="store_true", help="with --config: all keys, not only those it decides")
    parser.add_argument("--diff", metavar="VERSION", default="", help="what another version of VeRL would make of it")
    parser.add_argument("--verl", metavar="VERSION|PATH", default="", help="the VeRL version, or checkout, it is for")
    parser.add_argument("--format", choices=FORMATS, default="text", help="default: text")


def run(arguments: argparse.Namespace) -> int:
    """Print what the launcher would run; returns the exit code."""
    from verlint.report.commands import Listing, Masker, json_of, json_of_jobs, text_of

    if arguments.launcher.endswith(".py") and not (arguments.config or arguments.diff):
        return _show_tool(arguments)
    try:
        _check_versions(arguments)
        source, kind = _read(arguments)
        if kind is Kind.JOB:
            jobs = resolve_jobs(arguments, source)
        else:
            jobs = [("", (resolve_document if kind is Kind.DOCUMENT else resolve)(arguments, source))]
    except ShowError as error:
        complain(f"verlint: error: {error}")
        return FAILED
    masker = Masker(_sources(source, [resolution for _, resolution in jobs]))
    if arguments.config or arguments.diff:
        sys.stdout.write(_configs(arguments, Loaded(source, kind, _path(arguments), True), jobs, masker))
        return OK
    if arguments.format == "json":
        if kind is Kind.JOB:
            sys.stdout.write(json_of_jobs(jobs, masker, builtins=arguments.builtins))
        else:
            sys.stdout.write(json_of(jobs[0][1], masker, builtins=arguments.builtins))
        return OK
    from verlint.cli.output import output_width

    listing = Listing(output_width(sys.stdout), arguments.environment, tuple(arguments.why), arguments.builtins)
    for number, (name, resolution) in enumerate(jobs):
        sys.stdout.write(("\n" if number else "") + (f"{name}\n" if name else ""))
        sys.stdout.write(text_of(resolution, listing, masker))
    return OK


def _show_tool(arguments: argparse.Namespace) -> int:
    """What a Python tool takes, reads, writes, needs and starts."""
    from verlint.files.reader import Unreadable, read
    from verlint.languages.python.tool import tool
    from verlint.report.commands import Masker
    from verlint.report.tool import json_of, text_of

    source = read(Path(arguments.launcher).absolute(), arguments.launcher)
    if isinstance(source, Unreadable):
        complain(f"verlint: error: {source.path}: {source.reason}")
        return FAILED
    masker = Masker([source])
    sys.stdout.write(json_of(tool(source), masker) if arguments.format == "json" else text_of(tool(source), masker))
    return OK


def _check_versions(arguments: argparse.Namespace) -> None:
    from verlint.cli.settings_check import verl_problem

    for option, text in (("--verl", arguments.verl), ("--diff", arguments.diff)):
        if text and (problem := verl_problem(text)):
            raise ShowError(f"{option}: {problem}")


def _configs(
    arguments: argparse.Namespace, file: Loaded, jobs: Sequence[tuple[str, Resolution]], masker: Masker
) -> str:
    """The configs of the launches on all paths, each distinct one once."""
    from verlint.experiment.project import Project
    from verlint.report.commands import distinct, started
    from verlint.report.config import config_text
    from verlint.settings import Settings

    settings = Settings(Path.cwd(), verl_of_call=arguments.verl)
    project = Project([file], settings, Path.cwd())
    found: dict[object, Any] = {}
    for way in (way for _, resolution in jobs for way in distinct(resolution)):
        for command in started(way):
            launch = project.launch(command)
            if launch is not None:
                found.setdefault((command.span.order(), tuple(word.identity() for word in command.argv)), launch)
    return config_text(list(found.values()), masker, all_keys=arguments.all, diff=arguments.diff)


def _path(arguments: argparse.Namespace) -> Path:
    return Path(arguments.launcher).absolute()


def _read(arguments: argparse.Namespace) -> tuple[Source, Kind]:
    """The file, and whether it is one of jobs or a document; everything else is taken for a launcher. Raises
    ShowError."""
    from verlint.files.kinds import classify
    from verlint.files.reader import Unreadable, read

    source = read(_path(arguments), arguments.launcher)
    if isinstance(source, Unreadable):
        raise ShowError(f"{source.path}: {source.reason}")
    kind = classify(source.path, source.text, named=True).kind
    if kind is Kind.SPEC:
        name = arguments.launcher
        raise ShowError(
            f"{name} is a spec, and show is for one launcher: `verlint plan {name}` prints the commands of its stages, "
            f"`verlint graph {name}` what they read and write"
        )
    if kind is Kind.MAKEFILE:  # each target is a job
        kind = Kind.JOB
    return source, kind if kind in (Kind.JOB, Kind.DOCUMENT) else Kind.LAUNCHER


def _tree(path: Path) -> Tree:
    from verlint.files.tree import Tree

    here = Path.cwd()
    return Tree(here if path.is_relative_to(here) else path.parent)


def resolve_jobs(arguments: argparse.Namespace, source: Source) -> list[tuple[str, Resolution]]:
    """The jobs of a file, each with its name and all that it would do. Raises ShowError."""
    from verlint.experiment.job_scripts import job_scripts
    from verlint.record import replace

    if arguments.behind:
        raise ShowError("a job takes no arguments behind --")
    path = _path(arguments)
    tree = _tree(path)
    given = _environment(arguments)
    found: list[tuple[str, Resolution]] = []
    for script in job_scripts(source, tree.relative(path) or path.name, tree, {}):
        entries = tuple(
            entry and replace(entry, environment={**(entry.environment or {}), **given}, closed=arguments.closed)
            for entry in script.entries
        )
        name = f"{script.job.format} {script.job.name}".rstrip() if script.job is not None else ""
        found.append((name, replace(script, entries=entries).resolution))
    if not found:
        raise ShowError(f"{source.path}: no job in it runs anything")
    return found


def resolve_document(arguments: argparse.Namespace, source: Source) -> Resolution:
    """What the shell blocks of a document do, typed one after the other. Raises ShowError."""
    from verlint.experiment.project import Project
    from verlint.settings import Settings

    if arguments.behind or arguments.env or arguments.closed or arguments.cwd is not None:
        raise ShowError("a document is shown as it stands: without arguments, --env, --cwd and --closed")
    file = Loaded(source, Kind.DOCUMENT, _path(arguments), True)
    scripts = Project([file], Settings(Path.cwd()), Path.cwd()).scripts
    if not scripts:
        raise ShowError(f"{source.path}: no shell block in it")
    return scripts[0].resolution


def _environment(arguments: argparse.Namespace) -> dict[str, str]:
    environment: dict[str, str] = {}
    for each in arguments.env:
        name, equals, value = each.partition("=")
        if not equals or not name.isidentifier():
            raise ShowError(f"--env takes NAME=VALUE, not {each!r}")
        environment[name] = value
    return environment


def resolve(arguments: argparse.Namespace, source: Source) -> Resolution:
    """All that a launcher would do. Raises ShowError."""
    import posixpath

    from verlint.experiment.script import Script, batch_folder, start_folder
    from verlint.languages.bash.replay import Entry, explore

    path = _path(arguments)
    tree = _tree(path)
    inside = tree.relative(path) or path.name
    start = start_folder(source, inside, tree)
    script = Script(source, inside, (source,), start, False, tree, {})
    start, folder = batch_folder(script)
    if arguments.cwd is not None:
        start, folder = tree.relative(Path(arguments.cwd).absolute()) or "", None
    scheduler = script.scheduler
    given = {} if scheduler is None else scheduler.environment(start if folder is None else None)
    entry = Entry(
        start=start,
        name=posixpath.relpath(inside, start or "."),
        arguments=list(arguments.behind) if arguments.closed or arguments.behind else None,
        environment={**given, **_environment(arguments)},
        closed=arguments.closed,
        folder=folder,
    )
    return explore([source], tree, entry)


def _sources(source: Source, resolutions: Sequence[Resolution]) -> list[Source]:
    found = {id(source): source}
    for path in (path for resolution in resolutions for path in resolution.paths):
        for command in path.commands:
            each = command.span.in_file().source
            found[id(each)] = each
    return list(found.values())
