"""The Python code of a checkout as text, to see whether a name is in it. Nothing is imported."""

from __future__ import annotations

import os
import re
from pathlib import Path

from verlint import disk
from verlint.disk import remembered

MAX_FILES = 4000
"""A checkout has some 500 modules."""


_known = disk.memory()


def _texts(folder: Path) -> tuple[str, str]:
    """The modules below a folder: those of configs, and all others."""
    return remembered(_known, folder, lambda: _read(folder))


def _read(folder: Path) -> tuple[str, str]:
    configs: list[str] = []
    others: list[str] = []
    left = MAX_FILES
    for place, _, names in disk.walk(folder):
        for name in names:
            if name.endswith(".py") and left:
                left -= 1
                text = _text(os.path.join(place, name))
                (configs if "config" in name or "/config" in place else others).append(text)
    return "\n".join(configs), "\n".join(others)


def _text(path: str | Path) -> str:
    """The text of a module, "" for one that cannot be read, such as a link to nothing."""
    try:
        return disk.text(path)
    except OSError:
        return ""


def names(folder: Path, word: str) -> bool:
    """Whether a module of the checkout has the word as a text of its own, in quotes."""

    def ask() -> bool:
        return any(f"{sign}{word}{sign}" in text for text in _texts(folder / "verl") for sign in "\"'")

    return remembered(_known, ("names", folder, word), ask)


def reads(folder: Path, name: str) -> bool:
    """Whether a module of VeRL or of its recipes reads a key of that name: one that is not about configs has the name,
    or one that is asks an object for it."""

    def ask() -> bool:
        return any(_reads(folder / part, name) for part in ("verl", "recipe"))

    return remembered(_known, ("reads", folder, name), ask)


_FOREIGN = ("/.git", "/.venv", "/venv/", "/site-packages", "/node_modules")


def mentions(folder: Path, name: str) -> bool:
    """Whether a module below a folder has the name, those of installed packages left out."""

    def ask() -> bool:
        return _has_word(remembered(_known, ("all", folder), lambda: _everything(folder)), name, "")

    return remembered(_known, ("mentions", folder, name), ask)


def _everything(folder: Path) -> str:
    texts: list[str] = []
    for place, _, names in disk.walk(folder):
        if any(part in f"{place}/" for part in _FOREIGN):
            continue
        texts += [_text(os.path.join(place, name)) for name in names if name.endswith(".py")]
        if len(texts) > MAX_FILES:
            break
    return "\n".join(texts)


def _reads(folder: Path, name: str) -> bool:
    configs, others = _texts(folder)
    return _has_word(others, name, "") or _has_word(configs, name, ".\"'")


def _has_word(text: str, word: str, before: str) -> bool:
    """Whether a text has the word, behind one of some characters when there are any. Expressions are slow here."""
    at = text.find(word)
    while at >= 0:
        left, right = text[at - 1 : at], text[at + len(word) : at + len(word) + 1]
        if not _of_a_name(right) and (left in before if before else not _of_a_name(left)):
            return True
        at = text.find(word, at + 1)
    return False


def _of_a_name(char: str) -> bool:
    return char.isalnum() or char == "_"


def has(folder: Path, module: str, name: str) -> bool:
    """Whether one module (`verl/trainer/main_ppo.py`) has a name; False when there is no such module."""
    path = folder / module
    if not disk.is_file(path):
        return False
    return re.search(rf"\b{re.escape(name)}\b", _text(path)) is not None


def fields(folder: Path, target: str) -> frozenset[str] | None:
    """The names that a data class of the checkout may have as fields, and some more; None when it is not found."""
    return _fields(folder / "verl", target.rpartition(".")[2], 0)


def _fields(folder: Path, name: str, depth: int) -> frozenset[str] | None:
    text = _texts(folder)[0]
    match = re.search(rf"^class {re.escape(name)}\b(?:\(([^)]*)\))?:\n((?:(?:[ \t].*)?\n)*)", text, re.MULTILINE)
    if match is None or depth > 6:
        return None
    found = set(re.findall(r"^    (\w+)\s*:", match[2], re.MULTILINE))
    for base in filter(None, re.split(r"[,\s]+", match[1] or "")):
        if base in ("BaseConfig", "object"):
            continue
        more = _fields(folder, base.rpartition(".")[2], depth + 1)
        if more is None:
            return None
        found |= more
    return frozenset(found)
