"""`verlint rules`: the list of all rules."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from verlint.cli.main import FAILED, OK, complain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verlint.rule import Rule

FORMATS = ("table", "markdown", "json")
HEADERS = ("code", "name", "severity", "fix", "since", "families", "what it reports")


def add_parser(subparsers: Any) -> None:
    """Add the verb to the parser of `verlint`."""
    parser = subparsers.add_parser("rules", help="list all rules", description="List the rules.")
    parser.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    parser.add_argument(
        "--select", action="append", metavar="RULES", help="only these: codes, prefixes (VL4) or names, with commas"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the list; returns the exit code."""
    from verlint.cli.settings_check import use_packs_here
    from verlint.rule import UnknownRule

    use_packs_here()
    try:
        rules = _selected(arguments.select)
    except UnknownRule as unknown:
        complain(f"verlint: error: {unknown}")
        return FAILED
    print(_json(rules) if arguments.format == "json" else _table(rules, arguments.format))
    return OK


def _selected(selectors: Sequence[str] | None) -> list[Rule]:
    from verlint.rule import load_rules, match_rules

    if not selectors:
        return list(load_rules())
    names = [name for text in selectors for name in text.split(",") if name.strip()]
    return sorted(
        {rule.code: rule for name in names for rule in match_rules(name)}.values(), key=lambda rule: rule.code
    )


def _table(rules: Sequence[Rule], format: str) -> str:
    from tabulate import tabulate

    rows = [
        (rule.code, rule.slug, rule.severity.label, rule.fixable or "-", rule.since, _families(rule), rule.summary)
        for rule in rules
    ]
    if format == "markdown":
        rows = [(*row[:-1], row[-1].replace("|", "\\|")) for row in rows]
    table = tabulate(
        rows, headers=HEADERS, tablefmt="github" if format == "markdown" else "simple", disable_numparse=True
    )
    return table if format == "markdown" else _fitted(table)


def _fitted(table: str) -> str:
    """The table cut to the terminal; as it is when it goes to a file or a pipe."""
    if not sys.stdout.isatty():
        return table
    from shutil import get_terminal_size

    from verlint.report.display import cut

    width = get_terminal_size((100, 24)).columns
    return "\n".join(cut(line, width) for line in table.splitlines())


def _json(rules: Sequence[Rule]) -> str:
    import json

    return json.dumps(
        [
            {
                "code": rule.code,
                "slug": rule.slug,
                "severity": rule.severity.label,
                "fix": rule.fixable or None,
                "since": rule.since,
                "families": sorted(rule.families),
                "theme": rule.theme,
                "aliases": list(rule.aliases),
                "summary": rule.summary,
            }
            for rule in rules
        ],
        indent=2,
        ensure_ascii=False,
    )


def _families(rule: Rule) -> str:
    return ", ".join(sorted(rule.families)) or "all"
