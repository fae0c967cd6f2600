"""Line ends of other systems."""

from __future__ import annotations


def has_windows_lines(text: str) -> bool:
    """Whether a text ends its lines, or those that it continues, with carriage returns."""
    ends = text.count("\r\n")
    return ends > 0 and (2 * ends >= text.count("\n") or "\\\r\n" in text)
