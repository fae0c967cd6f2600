"""Graphs in the forms people and tools read. Each form is one module with `render(views, options)`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from verlint.record import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from verlint.report.graphs.view import View

_MODULES: Final = {
    "text": "text",
    "mermaid": "mermaid",
    "dot": "dot",
    "json": "json_v1",
    "svg": "svg",
    "html": "html",
}

GRAPH_FORMATS: Final = tuple(_MODULES)
"""Names of the formats."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to draw: `color` and `width` (in columns) are for text; `checked` says whether rules were run."""

    color: bool = False
    width: int = 100
    checked: bool = True


def render_graphs(views: Sequence[View], format: str, options: Options) -> str:
    """The graphs in a format of `GRAPH_FORMATS`, ending in a newline; secrets are masked in every format.

    Raises ValueError for an unknown format."""
    if format not in _MODULES:
        raise ValueError(f"unknown graph format {format!r}; known are {', '.join(GRAPH_FORMATS)}")
    module = f"verlint.report.graphs.{_MODULES[format]}"
    __import__(module)
    text = str(sys.modules[module].render(views, options))
    return text if text.endswith("\n") else text + "\n"
