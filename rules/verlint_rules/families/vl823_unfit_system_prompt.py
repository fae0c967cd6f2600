"""A system prompt must fit the task it is distilled for, and fit in whole.

A prompt for safety is scored by the yes or no in the answer; without a stated answer format nothing is found to score.
One for medical questions names its field. A prompt of a few characters is a slip of a path or of a variable. A prompt
longer than the length given for it is cut at its end without a word, and the answer format usually stands there.

Tokens are estimated: four characters each.

Fix: write the prompt for its task, or raise the length given for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from verlint.finding import Finding
from verlint.inputs import PROMPT, Input
from verlint.rule import INFO, WARNING, Context, rule
from verlint_rules.families.input_places import about

_YES_NO = re.compile(r"\byes\b.*\bno\b|\bno\b.*\byes\b|\bsafe\b.*\bunsafe\b|\bunsafe\b.*\bsafe\b", re.I | re.S)
_MEDICAL = re.compile(r"medic|clinic|patient|diagnos|doctor|physician|disease|health", re.I)
_CHARACTERS = 4


@rule("VL823", "unfit-system-prompt", on=Input, severity=WARNING, since="0.1")
def check(given: Input, ctx: Context) -> Iterator[Finding]:
    if given.kind != PROMPT or given.source is None or given.problem:
        return
    text, wanted = given.source.text.strip(), given.wanted
    if len(text) < wanted.min_prompt_chars:
        yield about(given, ctx, f"the prompt has {len(text)} characters, {wanted.min_prompt_chars} are expected")
        return
    tokens = -(-len(text) // _CHARACTERS)
    if wanted.max_tokens and tokens > wanted.max_tokens:
        message = f"about {tokens} tokens do not fit in {wanted.max_tokens}: the end of the prompt is cut, silently"
        yield about(given, ctx, message, help="raise --experience-max-length, or shorten it")
    if wanted.prompt_type == "safety" and not _YES_NO.search(text):
        message = "the prompt names no answer format with yes and no, which safety is scored by"
        yield about(given, ctx, message, help="say how the answer is to be given")
    elif wanted.prompt_type == "medmcqa" and not _MEDICAL.search(text):
        yield about(given, ctx, "nothing in the prompt speaks of medicine", help="name the field of the questions")
    elif wanted.prompt_type == "custom":
        message = "nothing scores a custom prompt: confirm data, answer format and scoring by hand"
        yield about(given, ctx, message, severity=INFO)
