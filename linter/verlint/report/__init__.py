"""Reports in the forms people and tools read. Each form is one module with `render(report, *, color, width)`."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from verlint.result import Report

_MODULES: Final = {
    "full": "full",
    "concise": "concise",
    "json": "json_v1",
    "sarif": "sarif",
    "github": "github",
    "gitlab": "gitlab",
    "junit": "junit",
    "rdjson": "rdjson",
    "markdown": "markdown",
    "html": "html",
}

FORMATS: Final = tuple(_MODULES)
"""Names of the output formats."""


def render(report: Report, format: str, *, color: bool = False, width: int = 100) -> str:
    """The report in a format of `FORMATS`, ending in a newline.

    `width` is the number of columns to keep to where a format has a choice. Secrets are masked in every format.
    Raises ValueError for an unknown format.
    """
    if format not in _MODULES:
        raise ValueError(f"unknown output format {format!r}; known are {', '.join(FORMATS)}")
    module = f"verlint.report.{_MODULES[format]}"
    __import__(module)
    text = sys.modules[module].render(report, color=color, width=max(width, 40))
    return str(text)
