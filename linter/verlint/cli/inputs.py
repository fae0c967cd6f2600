"""`verlint inputs`: what a run reads beside its launchers, looked at before it starts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from verlint.cli.main import FAILED, FOUND, OK, complain


def add_parser(subparsers: Any) -> None:
    """Add the verb to the parser of `verlint`."""
    from verlint.inputs import add_options
    from verlint.report import FORMATS
    from verlint.settings import FAIL_ON

    parser = subparsers.add_parser(
        "inputs",
        help="check experience lists, system prompts and data roots before a run",
        usage="verlint inputs [options] [SPEC ...]",
        description="Check what a run reads beside its launchers. Nothing is run, downloaded or loaded.",
        allow_abbrev=False,
    )
    parser.add_argument("specs", nargs="*", metavar="SPEC", help="experiment specs: all inputs that they name")
    add_options(parser)
    output = parser.add_argument_group("output")
    output.add_argument("--output-format", action="append", metavar="NAME[:FILE]", help=", ".join(FORMATS))
    output.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colours")
    output.add_argument(
        "--strict", action="store_true", help="warnings, notes and what is not checked fail the run too"
    )
    output.add_argument("--fail-on", choices=FAIL_ON, help="least severity that gives exit code 1 (default: warning)")
    output.add_argument("--select", action="append", metavar="RULES", help="only these rules")
    output.add_argument("--ignore", action="append", metavar="RULES", help="all but these rules")


def run(arguments: argparse.Namespace) -> int:
    """Check the inputs; returns the exit code."""
    from verlint.cli.call import Arguments, read_call
    from verlint.cli.check import exit_code
    from verlint.cli.main import UsageError
    from verlint.cli.output import emit, output_targets, use_color
    from verlint.cli.spec_inputs import inputs_of_spec
    from verlint.engine import check_project
    from verlint.inputs import inputs_of, shown_files
    from verlint.secret import mask
    from verlint.settings import SettingsError

    call = Arguments(
        select=arguments.select,
        ignore=arguments.ignore,
        strict=arguments.strict or None,
        output_format=arguments.output_format,
        color=arguments.color,
        fail_on="info" if arguments.strict and not arguments.fail_on else arguments.fail_on,
    )
    try:
        settings = read_call(call)
        targets = output_targets(settings)
        inputs = inputs_of(arguments)
        lacking: dict[str, None] = {}
        for spec in arguments.specs:
            found, more = inputs_of_spec(spec)
            inputs += found
            lacking.update(dict.fromkeys(more))
        if not inputs and not arguments.specs:
            raise UsageError(
                "nothing to check: --experience-list, --system-prompt-file, --system-prompt-text, --data-root or a spec"
            )
        if not inputs and lacking:
            raise UsageError(f"nothing was checked: {', '.join(lacking)}")
    except (UsageError, SettingsError, ValueError) as error:
        complain(f"verlint: error: {error}")
        return FAILED
    report = check_project([], settings, Path.cwd(), inputs=inputs)
    if not emit(report, targets, color=use_color(arguments.color, sys.stdout)):
        return FAILED
    for line in shown_files(inputs):
        complain(mask(line))
    return exit_code(report, settings) or (FOUND if arguments.strict and lacking else OK)
