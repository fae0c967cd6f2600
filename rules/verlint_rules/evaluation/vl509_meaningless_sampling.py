"""Several greedy answers to one prompt are the same answer.

With `val_kwargs.n` above 1 the trainer reports mean@n, best@n and maj@n. When the answers are drawn greedily
(`temperature=0`, which is the default of validation, or `top_k=1`) all n are the same, so best@n is pass@1 under
another name: n times the time, and a number that looks like pass@n in a table and is not. The same holds for the
group of a training prompt: with a rollout temperature of 0 every advantage of the group is zero.

`do_sample=False`, the default, makes validation greedy too where `rollout.mode` is `sync`; the agent loop behind
`async` does not read it and goes by the temperature. Not counted are an `n` from outside, and validation that never
runs.

Fix: sample (`val_kwargs.do_sample=True` with a temperature above 0), or ask for one answer (`val_kwargs.n=1`).
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding, Safety
from verlint.rule import WARNING, Context, rule
from verlint.value import Value
from verlint_rules.config.rewriting import one_more
from verlint_rules.evaluation.validation import VAL_ONLY, validates
from verlint_rules.on_policy.rewriting import spelled_like, with_value

_VAL = "actor_rollout_ref.rollout.val_kwargs"
_ROLLOUT = "actor_rollout_ref.rollout"


@rule(
    "VL509",
    "meaningless-sampling",
    on=Launch,
    severity=WARNING,
    since="0.1",
    fixable="unsafe",
    words=("val_kwargs", "n_samples", "rollout.n"),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    if f"{_VAL}.n" in launch and validates(launch) is not False:
        yield from _validation(launch, ctx)
    if "data.n_samples" in launch:
        yield from _generation(launch, ctx)
    if f"{_ROLLOUT}.temperature" in launch and launch[VAL_ONLY].truthy() is not True:
        yield from _training(launch, ctx)


def _validation(launch: Launch, ctx: Context) -> Iterator[Finding]:
    many = launch[f"{_VAL}.n"]
    if not _several(many):
        return
    switch, temperature, top_k = (launch[f"{_VAL}.{name}"] for name in ("do_sample", "temperature", "top_k"))
    heat = temperature.number()
    if heat == 0:
        cause, why = temperature, "the temperature of validation is 0" + ("" if temperature.given else " by default")
    elif top_k.given and top_k.equals(1):
        cause, why = top_k, "top_k is 1"
    elif switch.truthy() is False and heat is not None and launch[f"{_ROLLOUT}.mode"].equals("sync"):
        cause, why = switch, "do_sample is False" + ("" if switch.given else " by default")
    else:
        return
    message = (
        f"all {many} answers to a validation prompt are the same, because {why}: mean@{many} and best@{many} are pass@1"
    )
    needed = f"{_VAL}.do_sample=True and {_VAL}.temperature above 0" if cause is not top_k else f"{_VAL}.top_k=-1"
    help_ = f"set {needed}, or {_VAL}.n=1"
    finding = ctx.fail(many, message, help=help_)
    if cause.given:
        finding = finding.with_related(cause.span, why)
    yield _sampling(finding, launch, many, switch, temperature)


def _sampling(finding: Finding, launch: Launch, many: Value, switch: Value, temperature: Value) -> Finding:
    """The finding with a fix: sampling where only the switch is missing, else one answer."""
    warm = temperature.number()
    if warm is not None and warm > 0 and temperature.given and switch.truthy() is False:
        if switch.given:
            return with_value(finding, switch, spelled_like(switch, on=True), safe=False)
        edit = one_more(launch, many, f"{_VAL}.do_sample", "True")
        if edit is not None:
            return finding.with_fix("sample in validation", edit, safety=Safety.UNSAFE)
    return with_value(finding, many, "1", safe=False)


def _generation(launch: Launch, ctx: Context) -> Iterator[Finding]:
    """`main_generation` with `data.n_samples` answers a prompt."""
    many = launch["data.n_samples"]
    heat = launch["rollout.temperature"] if "rollout.temperature" in launch else launch[f"{_ROLLOUT}.temperature"]
    if _several(many) and heat.given and heat.number() == 0:
        message = f"all {many} answers to a prompt are the same, because the temperature is 0"
        finding = ctx.fail(many, message, help=f"set {heat.key} above 0, or data.n_samples=1")
        yield with_value(finding.with_related(heat.span, "the temperature"), many, "1", safe=False)


def _training(launch: Launch, ctx: Context) -> Iterator[Finding]:
    many, heat = launch[f"{_ROLLOUT}.n"], launch[f"{_ROLLOUT}.temperature"]
    if _several(many) and heat.given and heat.number() == 0:
        message = f"all {many} answers of a group are the same, because the temperature is 0: nothing is learned"
        yield ctx.fail(heat, message, help=f"set {heat.key} above 0 (1.0 is usual)").with_related(
            many.span, "the group"
        )


def _several(value: Value) -> bool:
    number = value.number()
    return value.given and number is not None and number > 1
