"""Ray runtime environments: a YAML or JSON file, or the JSON of `--runtime-env-json`.

Source: Ray's documentation of `RuntimeEnv`. `env_vars` must hold strings; Ray reads YAML by version 1.1, so `yes` and
`010` are none."""

from __future__ import annotations

from collections.abc import Mapping

from verlint.languages.yaml import Mapping as Node_
from verlint.languages.yaml import Scalar, embedded, parse_yaml
from verlint.lazy import pattern
from verlint.record import dataclass, field
from verlint.source import Source, Span
from verlint.value import Literal, Text

KEYS = frozenset(
    ["working_dir", "py_modules", "py_executable", "excludes", "pip", "uv", "conda", "env_vars", "config", "nsight",
     "image_uri", "container", "worker_process_setup_hook", "java_jars", "_ray_commit", "mpi"]
)  # fmt: skip

_NO_STRING = pattern(
    r"(?:[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*(?::[0-5]?[0-9])*)|[-+]?(?:[0-9][0-9_]*)?\.[0-9_]+(?:[eE][-+][0-9]+)?"
    r"|[-+]?[0-9][0-9_]*\.(?:[eE][-+][0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|~|null|Null|NULL|"
    r"yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)"
)
"""Plain scalars that YAML 1.1 takes for something else than a string."""


@dataclass(frozen=True, slots=True)
class EnvVar:
    """One entry of `env_vars`: its value, the place of the value as written, and whether Ray gets a string."""

    value: Text
    span: Span
    is_string: bool


@dataclass(frozen=True, slots=True)
class RuntimeEnv:
    """What a job's processes are given. `working_dir` is None when it is not written."""

    env_vars: Mapping[str, EnvVar] = field(default_factory=dict)
    working_dir: Text | None = None
    keys: tuple[str, ...] = ()


def read_runtime_env(source: Source) -> RuntimeEnv | None:
    """The environment that a YAML or JSON text describes; None for a text that is none, or no YAML. Never raises."""
    file = parse_yaml(source)
    root = file.root
    if file.error is not None or not isinstance(root, Node_):
        return None
    wrapped = root.get("runtime_env")
    if isinstance(wrapped, Node_):
        root = wrapped
    if not KEYS & root.flat.keys():
        return None
    variables = root.get("env_vars")
    found: dict[str, EnvVar] = {}
    for name, entry in variables.flat.items() if isinstance(variables, Node_) else ():
        node = entry.value
        if isinstance(node, Scalar):
            is_string = bool(node.style) or node.tag.endswith(":str") or not _NO_STRING.fullmatch(node.text or "~")
            found[name] = EnvVar(_text(node), node.span, is_string)
        else:
            found[name] = EnvVar(Text((), node.span), node.span, False)
    folder = root.get("working_dir")
    return RuntimeEnv(found, _text(folder) if isinstance(folder, Scalar) else None, tuple(root.flat))


def _text(node: Scalar) -> Text:
    source = embedded(node)
    return Text((Literal(source.text, source.whole()),), node.span)
