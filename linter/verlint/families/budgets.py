"""How the families reckon the length of a prompt. Source: the arithmetic of their launchers, oel/scripts,
opcd/scripts."""

from __future__ import annotations

from verlint.families.conditions import Test, is_, not_
from verlint.record import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """A prompt holds the experience and `each` tokens times the key `times` (once when "") beside it.

    `when` says for which launches, `beside` what the other tokens are, and `effect` what a shorter prompt does."""

    when: tuple[Test, ...]
    each: int
    beside: str
    effect: str
    times: str = ""


_CONSOLIDATES = is_("trainer.stage", "consolidate")

BUDGETS: tuple[Budget, ...] = (
    Budget(
        (_CONSOLIDATES, is_("trainer.setting", "textgame")),
        each=512,
        times="trainer.textgame_max_steps",
        beside="512 tokens for each of {times} turns",
        effect="longer prompts are cut at their end, where the situation stands",
    ),
    Budget(
        (_CONSOLIDATES, not_("trainer.setting", "textgame")),
        each=1024,
        beside="1024 tokens of the problem",
        effect="longer prompts are cut at their end, where the problem stands",
    ),
)
"""Source: textgame_consolidate.sh MAX_PROMPT_LENGTH=EXPERIENCE_MAX_LENGTH + 512 * TEXTGAME_MAX_STEPS;
math_consolidate.sh, sys_consolidate.sh: length of the experience + 1024; truncation=right keeps the beginning."""
