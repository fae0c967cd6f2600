"""A key that VeRL renamed or removed must not be set under its old name.

Each release of VeRL moves some keys: `ray_init.*` went to `ray_kwargs.ray_init.*`, `custom_reward_function.*` to
`reward.custom_reward_function.*`, and many went for good. Hydra refuses the old name
(`Key 'x' is not in struct`) and advises `+key=…`, which only hides it: nothing reads the old place any more.

Names that still work but are deprecated are told as info. Of keys that are still there and no longer count other rules
speak: VL714 of dead keys, VL716 of rewards, VL721 of the old micro batch sizes.

Whether a key is old hangs on the version in use; see VL702 for how that is found. Under a mere best fit the finding is
a warning.

Fix: write the successor that the finding names, or remove the key when there is none. The successor is written by
`--fix` where it means the same and takes the same values, else by `--unsafe-fixes` or by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import ERROR, INFO, WARNING, Context, rule
from verlint.value import State
from verlint.verl.renames import DEPRECATED, Rename
from verlint.verl.rows import in_versions
from verlint.verl.schema import kind_of, schema
from verlint_rules.config.reporting import label_of, report
from verlint_rules.config.rewriting import with_key, without_word
from verlint_rules.config.unknown import Unknown, unknown_keys
from verlint_rules.config.view import View, everywhere, view_of


@rule("VL703", "renamed-key", on=Launch, severity=ERROR, since="0.1", fixable="safe")
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    view = view_of(launch)
    if view is None:
        return
    for unknown in unknown_keys(launch):
        if unknown.rename is not None:
            yield _refused(ctx, view, unknown, unknown.rename)
    for row in DEPRECATED:
        override = view.config.set_by.get(row.old)
        if override is not None and view.value(row.old) is not None and everywhere(launch, partial(_old, row=row)):
            message = f"{label_of(view)} still takes {row.old} but warns: its name since {row.since} is {row.new}"
            finding = report(ctx, override, message, help=f"write {row.new}", severity=INFO)
            yield with_key(finding, override, row.new, safe=True)


def _refused(ctx: Context, view: View, unknown: Unknown, row: Rename) -> Finding:
    override, key = unknown.override, unknown.override.key
    became = f"is {row.new} since {row.since}" if row.new else f"is gone since {row.since}"
    message = f"{key} {became}: Hydra stops on {label_of(view)} with 'Key is not in struct'"
    severity = WARNING if view.launch.verl is not None and view.launch.verl.guess else ERROR
    note = f" ({row.note})" if row.note else ""
    if not row.new:
        finding = report(ctx, override, message, certain=unknown.certain, help=f"remove it{note}", severity=severity)
        return without_word(finding, override, safe=severity is ERROR)
    finding = report(ctx, override, message, certain=unknown.certain, help=f"write {row.new}{note}", severity=severity)
    if row.new in view.config.set_by:
        return without_word(finding, override, safe=False)
    if row.new not in view.schema or not _same_kinds(view, key, row):
        return finding
    return with_key(finding, override, row.new, safe=not row.note and severity is ERROR)


def _same_kinds(view: View, key: str, row: Rename) -> bool:
    """Whether the value that is given for the old key is one for the new key."""
    override = next(each for each in view.launch.overrides if each.key == key)
    kinds = view.schema.kind(row.new)
    if override.value.state is State.KNOWN:
        return not kinds or kind_of(override.value.data) in kinds
    return not kinds or bool(_old_kinds(key, row) & kinds)


def _old_kinds(key: str, row: Rename) -> frozenset[str]:
    from verlint.verl.schema import versions

    for version in reversed(versions()):
        found = schema(version)
        if found is not None and key in found.leaves and not in_versions(row.since, "", version):
            return found.kind(key)
    return frozenset()


def _old(view: View, row: Rename) -> bool:
    return in_versions(row.since, "", view.version) and row.new in view.schema
