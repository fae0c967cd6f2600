"""`verlint lsp`: the language server for editors, on standard input and output."""

from __future__ import annotations

from verlint.cli.main import FAILED, OK, complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any


def add_parser(subparsers: Any) -> None:
    """Add the verb to the parser of `verlint`."""
    parser = subparsers.add_parser(
        "lsp",
        help="the language server for editors",
        description="Answer an editor on standard input and output: findings while you type, resolved values on hover, "
        "fixes, definitions, completion. Needs `pip install 'verlint[lsp]'`.",
        allow_abbrev=False,
    )
    parser.add_argument("--stdio", action="store_true", help="the only way there is; editors like to say it")


def run(arguments: argparse.Namespace) -> int:
    """Serve until the editor says goodbye."""
    try:
        from verlint.editor.server import make_server
    except ImportError as error:
        complain(f"verlint: error: {error}: the editor part needs `pip install 'verlint[lsp]'`")
        return FAILED
    make_server().start_io()
    return OK
