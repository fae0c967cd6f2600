"""References inside of a config (`${a.b}`, `${.c}`, `${oc.select:a.b,1}`) and what they come to.

Follows OmegaConf 2.3. What only the target host knows (`oc.env`, custom resolvers, values with holes) is an `Unknown`;
so is a reference that OmegaConf could not resolve, with `broken` set.
"""

from __future__ import annotations

from collections.abc import Mapping

from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.value import Data, Value, whole

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import Any, TypeAlias

Tree: TypeAlias = "dict[str, Any]"
"""A composed config: nested mappings; leaves are data, `Unknown`, and strings with unresolved references."""

MISSING = "???"
"""What stands for a value that a launch must give."""


class ConfigError(Exception):
    """A config that Hydra cannot compose; the text says why."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A leaf that is not known before the run. `value` is what an override gives for it, when it comes from one."""

    reason: str
    value: Value | None = None
    broken: bool = False

    def __str__(self) -> str:
        return str(self.value) if self.value is not None else f"<{self.reason}>"


def place_in_list(name: str) -> int | None:
    """The place in a list that a part of a key is, from 0 on; None for a name."""
    number = whole(name[1:] if name[:1] in ("+", "-") else name)
    return -number if number is not None and name[0] == "-" else number


class Broken(Exception):
    """A reference that OmegaConf cannot resolve; the text says why."""


class NotAMapping(Broken):
    """A reference to a key below a plain value. `oc.select` and overrides take it for nothing."""


_PATH = pattern(r"(\.*)((?:[^\s.\[\]{}:$,]+(?:\.[^\s.\[\]{}:$,]+|\[[^\[\]]*\])*)?)")
_BRACKETS = pattern(r"\[([^\[\]]*)\]")
_DEEPEST = 60
_NOTHING = object()


def has_reference(data: object) -> bool:
    """Whether a leaf is a text with a reference."""
    return isinstance(data, str) and "${" in data


def split_key(key: str) -> list[str]:
    """The names in a dotted key, also `a[b]` for `a.b`."""
    if "[" in key:
        key = _BRACKETS.sub(r".\1", key).lstrip(".")
    return key.split(".")


class Resolver:
    """Resolves references of one config. Results are not kept: a config may change between two questions."""

    def __init__(self, root: Tree) -> None:
        self.root = root
        self._depth = 0

    def value(self, node: object, path: tuple[str, ...]) -> object:
        """A node with the references of its own text resolved; those inside of collections stay. Raises Broken."""
        if not has_reference(node):
            return node
        if self._depth > _DEEPEST:
            raise Broken("the reference leads back to itself")
        self._depth += 1
        try:
            return self._text(str(node), path)
        finally:
            self._depth -= 1

    def deep(self, node: object, path: tuple[str, ...]) -> object:
        """A node with all references in it resolved, those that cannot be as `Unknown`."""
        if len(path) > _DEEPEST:
            return Unknown("the reference leads back to itself", broken=True)
        try:
            found = self.value(node, path)
        except Broken as error:
            return Unknown(str(error), broken=True)
        if isinstance(found, dict):
            return {key: self.deep(each, (*path, key)) for key, each in found.items()}
        if isinstance(found, list):
            return [self.deep(each, (*path, str(at))) for at, each in enumerate(found)]
        return found

    def select(self, key: str) -> object:
        """The resolved value at a key, None when there is none, it is `???` or below a plain value. Raises Broken."""
        try:
            found = self._find(split_key(key))
        except NotAMapping:
            return None
        return None if found is _NOTHING or found == MISSING else found

    def find(self, key: str, otherwise: object) -> object:
        """The resolved value at a key, `???` included, or something else when there is no such key. Raises Broken."""
        found = self._find(split_key(key))
        return otherwise if found is _NOTHING else found

    def _find(self, names: list[str]) -> object:
        node: object = self.root
        for at, name in enumerate(names):
            if isinstance(node, dict):
                node = node.get(name, _NOTHING)
            elif isinstance(node, Unknown):
                return node
            elif node is None or (node == MISSING and at):
                return _NOTHING
            elif isinstance(node, list):
                number = place_in_list(name)
                if number is None:
                    raise Broken(f"{'.'.join(names[:at])} is a list and has no {name}")
                node = node[number] if 0 <= number < len(node) else _NOTHING
            else:
                raise NotAMapping(f"{'.'.join(names[:at])} is no mapping and has no {name}")
            if node is _NOTHING:
                return _NOTHING
            if has_reference(node):
                node = self.value(node, tuple(names[: at + 1]))
        return node

    def _text(self, text: str, path: tuple[str, ...]) -> object:
        """A text with references: the value itself when it is a single one, else all joined."""
        pieces: list[object] = []
        at = 0
        while True:
            start = text.find("${", at)
            if start < 0:
                break
            slashes = len(text[:start]) - len(text[:start].rstrip("\\"))
            if slashes % 2:
                end = start + 2
                pieces.append(text[at : start - (slashes + 1) // 2] + "${")
                at = end
                continue
            end = closing(text, start)
            if end < 0:
                raise Broken("a reference is not closed")
            if text[at:start]:
                pieces.append(text[at:start])
            found = self._reference(text[start + 2 : end], path)
            if start == 0 and end == len(text) - 1:
                return found
            pieces.append(found)
            at = end + 1
        pieces.append(text[at:])
        for piece in pieces:
            if isinstance(piece, Unknown):
                return Unknown(f"it holds {piece}")
        return "".join(str(piece) for piece in pieces)

    def _reference(self, inner: str, path: tuple[str, ...]) -> object:
        name, colon, rest = inner.partition(":")
        if colon and "$" not in name and "{" not in name:
            return self._function(name.strip(), rest, path)
        if "${" in inner:
            resolved = self._text(inner, path)
            if isinstance(resolved, Unknown):
                return resolved
            inner = str(resolved)
        try:
            found = self._at(inner.strip(), path)
        except NotAMapping as error:
            raise Broken(str(error)) from None
        if found is _NOTHING:
            raise Broken(f"there is no {inner.strip()}")
        if found == MISSING:
            raise Broken(f"{inner.strip()} is mandatory and not given")
        return found

    def _at(self, key: str, path: tuple[str, ...]) -> object:
        names = key.lstrip(".")
        dots = key[: len(key) - len(names)]
        if not all(map(str.isidentifier, names.split("."))):  # the expression is for the keys that are hardly met
            match = _PATH.fullmatch(key)
            if match is None:
                raise Broken(f"{key} is no key")
            dots, names = match.groups()
        base: tuple[str, ...] = ()
        if dots:
            if len(dots) > len(path):
                raise Broken(f"{key} leads out of the config")
            base = path[: len(path) - len(dots)]
        return self._find([*base, *(split_key(names) if names else ())])

    def _function(self, name: str, rest: str, path: tuple[str, ...]) -> object:
        if name == "oc.env":
            return Unknown(f"environment variable {rest.partition(',')[0].strip()}")
        if name != "oc.select":
            return Unknown(f"resolver {name}")
        arguments = _arguments(rest)
        if not 1 <= len(arguments) <= 2:
            raise Broken("oc.select takes a key and a default")
        key = self.value(arguments[0], path)
        if isinstance(key, Unknown):
            return key
        try:
            found = self._at(str(key), path)
        except NotAMapping:
            found = _NOTHING
        if found is not _NOTHING and found != MISSING:
            return found
        return self._argument(arguments[1], path) if len(arguments) == 2 else None

    def _argument(self, text: str, path: tuple[str, ...]) -> object:
        """The value of an argument of a resolver."""
        if text[:1] in "\"'" and len(text) > 1 and text[-1] == text[0]:
            return self.value(text[1:-1], path)
        if "${" in text:
            return self.value(text, path)
        if text[:1] in "[{":
            from verlint.verl.config_yaml import one_line

            found = one_line(text)
            return Unknown(f"the default {text}") if found is None else found
        return argument_scalar(text)


def argument_scalar(text: str) -> Data:
    """An unquoted argument by OmegaConf's grammar: like YAML, but `null`, `true`, `false` only, in any case."""
    lower = text.lower()
    if lower in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[lower]
    if text in ("yes", "no", "on", "off", "~", "") or lower in ("yes", "no", "on", "off"):
        return text
    from verlint.verl.config_yaml import scalar

    return scalar(text)


def _arguments(text: str) -> list[str]:
    """Arguments split at the commas outside of brackets, quotes and inner references."""
    out: list[str] = []
    depth, start, quote = 0, 0, ""
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "[{(":
            depth += 1
        elif char in "]})":
            depth -= 1
        elif char == "," and not depth:
            out.append(text[start:at].strip())
            start = at + 1
    out.append(text[start:].strip())
    return out


def closing(text: str, start: int) -> int:
    """The place of the brace that ends the reference starting at `start`, -1 when there is none."""
    depth = 0
    for at in range(start + 1, len(text)):
        if text[at] == "{":
            depth += 1
        elif text[at] == "}":
            depth -= 1
            if not depth:
                return at
    return -1


def leaves(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The leaves of a config by dotted key; an empty mapping counts as a leaf."""
    out: dict[str, Any] = {}
    _leaves(out, prefix, tree)
    return out


def _leaves(out: dict[str, Any], prefix: str, tree: Mapping[str, Any]) -> None:
    for key, node in tree.items():
        if isinstance(node, dict) and node:
            _leaves(out, f"{prefix}{key}.", node)
        else:
            out[prefix + key] = node


def _section(parents: dict[str, Tree], key: str) -> Tree:
    """The mapping at a key, made with those around it where there is none; `parents` are those made so far."""
    head, _, name = key.rpartition(".")
    holder = parents[head] if head in parents else _section(parents, head)
    inner = holder.get(name)
    if not isinstance(inner, dict):
        inner = holder[name] = {}
    parents[key] = inner
    return inner


def nested(flat: Mapping[str, Any]) -> Tree:
    """The config that has these leaves."""
    root: Tree = {}
    parent, before = root, ""
    parents: dict[str, Tree] = {"": root}
    for key, value in flat.items():
        head, _, name = key.rpartition(".")
        if head != before:  # keys of one section mostly stand together
            parent, before = parents.get(head) or _section(parents, head), head
        parent[name] = value.copy() if value.__class__ is dict else value
    return root
