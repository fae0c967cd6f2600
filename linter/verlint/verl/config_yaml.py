"""Config files of Hydra, read as OmegaConf reads them: YAML 1.1 scalars, repeated keys refused.

Nearly all config files are block mappings of scalars and short flow collections; those are read line by line, some
hundred times faster than by a full YAML parser. Anything else goes through `languages.yaml`.
"""

from __future__ import annotations

import re

from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.source import Source
from verlint.value import Data
from verlint.verl.interpolation import ConfigError as ConfigError

TYPE_CHECKING = False  # as `typing` says it, without its import
if TYPE_CHECKING:
    from typing import TypeAlias

Config: TypeAlias = "dict[str, Data]"


@dataclass(frozen=True, slots=True, eq=False)
class ConfigFile:
    """One config file. `data` is its content without the defaults list, `lines` the line (from 1) of each key by its
    dotted path, `package` its `@package` header (None without one), `defaults` its defaults list."""

    data: Config
    lines: dict[str, int]
    package: str | None
    defaults: list[Data]


class _NotSimple(Exception):
    """The text needs a full YAML parser."""


_HEADER = pattern(r"#[ \t]*@package[ \t:]+(\S+)[ \t]*")
_LINE = pattern(
    r"""([ ]*)(?:(-)(?:[ ]+|$))?              # indent, list item
    (?:([\w./@${}-][\w./@${}\ -]*?|"[^"\\]*"|'[^']*')[ ]*:(?=[ ]|$))?   # key
    [ ]*(.*?)[ ]*$""",
    re.X,
)
_PLAIN_STOP = pattern(r"[ \t]#")
_NUMBER_START = frozenset("-+.0123456789")
_BOOLS: dict[str, Data] = {
    **dict.fromkeys(("yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}
_INT = pattern(r"[-+]?(?:0b[01_]+|0[0-7_]*|[1-9][0-9_]*|0x[0-9a-fA-F_]+|[1-9][0-9_]*(?::[0-5]?[0-9])+)")
_FLOAT = pattern(
    r"""[-+]?[0-9]+(?:_[0-9]+)*\.[0-9_]*(?:[eE][-+]?[0-9]+)?
    |[-+]?[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+)
    |\.[0-9]+(?:_[0-9]+)*(?:[eE][-+][0-9]+)?
    |[-+]?[0-9]+(?:_[0-9]+)*(?::[0-5]?[0-9])+\.[0-9_]*
    |[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)""",
    re.X,
)
_FLOW = pattern(r"""\s*(?:([\[\]{},:])|"([^"\\]*)"|'([^']*)'|([^\s\[\]{},:"'#&*!|>%@`$][^\[\]{},:"'#$]*))""")


_MOST_DIGITS = 1_000


def scalar(text: str) -> Data:
    """The value of an unquoted scalar by YAML 1.1, with OmegaConf's floats (`1e-6`) and without timestamps."""
    if text in _BOOLS:
        return _BOOLS[text]
    if text[0] not in _NUMBER_START or len(text) > _MOST_DIGITS:
        return text
    if _FLOAT.fullmatch(text):
        return _float(text)
    if _INT.fullmatch(text):
        return _int(text)
    return text


def _float(text: str) -> float:
    plain = text.replace("_", "").lower()
    if plain.lstrip("+-") in (".inf", ".nan"):
        return float(plain.replace(".", ""))
    return _sixty(plain) if ":" in plain else float(plain)


def _sixty(text: str) -> float:
    sign = -1.0 if text.startswith("-") else 1.0
    total = 0.0
    for digits in text.lstrip("+-").split(":"):
        total = total * 60 + float(digits)
    return sign * total


def _int(text: str) -> int:
    plain = text.replace("_", "")
    sign, digits = (-1 if plain.startswith("-") else 1), plain.lstrip("+-")
    if ":" in digits:
        return int(_sixty(plain))
    if digits.startswith(("0b", "0x")):
        return sign * int(digits, 0)
    if len(digits) > 1 and digits.startswith("0"):
        return sign * int(digits, 8)
    return sign * int(digits)


_DEEPEST = 100
"""Levels that are read by the quick reader here; what is deeper is left to the reader of YAML, which has a limit."""


def read_config(source: Source) -> ConfigFile:
    """A config file. Raises ConfigError for what is no mapping or no YAML."""
    text = source.text
    lines: dict[str, int] = {}
    try:
        data = _Lines(text, lines).read()
    except _NotSimple:
        lines.clear()
        data = _by_yaml(source, lines)
    defaults = data.pop("defaults", None)
    if defaults is None:
        defaults = []
    if not isinstance(defaults, list):
        raise ConfigError(f"{source.path}: the defaults list is no list")
    return ConfigFile(data, lines, _package(text), defaults)


def _package(text: str) -> str | None:
    """The `# @package` header: only comments and blank lines may stand before it."""
    if "@package" not in text:
        return None
    for line in text.splitlines():
        if line and not line.startswith("#"):
            return None
        match = _HEADER.fullmatch(line)
        if match:
            return match[1]
    return None


class _Lines:
    """Reads block mappings and lists of one-line values. Raises _NotSimple at the first thing that is more."""

    def __init__(self, text: str, places: dict[str, int]) -> None:
        if "\t" in text or "\r" in text or text.startswith(("---", "%", "\ufeff")):
            raise _NotSimple
        self.rows: list[tuple[int, int, str, str | None, str]] = []
        match = _LINE.match
        for number, line in enumerate(text.split("\n"), 1):
            stripped = line.lstrip(" ")
            if not stripped or stripped[0] == "#":
                continue
            found = match(line)
            if found is None:
                raise _NotSimple
            indent, dash, key, value = found.groups()
            self.rows.append((number, len(indent), dash or "", key, value))
        self.places = places
        self.at = 0

    def read(self) -> Config:
        if not self.rows:
            return {}
        first = self.rows[0]
        if first[2] or first[3] is None:
            raise _NotSimple
        data = self._mapping(first[1], "")
        if self.at < len(self.rows):
            raise _NotSimple
        return data

    def _mapping(self, indent: int, prefix: str) -> Config:
        out: Config = {}
        rows, places = self.rows, self.places
        while self.at < len(rows):
            number, own, dash, key, value = rows[self.at]
            if own < indent:
                break
            if own > indent or dash or key is None:
                if own == indent and dash:
                    break
                raise _NotSimple
            name = _key(key)
            if name in out:
                raise ConfigError(f"line {number}: the key {name} stands twice")
            path = prefix + name
            places[path] = number
            self.at += 1
            out[name] = self._value(value, indent, path)
        return out

    def _value(self, text: str, indent: int, path: str) -> Data:
        if text and text[0] != "#":
            return _one_line(text)
        if self.at < len(self.rows):
            _, own, dash, key, _ = self.rows[self.at]
            if dash and own >= indent:
                return self._list(own, path)
            if own > indent:
                if key is None or path.count(".") > _DEEPEST:
                    raise _NotSimple
                return self._mapping(own, path + ".")
        return None

    def _list(self, indent: int, path: str) -> list[Data]:
        out: list[Data] = []
        while self.at < len(self.rows):
            _, own, dash, key, value = self.rows[self.at]
            if own < indent or not dash:
                if own > indent:
                    raise _NotSimple
                break
            if own != indent:
                raise _NotSimple
            self.at += 1
            if key is None:
                if not value or value[0] in "#-":
                    raise _NotSimple
                out.append(_one_line(value))
                continue
            inner: Data
            if value and value[0] != "#":
                inner = _one_line(value)
            else:
                following = self.rows[self.at] if self.at < len(self.rows) else None
                if following is None or not following[2] or following[1] <= indent:
                    raise _NotSimple
                inner = self._list(following[1], path)
            if self.at < len(self.rows) and self.rows[self.at][1] > indent:
                raise _NotSimple
            out.append({_key(key): inner})
        return out


def _key(text: str) -> str:
    if text[0] in "\"'":
        return text[1:-1]
    if "{" in text or "$" in text or not isinstance(scalar(text), str):
        raise _NotSimple
    return text


def _one_line(text: str) -> Data:
    first = text[0]
    if first in "[{":
        return _flow(text)
    if first in "\"'":
        end = text.find(first, 1)
        rest = text[end + 1 :].lstrip() if end > 0 else "x"
        inner = text[1:end]
        if (rest and rest[0] != "#") or "\\" in inner:
            raise _NotSimple
        return inner
    if first in "&*!|>%@`" or (first in "-:?" and text[1:2] in ("", " ")):
        raise _NotSimple
    if "#" in text:
        stop = _PLAIN_STOP.search(text)
        if stop:
            text = text[: stop.start()].rstrip()
    if ": " in text or text.endswith(":"):
        raise _NotSimple
    return scalar(text)


def one_line(text: str) -> Data:
    """A value written on one line, None for what is more than a scalar or a flow collection."""
    try:
        return _one_line(text) if text else None
    except _NotSimple:
        return None


def _flow(text: str) -> Data:
    """A flow collection on one line."""
    tokens: list[tuple[str, Data]] = []
    at = 0
    depth = 0
    while True:
        match = _FLOW.match(text, at)
        if match is None:
            raise _NotSimple
        sign, double, single, plain = match.groups()
        at = match.end()
        if sign is not None:
            tokens.append((sign, None))
            depth += 1 if sign in "[{" else -1 if sign in "]}" else 0
            if depth > _DEEPEST:
                raise _NotSimple
        else:
            tokens.append(
                ("", double if double is not None else single if single is not None else scalar(plain.rstrip()))
            )
        if depth <= 0:
            break
    rest = text[at:].lstrip()
    if rest and not rest.startswith("#"):
        raise _NotSimple
    value, used = _flow_value(tokens, 0)
    if used != len(tokens):
        raise _NotSimple
    return value


def _flow_value(tokens: list[tuple[str, Data]], at: int) -> tuple[Data, int]:
    sign, value = tokens[at]
    at += 1
    if not sign:
        return value, at
    if sign == "[":
        items: list[Data] = []
        while tokens[at][0] != "]":
            item, at = _flow_value(tokens, at)
            items.append(item)
            at = _after_item(tokens, at, "]")
        return items, at + 1
    if sign == "{":
        entries: Config = {}
        while tokens[at][0] != "}":
            kind, name = tokens[at]
            if kind or not isinstance(name, str) or tokens[at + 1][0] != ":":
                raise _NotSimple
            entries[name], at = _flow_value(tokens, at + 2)
            at = _after_item(tokens, at, "}")
        return entries, at + 1
    raise _NotSimple


def _after_item(tokens: list[tuple[str, Data]], at: int, close: str) -> int:
    if at < len(tokens) and tokens[at][0] == ",":
        return at + 1
    if at >= len(tokens) or tokens[at][0] != close:
        raise _NotSimple
    return at


def _by_yaml(source: Source, lines: dict[str, int]) -> Config:
    """The file by the full parser."""
    from verlint.languages import yaml

    found = yaml.parse_yaml(source)
    if found.error is not None:
        raise ConfigError(f"{source.path}: {found.error.message}")
    if found.duplicates:
        raise ConfigError(f"{source.path}: the key {found.duplicates[0].key} stands twice")
    if not found.documents:
        return {}
    first = found.documents[0]
    if len(found.documents) == 1 and isinstance(first, yaml.Scalar) and not first.text:
        return {}
    if len(found.documents) > 1 or not isinstance(first, yaml.Mapping):
        raise ConfigError(f"{source.path}: no single mapping")
    data = _plain(first, "", lines)
    assert isinstance(data, dict)
    return data


def _plain(node: object, prefix: str, lines: dict[str, int]) -> Data:
    from verlint.languages import yaml

    if isinstance(node, yaml.Mapping):
        out: Config = {}
        for key, entry in node.flat.items():
            lines[prefix + key] = entry.key.span.begin.line
            out[key] = _plain(entry.value, f"{prefix}{key}.", lines)
        return out
    if isinstance(node, yaml.Sequence):
        return [_plain(item, prefix, {}) for item in node.items]
    assert isinstance(node, yaml.Scalar)
    if node.style or node.tag.endswith(":str"):
        return node.text
    return scalar(node.text)
