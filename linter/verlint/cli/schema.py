"""`verlint schema`: the JSON Schema of the spec format, or of the settings file, for editors."""

from __future__ import annotations

import json

from verlint.cli.main import OK

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any


def add_parser(subparsers: Any) -> None:
    """Add the verb to the parser of `verlint`."""
    parser = subparsers.add_parser(
        "schema",
        help="print the JSON Schema of experiment specs or of the settings, for editors",
        description="Print the JSON Schema (draft-07) of experiment specs. docs/schema.md says how editors use it.",
        allow_abbrev=False,
    )
    parser.add_argument("--settings", action="store_true", help="that of verlint.toml instead")


def run(arguments: argparse.Namespace) -> int:
    """Print the schema; returns the exit code."""
    print(json.dumps(_schema(settings=arguments.settings), indent=2, ensure_ascii=False))
    return OK


def _schema(*, settings: bool) -> dict[str, Any]:
    if settings:
        from verlint.cli.settings_schema import json_schema as of_settings

        return of_settings()
    from verlint.experiment.spec_schema import json_schema as of_specs

    return of_specs()
