"""`data.truncation` is not applied by VeRL 0.3, and no longer since 0.7.

The key is still read and never used. VeRL 0.7 hands prompts on that are longer than `data.max_prompt_length`; since 0.8
they lose their beginning, with a line in the log, whatever the key says: `error` raises none, `right` and `middle` keep
another part. VeRL 0.3 shortens what is trained on, while vLLM gets the whole prompt, and stops at one that leaves no
room for an answer. Only `data.filter_overlong_prompts=True` keeps such prompts out.

Silent for supervised training, which does truncate, when long prompts are filtered, for `left` since 0.8, which is what
happens, and when nobody wrote the key.

Fix: set `data.filter_overlong_prompts=True`, or take the key away.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.languages.hydra.override import Form
from verlint.lazy import pattern
from verlint.rule import WARNING, Context, rule
from verlint.value import State
from verlint.verl.inert import TRUNCATION
from verlint_rules.config.reporting import report
from verlint_rules.config.view import View, everywhere, in_document, is_cut, view_of

KEY = "data.truncation"
_MAIN = "verl.trainer.main_ppo"
_ENTRY = pattern(r"main_ppo(?:\.py)?$|fully_async_main(?:\.py)?$")
"""Supervised training has a data set of its own, which does truncate."""


@rule("VL717", "ignored-truncation", on=Launch, severity=WARNING, since="0.1", words=("truncation",))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if KEY not in launch.by_key or not (launch.program.entry == _MAIN or _ENTRY.search(launch.program.entry)):
        return
    view = view_of(launch)
    if view is None or not view.stock:
        return
    override = view.config.set_by.get(KEY)
    if override is None or override.form is Form.DELETE or override.value.state is not State.KNOWN:
        return
    if not everywhere(launch, _holds_any) or in_document(launch) or is_cut(launch, ctx.project):
        return
    row = next(row for row in TRUNCATION if view.meets(row) is True)
    message = f"truncation={override.value} has no effect: {row.message}"
    yield report(ctx, override, message, help=row.right)


def _holds_any(view: View) -> bool:
    return view.stock and any(view.meets(row) is True for row in TRUNCATION)
