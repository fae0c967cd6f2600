"""Path patterns of the settings: gitignore's habits without its exceptions.

A pattern without a slash names a file or folder at any depth; one with a slash is anchored at the folder of the
settings file. `*` and `?` stay within one name, `**` crosses folders, and a match of a folder is a match of all it
holds."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=512)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """The expression that fully matches every relative path ("/"-separated) a pattern means."""
    body = pattern.removeprefix("./").strip("/")
    anchored = "/" in pattern.removeprefix("./").rstrip("/")
    return re.compile(("" if anchored else "(?:.*/)?") + _translate(body) + "(?:/.*)?", re.DOTALL)


def matches(pattern: str, path: str) -> bool:
    """Whether a pattern means a path, given relative to the pattern's folder with "/"; paths above it never match."""
    if path == ".." or path.startswith(("../", "/")):
        return False
    return compile_glob(pattern).fullmatch(path) is not None


def _translate(body: str) -> str:
    out: list[str] = []
    at = 0
    while at < len(body):
        if body.startswith("**/", at):
            out.append("(?:.*/)?")
            at += 3
        elif body.startswith("**", at):
            out.append(".*")
            at += 2
        elif (close := body.find("]", at + 2)) > 0 and body[at] == "[":
            inner = body[at + 1 : close].replace("\\", "\\\\")
            out.append("[^" + inner[1:] + "]" if inner.startswith("!") else "[" + inner + "]")
            at = close + 1
        else:
            out.append({"*": "[^/]*", "?": "[^/]"}.get(body[at], re.escape(body[at])))
            at += 1
    return "".join(out)
