"""The overrides that make a stage agree with each other, as the fork demands.

On the forks of OEL, OPCD and LLM-as-a-Coach a stage is no single switch: it is `trainer.stage` together with a handful
of keys that must fit. A combination that does not is caught late, by an assertion in the first step after all workers
have loaded their models, or not at all: with `generate_off_policy=True` beside `on_policy_merge=True` the run saves
answers of the wrong prompt and trains nothing. The message says what the fork does.

Checked are the prompt version of the coach's stages, extraction without validation, consolidation without the
reference worker, the folders that stages hand over, `seqkd` with several rollouts, the Jensen-Shannon divergence with
another KL, keys that evaluation ignores, and games, prompt versions and prompt types that the fork does not know (to be
verified: it may have been taught them). Values that are not known before the run are left alone, and so are commands
that show a part of a longer one.

Fix: write the value that the help names, or choose the other stage.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.families.conditions import Clash
from verlint.families.fork import CLASHES
from verlint.finding import Finding
from verlint.rule import ERROR, WARNING, Context, rule
from verlint_rules.config.excerpts import is_excerpt
from verlint_rules.families.forks import filled, forks_of, held, holds, replaceable, replaced


@rule(
    "VL809",
    "contradictory-stage",
    on=Launch,
    severity=ERROR,
    since="0.1",
    words=(
        "experience",
        "exp_sel",
        "exp_model",
        "trainer.setting",
        "held_out",
        "prompt_version",
        "system_prompt",
        "on_policy_merge",
        "oel",
        "textgame",
        "val_samples",
        "kl_topk",
        "multidata",
        "iter_teacher",
        "jsd_beta",
        "reward_scale",
        "deploy_save",
        "off_policy",
    ),
)
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    forks = forks_of(launch, ctx)
    if not forks:
        return
    excerpt = is_excerpt(launch, ctx)
    for clash in CLASHES:
        if not forks.issubset(clash.families) or not all(holds(launch, test) for test in clash.when):
            continue
        if excerpt and not all(test.key in launch for test in clash.when):
            continue
        yield _finding(launch, ctx, clash)


def _finding(launch: Launch, ctx: Context, clash: Clash) -> Finding:
    """At the key of the clash that is written; certain unless the caller may replace one of the values."""
    keys = [clash.at, *([clash.near] if clash.near else []), *(test.key for test in clash.when)]
    at = next((held(launch, key) for key in keys if key in launch), held(launch, clash.at))
    message = filled(clash.message, launch)
    severity = WARNING if clash.ignored else None
    name = next((name for test in clash.when if (name := replaceable(held(launch, test.key)))), "")
    verify = filled(clash.verify, launch) if clash.verify else replaced(name) if name else ""
    if verify:
        finding = ctx.unsure(at, message, help=clash.help, severity=severity, verify=verify)
    else:
        finding = ctx.fail(at, message, help=clash.help, severity=severity)
    for key in dict.fromkeys(test.key for test in clash.when):
        value = held(launch, key)
        if key in launch and key != at.key:
            finding = finding.with_related(value.span, f"{value.key} = {value}")
    return finding
