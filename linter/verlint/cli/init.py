"""`verlint init`: the first files for a checkout. Files that are there stay as they are."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verlint.cli.main import FAILED, OK, complain

if TYPE_CHECKING:
    from verlint.experiment.project import Project
    from verlint.plan.checkout import Found, Started

SETTINGS = "verlint.toml"
HOOKS = ".pre-commit-config.yaml"
SNIPPET = """\
repos:
  - repo: <URL of verlint's repository>
    rev: <REVISION>
    hooks:
      - id: verlint
"""


def add_parser(subparsers: Any) -> None:
    """Add the verb to the parser of `verlint`."""
    parser = subparsers.add_parser(
        "init",
        help="write settings, a drafted spec and the pre-commit snippet for a checkout",
        usage="verlint init [options] [DIR]",
        description="Look at a checkout and write what is missing: verlint.toml, a drafted experiment spec, and the "
        "pre-commit snippet. Files that are there are never changed, and nothing is executed.",
        allow_abbrev=False,
    )
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help="the checkout (default: .)")
    parser.add_argument("--dry-run", action="store_true", help="print what would be written, and write nothing")


def run(arguments: argparse.Namespace) -> int:
    """Write the files that are missing; returns the exit code."""
    folder = Path(arguments.folder).absolute()
    if not folder.is_dir():
        complain(f"verlint: error: {arguments.folder} is not a folder")
        return FAILED
    found = _look(folder)
    print(f"{_count(len(found.launchers), 'launcher')}, {_count(len(found.drivers), 'driver')}, "
          f"family {found.family or 'unknown'}")  # fmt: skip
    try:
        for name, text in _files(folder, found):
            if arguments.dry_run:
                print(f"\n{name}:\n{text}", end="")
            else:
                print(_write(folder / name, text))
    except BrokenPipeError:
        raise
    except OSError as error:
        complain(f"verlint: error: cannot write {error.filename}: {error.strerror or error}")
        return FAILED
    if not arguments.dry_run:
        print("\nnext: verlint check . and verlint plan on the spec, which names what is still open")
    return OK


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _look(folder: Path) -> Found:
    from verlint.experiment.project import Project
    from verlint.files.loading import load
    from verlint.plan.checkout import look_at
    from verlint.settings import Settings

    settings = Settings(root=folder)
    project = Project(load([folder], settings).files, settings, folder)
    scripts = [script for script in project.scripts if not script.document and not script.path.startswith("verl/")]
    launchers = tuple(script.path for script in scripts if _starts(script))
    drivers = tuple(script.path for script in scripts if script.path not in launchers)
    return look_at(folder, launchers, drivers, lambda: _started(project, folder))


def _started(project: Project, folder: Path) -> Iterator[Started]:
    """What the launchers and READMEs start, without those of a trainer's own checkout."""
    from verlint.plan.checkout import Started

    for launch, _ in project.launches:
        path = os.path.relpath(launch.span.in_file().source.path, folder)
        if not path.startswith("verl/"):
            yield Started(path, launch.family, launch["trainer.val_only"].equals(True) is True)


def _starts(script: Any) -> bool:
    """Whether a script starts a trainer itself."""
    return "main_ppo" in script.source.text or "-m verl." in script.source.text


def _files(folder: Path, found: Found) -> list[tuple[str, str]]:
    from verlint.plan.spec_text import spec_text

    out = [(SETTINGS, _settings(found))]
    if found.spec is not None and not list(folder.glob("*.exp.y*ml")):
        out.append((f"{found.spec['name']}.exp.yaml", spec_text(found.spec)))
    return [*out, (HOOKS, SNIPPET)]


def _settings(found: Found) -> str:
    fork = found.family in ("oel", "opcd", "coach")
    lines = ["# Settings of verlint; all keys are in docs/settings.md.", 'fail-on = "warning"']
    lines.append(f'verl = "{found.family}"' if fork else '# verl = "0.7.1"   # the VeRL that the launchers are for')
    return "\n".join(lines) + "\n"


def _write(path: Path, text: str) -> str:
    try:
        with path.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError:
        return f"kept     {path.name} (it was there)"
    return f"written  {path.name}"
