"""The references of a spec, followed in its plain data, and written as words of a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from verlint.experiment.spec_references import parts_of
from verlint.record import dataclass

_DEEPEST = 16


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable inside a text, with its default if it has one."""

    name: str
    default: str | None = None


Parts = tuple["str | Variable", ...]


class Reader:
    """Follows the references of one spec."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self.spec = spec

    def stage(self, name: str) -> Mapping[str, Any]:
        """A stage, empty when there is none of the name."""
        found = self.spec.get("stages", {}).get(name)
        return found if isinstance(found, Mapping) else {}

    def parts(self, text: object, stage: Mapping[str, Any] | None = None, depth: int = 0) -> Parts:
        """The characters and variables that a value stands for. A reference that leads nowhere stays as it is."""
        if not isinstance(text, str):
            return (written(text),)
        out: list[str | Variable] = []
        for part in parts_of(text, shell=False):
            whole = text[part.start : part.end]
            if part.kind == "env":
                out.append(Variable(part.text, part.default))
            elif part.kind == "path" and depth < _DEEPEST:
                found = self._lookup(part.text, stage)
                out += self.parts(found, stage, depth + 1) if found is not None else (whole,)
            elif part.kind == "text":
                out.append(part.text)
            else:
                out.append(whole)
        return tuple(out)

    def _lookup(self, path: str, stage: Mapping[str, Any] | None) -> object:
        section, _, rest = path.partition(".")
        if section == "models":
            return self.model(rest)
        if section == "deps" and stage is not None:
            return self.made(rest, stage)
        found: Any = self.spec
        for key in path.split("."):
            found = found.get(key) if isinstance(found, Mapping) else None
        return None if isinstance(found, (Mapping, list)) else found

    def model(self, role: str) -> object:
        """The model of a role, be it shared with another one."""
        models = self.spec.get("models", {})
        for _ in range(_DEEPEST):
            each = models.get(role)
            if not isinstance(each, Mapping):
                return None
            if "same_as" not in each:
                return each.get("id")
            role = str(each["same_as"])
        return None

    def made(self, name: str, stage: Mapping[str, Any]) -> object:
        """The path of what a dependency of a stage is, None for checkpoints."""
        dep = stage.get("deps", {}).get(name)
        if not isinstance(dep, Mapping):
            return None
        outs = self.stage(str(dep.get("from"))).get("outs", {})
        paths = {key: out for key, out in outs.items() if isinstance(out, str)}
        return paths.get(name, next(iter(paths.values()), None) if len(paths) == 1 else None)

    def shell(self, text: object, stage: Mapping[str, Any] | None = None) -> str:
        """A value as one word of a shell."""
        return quoted(self.parts(text, stage))

    def shown(self, text: object, stage: Mapping[str, Any] | None = None) -> str:
        """A value for people: variables with their sign."""
        return "".join(each if isinstance(each, str) else f"${each.name}" for each in self.parts(text, stage))

    def shell_command(self, text: str, stage: Mapping[str, Any]) -> str:
        """A whole command, in which the references of the spec become what they stand for and the rest stays."""
        out = ""
        for part in parts_of(text, shell=True):
            whole = text[part.start : part.end]
            if part.kind == "env":
                out += _variable(Variable(part.text, part.default))
            elif part.kind == "path" and (found := self._lookup(part.text, stage)) is not None:
                for each in self.parts(found, stage):
                    out += each if isinstance(each, str) else _variable(each)
            else:
                out += whole
        return out


def written(value: object) -> str:
    """A scalar of a spec as launchers take it."""
    if value is None:
        return "null"
    if isinstance(value, (list, tuple)):
        return ",".join(written(each) for each in value)
    return str(value)


def quoted(parts: Parts) -> str:
    """Parts as one word of a shell."""
    if all(isinstance(each, str) for each in parts):
        return shlex.quote("".join(str(each) for each in parts))
    inner = "".join(re.sub(r'([\\"$`])', r"\\\1", each) if isinstance(each, str) else _variable(each) for each in parts)
    return f'"{inner}"'


def _variable(variable: Variable) -> str:
    """A variable that must be set, or has a default."""
    if variable.default is None:
        return f"${{{variable.name}:?}}"
    plain = re.sub(r'[\\"$`}]', "", variable.default)
    return f"${{{variable.name}:-{plain}}}"
