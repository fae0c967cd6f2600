"""Blocks of a document that picture a command instead of being one."""

from __future__ import annotations

import re

from verlint.lazy import pattern

_PICTURE = pattern(
    r"(?:^|[\s=(\[,\"'#])(?:\.\.\.|…)(?=$|[\s\\)\],\"'])|<[A-Za-z][^<>\n]{0,60}>|\[[A-Z][A-Z_ ]+\]", re.MULTILINE
)


def is_illustration(text: str) -> bool:
    """Whether a block holds dots for what was left out, or placeholders such as `<model>`."""
    return _PICTURE.search(text) is not None
