"""Terminal colours, or none."""

from __future__ import annotations

from verlint.record import dataclass

_CODES = {
    "bold": "1",
    "dim": "2",
    "place": "36",  # arrows, gutters, labels
    "good": "1;32",
    "error": "1;31",
    "warning": "1;33",
    "info": "1;34",
    "unsure": "1;35",
}
_RESET = "\x1b[0m"


@dataclass(frozen=True)
class Style:
    """Paints texts when `on`; otherwise gives them back as they are."""

    on: bool = False

    def paint(self, name: str, text: str) -> str:
        """The text in the style of this name: `bold`, `dim`, `place`, `good`, or a severity or verdict."""
        return f"\x1b[{_CODES[name]}m{text}{_RESET}" if self.on and text else text
