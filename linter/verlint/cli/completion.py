"""`verlint completion SHELL`: the script that completes words of `verlint` in a shell."""

from __future__ import annotations

from verlint.cli.main import OK

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

SHELLS = ("bash", "zsh", "fish")


def add_parser(subparsers: Any) -> None:
    """Add the verb to the parser of `verlint`."""
    parser = subparsers.add_parser(
        "completion",
        help="print the script that completes words in bash, zsh or fish",
        description="Print the script that completes verbs, options, values and names of rules in a shell. It calls "
        "nothing: print it again after an update. docs/usage.md says where shells look for it.",
        allow_abbrev=False,
    )
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def run(arguments: argparse.Namespace) -> int:
    """Print the script; returns the exit code."""
    from verlint.cli.command_line import verbs
    from verlint.cli.completion_scripts import script
    from verlint.cli.settings_check import use_packs_here
    from verlint.header import headers

    use_packs_here()
    rules = [name for header in headers() for name in (header.code, header.slug)]
    print(script(arguments.shell, verbs(), rules), end="")
    return OK
