"""verlint as a library: `verlint.check(…)` gives a `Report`, `verlint.render(report, "sarif")` its text.

What is named here, and the fields of `Report`, `Finding`, `Span` and `Value`, follow the same promise as the JSON
output: names keep their meaning within a major version."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable

from verlint.cli.call import Arguments, load_files, read_call
from verlint.cli.check import check as check_loaded
from verlint.cli.check import is_touched
from verlint.cli.main import UsageError
from verlint.finding import Finding, Severity, Verdict
from verlint.header import PackError
from verlint.report import FORMATS, render
from verlint.result import Report, Summary
from verlint.settings import SettingsError

__all__ = ["FORMATS", "CheckError", "Finding", "Report", "Severity", "Summary", "Verdict", "check", "render"]


class CheckError(Exception):
    """A call or a settings file that cannot be carried out; the text says why."""


def check(
    *paths: str | os.PathLike[str],
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    settings: str | os.PathLike[str] | None = None,
    isolated: bool = False,
    verl: str = "",
    model_config: str | os.PathLike[str] | None = None,
) -> Report:
    """What `verlint check` finds in files and folders (the working directory without any); of files, what touches them.

    `select` and `ignore` take codes, prefixes and names of rules. `settings` is a settings file to use instead of the
    nearest one, `isolated` uses none. `verl` is the VeRL version or checkout that the launchers are for, `model_config`
    the model's `config.json`. Paths in the report are relative to the working directory. Nothing is printed, and
    nothing of the target is run. Raises CheckError.
    """
    arguments = Arguments(
        [os.fspath(path) for path in paths],
        select=list(select) or None,
        ignore=list(ignore) or None,
        verl=verl or None,
        model_config=None if model_config is None else os.fspath(model_config),
        config=None if settings is None else os.fspath(settings),
        isolated=isolated,
    )
    collects = gc.isenabled()
    gc.disable()  # nearly all that is made lives until the report is there: looking for garbage would double the time
    try:
        held = read_call(arguments)
        return check_loaded(load_files(arguments, held), held, touched=is_touched(arguments, held))
    except (UsageError, SettingsError, PackError) as error:
        raise CheckError(str(error)) from error
    finally:
        if collects:
            gc.enable()
