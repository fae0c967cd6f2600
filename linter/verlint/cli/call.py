"""What a call of `verlint check` says: its options, with the settings that hold under them, and its files."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from verlint import disk
from verlint.cli.main import UsageError, complain
from verlint.cli.settings_check import (
    model_problem,
    settings_problems,
    unknown_rules,
    verl_problem,
    warn_of_unknown,
    warn_of_vain_globs,
)
from verlint.files.loading import Loading, load, load_text
from verlint.record import dataclass, field, replace
from verlint.settings import Settings, fail_on_level, read_settings, read_settings_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMAT_VARIABLE = "VERLINT_OUTPUT_FORMAT"


@dataclass
class Arguments:
    """The arguments of a call; what stands here holds when an option is not given. A call without options takes these
    as they are, so that the most frequent call need not load and fill `argparse`."""

    paths: list[str] = field(default_factory=list)
    select: list[str] | None = None
    extend_select: list[str] | None = None
    ignore: list[str] | None = None
    verl: str | None = None
    model_config: str | None = None
    strict: bool | None = None
    ready: bool | None = None
    exclude: list[str] | None = None
    force_exclude: bool = False
    stdin_filename: str = ""
    scope: str | None = None
    show_files: bool | None = None
    require_files: bool = False
    output_format: list[str] | None = None
    color: str = "auto"
    fail_on: str | None = None
    exit_zero: bool = False
    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False
    baseline: str | None = None
    write_baseline: bool = False
    statistics: bool = False
    show_settings: bool = False
    add_ignore: str | None = None
    config: str | None = None
    isolated: bool = False
    jobs: int = 0
    no_cache: bool = False
    cache_dir: str = ""


def read_call(arguments: Arguments) -> Settings:
    """The settings file that holds for the paths, with what the call says on top."""
    settings = _settings_file(arguments)
    settings_problems(settings)
    _check_call(arguments)
    if not settings.cache:
        disk.give_up()
    changes: dict[str, Any] = {}
    if arguments.select is not None:
        changes["select"] = _names(arguments.select)
        changes["extend_select"] = ()
    for name in ("extend_select", "ignore", "exclude"):
        if (given := getattr(arguments, name)) is not None:
            before = changes.get(name, getattr(settings, name))
            changes[name] = (*before, *(given if name == "exclude" else _names(given)))
    warn_of_vain_globs(arguments.exclude or (), settings, "--exclude: ")
    if arguments.verl is not None:
        changes["verl_of_call"] = arguments.verl
    for name in ("model_config", "baseline"):
        if (given := getattr(arguments, name)) is not None:
            changes[name] = given
    for name in ("strict", "ready", "show_files"):
        if (given := getattr(arguments, name)) is not None:
            changes[name] = given
    if arguments.fail_on is not None:
        changes["fail_on"] = fail_on_level(arguments.fail_on)
    if formats := arguments.output_format or disk.variable(FORMAT_VARIABLE).split():
        changes["output_format"] = tuple(formats)
    return replace(settings, **changes)


def _settings_file(arguments: Arguments) -> Settings:
    if arguments.isolated:
        if arguments.config:
            raise UsageError("--config and --isolated exclude each other")
        return Settings(root=Path.cwd())
    if arguments.config:
        return read_settings_file(Path(arguments.config))
    return read_settings(_start(arguments))


def _start(arguments: Arguments) -> Path:
    """The folder that holds all that is checked: from there upwards the settings are looked for."""
    here = Path.cwd()
    names = [name if name != "-" else arguments.stdin_filename or "." for name in arguments.paths] or ["."]
    paths = [Path(os.path.normpath(here / name)) for name in names]
    folders = [path if disk.is_dir(path) else path.parent for path in paths]
    try:
        return Path(os.path.commonpath(folders))
    except ValueError:  # different drives
        return here


def _names(given: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip() for text in given for name in text.split(",") if name.strip())


def _check_call(arguments: Arguments) -> None:
    """A selection of an unknown rule is an error, as it would check less than was asked; an unknown ignored one is a
    warning, as in a settings file."""
    if wrong := unknown_rules(_names([*(arguments.select or ()), *(arguments.extend_select or ())])):
        raise UsageError("; ".join(wrong))
    _check_actions(arguments)
    warn_of_unknown(_names(arguments.ignore or ()))
    if arguments.verl and (problem := verl_problem(arguments.verl)):
        raise UsageError(f"--verl: {problem}")
    if arguments.model_config is not None and (problem := model_problem(arguments.model_config)):
        raise UsageError(f"--model-config: {problem}")


_ACTIONS = ("fix", "diff", "write_baseline", "add_ignore", "show_settings")
"""What a call does in place of a plain report; one of them at most."""


def _check_actions(arguments: Arguments) -> None:
    """Of several things to do only one would be done. Raises UsageError."""
    wanted = [name for name in _ACTIONS if getattr(arguments, name) not in (None, False)]
    if arguments.statistics and wanted != ["fix"]:
        wanted.append("statistics")
    if len(wanted) > 1:
        first, second = (f"--{name.replace('_', '-')}" for name in wanted[:2])
        raise UsageError(f"{first} and {second} exclude each other")


def load_files(arguments: Arguments, settings: Settings) -> Loading:
    """The files of a call."""
    if arguments.fix and "-" in arguments.paths:
        raise UsageError("--fix changes files: standard input has none (--diff shows the changes)")
    if arguments.unsafe_fixes and not (arguments.fix or arguments.diff):
        raise UsageError("--unsafe-fixes goes with --fix or --diff")
    if "-" not in arguments.paths:
        if arguments.stdin_filename:
            raise UsageError("--stdin-filename is for standard input: give - as the path")
        return load(
            arguments.paths or ["."],
            settings,
            force_exclude=arguments.force_exclude,
            names_are_wishes=arguments.scope != "touched",
        )
    if arguments.paths != ["-"]:
        raise UsageError("- (standard input) cannot be mixed with other paths")
    name = arguments.stdin_filename
    if arguments.force_exclude and name and (pattern := settings.excluded_by(Path(os.path.abspath(name)))):
        complain(f"warning: {name} is excluded by `{pattern}`")
        return Loading()
    disk.give_up()
    return load_text(sys.stdin.buffer.read(), name, settings)
