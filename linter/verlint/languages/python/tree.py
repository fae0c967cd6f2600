"""The syntax tree of a Python text by the standard library: quick, and without a place for every blank."""

from __future__ import annotations

import ast
import warnings


def tree(text: str | bytes) -> ast.Module | None:
    """The tree, None for a text that is no Python. Nothing is printed about it."""
    try:
        with warnings.catch_warnings():  # of escapes and numbers that Python only just takes
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
