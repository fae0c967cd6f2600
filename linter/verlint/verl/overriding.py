"""What the overrides of a call make of a config, and which of them Hydra refuses.

Follows hydra-core 1.3 (`_apply_overrides_to_config`) and OmegaConf 2.3 (`OmegaConf.update`, merges): the config is
closed ("struct"), so a plain override needs its key, `+` must not meet a value, `~` must meet one. Hydra stops at the
first refusal; here all are found, and a refused override changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from verlint.languages.hydra.override import Form, Override
from verlint.record import dataclass, field
from verlint.value import Data, State
from verlint.verl.group_choices import Choice, Choices, Default
from verlint.verl.interpolation import (
    MISSING,
    Broken,
    ConfigError,
    Resolver,
    Tree,
    Unknown,
    has_reference,
    place_in_list,
    split_key,
)

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import Any

_NOTHING = object()


@dataclass(frozen=True)
class Refusal:
    """An override that Hydra refuses.

    `kind`: "syntax", "sweep", "unknown-key" (a plain override of a key that is not there), "exists" (`+` on a value),
    "missing" (`~` on nothing), "type" (a list merged with a mapping, no number in a list), "group" (a config
    group or option that is not there), "reference" (it meets a reference that cannot be resolved)."""

    override: Override | None
    kind: str
    message: str


class Refused(Exception):
    """Something that Hydra refuses; `kind` is that of the refusal."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class _Undecided(Exception):
    """The outcome hangs on something that is not known before the run."""


@dataclass(eq=False)
class Applied:
    """A config after its overrides. `set_by` is the last accepted override of each key, `undecided` those whose effect
    is not known before the run, `chosen` the options taken by group choices of the call.

    `config` shares the sections that no override changes with the config it came from: it is not to be changed."""

    config: Tree
    refusals: list[Refusal] = field(default_factory=list)
    set_by: dict[str, Override] = field(default_factory=dict)
    undecided: list[Override] = field(default_factory=list)
    chosen: dict[str, Choice] = field(default_factory=dict)
    _own: dict[int, object] = field(default_factory=dict)
    _refused: dict[str, frozenset[int]] = field(default_factory=dict)

    def refused(self, kind: str) -> frozenset[int]:
        """The overrides, by identity, that are refused for a reason. To be asked when all are applied."""
        found = self._refused.get(kind)
        if found is None:
            found = self._refused[kind] = frozenset([id(each.override) for each in self.refusals if each.kind == kind])
        return found

    @property
    def resolver(self) -> Resolver:
        """Resolves references of the config."""
        return Resolver(self.config)

    def own(self, node: Any, name: str, inner: Any) -> Any:
        """The collection at a name of a node, as one that this config has for itself."""
        if id(inner) in self._own:
            return inner
        own = inner.copy()
        self._own[id(own)] = own  # kept, so that no other object gets its identity
        _put(node, name, own)
        return own

    def leave_keys_open(self) -> None:
        """Which keys there are hangs on a choice that is not known: what is refused for its key is undecided."""
        unsure = ("unknown-key", "exists", "missing")
        self.undecided += [each.override for each in self.refusals if each.kind in unsure and each.override is not None]
        self.refusals[:] = [each for each in self.refusals if each.kind not in unsure]


def own(key: str) -> bool:
    """Whether a key is VeRL's, not Hydra's own."""
    return not (key == "hydra" or key.startswith(("hydra.", "hydra/")))


def apply(
    overrides: Iterable[Override],
    is_group: Callable[[str], bool],
    base: Callable[[Choices], Tree],
    *,
    multirun: bool = False,
) -> Applied:
    """The config of a call. `base` composes the config of some group choices, which is left as it is, and raises
    ConfigError for wrong ones."""
    refusals: list[Refusal] = []
    undecided: list[Override] = []
    plain: list[Override] = []
    choices = Choices()
    for override in overrides:
        if override.error is not None:
            refusals.append(Refusal(override, "syntax", override.error.message))
        elif not override.key:
            undecided.append(override)
        elif not own(override.key):
            continue
        elif override.sweep:
            if not multirun:
                refusals.append(Refusal(override, "sweep", "several values without --multirun"))
            else:
                undecided.append(override)
        elif isinstance(override.value.data, dict) or _of_file(override) or not is_group(override.key):
            plain.append(override)
        else:
            try:
                _choose(override, choices)
            except Refused as error:
                refusals.append(Refusal(override, error.kind, str(error)))
            except _Undecided:
                undecided.append(override)
    out = Applied({}, refusals, undecided=undecided, chosen=dict(choices.replaced))
    other_keys = False
    try:
        out.config = base(choices).copy()
    except ConfigError as error:
        refusals.append(Refusal(None, "group", str(error)))
        out.config = base(Choices()).copy()
        other_keys = True
    other_keys |= any(is_group(override.key) for override in undecided if override.key)
    for override in plain:
        _apply(override, out)
    if other_keys:
        out.leave_keys_open()
    return out


def _of_file(override: Override) -> bool:
    """Whether it is a line of a config file, which sets a key and chooses no group."""
    return override.form is Form.FORCE and not override.word.prefix.startswith("+")


def _choose(override: Override, choices: Choices) -> None:
    """Take a group choice."""
    key = f"{override.key}@{override.package}" if override.package else override.key
    value = override.value
    if override.form is Form.FORCE:
        raise Refused("group", f"++ is not for config groups, and {override.key} is one")
    if not value.decided and value.state is not State.ABSENT:
        raise _Undecided
    data = value.data
    if override.form is Form.DELETE:
        if data is not None and not isinstance(data, str):
            raise Refused("group", f"{override.key} is a config group: ~ takes the name of an option")
        choices.deleted[key] = data
        return
    if not isinstance(data, (str, list)):
        raise Refused("group", f"{override.key} is a config group: it takes the name of an option")
    option: Choice = data if isinstance(data, str) else [str(each) for each in data]
    if override.form is Form.ADD:
        choices.added.append(Default(override.key, option, override.package or None))
    else:
        choices.replaced[key] = option


def _apply(override: Override, out: Applied) -> None:
    try:
        _change(override, out)
    except Refused as error:
        out.refusals.append(Refusal(override, error.kind, str(error)))
        return
    except Broken as error:
        out.refusals.append(Refusal(override, "reference", str(error)))
        return
    except _Undecided:
        out.undecided.append(override)
        return
    if override.form is Form.DELETE:
        out.set_by.pop(override.key, None)
    else:
        out.set_by[override.key] = override


def given(override: Override) -> Any:
    """The value an override gives, as a leaf."""
    value = override.value
    if value.decided or (override.form is Form.DELETE and value.state is State.ABSENT):
        return value.data
    written = override.value_text.known
    if value.state is State.UNKNOWN and written is not None and written.startswith("${"):
        return written  # of a config file: what it comes to is told by the config
    return Unknown(value.reason, value)


def _change(override: Override, out: Applied) -> None:
    key, value = override.key, given(override)
    if override.package:
        raise Refused("group", f"there is no config group {key}")
    if override.form is Form.DELETE:
        _delete(out, key, value)
        return
    if override.form is Form.ADD:
        found = out.resolver.select(key)
        if found is not None and not isinstance(found, Unknown) and not isinstance(value, (dict, list)):
            raise Refused("exists", f"{key} is already there, so it takes no +")
    _update(out, key, value, force=override.form is not Form.SET)


def _delete(out: Applied, key: str, wanted: object) -> None:
    tree = out.config = copied(out.config)  # the holder may be found through a reference
    resolver = out.resolver
    found = resolver.select(key)
    if found is None:
        raise Refused("missing", f"there is no {key} to delete")
    if isinstance(found, Unknown):
        raise _Undecided
    if wanted is not None and not isinstance(wanted, Unknown) and wanted != found:
        raise Refused("missing", f"{key} is {found}, not {wanted}")
    head, _, name = key.rpartition(".")
    holder = resolver.select(head) if head else tree
    if isinstance(holder, dict):
        holder.pop(name, None)
    elif isinstance(holder, list):
        raise Refused("type", f"{key}: ~ takes nothing out of a list")


def _update(out: Applied, key: str, value: Any, *, force: bool) -> None:
    names = split_key(key)
    node: Any = out.config
    for at, name in enumerate(names[:-1]):
        inner = _child(node, name, key)
        if not isinstance(inner, (dict, list)):
            if isinstance(inner, Unknown):
                raise _Undecided
            if not force:
                raise Refused("unknown-key", _not_there(names, at, inner))
            inner = {}
        node = out.own(node, name, inner)
    last = names[-1]
    old = _child(node, last, key)
    if isinstance(value, (dict, list)) and isinstance(old, (dict, list)):
        if isinstance(value, list) != isinstance(old, list):
            raise Refused("type", f"{key}: a list and a mapping do not merge")
        if isinstance(old, dict) and isinstance(value, dict):
            if not force:
                _check_keys(old, value, key)
            old = copied(old)
            _put(node, last, old)
            merge(old, value, out.resolver)
            return
    if old is _NOTHING and (not force or isinstance(node, list)):
        raise Refused("unknown-key", _not_there(names, len(names) - 1, old))
    _put(node, last, copied(value))


def _not_there(names: list[str], at: int, found: object) -> str:
    if found is _NOTHING:
        return f"there is no {'.'.join(names[: at + 1])}"
    return f"{'.'.join(names[: at + 1])} holds no keys"


def _child(node: Any, name: str, key: str) -> Any:
    if isinstance(node, dict):
        return node.get(name, _NOTHING)
    at = place_in_list(name)
    if at is None:
        raise Refused("type", f"{key}: {name} is no place in a list")
    return node[at] if 0 <= at < len(node) else _NOTHING


def _put(node: Any, name: str, value: Any) -> None:
    if isinstance(node, dict):
        node[name] = value
    else:
        node[int(name)] = value


def _check_keys(old: Tree, new: dict[str, Any], key: str) -> None:
    for name, each in new.items():
        if name not in old:
            raise Refused("unknown-key", f"there is no {key}.{name}")
        if isinstance(each, dict) and isinstance(old[name], dict):
            _check_keys(old[name], each, f"{key}.{name}")


def copied(data: Any) -> Any:
    """A copy of the collections in some data."""
    if isinstance(data, dict):
        return {key: copied(each) if isinstance(each, (dict, list)) else each for key, each in data.items()}
    if isinstance(data, list):
        return [copied(each) for each in data]
    return data


def merge(into: Tree, other: dict[str, Data], resolver: Resolver) -> None:
    """Merge a mapping into another as OmegaConf does: mappings merge, all else replaces, `???` replaces nothing."""
    for key, new in other.items():
        old = into.get(key, _NOTHING)
        if new == MISSING and old is not _NOTHING:
            continue
        if isinstance(new, dict):
            if has_reference(old):
                try:
                    old = resolver.value(old, (key,))
                except Broken:
                    old = _NOTHING
                if isinstance(old, dict):
                    old = into[key] = copied(old)
            if isinstance(old, dict):
                merge(old, new, resolver)
                continue
        if (isinstance(new, list) and isinstance(old, dict)) or (isinstance(new, dict) and isinstance(old, list)):
            raise Refused("type", f"{key}: a list and a mapping do not merge")
        into[key] = copied(new) if isinstance(new, (dict, list)) else new
