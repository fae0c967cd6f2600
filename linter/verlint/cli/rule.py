"""`verlint rule CODE`: the page of a rule."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from verlint.cli.main import FAILED, OK, complain

if TYPE_CHECKING:
    from verlint.rule import Rule


def add_parser(subparsers: Any) -> None:
    """Add the verb to the parser of `verlint`."""
    parser = subparsers.add_parser(
        "rule",
        help="explain a rule: why it exists, a bad and a good example, how to fix",
        description="Explain a rule: why it exists, an example with what verlint says about it, how to fix it.",
    )
    parser.add_argument("names", nargs="+", metavar="RULE", help="code (VL203), name (missing-checkpoint), or all")


def run(arguments: argparse.Namespace) -> int:
    """Print the pages; returns the exit code."""
    from verlint.cli.settings_check import use_packs_here
    from verlint.rule import UnknownRule, find_rule, load_rules

    use_packs_here()
    rules: list[Rule] = []
    try:
        for name in arguments.names:
            rules += load_rules() if name.lower() == "all" else [find_rule(name)]
    except UnknownRule as unknown:
        complain(f"verlint: error: {unknown}; `verlint rules` lists all")
        return FAILED
    print("\n\n".join(page(rule).rstrip() for rule in {rule.code: rule for rule in rules}.values()))
    return OK


def page(rule: Rule) -> str:
    """The page that is installed with the rules, else one made of the docstring alone."""
    from importlib.resources import files

    installed = files(rule.module.split(".")[0]).joinpath("pages", f"{rule.code}.md")
    if installed.is_file():
        return installed.read_text("utf-8")
    from verlint.docs import rule_page

    return rule_page(rule)
