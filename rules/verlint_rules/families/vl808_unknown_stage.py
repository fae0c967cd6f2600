"""The stage that a launch asks for is one that its VeRL fork runs.

The forks of OEL, OPCD and LLM-as-a-Coach choose what to do by `trainer.stage`. Their default, `generate`, is no stage
that runs: a launcher that leaves the key out, or writes another word, loads all models, makes its first batch and then
stops with `Unknown trainer stage`. OEL and OPCD know `extract` and `consolidate`, the coach `consolidate` and `rl`; a
stage of another family is as unknown as a misspelt one.

A validation-only launch on the forks of OEL and OPCD returns before the stage is looked at. There a wrong word does
not stop the run, and is reported as a warning. A stage that the checkout beside the launcher compares with is taken to
run. Silent for launches without any key of the forks, and for stages that are not known before the run.

Fix: write one of the stages that the message names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from verlint import disk
from verlint.experiment.checkout_folders import checkout_folders
from verlint.experiment.launch import Launch
from verlint.families.fork import STAGES
from verlint.finding import Edit, Finding, Safety
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.source import Span
from verlint.value import Literal, Value
from verlint_rules.config.excerpts import is_excerpt
from verlint_rules.families.forks import forks_of, held, replaceable, replaced

_TRAINER = "verl/trainer/ppo/ray_trainer.py"


@rule(
    "VL808",
    "unknown-stage",
    on=Launch,
    severity=ERROR,
    since="0.1",
    fixable="unsafe",
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
    stage = held(launch, "trainer.stage")
    left_open = not stage.given and (launch.passes_arguments or is_excerpt(launch, ctx))
    if not forks or not stage.decided or left_open:
        return
    word = "" if stage.data is None else str(stage.data)
    runnable = list(dict.fromkeys(name for fork in sorted(forks) for name in STAGES[fork]))
    if word in runnable or word in _stages_in_code(launch, ctx):
        return
    validates = not forks.isdisjoint(["oel", "opcd"]) and _validates_only(launch)
    if validates and not stage.given:
        return
    yield _finding(launch, ctx, stage, runnable, validates)


def _finding(launch: Launch, ctx: Context, stage: Value, runnable: list[str], validates: bool) -> Finding:
    word = "" if stage.data is None else str(stage.data)
    listed = " and ".join(f"`{name}`" for name in runnable)
    given = f"the stage is `{word}`" if stage.given else f"no stage is given, and the default is `{word}`"
    if validates:
        message = f"{given}, the VeRL fork runs {listed}; only val_only keeps this run from `Unknown trainer stage`"
    else:
        message = f"{given}, the VeRL fork runs {listed}: it stops with `Unknown trainer stage: {word}`"
    near = _near(word, runnable)
    wanted = near or ("extract" if validates else "")
    help = f"write trainer.stage={wanted}" if wanted else f"write trainer.stage={runnable[0]} or {runnable[-1]}"
    severity = WARNING if validates else None
    name = replaceable(stage)
    if name:
        return ctx.unsure(stage, message, near=near, help=help, severity=severity, verify=replaced(name))
    finding = ctx.fail(stage, message, near=near, help=help, severity=severity)
    span = _written(stage, word)
    if span is None or not near:
        return finding
    return finding.with_fix(f"write {near}", Edit(span.in_file(), near), safety=Safety.UNSAFE)


def _validates_only(launch: Launch) -> bool:
    first = held(launch, "trainer.val_before_train").equals(True)
    return held(launch, "trainer.val_only").equals(True) is True and first is True


def _written(stage: Value, word: str) -> Span | None:
    """Where the stage is written as it stands."""
    if stage.text is None or len(stage.text.parts) != 1:
        return None
    part = stage.text.parts[0]
    return part.span if isinstance(part, Literal) and part.span is not None and part.span.text == word else None


def _near(word: str, names: list[str]) -> str:
    from difflib import get_close_matches

    return next(iter(get_close_matches(word.lower(), names, n=1, cutoff=0.7)), "")


def _stages_in_code(launch: Launch, ctx: Context) -> frozenset[str]:
    """The words that the trainer of the checkout beside the launcher compares its stage with."""
    source = launch.command.span.in_file().source
    for folder in checkout_folders(launch.command, source, ctx.project.root):
        for base in (folder, *list(folder.parents)[:4]):
            for place in (base / _TRAINER, base / "verl" / _TRAINER):
                found = _compared(place)
                if found:
                    return found
    return frozenset()


def _compared(place: Path) -> frozenset[str]:
    try:
        text = disk.text(place)
    except OSError:
        return frozenset()
    return frozenset(re.findall(r"""trainer\.stage\s*[!=]=\s*["'](\w+)["']""", text))
