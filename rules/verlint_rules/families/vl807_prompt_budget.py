"""A prompt is long enough for the experience and what stands behind it.

In the consolidation of OEL and OPCD the teacher's prompt is the experience, up to `trainer.experience_max_length`
tokens, and then the situation of the game or the problem. The launchers of the families reckon
`data.max_prompt_length` from these: 512 tokens for each turn of a game, 1024 for a problem. With a smaller one, nothing
fails: `data.truncation=right` keeps the beginning of a prompt, so the situation itself is what is cut, and the teacher
answers to an experience without a question.

Compared are the values of a launch; a run that writes less experience than it may is not known, so this is about what
the settings allow. Launches without `data.max_prompt_length` or `trainer.experience_max_length` are left alone. The
budgets of tokens for whole sequences are the matter of VL724.

Fix: raise `data.max_prompt_length` to the sum that the message names, or lower `trainer.experience_max_length`.
"""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.families.budgets import BUDGETS, Budget
from verlint.finding import Finding
from verlint.rule import ERROR, Context, rule
from verlint_rules.families.forks import forks_of, held, holds, replaceable, replaced

_PROMPT, _EXPERIENCE = "data.max_prompt_length", "trainer.experience_max_length"


@rule("VL807", "prompt-budget", on=Launch, severity=ERROR, since="0.1", words=("experience_max_length",))
def check(launch: Launch, ctx: Context) -> Iterator[Finding]:
    forks = forks_of(launch, ctx)
    if not forks or "coach" in forks or _PROMPT not in launch or _EXPERIENCE not in launch or _deploys(launch):
        return
    for budget in BUDGETS:
        if all(holds(launch, test) for test in budget.when):
            yield from _judged(launch, budget, ctx)


def _deploys(launch: Launch) -> bool:
    """Whether a launch of OEL only makes trajectories, whose prompts hold no experience."""
    of_oel, merges = held(launch, "trainer.train_oel"), held(launch, "trainer.on_policy_merge")
    return of_oel.equals(True) is True and merges.equals(False) is True


def _judged(launch: Launch, budget: Budget, ctx: Context) -> Iterator[Finding]:
    prompt, experience = launch[_PROMPT], launch[_EXPERIENCE]
    length, text = prompt.number(), experience.number()
    times = held(launch, budget.times).number() if budget.times else 1
    if length is None or text is None or times is None:
        return
    needed = int(text + budget.each * times)
    if length >= needed:
        return
    beside = budget.beside.replace("{times}", str(times))
    message = f"a prompt has {prompt} tokens, the experience ({experience}) and {beside} need {needed}: {budget.effect}"
    help = f"write {_PROMPT}={needed}"
    name = replaceable(prompt) or replaceable(experience)
    if name:
        found = ctx.unsure(prompt, message, help=help, verify=replaced(name))
    else:
        found = ctx.fail(prompt, message, help=help)
    found = found.with_related(experience.span, f"{_EXPERIENCE} = {experience}")
    if budget.times and budget.times in launch:
        found = found.with_related(launch[budget.times].span, f"{budget.times} = {times}")
    yield found
