"""A default that changed between two versions changes a run that does not set the key.

When a project is pinned to one VeRL and checked for another (`--verl`), or two of its files name different versions,
keys that the launcher leaves out may mean something else there: `actor.entropy_coeff` went from 0.001 to 0 with 0.4,
`rollout.mode` from `sync` to `async` with 0.7, `rollout.calculate_log_probs` from False to True with 0.9. Nothing fails
and the results differ.

Only told when two versions are declared: by `--verl`, a directive, the settings, or a pin in a requirements file. The
keys are those that change what is trained, not how fast; `verlint show LAUNCHER --diff VERSION` lists all.

Fix: write the value that is meant, so that it no longer hangs on the version.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import INFO, Context, rule
from verlint.value import show
from verlint.verl.inert import TELLING_DEFAULTS
from verlint.verl.rows import NO_KEY, UNKNOWN
from verlint.verl.schema import known_version, schema
from verlint_rules.config.reporting import label_of
from verlint_rules.config.view import View, in_document, view_of


@rule("VL718", "changed-default", on=Launch, severity=INFO, since="0.1")
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if launch.verl is None or launch.verl.guess or in_document(launch):
        return
    from verlint_rules.config.declared import declared_versions

    others = declared_versions(launch, ctx.project)
    view = view_of(launch) if others else None
    if view is None or not view.stock:
        return
    for source, text in others.items():
        changes = _changes(view, text)
        if changes:
            told = ", ".join(f"{key} {old} -> {new}" for key, old, new in changes)
            count = f"{len(changes)} defaults are others" if len(changes) > 1 else "a default is another"
            message = f"{count} in {label_of(view)} than in {known_version(text)} ({source}): {told}"
            yield ctx.fail(launch.head, message, help=f"set what is meant, such as {changes[0][0]}={changes[0][1]}")


def _changes(view: View, text: str) -> list[tuple[str, str, str]]:
    """Keys that are not set, with their default in another version and in this one."""
    other = schema(known_version(text), view.schema.name)
    out: list[tuple[str, str, str]] = []
    for key in TELLING_DEFAULTS:
        if other is None or key in view.config.set_by or key not in other.leaves:
            continue
        mine, theirs = view.value(key), other.default(key)
        same = type(mine) is type(theirs) and mine == theirs
        if not same and mine not in (UNKNOWN, NO_KEY) and _plain(theirs):
            out.append((key, _said(theirs), _said(mine)))
    return out


def _plain(data: object) -> bool:
    return data is None or isinstance(data, (str, int, float, bool))


def _said(data: object) -> str:
    return show(data)  # type: ignore[arg-type]
