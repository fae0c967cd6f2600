"""A spec as YAML text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from verlint.lazy import pattern

_AMBIGUOUS = pattern(r"(?i)true|false|null|yes|no|on|off|~|[-+.\d_]+(?:e[-+]?\d+)?|0x[0-9a-f]+|\.inf|\.nan|\d[\d:.-]*")


def spec_text(spec: Mapping[str, Any]) -> str:
    """The text of a spec, in the order of its mappings."""
    return "".join(line + "\n" for line in _lines(spec, 0))


def _lines(value: Mapping[str, Any], depth: int) -> list[str]:
    out: list[str] = []
    for key, each in value.items():
        name = "  " * depth + scalar(key)
        if isinstance(each, Mapping) and each:
            if depth and len(flow := f"{name}: {_flow(each)}") <= 100 and _is_flat(each):
                out.append(flow)
            else:
                out += [f"{name}:", *_lines(each, depth + 1)]
        else:
            out.append(f"{name}: {_flow(each)}")
    return out


def _is_flat(value: Mapping[str, Any]) -> bool:
    return all(not isinstance(each, (Mapping, list)) or key == "roles" for key, each in value.items())


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(key)}: {_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(each) for each in value) + "]"
    return scalar(value)


def scalar(value: Any) -> str:
    """One value; text is quoted where it would be read as something else."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        text = repr(value)
        return re.sub(r"^(\d+)e", r"\1.0e", text)
    if isinstance(value, int):
        return str(value)
    text = str(value)
    if re.fullmatch(r"[A-Za-z<][\w.<>/-]*", text) and not _AMBIGUOUS.fullmatch(text):
        return text
    if re.fullmatch(r"\d+\.\.\d+(?:/\d+)?", text):
        return text
    return json.dumps(text, ensure_ascii=False)
