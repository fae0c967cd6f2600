"""A plain YAML value means one thing to people and another to the program that reads it.

YAML 1.1 and 1.2 disagree about unquoted values, and so do the loaders. PyYAML (Ray, SkyPilot) reads `1e-6` as text, as
it wants a dot and a sign; `010` is 8; `12:30:00` is the number 45000; `on` is true. OmegaConf (Hydra configs) reads
`1e-6` as a number, but `010` and `12:30:00` as PyYAML does. Kubernetes reads `yes` as true and `010` as 8. An
experiment spec is YAML 1.2: `yes` is text, `010` is the number 10, `1_000` is text.

Found are values of which the file's own loader makes something else than they look like. Words like `on` are left
alone where a switch is meant and read; in `env_vars` they are not, because Ray takes nothing but text there. Files
whose loader is not known are left alone.

Fix: write the value so that all loaders agree: quotes around text, `1.0e-6` for the number, `10` or `"010"`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Edit, Finding, Safety
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import WARNING, Context, rule
from verlint.source import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.languages.yaml import Node, Scalar

_MOST_DIGITS = 18
_SWITCH = pattern(r"(?:y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF)")
_TRUE = pattern(r"(?i)y|yes|on")
_OCTAL = pattern(r"[-+]?0[0-9_]+")
_CLOCK = pattern(r"[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_UNDERSCORES = pattern(r"[-+]?[1-9][0-9]*(?:_[0-9]+)+")
_EXPONENT = pattern(r"[-+]?(?:[0-9]+[eE][-+]?[0-9]+|(?:[0-9]+\.[0-9]*|\.[0-9]+)[eE][0-9]+)")
_DATE = pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CONFIG = pattern(r"(?m)^(?:defaults|hydra|actor_rollout_ref|trainer|algorithm|critic)[ \t]*:")
_SKY = pattern(r"(?m)^(?:resources|setup|run|num_nodes|file_mounts)[ \t]*:")
_ENVIRONMENT = frozenset(["env_vars", "envs", "env", "secrets"])
_SIXTY = 60


@dataclass(frozen=True, slots=True)
class Misread:
    """What a loader makes of a value, in words; how to write that so that all loaders read it (`write`, "" when the
    author must choose), and what to tell the author."""

    reads: str
    write: str
    help: str = ""


@rule(
    "VL007",
    "ambiguous-scalar",
    on=Loaded,
    severity=WARNING,
    since="0.1",
    fixable="safe",
    words=(
        "schema:",
        "apiversion",
        "env_vars",
        "runtime_env",
        "working_dir",
        "resources:",
        "defaults:",
        "actor_rollout_ref:",
    ),
)
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    if file.kind is Kind.SPEC:
        for each in ctx.project.specs:
            if each.source is file.source:
                wrong = {problem.span.order() for problem in each.problems}
                for document in each.yaml.documents:
                    yield from _found(document, "spec", ctx, wrong)
    elif file.kind in (Kind.YAML, Kind.JOB):
        loader = _loader(file.source.text)
        if loader:
            from verlint.languages.yaml import parse_yaml

            for document in parse_yaml(file.source).documents:
                yield from _found(document, loader, ctx, set())


def _loader(text: str) -> str:
    """What reads a YAML file, as its keys tell: "" when they do not."""
    if re.search(r"(?m)^apiVersion[ \t]*:", text):
        return "Kubernetes"
    if re.search(r"(?m)^(?:runtime_env|working_dir|env_vars|pip|py_modules)[ \t]*:", text):
        return "Ray"
    if _CONFIG.search(text):
        return "Hydra"
    return "SkyPilot" if len(set(_SKY.findall(text))) >= 2 else ""


def _found(node: Node, loader: str, ctx: Context, wrong: set[tuple[str, int, int]]) -> Iterator[Finding]:
    for scalar, path in _values(node, ()):
        if scalar.style or scalar.tag or scalar.span.order() in wrong or scalar.span != scalar.written:
            continue
        misread = _misread(scalar.text, loader, bool(_ENVIRONMENT.intersection(path[:-1])))
        if misread is None:
            continue
        name = path[-1] if path else "the value"
        reader = "this spec" if loader == "spec" else loader
        finding = ctx.fail(
            scalar.span,
            f"{reader} reads {scalar.text} as {misread.reads}",
            value=f"{name} = {scalar.text}",
            help=f"write {misread.help or misread.write}",
        )
        span: Span = scalar.span.in_file()
        if misread.write and span.text == scalar.text:
            finding = finding.with_fix(f"write {misread.write}", Edit(span, misread.write), safety=Safety.SAFE)
        yield finding


def _values(node: Node, path: tuple[str, ...]) -> Iterator[tuple[Scalar, tuple[str, ...]]]:
    """The values of a document, each with the keys that lead to it; keys themselves are no values."""
    from verlint.languages.yaml import Mapping as Map
    from verlint.languages.yaml import Sequence as List

    if isinstance(node, Map):
        for entry in node.entries:
            yield from _values(entry.value, (*path, entry.key.text))
    elif isinstance(node, List):
        for item in node.items:
            yield from _values(item, path)
    else:
        yield node, path


def _misread(text: str, loader: str, environment: bool) -> Misread | None:
    match loader:
        case "spec":
            return _in_spec(text)
        case "Kubernetes":
            return _in_kubernetes(text, environment)
        case "Hydra":
            return _numbers(text)
    return _in_pyyaml(text, environment)


def _in_spec(text: str) -> Misread | None:
    """YAML 1.2, core schema."""
    if _SWITCH.fullmatch(text) and len(text) > 1:
        meant = "true" if _TRUE.fullmatch(text) else "false"
        return Misread(f"text, not as the switch {meant}", "", f'{meant}, or "{text}" for the text')
    if len(text) <= _MOST_DIGITS and _OCTAL.fullmatch(text) and "_" not in text and text.strip("+-0"):
        return Misread(f"the number {int(text)}", str(int(text)), f'{int(text)}, or "{text}" for the text')
    if _UNDERSCORES.fullmatch(text):
        return Misread("text, not as a number", "", text.replace("_", ""))
    return None


def _in_pyyaml(text: str, environment: bool) -> Misread | None:
    """YAML 1.1 as PyYAML reads it."""
    if _EXPONENT.fullmatch(text) and not environment:
        return Misread("text, not as a number", "", _with_dot(text))
    if environment and (_SWITCH.fullmatch(text) and len(text) > 1):
        return Misread(f"{bool(_TRUE.fullmatch(text))}, and takes nothing but text here", "", f'"{text}"')
    if environment and _DATE.fullmatch(text):
        return Misread("a date, and takes nothing but text here", "", f'"{text}"')
    return _numbers(text)


def _in_kubernetes(text: str, environment: bool) -> Misread | None:
    """YAML 1.1 without numbers to base 60."""
    if environment and _SWITCH.fullmatch(text) and len(text) > 1:
        switch = "true" if _TRUE.fullmatch(text) else "false"
        return Misread(f"{switch}, and refuses it as a value", "", f'"{text}"')
    return _octal(text)


def _numbers(text: str) -> Misread | None:
    """What PyYAML and OmegaConf share."""
    if _CLOCK.fullmatch(text):
        number: float = 0
        for part in text.lstrip("+-").replace("_", "").split(":"):
            number = number * _SIXTY + float(part)
        return Misread(f"the number {number:g}", "", f'"{text}"')
    return _octal(text)


def _octal(text: str) -> Misread | None:
    digits = text.lstrip("+-").replace("_", "")
    if len(digits) > _MOST_DIGITS:
        return None
    if not _OCTAL.fullmatch(text) or not digits.strip("0") or set(digits) & {"8", "9"}:
        return None
    return Misread(f"the octal number {int(digits, 8)}", "", f'"{text}", or {int(digits)} for the number')


def _with_dot(text: str) -> str:
    """A number that all loaders take for one."""
    head, sign, exponent = re.split(r"([eE])", text, maxsplit=1)
    head = head if "." in head else f"{head}.0"
    return f"{head}{sign}{exponent if exponent[0] in '+-' else '+' + exponent}"
