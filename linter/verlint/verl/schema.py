"""What each released VeRL, and each known fork, takes as configuration.

Reads `schemas.json.gz`, which `scripts/build_verl_schemas.py` makes from the wheels; docs/verl-data.md describes it.
The file has several members, what is asked for most in the first: the others are unpacked for a line that is in none
before them. Each line is read when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache

from verlint.record import dataclass
from verlint.value import Data
from verlint.verl.interpolation import Resolver, Tree, Unknown, has_reference, nested
from verlint.verl.passthrough import is_handed_on, is_open
from verlint.verl.versions import version_key

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import Any

FILE = "schemas.json.gz"
DEFAULT_ENTRY = "ppo_trainer"
_GZIP = 31
"""`wbits` of zlib for gzip; the module `gzip` costs more to import than this file to read."""


# ---- the file


@lru_cache(maxsize=1)
def _packed() -> bytes:
    import os

    with open(os.path.join(os.path.dirname(__file__), FILE), "rb") as file:
        return file.read()


@lru_cache(maxsize=8)
def _member(number: int) -> tuple[Mapping[str, bytes], bytes]:
    """The lines of a member of the file by their name, JSON unread, and what stands behind the member."""
    import zlib

    packed = _packed() if not number else _member(number - 1)[1]
    member = zlib.decompressobj(_GZIP)
    out: dict[str, bytes] = {}
    for line in member.decompress(packed).split(b"\n"):
        name, _, data = line.partition(b"\t")
        out[name.decode()] = data
    return out, member.unused_data


@lru_cache(maxsize=64)
def _line(name: str) -> Any:
    number, rest = 0, b"more"
    while rest:
        lines, rest = _member(number)
        if name in lines:
            return _read_json(lines[name].decode())
        number += 1
    return None


def _read_json(text: str) -> Any:
    """The data of a line. The scanner in C is taken without the module `json` around it, which takes longer to import
    than the line to read."""
    try:
        from _json import make_scanner
    except ImportError:
        import json

        return json.loads(text)
    return make_scanner(_Reading())(text, 0)[0]  # type: ignore[arg-type]


class _Reading:
    """What the scanner asks how to read: as `json` does when nothing is said."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


def versions() -> tuple[str, ...]:
    """The released versions that are known, oldest first."""
    return tuple(_line("meta")["versions"])


def forks() -> Mapping[str, Mapping[str, str]]:
    """The forks that are known by name, each with the version it is based on, its commit and where it is."""
    found: Mapping[str, Mapping[str, str]] = _line("meta")["forks"]
    return found


def known_version(text: str) -> str:
    """The newest known version that is not newer than the given one (`v0.3.0` is 0.3.0.post1, `0.10.0.dev` the newest
    of all), "" for a text that is no version or one older than all."""
    wanted = version_key(text)
    if text in versions():
        return text
    found = ""
    for version in versions():
        key = version_key(version)
        if wanted is not None and key is not None and _padded(key) <= _padded(wanted):
            found = version
    return found


def _padded(key: tuple[int, ...]) -> tuple[int, ...]:
    return (*key, 0, 0, 0, 0)[:4]


@lru_cache(maxsize=256)
def facts(kind: str, version: str) -> Mapping[str, Any]:
    """The facts of a kind ("entries", "groups", "registries", "dead") that hold in a version, by name."""
    out: dict[str, Any] = {}
    place = versions().index(version)
    for since, changes in _line(kind):
        if versions().index(since) > place:
            break
        for name, value in changes.items():
            if value is None:
                out.pop(name, None)
            else:
                out[name] = value
    return out


def class_fields(version: str, target: str) -> Mapping[str, list[Any]]:
    """The fields of a data class in a version, each with its annotation and maybe its default as they are in the
    file."""
    place = versions().index(version)
    found = [fields for since, fields in _line(f"class {target}") or () if versions().index(since) <= place]
    return (found[-1] if found else None) or {}


@lru_cache(maxsize=256)
def leaves_of(version: str, name: str) -> Mapping[str, Data] | None:
    """The leaves of a config of a released version, references unresolved; None when the version has none of it."""
    rows = _line(f"config {name}")
    if rows is None and name == "dapo_trainer" and version in versions():
        return _of_recipe(version, name)
    if rows is None or version not in versions():
        return None
    place = versions().index(version)
    row = None
    for each in rows:
        if versions().index(each[0]) > place:
            break
        row = each
    if row is None or row[1] is None:
        return None
    since, base, gone, put = row
    if since != version:
        return leaves_of(since, name)
    before: Mapping[str, Data] = {}
    if base:
        before = leaves_of(version, base) or {}
    elif place:
        before = leaves_of(versions()[place - 1], name) or {}
    return _changed(before, gone, put)


def _of_recipe(version: str, name: str) -> Mapping[str, Data] | None:
    """The leaves of a recipe's config, which is built on one of the release."""
    from verlint.verl.recipes import recipe_of_config

    recipe = recipe_of_config(version, name)
    below = leaves_of(version, recipe.base) if recipe is not None else None
    return None if recipe is None or below is None else _changed(below, [], recipe.sets)


def _changed(before: Mapping[str, Data], gone: list[str], put: Mapping[str, Data]) -> Mapping[str, Data]:
    out = dict(before)
    for key in gone:
        out.pop(key, None)
    out.update(put)
    return out


# ---- one config


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a data class: its annotation as written, its default, and whether it must be given. The default is
    `Unknown` where it is made by an expression."""

    annotation: str
    default: object = None
    required: bool = False


@dataclass(frozen=True, slots=True)
class History:
    """Where else a key is: the spans of released versions that have it (first and last of each), and its rename."""

    key: str
    spans: tuple[tuple[str, str], ...]
    rename: Any = None

    @property
    def text(self) -> str:
        """In words: `exists in 0.2-0.3.0.post1; renamed to x since 0.4.0`; "" when there is nothing to say."""
        out = []
        if self.spans:
            shown = [first if first == last else f"{first}-{last}" for first, last in self.spans]
            out.append("exists in VeRL " + ", ".join(shown))
        if self.rename is not None:
            out.append(
                f"renamed to {self.rename.new} since {self.rename.since}"
                if self.rename.new
                else f"removed in {self.rename.since}"
            )
            if self.rename.note:
                out.append(self.rename.note)
        return "; ".join(out)


class Schema:
    """The keys of one config of a version, of a fork, or of a checkout on disk.

    `version` is the released version it is, or is based on; `name` that of its config; `title` what to call it in a
    message. `leaves` are its keys with their defaults, references unresolved; an empty section counts as a leaf."""

    def __init__(self, version: str, name: str, leaves: Mapping[str, Data], title: str = "") -> None:
        self.version = version
        self.name = name
        self.leaves = leaves
        self.title = title or f"VeRL {version}"
        self._kinds: dict[str, frozenset[str]] = {}
        self._near: dict[str, list[str]] = {}
        self._histories: dict[str, History] = {}

    @property
    def keys(self) -> frozenset[str]:
        """All keys with a value, `_target_` included."""
        return frozenset(self.leaves)

    @cached_property
    def sections(self) -> frozenset[str]:
        """All keys that hold other keys, or may."""
        out: set[str] = set()
        before = ""
        for key, value in self.leaves.items():
            head = key.rpartition(".")[0]
            if head != before:  # keys of one section mostly stand together
                before = head
                while head and head not in out:
                    out.add(head)
                    head = head.rpartition(".")[0]
            if value.__class__ is dict:
                out.add(key)
        return frozenset(out)

    @cached_property
    def tree(self) -> Tree:
        """The config as nested mappings. Not to be changed."""
        return nested(self.leaves)

    def __contains__(self, key: str) -> bool:
        return key in self.leaves or key in self.sections

    def default(self, key: str) -> object:
        """The default of a key, references resolved; `Unknown` when only the host knows it. Raises KeyError."""
        if key in self.leaves:
            raw = self.leaves[key]
            return raw if not has_reference(raw) else Resolver(self.tree).deep(raw, tuple(key.split(".")))
        if key in self.sections:
            node: Any = self.tree
            for piece in key.split("."):
                node = node[piece]
            return Resolver(self.tree).deep(node, tuple(key.split(".")))
        raise KeyError(key)

    def kind(self, key: str) -> frozenset[str]:
        """What a key may hold: any of "bool", "int", "float", "str", "list", "dict", "null"; empty for anything.

        From its default, the annotation of its field in the data class the section becomes, and, where both say null
        or nothing, its defaults in other versions."""
        found = self._kinds.get(key)
        if found is None:
            found = self._kinds[key] = self._kind(key)
        return found

    def _kind(self, key: str) -> frozenset[str]:
        if key in self.sections and key not in self.leaves:
            return frozenset(["dict"])
        if key not in self.leaves:
            return frozenset()
        found = {kind_of(self.default(key))}
        head, _, name = key.rpartition(".")
        field = self.fields(self.target(head)).get(name)
        if field is not None:
            annotated = annotation_kinds(field.annotation)
            if not annotated:
                return frozenset()
            return frozenset(found | annotated) - {""}
        if found <= {"null", ""}:
            found |= {kind_of(each) for each in self._elsewhere(key)}
        found.discard("")
        return frozenset() if found == {"null"} else frozenset(found)

    def _elsewhere(self, key: str) -> Iterator[object]:
        for version in versions():
            other = leaves_of(version, self.name)
            if other is not None and key in other and not has_reference(other[key]):
                yield other[key]

    def target(self, section: str) -> str:
        """The data class that a section is made into (`verl.workers.config.FSDPActorConfig`), "" for none."""
        found = self.leaves.get(f"{section}._target_" if section else "_target_")
        return found if isinstance(found, str) else ""

    def fields(self, target: str) -> Mapping[str, Field]:
        """The fields of a data class of this version; none for one that is not known."""
        if not target or self.version not in versions():
            return {}
        return _fields(self.version, target)

    def is_passthrough(self, key: str) -> bool:
        """Whether any key is fine there, as VeRL hands the section on."""
        return is_open(key)

    def is_dead(self, key: str) -> bool:
        """Whether the key can be set but no code of the version reads it."""
        if key not in self.leaves or self.version not in versions():
            return False
        names = facts("dead", self.version).get(self.name.partition(" ")[0], ())
        return key.rpartition(".")[2] in names and not is_handed_on(key)

    def registry(self, name: str) -> frozenset[str]:
        """The names known to a registry: "adv_estimator", "policy_loss", "kl_penalty", "loss_agg_mode", "logger",
        "reward_manager", "rollout", "agent_loop", "checkpoint_engine", "trainer_mode". Empty when the version has
        none of it."""
        if self.version not in versions():
            return frozenset()
        return frozenset(facts("registries", self.version).get(name, ()))

    @cached_property
    def groups(self) -> Mapping[str, list[str]]:
        """The config groups, each with its options."""
        return facts("groups", self.version) if self.version in versions() else {}

    def near(self, key: str) -> list[str]:
        """Keys that somebody who wrote this one may have meant, best first, three at most."""
        found = self._near.get(key)
        if found is None:
            found = self._near[key] = self._nearest(key)
        return found

    def _nearest(self, key: str) -> list[str]:
        from difflib import SequenceMatcher, get_close_matches

        head, _, name = key.rpartition(".")
        every = [each for each in self.leaves if not each.endswith("_target_")]
        same_name = [each for each in every if each.rpartition(".")[2] == name]
        same_name.sort(key=lambda each: -SequenceMatcher(None, each, key).ratio())
        section = {each.rpartition(".")[2]: each for each in every if each.rpartition(".")[0] == head}
        close = [section[each] for each in get_close_matches(name, section, 3, 0.75)]
        below = [each for each in same_name if each.startswith(f"{head}.")]  # one section was left out
        behind = [each for each in same_name if head and each.endswith(f".{key}")]  # its first sections were left out
        out = list(dict.fromkeys([*below, *behind, *close, *same_name]))
        if not out:
            out = get_close_matches(key, every, 2, 0.92)
        return out[:3]

    def history(self, key: str) -> History:
        """Which released versions have a key, and what became of it by this version."""
        found = self._histories.get(key)
        if found is None:
            found = self._histories[key] = self._history(key)
        return found

    def _history(self, key: str) -> History:
        from verlint.verl.renames import rename_of

        spans: list[tuple[str, str]] = []
        before = ""
        for version in versions():
            other = leaves_of(version, self.name)
            if other is not None and (key in other or key in _sections_of(version, self.name)):
                if before and spans and spans[-1][1] == before:
                    spans[-1] = (spans[-1][0], version)
                else:
                    spans.append((version, version))
            before = version
        return History(key, tuple(spans), rename_of(key, self.version))


@lru_cache(maxsize=256)
def _sections_of(version: str, name: str) -> frozenset[str]:
    """The keys of a config of a released version that hold other keys."""
    out: set[str] = set()
    for key in leaves_of(version, name) or ():
        while key := key.rpartition(".")[0]:
            if key in out:
                break
            out.add(key)
    return frozenset(out)


@lru_cache(maxsize=512)
def _fields(version: str, target: str) -> Mapping[str, Field]:
    out: dict[str, Field] = {}
    for name, row in class_fields(version, target).items():
        default = row[1] if len(row) > 1 else None
        if isinstance(default, dict) and "=" in default:
            default = Unknown(default["="])
        out[name] = Field(row[0], default, len(row) == 1)
    return out


@lru_cache(maxsize=64)
def schema(version: str, entry: str = DEFAULT_ENTRY) -> Schema | None:
    """The schema of a version (as `known_version` reads it) or of a fork (by name) for a config.

    `entry` is the name of the config, also with the engine it is composed for (`ppo_trainer model_engine=megatron`).
    None when the version is not known or has no such config."""
    if version in forks():
        return _fork(version, entry)
    known = known_version(version)
    found = leaves_of(known, entry) if known else None
    return None if found is None else Schema(known, entry, found)


def _fork(name: str, entry: str) -> Schema | None:
    row = _line(f"fork {name} {entry}")
    if row is None:
        return None
    base, gone, put = row
    found = _changed(leaves_of(base, entry) or {}, gone, put)
    return Schema(base, entry, found, f"the {name} fork of VeRL {base}")


def config_of(version: str, module: str) -> str:
    """The config that an entry point starts with, "" when the version has no such entry point."""
    known = known_version(version)
    row = facts("entries", known).get(module) if known else None
    if row is None and known and module.startswith("recipe."):
        from verlint.verl.recipes import recipe_config

        return recipe_config(known, module)
    return row[1] if row else ""


_KINDS = {
    type(None): "null",
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    list: "list",
    dict: "dict",
}


def kind_of(data: object) -> str:
    """The kind of a value, "" for one that is not known."""
    return "" if data == "???" else _KINDS.get(type(data), "")


@lru_cache(maxsize=1024)
def annotation_kinds(text: str) -> frozenset[str]:
    """The kinds an annotation allows; empty for anything."""
    text = text.strip().strip("'\"")
    for name in ("Optional", "Union"):
        if text.startswith(name + "[") and text.endswith("]"):
            inner = _split(text[len(name) + 1 : -1], ",")
            return _united([*inner, *(["None"] if name == "Optional" else [])])
    pieces = _split(text, "|")
    if len(pieces) > 1:
        return _united(pieces)
    base = text.partition("[")[0].rpartition(".")[2]
    if base == "Literal":
        return frozenset(["str"])
    plain = {
        "int": "int",
        "float": "float",
        "str": "str",
        "bool": "bool",
        "None": "null",
        "list": "list",
        "List": "list",
    }
    plain |= {"tuple": "list", "Tuple": "list", "Sequence": "list"}
    if base in plain:
        return frozenset(["int", "float"] if base == "float" else [plain[base]])
    return frozenset() if base in ("Any", "object") else frozenset(["dict"])


def _united(texts: list[str]) -> frozenset[str]:
    each = [annotation_kinds(text) for text in texts]
    return frozenset().union(*each) if all(each) else frozenset()


def _split(text: str, sign: str) -> list[str]:
    out, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if char == sign and not depth:
            out.append(text[start:at])
            start = at + 1
    return [*out, text[start:]]
