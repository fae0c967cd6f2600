"""The words of every simple command, as our parser and as shfmt see them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from verlint.languages.bash.parser import parse
from verlint.languages.bash.syntax import Assign, Simple
from verlint.languages.bash.walk import walk

Words = tuple[str, ...]
_DECLARING = frozenset(["declare", "export", "local", "readonly", "typeset", "nameref", "let"])
"""Commands that shfmt has nodes of their own for."""


def find() -> str | None:
    """The program, from the environment of this Python or from PATH."""
    return shutil.which("shfmt", path=str(Path(sys.executable).parent)) or shutil.which("shfmt")


def theirs(program: str, text: str) -> list[Words] | None:
    """The words by place; None when shfmt rejects the text."""
    done = subprocess.run([program, "-ln=bash", "--to-json"], input=text.encode(), capture_output=True)
    if done.returncode:
        return None
    data = text.encode()
    found: list[tuple[int, Words]] = []
    for node in _objects(json.loads(done.stdout)):
        if node.get("Type") == "CallExpr" and node.get("Args"):
            words = tuple(_raw(data[_offset(each["Pos"]) : _offset(each["End"])].decode()) for each in node["Args"])
            found.append((_offset(node["Args"][0]["Pos"]), words))
    return [words for _, words in sorted(found)]


def differs_by_rule(text: str) -> bool:
    """shfmt takes CR LF for a line end and reads on after a comment that ends in a backslash; bash does neither."""
    return "\r" in text or re.search(r"(?m)(^|\s)#.*\\$", text) is not None


def ours(text: str) -> list[Words]:
    """The words by place."""
    found: list[tuple[int, Words]] = []
    for group in parse(text).groups:
        for node in walk(group):
            if isinstance(node, Simple) and node.words and not any(isinstance(each, Assign) for each in node.words):
                words = tuple(_raw(text[each.start : each.end]) for each in node.words)
                if words[0] not in _DECLARING:
                    found.append((node.words[0].start, words))
    return [words for _, words in sorted(found)]


def _raw(written: str) -> str:
    return written.replace("\\\n", "")


def _offset(place: dict[str, int]) -> int:
    return place.get("Offset", 0)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from _objects(each)
    elif isinstance(value, list):
        for each in value:
            yield from _objects(each)
