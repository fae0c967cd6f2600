"""`verlint inputs`: what a run reads beside its launchers, looked at before it starts."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from verlint.cli.main import FAILED


def add_parser(subparsers: Any) -> None:
    """Add the verb to the parser of `verlint`."""
    from verlint.inputs import add_options
    from verlint.report import FORMATS
    from verlint.settings import FAIL_ON

    parser = subparsers.add_parser(
        "inputs",
        help="check experience lists, system prompts and data roots before a run",
        usage="verlint inputs [options] [SPEC]",
        description="Check what a run reads beside its launchers. Nothing is run, downloaded or loaded.",
        allow_abbrev=False,
    )
    parser.add_argument("spec", nargs="?", metavar="SPEC", help="an experiment spec: all inputs that it names")
    add_options(parser)
    output = parser.add_argument_group("output")
    output.add_argument("--output-format", action="append", metavar="NAME[:FILE]", help=", ".join(FORMATS))
    output.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colours")
    output.add_argument("--strict", action="store_true", help="warnings and notes fail the run too")
    output.add_argument("--fail-on", choices=FAIL_ON, help="least severity that gives exit code 1 (default: warning)")
    output.add_argument("--select", action="append", metavar="RULES", help="only these rules")
    output.add_argument("--ignore", action="append", metavar="RULES", help="all but these rules")


def run(arguments: argparse.Namespace) -> int:
    """Check the inputs; returns the exit code."""
    from verlint.cli.check import Arguments, exit_code, read_call
    from verlint.cli.main import UsageError
    from verlint.cli.output import emit, output_targets, use_color
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
        if arguments.spec is not None:
            inputs += _of_spec(arguments)
        elif not inputs:
            raise UsageError(
                "nothing to check: --experience-list, --system-prompt-file, --system-prompt-text, --data-root or a spec"
            )
    except (UsageError, SettingsError, ValueError) as error:
        print(f"verlint: error: {error}", file=sys.stderr)
        return FAILED
    report = check_project([], settings, Path.cwd(), inputs=inputs)
    if not emit(report, targets, color=use_color(arguments.color, sys.stdout)):
        return FAILED
    for line in shown_files(inputs):
        print(mask(line), file=sys.stderr)
    return exit_code(report, settings)


def _of_spec(arguments: argparse.Namespace) -> list[Any]:
    """The inputs that a spec names and that no stage of it makes. Variables are those of the environment."""
    from verlint.cli.plan import read_plain_spec
    from verlint.families.recipes import COOKBOOKS
    from verlint.inputs import DATA, LIST, PROMPT, Wanted, read_input
    from verlint.plan import PlanError

    try:
        spec = read_plain_spec(arguments.spec)
    except PlanError as error:
        raise ValueError(str(error)) from None
    found: dict[tuple[str, str], Wanted] = {}
    book = COOKBOOKS.get(str(spec.get("family")))
    track = str(spec.get("track", ""))
    home = os.path.dirname(arguments.spec)
    for name, stage in spec["stages"].items():
        args = stage.get("args", {})
        path = _known(spec, stage, args.get("exp_path"), home, name)
        if path and not str(args["exp_path"]).startswith("${deps."):
            kind = LIST if stage.get("kind") == "consolidate" else PROMPT
            typed = str(args.get("system_prompt_type", ""))
            length = args.get("experience_max_length")
            tokens = length if kind == PROMPT and isinstance(length, int) else 0
            wanted = Wanted(listed_files=True, prompt_type=typed if typed in ("medmcqa", "safety") else "",
                            max_tokens=tokens)  # fmt: skip
            found.setdefault((kind, path), wanted)
    makes_data = any(stage.get("kind") == "data-prep" for stage in spec["stages"].values())
    root = spec.get("roots", {}).get("data")
    profile = book.profiles.get(track, "") if book is not None else ""
    for stage in spec["stages"].values():
        kind_of_prompt = str(stage.get("args", {}).get("system_prompt_type", "{prompt_type}"))
        profile = profile.replace("{prompt_type}", kind_of_prompt)
    if root is not None and not makes_data and (place := _known(spec, {}, root, home, "roots.data")):
        profiles = (profile,) if profile and "{" not in profile and "<" not in profile else ()
        found.setdefault((DATA, place), Wanted(profiles=profiles))
    return [read_input(kind, name, wanted) for (kind, name), wanted in found.items()]


def _known(spec: dict[str, Any], stage: dict[str, Any], value: object, home: str, whose: str) -> str:
    """The path that a value of a spec stands for, "" when it is open; relative ones count from the spec's folder."""
    from verlint.plan.references import Reader, Variable

    if not isinstance(value, str):
        return ""
    out = ""
    for part in Reader(spec).parts(value, stage):
        if isinstance(part, Variable):
            text = os.environ.get(part.name, part.default)
            if not text:
                print(f"not checked: {whose} needs ${part.name}, which is not set", file=sys.stderr)
                return ""
            out += text
        else:
            out += part
    if "<" in out or "${" in out:
        print(f"not checked: {whose} is still open: {out}", file=sys.stderr)
        return ""
    return os.path.join(home, out)
