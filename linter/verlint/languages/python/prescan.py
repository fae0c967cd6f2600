"""A first look at a Python text without parsing it: most calls of tools are right, and that can be seen quickly."""

from __future__ import annotations

from collections.abc import Collection

from verlint.lazy import pattern

_DECLARED = pattern(
    r"(?:\.add_argument|click\.(?:option|argument))\(\s*(?P<first>[\"']?)(?P<name>[\w-]*)(?P<rest>[^()]*)"
)
_OTHERS = ("add_subparsers", "HfArgumentParser", "fire.Fire", "typer", "tyro", "parse_known_args", "dataclass")


def surely_takes(text: str, options: Collection[str]) -> bool:
    """Whether a tool takes each of the long options of a call, and needs no other: True is certain, False means that
    the text must be looked at.

    Tools that take whatever they are given count as well."""
    if "ArgumentParser(" not in text and "click" not in text:
        return not any(word in text for word in _OTHERS)
    if "parse_known_args" in text or "add_subparsers" in text:
        return True
    if any(word in text for word in _OTHERS):
        return False
    for match in _DECLARED.finditer(text):
        name = match["name"]
        if not match["first"] or not name.startswith("-"):
            return False
        if "required" in match["rest"] and name not in options and not any(each in match["rest"] for each in options):
            return False
    return all(f'"{each}"' in text or f"'{each}'" in text for each in options)
