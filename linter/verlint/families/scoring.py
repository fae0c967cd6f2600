"""Tools that score answers, and the launchers that generate these.

Sources: microsoft/LMOps `llm-as-a-coach/scripts/eval`, `llm-as-a-coach/usage_example.sh`.
"""

from __future__ import annotations

from collections.abc import Mapping

from verlint.record import dataclass


@dataclass(frozen=True, slots=True)
class Scorer:
    """A tool that reads the answers of a run by its name and step.

    `tool` and `generators` are expressions for the end of a path. `generator` is what to call one, `missing` says what
    the tool does where there are no answers, `step` is the distance of steps when the call names none."""

    family: str
    tool: str
    generators: tuple[str, ...]
    generator: str
    missing: str
    step: int


SCORERS: tuple[Scorer, ...] = (
    Scorer(
        "coach",
        r"eval_gpt4o\.py",
        (r"eval\.sh",),
        "scripts/train/eval.sh",
        "the scorer skips what it does not find, and ends with status 0",
        25,
    ),
    Scorer(
        "coach",
        r"eval_gpt4o_fuzzy\.py",
        (r"eval_fuzzy\.sh", r"gen_fuzzy\.py"),
        "scripts/train/eval_fuzzy.sh",
        "the scorer skips what it does not find, and ends with status 0",
        25,
    ),
)
"""Source: eval_gpt4o.py, `process_checkpoint`; eval_gpt4o_fuzzy.py; defaults of `--step`."""

ALIASES: Mapping[str, Mapping[str, str]] = {
    "coach": {
        "qwen-el-self": "wildchat-el-q3-8b-r8b",
        "qwen-el-self-iter": "wildchat-el-q3-8b-r8b-itert30-mopd025-fixt",
        "qwen-el-gpt4o": "wildchat-el-q3-8b-rgpt4o",
        "olmo-el-self": "wildchat-el-om3-7b-r7b",
        "olmo-el-gpt4o": "wildchat-el-om3-7b-rgpt4o",
        "qwen-rl-self": "wildchat-rl-q3-8b-r8b",
        "qwen-rl-gpt4o": "wildchat-rl-q3-8b-rgpt4o",
        "olmo-rl-self": "wildchat-rl-om3-7b-r7b",
        "olmo-rl-gpt4o": "wildchat-rl-om3-7b-rgpt4o",
    }
}
"""The experiments by the names that the family's driver takes. Source: usage_example.sh, `set_experiment_metadata`."""
