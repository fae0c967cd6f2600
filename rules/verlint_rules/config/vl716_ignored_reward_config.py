"""Rewards must be configured where the version in use reads them.

VeRL 0.7.1 moved all that rewards need under `reward`: `custom_reward_function.path` became
`reward.custom_reward_function.path`, `reward_model.reward_manager` became `reward.reward_manager.name`. The old keys
are still in the config, with null. 0.7.1 and 0.8.0 copy what is set there to the new place; the entry point `main_ppo`
of 0.9 no longer does. Nothing fails: the run trains on the default reward of the data source, not on the function of
the launcher.

Checkouts are judged by their own `main_ppo.py`: when it copies the old keys, all is well. The fully asynchronous entry
point still copies them.

Fix: write the keys under `reward`, as `--unsafe-fixes` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from verlint.experiment.launch import Launch
from verlint.finding import Finding, Safety
from verlint.languages.hydra.override import Form, Override
from verlint.rule import ERROR, Context, rule
from verlint.verl.in_use import call_of
from verlint.verl.renames import MIGRATED, Rename
from verlint.verl.rows import NO_KEY, UNKNOWN, in_versions
from verlint_rules.config.reporting import label_of, report
from verlint_rules.config.rewriting import key_edit
from verlint_rules.config.view import View, everywhere, view_of

ENTRY = "verl.trainer.main_ppo"
_COPIES = "migrate_legacy_reward_impl"
_SINCE = "0.9.0"
"""The first version that copies nothing."""


@rule(
    "VL716",
    "ignored-reward-config",
    on=Launch,
    severity=ERROR,
    since="0.1",
    fixable="unsafe",
    words=("reward", "sandbox_fusion"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if call_of(launch.program.entry, ()).module != ENTRY or not any(row.old in launch.by_key for row in MIGRATED):
        return
    if launch.verl is None or not all(in_versions(_SINCE, "", each) for each in launch.verl.fitting):
        return  # a version that may be in use copies them: no need to compose its config
    view = view_of(launch)
    if view is None:
        return
    ignored = [
        (override, row)
        for row in MIGRATED
        if (override := view.config.set_by.get(row.old)) is not None and _is_lost(view, override, row)
    ]
    if ignored:
        yield _finding(ctx, view, ignored)


def _is_lost(view: View, override: Override, row: Rename) -> bool:
    held = view.value(row.old)
    if override.form is Form.DELETE or held is None or (held == view.value(row.new) and held is not UNKNOWN):
        return False
    return everywhere(view.launch, partial(_ignores, new=row.new))


def _finding(ctx: Context, view: View, ignored: list[tuple[Override, Rename]]) -> Finding:
    (first, row), *others = ignored
    more = f" and {len(others)} more" if others else ""
    fate = ", so the run trains on another reward" if any(_decides(each.old) for _, each in ignored) else ""
    message = f"{label_of(view)} ignores {row.old}{more}: {row.new} counts{fate}"
    finding = report(ctx, first, message, help="write " + ", ".join(each.new for _, each in ignored))
    for override, each in others:
        finding = finding.with_related(override.key_span, f"ignored too: {each.new} counts")
    edits = [edit for override, each in ignored if (edit := key_edit(override, each.new)) is not None]
    if len(edits) < len(ignored) or any(each.new in view.config.set_by for _, each in ignored):
        return finding
    return finding.with_fix("write the new keys", *edits, safety=Safety.UNSAFE)


def _decides(key: str) -> bool:
    return key.startswith("custom_reward_function.") or key.endswith((".reward_manager", "reward_model.enable"))


def _ignores(view: View, new: str) -> bool:
    """Whether the config has the new place, and the entry point does not copy what is at the old one."""
    if view.value(new) is NO_KEY:
        return False
    if view.checkout is not None:
        from verlint.verl import code

        module = "verl/trainer/main_ppo.py"
        return code.has(view.checkout, module, "hydra") and not code.has(view.checkout, module, _COPIES)
    return view.released and in_versions(_SINCE, "", view.version)
