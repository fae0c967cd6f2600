"""`verlint plan`: a staged plan of an experiment, of which nothing is executed."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import Any

from verlint.cli.main import FAILED, OK, complain

FORMATS = ("text", "markdown", "json", "spec")
_SAVED = "plan.exp.yaml"


def add_parser(subparsers: Any) -> None:
    """Add the verb to the parser of `verlint`."""
    from verlint.plan.options import OPTIONS

    parser = subparsers.add_parser(
        "plan",
        help="a staged plan of an experiment, with what is still to be decided; nothing is executed",
        usage="verlint plan [SPEC | --family FAMILY [--track TRACK] [--stage STAGE] [options]]",
        description="Plan an experiment from options or from a spec: prerequisites, commands in order, known failures. "
        "Nothing is executed.",
        allow_abbrev=False,
    )
    parser.add_argument("spec", nargs="?", metavar="SPEC", help="an experiment spec; - reads standard input")
    parser.add_argument("--list", action="store_true", help="list families, tracks and stages")
    parser.add_argument("--list-aliases", action="store_true", help="list the presets of LLM-as-a-Coach")
    parser.add_argument("--format", choices=FORMATS, default="text", help="default: text")
    what = parser.add_argument_group("what is planned")
    for name in ("family", "track", "stage"):
        what.add_argument(f"--{name}", metavar=name.upper(), help="see --list")
    values = parser.add_argument_group("what is known of it")
    for option in OPTIONS:
        about = (
            option.about
            if not option.choices or option.kind == "list"
            else (f"{option.about}: {', '.join(option.choices)}")
        )
        values.add_argument(option.flag, dest=option.name, metavar="VALUE", help=about.replace("%", "%%"))


def run(arguments: argparse.Namespace) -> int:
    """Print the plan; returns the exit code."""
    from verlint.plan import PlanError
    from verlint.report.display import safe_json, visible_lines

    try:
        shown = safe_json if arguments.format == "json" else visible_lines
        sys.stdout.write(shown(_output(arguments)))
    except PlanError as error:
        complain(f"verlint: error: {error}")
        return FAILED
    return OK


def _output(arguments: argparse.Namespace) -> str:
    from verlint.plan import PlanError, plan_of, spec_of
    from verlint.plan.options import OPTIONS
    from verlint.plan.spec_text import spec_text
    from verlint.plan.wish import defaults_of, find_family, make_wish, whole_stage

    if arguments.list or arguments.list_aliases:
        return _listing(arguments)
    given = {option.name: text for option in OPTIONS if (text := getattr(arguments, option.name)) is not None}
    intended: tuple[str, ...] | None = None
    checks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    variables: frozenset[str] = frozenset()
    if arguments.spec is not None:
        odd = [f"--{name.replace('_', '-')}" for name in given if name != "credentials"]
        odd += [f"--{name}" for name in ("family", "track", "stage") if getattr(arguments, name) is not None]
        if odd:
            raise PlanError(f"a spec says what is planned; not with it: {', '.join(odd)}")
        spec = read_plain_spec(arguments.spec)
        stage, name = "", shlex.quote(arguments.spec)
        if arguments.spec != "-":
            checks = (f"verlint check {name}", f"verlint inputs {name}")
            variables = _variables(spec, arguments.spec)
    else:
        if not arguments.family:
            raise PlanError("--family or a spec is needed; `verlint plan --list` shows what can be planned")
        stage = arguments.stage or whole_stage(find_family(arguments.family))
        if (arguments.family.lower(), stage) == ("coach", "list"):
            return _listing(arguments)
        spec = spec_of(arguments.family, arguments.track or "", stage, given)
        if defaults := defaults_of(make_wish(arguments.family, arguments.track or "", stage, given)):
            notes = (f"taken as default: {', '.join(defaults)}",)
        call = shlex.join(_call(arguments, stage, given))
        checks = (f"{call} > {_SAVED}", f"verlint check {_SAVED}", f"verlint inputs {_SAVED}")
    if arguments.format == "spec":
        return spec_text(spec)
    if "credentials" in given:
        intended = _services(given["credentials"])
    return _rendered(plan_of(spec, stage, intended, checks, notes, variables), arguments.format)


def _variables(spec: dict[str, Any], name: str) -> frozenset[str]:
    """The variables that the launchers of a spec read, as far as they are on disk."""
    import re
    from pathlib import Path

    from verlint.files.reader import Unreadable, read

    found: set[str] = set()
    checkouts = {key: str(each.get("path", ".")) for key, each in spec.get("checkout", {}).items()}
    for stage in spec.get("stages", {}).values():
        inside = checkouts.get(stage.get("checkout"), next(iter(checkouts.values()), "."))
        for word in re.findall(r"[\w./-]+\.sh\b", f"{stage.get('launcher', '')} {stage.get('run', '')}"):
            path = Path(name).absolute().parent / inside / word
            source = read(path, word) if path.is_file() else None
            if source is not None and not isinstance(source, Unreadable):
                found.update(re.findall(r"\$\{?([A-Za-z_]\w*)", source.text))
    return frozenset(found)


def _call(arguments: argparse.Namespace, stage: str, given: dict[str, str]) -> list[str]:
    """The call that prints the spec of a plan."""
    track = ["--track", arguments.track] if arguments.track else []
    options = [word for name, text in given.items() for word in (f"--{name.replace('_', '-')}", text)]
    return ["verlint", "plan", "--family", arguments.family, *track, "--stage", stage, *options, "--format", "spec"]


def _services(text: str) -> tuple[str, ...]:
    from verlint.plan.options import BY_NAME, read_value

    found = read_value(BY_NAME["credentials"], text)
    return tuple(str(each) for each in found) if isinstance(found, tuple) else ()


def _rendered(plan: Any, format: str) -> str:
    from verlint.plan.render import to_json, to_markdown, to_text
    from verlint.secret import mask

    text = {"json": to_json, "markdown": to_markdown}.get(format, to_text)(plan)
    return mask(text)


def read_plain_spec(name: str) -> dict[str, Any]:
    """The plain data of a spec without problems. Raises PlanError."""
    from pathlib import Path

    from verlint.experiment.spec_reader import read_spec
    from verlint.files.reader import Unreadable, decode, read
    from verlint.languages.yaml import plain
    from verlint.plan import PlanError

    source = decode(sys.stdin.buffer.read(), "<stdin>") if name == "-" else read(Path(name).absolute(), name)
    if isinstance(source, Unreadable):
        raise PlanError(f"{source.path}: {source.reason}")
    file = read_spec(source)
    if file.spec is None or file.problems or file.yaml.root is None:
        first = file.problems[0].message if file.problems else "it is no YAML mapping"
        raise PlanError(f"{name} is no spec that can be planned: {first}; `verlint check {name}` says all")
    data = plain(file.yaml.root)
    return data if isinstance(data, dict) else {}


def _listing(arguments: argparse.Namespace) -> str:
    import json

    from verlint.plan import PlanError
    from verlint.plan.listing import PRESETS, STAGES, preset_rows, stage_rows

    rows = list(stage_rows() if arguments.list else preset_rows())
    if arguments.family and arguments.list:
        rows = [row for row in rows if row["family"] == arguments.family]
    if arguments.format == "spec":
        raise PlanError("a list has no spec; formats: text, markdown, json")
    if arguments.format == "json":
        return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
    from tabulate import tabulate

    heads = STAGES if arguments.list else PRESETS
    keys = ("family", "stage", "tracks", "steps") if arguments.list else PRESETS
    table = [[", ".join(row[key]) if isinstance(row[key], list) else row[key] for key in keys] for row in rows]
    style = "github" if arguments.format == "markdown" else "simple"
    return str(tabulate(table, headers=heads, tablefmt=style, disable_numparse=True) + "\n")
