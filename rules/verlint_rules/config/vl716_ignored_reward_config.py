"""Rewards must be configured where the version in use reads them.

VeRL 0.7.1 moved all that rewards need under `reward`: `custom_reward_function.path` became
`reward.custom_reward_function.path`, `reward_model.reward_manager` became `reward.reward_manager.name`. The old keys are
still in the config, with null. 0.7.1 and 0.8.0 copy what is set there to the new place; the entry point `main_ppo` of
0.9 no longer does. Nothing fails: the run trains on the default reward of the data source, not on the function of the
launcher.

Checkouts are judged by their own `main_ppo.py`: when it copies the old keys, all is well. The fully asynchronous entry
point still copies them.

Fix: write the keys under `reward`, as `--unsafe-fixes` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.languages.hydra.override import Form
from verlint.rule import ERROR, Context, rule
from verlint.verl import code
from verlint.verl.in_use import call_of
from verlint.verl.renames import MIGRATED
from verlint.verl.rows import NO_KEY, in_versions
from verlint_rules.config.reporting import label_of, report
from verlint_rules.config.rewriting import with_key, without_word
from verlint_rules.config.view import View, everywhere, view_of

ENTRY = "verl.trainer.main_ppo"
_COPIES = "migrate_legacy_reward_impl"


@rule("VL716", "ignored-reward-config", on=Launch, severity=ERROR, since="0.2", fixable="unsafe")
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if call_of(launch.program.entry, ()).module != ENTRY or not any(row.old in launch.by_key for row in MIGRATED):
        return
    view = view_of(launch)
    if view is None:
        return
    for row in MIGRATED:
        override = view.config.set_by.get(row.old)
        if override is None or override.form is Form.DELETE or view.value(row.old) is None:
            continue
        if view.value(row.old) == view.value(row.new) or not everywhere(launch, partial(_ignores, new=row.new)):
            continue
        message = f"{label_of(view)} ignores {row.old}: {row.new} counts, and the run trains on another reward"
        if not row.old.startswith("custom_reward_function") and not row.old.endswith("reward_manager"):
            message = f"{label_of(view)} ignores {row.old}: {row.new} counts"
        finding = report(ctx, override, message, help=f"write {row.new}")
        if row.new in view.config.set_by:
            yield without_word(finding, override, safe=False)
        else:
            yield with_key(finding, override, row.new, safe=False)


def _ignores(view: View, new: str) -> bool:
    """Whether the config has the new place, and the entry point does not copy what is at the old one."""
    if view.value(new) is NO_KEY or not in_versions("0.9.0", "", view.version):
        return False
    if view.checkout is not None:
        module = "verl/trainer/main_ppo.py"
        return code.has(view.checkout, module, "hydra") and not code.has(view.checkout, module, _COPIES)
    return view.released
