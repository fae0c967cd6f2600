"""A value should not be turned off by another key.

Some keys count only when another one says so. `kl_loss_coef=0.01` without `use_kl_loss=True` puts no KL into the loss;
since VeRL 0.4 `algorithm.kl_ctrl.kl_coef` needs `algorithm.use_kl_in_reward=True`; estimators of groups know neither
`gamma` nor `lam`. The run then is not the one that the launcher seems to describe. `trainer.critic_warmup` without a
critic does have an effect, but not that one: the actor is not trained for the first steps. Entropy is computed in
chunks (`entropy_from_logits_with_chunking`) for inputs without padding only, and `rollout.ignore_eos` reaches no server
of 0.7 and 0.8.

A warning where a default decides; for coefficients, `gamma` and `lam` an information where the launcher itself says the
other thing (`use_kl_loss=False`, an estimator without lambda).

Silent for values that say the same as no value (0, the default), where the deciding key is not known before the run,
and for forks and checkouts that changed more than a few keys.

Fix: set the key that turns the value on, or take the value away.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from verlint.experiment.launch import Launch
from verlint.finding import Finding, Severity
from verlint.languages.hydra.override import Form
from verlint.rule import WARNING, Context, rule
from verlint.value import State
from verlint.verl.inert import INERT, Inert
from verlint.verl.rows import NO_KEY, UNKNOWN
from verlint_rules.config.reporting import report
from verlint_rules.config.view import View, everywhere, in_document, is_cut, view_of

_KEPT = frozenset(
    ["actor_rollout_ref.actor.kl_loss_coef", "algorithm.kl_ctrl.kl_coef", "algorithm.gamma", "algorithm.lam"]
)
"""Keys that launchers keep from the one they were copied from, and whose value waits for its switch."""


@rule(
    "VL715",
    "inert-value",
    on=Launch,
    severity=WARNING,
    since="0.1",
    words=("kl_loss_coef", "kl_coef", "norm_adv", "lam", "gamma", "critic_warmup", "with_chunking", "ignore_eos"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    view = view_of(launch)
    if view is None or not view.stock:
        return
    for inert in INERT:
        override = view.config.set_by.get(inert.row.key)
        if override is None or override.form is Form.DELETE or override.value.state is not State.KNOWN:
            continue
        if not everywhere(launch, partial(_is_inert, inert=inert)) or _may_change(launch, ctx):
            continue
        name = inert.row.key.rpartition(".")[2]
        message = f"{name} {override.value} has no effect: {inert.row.message}"
        if inert.row.key == "trainer.critic_warmup":
            message = f"{name} {override.value}: {inert.row.message}"
        finding = report(ctx, override, message, help=inert.row.right, severity=_severity(view, inert))
        for term in inert.row.when:
            setter = view.config.set_by.get(term.key)
            if setter is not None:
                finding = finding.with_related(setter.key_span, "because of this")
        yield finding


def _severity(view: View, inert: Inert) -> Severity | None:
    """An information where the launch itself turns the value off: it then knows, and keeps the value for another day.

    Values that nobody keeps so stay a warning, and warmup without a critic does have an effect."""
    is_told = all(term.key in view.config.set_by for term in inert.row.when)
    return Severity.INFO if is_told and inert.row.key in _KEPT else None


def _is_inert(view: View, inert: Inert) -> bool:
    row = inert.row
    if not view.stock or view.meets(row) is not True:
        return False
    held = view.value(row.key)
    if held is UNKNOWN or held is NO_KEY or any(_same(held, each) for each in inert.harmless):
        return False
    try:
        return not _same(held, view.schema.default(row.key))
    except KeyError:
        return True


def _same(held: object, other: object) -> bool:
    return isinstance(held, bool) == isinstance(other, bool) and held == other


def _may_change(launch: Launch, ctx: Context) -> bool:
    """Whether the key that decides may be on a line that is lost."""
    return in_document(launch) or is_cut(launch, ctx.project)
