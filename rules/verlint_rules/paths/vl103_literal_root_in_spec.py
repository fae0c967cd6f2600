"""The roots of a spec come from the environment or are placeholders, never literal paths.

A spec says what an experiment is, not on which machine it runs. `roots: {checkpoints: /tmp/run}` holds for one cluster,
one user and one node; everywhere else the stages write where nobody looks, or not at all, and each person edits the
spec and commits the edit.

Silent for addresses (`s3://…`, `hf://…`), which are the same everywhere.

Fix: write `"${oc.env:CKPT_ROOT}"`, with the path in the environment of the machine, or `<CKPT_ROOT>` until it is known.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.spec import SpecFile
from verlint.finding import Edit, Finding, Safety
from verlint.rule import ERROR, Context, rule
from verlint.value import Literal, State, Value

_NAMES = {"data": "DATA_ROOT", "checkpoints": "CKPT_ROOT", "results": "RESULT_ROOT"}


@rule("VL103", "literal-root-in-spec", on=SpecFile, severity=ERROR, since="0.1", fixable="unsafe")
def check(file: SpecFile, ctx: Context) -> Iterator[Finding]:
    if file.spec is None:
        return
    for name, value in file.spec.roots.items():
        path = _literal(value)
        if path is None:
            continue
        variable = _NAMES.get(name, f"{name.upper().replace('-', '_')}_ROOT")
        help_ = f'write "${{oc.env:{variable}}}" and set {variable} on the machine'
        message = f"the root `{name}` is the literal path {path}: it holds on one machine only"
        finding = ctx.fail(value, message, help=help_)
        if value.span is not None and value.span.text.strip("'\"") == path:
            edit = Edit(value.span, f'"${{oc.env:{variable}}}"')
            finding = finding.with_fix(f"take the root from {variable}", edit, safety=Safety.UNSAFE)
        yield finding


def _literal(value: Value) -> str | None:
    """The path that a root is, None when it comes from outside or is no path."""
    if value.state is not State.KNOWN or not isinstance(value.data, str) or "://" in value.data:
        return None
    if "<" in value.data or any(isinstance(part, Literal) and part.overridable for part in _parts(value)):
        return None
    return value.data


def _parts(value: Value) -> tuple[object, ...]:
    return value.text.parts if value.text is not None else ()
