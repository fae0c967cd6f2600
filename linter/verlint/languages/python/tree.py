"""The syntax tree of a Python text by the standard library: quick, and without a place for every blank."""

from __future__ import annotations

import ast
import re
import warnings
from functools import lru_cache

from verlint.source import Source, Span

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import TypeAlias

    Placed: TypeAlias = ast.expr | ast.stmt | ast.keyword


def tree(text: str | bytes) -> ast.Module | None:
    """The tree, None for a text that is no Python. Nothing is printed about it."""
    try:
        with warnings.catch_warnings():  # of escapes and numbers that Python only just takes
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def span_of(source: Source, node: Placed, last: Placed | None = None) -> Span:
    """The place of a node in the text that its tree was made of, or from it to the end of another one."""
    end = node if last is None else last
    start = offset(source, node.lineno, node.col_offset)
    return source.span(start, offset(source, end.end_lineno or node.lineno, end.end_col_offset or 0))


def offset(source: Source, line: int, column: int = 0) -> int:
    """The offset of a place. Python counts columns in UTF-8 bytes, and a lone carriage return as the end of a line."""
    starts = _starts(source.text)
    start = starts[min(line, len(starts)) - 1]
    end = starts[line] if line < len(starts) else len(source.text)
    return start + len(source.text[start:end].encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))


@lru_cache(maxsize=8)
def _starts(text: str) -> list[int]:
    return [0, *(end.end() for end in re.compile(r"\r\n?|\n").finditer(text))]
