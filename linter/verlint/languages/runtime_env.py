"""Ray runtime environments: a YAML or JSON file, or the JSON of `--runtime-env-json`.

Source: Ray's documentation of `RuntimeEnv`. `env_vars` must hold strings; Ray reads YAML by version 1.1, so `yes` and
`010` are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verlint.languages.bash.pieces import flat
from verlint.languages.yaml import Mapping as Node_
from verlint.languages.yaml import Scalar, embedded, parse_yaml
from verlint.lazy import pattern
from verlint.record import dataclass, field, replace
from verlint.source import Source, Span
from verlint.value import Hole, Literal, Text

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


def option_of(argv: Sequence[Text], name: str) -> Text | None:
    """The word that an option of `ray job submit` is given, None without it."""
    for at, word in enumerate(argv):
        text = word.known or word.prefix
        if text == "--":
            return None
        if text == name:
            return argv[at + 1] if at + 1 < len(argv) else None
        if text.startswith(name + "="):
            return word.slice(len(name) + 1, 1_000_000)
    return None


def runtime_env_of_word(word: Text) -> RuntimeEnv | None:
    """The environment that a word holds as JSON; values keep what is known of their pieces."""
    source = Source("", flat(word.parts))
    found = read_runtime_env(source)
    if found is None:
        return None
    variables = {name: _with_pieces(each, word, source) for name, each in found.env_vars.items()}
    folder = found.working_dir
    return replace(found, env_vars=variables, working_dir=None if folder is None else _pieces(folder, word, source))


def _with_pieces(variable: EnvVar, word: Text, source: Source) -> EnvVar:
    value = _pieces(variable.value, word, source)
    inside = variable.span.in_file()
    return replace(variable, value=value, span=_place(word, inside.start, inside.end) or word.span or variable.span)


def _pieces(text: Text, word: Text, source: Source) -> Text:
    """The value as a part of the word."""
    span = text.parts[0].span if text.parts else text.span
    if span is None:
        return replace(text, parts=(), span=word.span)
    inside = span.in_file()
    place = _place(word, inside.start, inside.end)
    found = word.slice(inside.start, inside.end)
    only = found.parts[0] if len(found.parts) == 1 else None
    parts = (replace(only, span=place),) if isinstance(only, Literal) and place is not None else found.parts
    return replace(found, parts=parts, span=place or word.span)


def _place(word: Text, start: int, end: int) -> Span | None:
    """Where a part of the word is written; None where it is not in one quoted or bare run."""
    at = 0
    for part in word.parts:
        length = len(part.text) if isinstance(part, Literal) else 1
        if at <= start < at + length:
            span = part.span
            if span is None or isinstance(part, Hole) or end > at + length:
                return span
            inset = 1 if span.end - span.start == length + 2 else 0
            if span.end - span.start != length + 2 * inset:
                return span
            first = span.start + inset
            return Span(span.source, first + start - at, first + end - at)
        at += length
    return None
