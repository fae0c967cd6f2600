"""Colours of nodes, light and dark: those of Okabe and Ito, which the common kinds of colour blindness keep apart.

Shapes and words say the same as the colours everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping

from verlint.graph.model import NodeKind
from verlint.record import dataclass


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours of a kind of node: its ground and line on a light page, and on a dark one."""

    fill: str
    line: str
    dark_fill: str
    dark_line: str


PAINTS: Mapping[NodeKind, Paint] = {
    NodeKind.STAGE: Paint("#e3f0fa", "#0072b2", "#10303f", "#56b4e9"),
    NodeKind.ARTIFACT: Paint("#f7f7f5", "#6b6b66", "#26282b", "#a7abb0"),
    NodeKind.ROOT: Paint("#e1f3ec", "#009e73", "#10332a", "#3fcfa6"),
    NodeKind.CREDENTIAL: Paint("#fdf1d8", "#b57a00", "#3a2c0c", "#e69f00"),
    NodeKind.CHECKOUT: Paint("#f6e6f0", "#a4537f", "#3a2231", "#cc79a7"),
    NodeKind.BRANCH: Paint("#f6e6f0", "#a4537f", "#3a2231", "#cc79a7"),
    NodeKind.MODEL: Paint("#e9f6fc", "#2b8cbe", "#132f3c", "#8fd0f2"),
    NodeKind.APPROVAL: Paint("#fbe7dc", "#b24a00", "#3b2114", "#f08a4b"),
}

ERROR, ERROR_DARK = "#b3261e", "#ff8a7a"
WARNING, WARNING_DARK = "#8a5a00", "#f0b84a"
UNSURE, UNSURE_DARK = "#6d4bb0", "#bda4f2"
"""Ink of findings; each is also named by its first letter."""
