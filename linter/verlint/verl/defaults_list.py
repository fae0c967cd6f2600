"""Hydra's defaults lists: which config files make a config, in which order, at which place.

Follows hydra-core 1.3 (`hydra/_internal/defaults_list.py`, `hydra/core/default_element.py`) with `version_base` 1.2 or
newer, as VeRL has it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Sequence

from verlint.record import dataclass
from verlint.value import Data
from verlint.verl.config_yaml import ConfigError, ConfigFile
from verlint.verl.group_choices import GLOBAL, SELF, Choice, Choices, Default
from verlint.verl.interpolation import Broken, Resolver, Unknown, has_reference

_DEEPEST, _MOST = 40, 2000
"""Configs that take one another, and configs of one launch: Hydra knows no limit but Python's, and none has a tenth."""


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a config: its path below the config folder, and the dotted key its content goes to."""

    config_path: str
    package: str
    override_key: str = ""
    is_self: bool = False


@dataclass(slots=True, eq=False)
class _Tree:
    node: Default
    primary: bool = False
    children: list[_Tree | Default] | None = None


class DefaultsList:
    """Works out the parts of a config. Raises ConfigError as Hydra would raise."""

    def __init__(self, load: Callable[[str], ConfigFile | None], choices: Choices) -> None:
        self._load = load
        self._replaced = dict(choices.replaced)
        self._external = set(choices.replaced)
        self._added = choices.added
        self._deleted = choices.deleted
        self._used: set[str] = set()
        self._open: list[str] = []
        self._parts = 0
        self._deletions_used: set[str] = set()
        self.chosen: dict[str, Choice] = {}

    def parts(self, name: str) -> list[Part]:
        """The parts of the config `name`, in the order they are merged."""
        root = _Tree(Default(None, name), primary=True)
        if self._load(name) is None:
            raise ConfigError(f"there is no config {name}")
        self._expand(root, interpolated=False)
        out: list[Part] = []
        _flatten(root, out)
        self._check(out)
        return out

    def _check(self, parts: Iterable[Part]) -> None:
        seen: set[str] = set()
        for part in parts:
            if not part.is_self and part.override_key:
                if part.override_key in seen:
                    raise ConfigError(f"{part.override_key} stands more than once in the final defaults list")
                seen.add(part.override_key)
        for key in self._replaced:
            if key not in self._used:
                same = [each for each in self.chosen if each.split("@")[0] == key.split("@")[0]]
                near = f"; did you mean {' or '.join(sorted(same))}?" if same else ""
                raise ConfigError(f"no group {key} in the defaults list{near}")
        for key in self._deleted:
            if key not in self._deletions_used:
                raise ConfigError(f"cannot delete {key}: it is not in the defaults list")

    def _expand(self, tree: _Tree, *, interpolated: bool) -> None:
        self._parts += 1
        if len(self._open) >= _DEEPEST or self._parts > _MOST:
            circle = len(self._open) > len(set(self._open))
            raise ConfigError(f"{self._open[0]} is made of {'itself' if circle else 'too many configs'}")
        self._open.append(tree.node.config_path if isinstance(tree.node.choice, (str, type(None))) else "")
        try:
            self._expand_open(tree, interpolated)
        finally:
            self._open.pop()

    def _expand_open(self, tree: _Tree, interpolated: bool) -> None:
        node = tree.node
        loaded = None
        if not isinstance(node.choice, list) and node.choice is not None and not has_reference(node.choice):
            loaded = self._load(node.config_path) if not node.text.endswith("???") else None
            if loaded is not None:
                node.header = _header(loaded.package)
        if self._is_deleted(node):
            node.deleted = True
            self._deletions_used.add(node.override_key)
            return
        self._set_chosen(node)
        if node.choice is None:
            return
        if node.text.endswith("???"):
            raise ConfigError(f"{node.override_key} must be chosen")
        if loaded is None:
            if node.optional:
                node.deleted = True
                return
            raise ConfigError(f"there is no {node.config_path}")
        defaults = self._own_defaults(loaded, node)
        if defaults or (tree.primary and self._added):
            _add_self(defaults, node)
        if tree.primary:
            defaults.extend(self._added)
        group, package = node.group_path, node.final_package()
        self._overrides_in(defaults, node, interpolated)
        children: list[_Tree | Default] = []
        for default in reversed(defaults):
            if default.is_self:
                default.below(node.parent_group, node.package or "")
                children.append(default)
            elif not default.override:
                default.below(group, package)
                self._add(children, default, interpolated, group, package, node)
        self._interpolated(children, group, package)
        if children:
            tree.children = list(reversed(children))

    def _own_defaults(self, loaded: ConfigFile, node: Default) -> list[Default]:
        if len(loaded.defaults) > _MOST:
            raise ConfigError(f"{self._open[0]} is made of too many configs")
        return [_default(item, node.config_path) for item in loaded.defaults]

    def _add(
        self,
        children: list[_Tree | Default],
        default: Default,
        interpolated: bool,
        group: str,
        package: str,
        node: Default,
    ) -> None:
        if default.group is not None and default.override_key in self._replaced:
            key = default.override_key
            default.choice = self._replaced[key]
            self._used.add(key)
        if isinstance(default.choice, list):
            for item in reversed(default.choice):
                if "${" in item:
                    raise ConfigError(f"{node.config_path}: no references in a list of choices")
                each = Default(None, f"{default.group}/{item}", default.package, default.optional)
                each.below(group, package)
                children.append(self._subtree(each, interpolated))
        elif has_reference(default.choice):
            children.append(default)
        else:
            children.append(self._subtree(default, interpolated))

    def _subtree(self, node: Default, interpolated: bool) -> _Tree | Default:
        tree = _Tree(node)
        self._expand(tree, interpolated=interpolated)
        return node if tree.children is None else tree

    def _interpolated(self, children: list[_Tree | Default], group: str, package: str) -> None:
        """Choices with references, after all other choices are made."""
        for at, child in enumerate(children):
            if isinstance(child, Default) and has_reference(child.choice):
                text = child.text if child.group is not None else child.config_path
                try:
                    found = Resolver(dict(self.chosen)).value(text, ("_",))
                except Broken as error:
                    raise ConfigError(f"the choice {child.text}: {error}") from None
                if isinstance(found, Unknown) or not isinstance(found, str):
                    raise ConfigError(f"the choice {child.text} is not known")
                child.choice = found
                child.below(group, package)
                children[at] = self._subtree(child, interpolated=True)

    def _overrides_in(self, defaults: Sequence[Default], parent: Default, interpolated: bool) -> None:
        seen = False
        for default in defaults:
            if default.is_self:
                continue
            default.below(parent.group_path, parent.final_package())
            if seen and not (default.override or default in self._added):
                raise ConfigError(f"{parent.config_path}: overrides must be at the end of the defaults list")
            if default.group is not None and default.override:
                seen = True
                if interpolated:
                    raise ConfigError(f"{parent.config_path}: no overrides below a choice with a reference")
                self._replaced.setdefault(default.override_key, default.choice)

    def _set_chosen(self, node: Default) -> None:
        if node.group is None:
            return
        key = node.override_key
        before = self.chosen.setdefault(key, node.choice)
        if before != node.choice:
            raise ConfigError(f"several choices for {key}: {before} and {node.choice}")

    def _is_deleted(self, node: Default) -> bool:
        if node.group is None or node.override_key not in self._deleted:
            return False
        wanted = self._deleted[node.override_key]
        return wanted is None or wanted == node.choice


def _flatten(tree: _Tree, out: list[Part]) -> None:
    if not tree.children:
        _part(tree.node, None, out)
        return
    for child in tree.children:
        if isinstance(child, Default):
            _part(child, tree.node, out)
        else:
            _flatten(child, out)


def _part(node: Default, holder: Default | None, out: list[Part]) -> None:
    if node.deleted or node.choice is None:
        return
    if node.is_self:
        assert holder is not None
        out.append(Part(holder.config_path, holder.final_package(), is_self=True))
    elif not node.text.endswith("???"):
        key = node.override_key if node.group is not None else ""
        out.append(Part(node.config_path, node.final_package(), key))


def _header(package: str | None) -> str | None:
    """The `@package` header as an absolute package."""
    if package is None or package == GLOBAL or package.startswith(GLOBAL + "."):
        return package
    return f"{GLOBAL}.{package}" if package else GLOBAL


def _add_self(defaults: list[Default], node: Default) -> None:
    own = [default for default in defaults if default.is_self]
    if len(own) > 1:
        raise ConfigError(f"{node.config_path}: _self_ stands twice in the defaults list")
    if (not own and any(not default.override for default in defaults)) or not defaults:
        defaults.append(Default(None, SELF))


def _default(item: Data, where: str) -> Default:
    """One item of a defaults list."""
    if isinstance(item, str):
        path, _, package = item.partition("@")
        return Default(None, path, _here(package) if "@" in item else None)
    if not isinstance(item, dict) or len(item) != 1:
        raise ConfigError(f"{where}: a defaults list holds `group: option` and config names")
    ((key, choice),) = item.items()
    group, at, package = key.partition("@")
    words = group.split(" ")
    optional = override = False
    for word in words[:-1]:
        if word == "optional":
            optional = True
        elif word == "override":
            override = True
        else:
            break
    if isinstance(choice, list) and all(isinstance(each, str) for each in choice):
        options: Choice = [str(each) for each in choice]
    elif choice is None or isinstance(choice, str):
        options = choice
    else:
        raise ConfigError(f"{where}: {key} takes the name of an option or a list of names")
    return Default(words[-1], options, _here(package) if at else None, optional, override)


def _here(package: str) -> str:
    return "" if package == "_here_" else package


def normal(config_path: str) -> str:
    """A config path without `..`."""
    return posixpath.normpath(config_path)
