"""What a user may say about an experiment to be planned, each option with the values it takes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from verlint.families.recipes.games import GAMES
from verlint.families.recipes.model import SERVICES
from verlint.families.sharing import PROMPT_TYPES
from verlint.lazy import pattern
from verlint.record import dataclass


class PlanError(Exception):
    """A plan that cannot be made; the text says what is allowed instead."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option: `kind` is text, whole, number, flag, steps (one step) or list. `least` and `most` bound numbers,
    `choices` are all texts allowed, `about` is for the help."""

    name: str
    about: str
    kind: str = "text"
    least: float = 1
    most: float = 1_000_000
    choices: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """The option as it is written in a call."""
        return "--" + self.name.replace("_", "-")


IN_RECORDS = frozenset(["model", "exp_model", "textgame_name"])
"""Options that become fields of the comma records of drivers."""

_VARIABLE = pattern(r"\$\{oc\.env:[A-Za-z_]\w*\}")
_PLACEHOLDER = pattern(r"<[A-Z][A-Z0-9_-]*>")

GPU_CLASSES = ("a100", "h100", "h200", "b200", "other", "unknown")

OPTIONS: tuple[Option, ...] = (
    Option("model", "policy or student: a name on the hub, or a path below a variable, '${oc.env:MODEL_ROOT}/NAME'"),
    Option("ref_model", "reference or teacher model"),
    Option("reward_model", "discriminator of GAD"),
    Option("exp_model", "model that writes experience, or the coach"),
    Option("exp_name", "name of the run; stages of one plan add what they are"),
    Option("alias", "preset of LLM-as-a-Coach, see --list-aliases"),
    Option("checkpoint", "one step to evaluate", "steps"),
    Option("checkpoint_start", "first step of a range (first seed, when extracting)", "steps"),
    Option("checkpoint_end", "last step of the range", "steps"),
    Option("checkpoint_step", "distance of the steps", "steps"),
    Option("resume_checkpoint", "STEP, or RUN:STEP when the run is not part of the plan"),
    Option("experience_path", "experience list, experience or system prompt that is already there"),
    Option("prompt_type", "system prompt of OPCD", choices=(*PROMPT_TYPES, "custom")),
    Option("round", "the round of OEL that is planned", "whole", most=99),
    Option("rounds", "number of rounds, with --stage rounds", "whole", most=99),
    Option("prompt_version", "prompt of the extraction", choices=("v3", "v4")),
    Option("val_samples_limit", "samples of an extraction", "whole", most=100_000),
    Option("val_samples_use", "after how many of them the experience is taken", "whole", most=100_000),
    Option("exp_sel_with_prev", "extract with the previous experience in the prompt", "flag"),
    Option("textgame_name", f"game; its name holds {' or '.join(GAMES)}"),
    Option("textgame_max_steps", "turns of a game", "whole", most=1000),
    Option("textgame_no_think", "true for models that do not think", "flag"),
    Option("textgame_response_length", "tokens of an answer while extracting", "whole"),
    Option("experience_max_length", "tokens of the experience", "whole"),
    Option("max_response_length", "tokens of an answer", "whole"),
    Option("nodes", "number of nodes", "whole", most=4096),
    Option("gpus_per_node", "GPUs of one node", "whole", most=64),
    Option("gpu_class", "kind of GPU", choices=GPU_CLASSES),
    Option("rollout_n", "answers for each prompt", "whole", most=4096),
    Option("actor_lr", "learning rate", "number", least=1e-12, most=1),
    Option("kl_loss_type", "KL term of the distillation", choices=("full", "kl", "abs", "mse", "low_var_kl")),
    Option("kl_topk", "tokens that a full KL looks at; 0 for all", "whole", least=0, most=200_000),
    Option("total_training_steps", "steps of a training", "whole"),
    Option("save_freq", "steps between two checkpoints", "whole"),
    Option("batch_size", "prompts of one step", "whole"),
    Option("val_data", "data set to answer (GAD), or validation file (OPO)"),
    Option("credentials", "credentials you intend to give: " + ",".join(SERVICES), "list", choices=tuple(SERVICES)),
)

BY_NAME: Mapping[str, Option] = {option.name: option for option in OPTIONS}


def read_value(option: Option, text: str) -> object:
    """The value that a text stands for. Raises PlanError with what is allowed."""
    text = text.strip()
    if not text or any(ord(sign) < 32 for sign in text):
        raise PlanError(f"{option.flag} is empty or holds control characters")
    if option.kind == "list":
        return _listed(option, text)
    if option.choices and text not in option.choices:
        raise PlanError(_refusal(option.flag, text, option.choices))
    if option.kind == "flag":
        if text.lower() not in ("true", "false"):
            raise PlanError(_refusal(option.flag, text, ("true", "false")))
        return text.lower() == "true"
    if option.kind in ("whole", "steps", "number"):
        return _number(option, text)
    if not option.choices:
        _check_text(option, text)
    return text


def _check_text(option: Option, text: str) -> None:
    """A plan is for any machine: texts that go into it name none. Raises PlanError."""
    if re.match(r"[/~]|[A-Za-z]:\\", text):
        raise PlanError(
            f"{option.flag} `{text}` is a path of one machine; take a variable, as in '${{oc.env:MODEL_ROOT}}/NAME', "
            "or a placeholder, as in '<PATH>'"
        )
    if "${" in _VARIABLE.sub("", text):
        raise PlanError(f"{option.flag} `{text}`: a variable is written '${{oc.env:NAME}}'")
    if re.search("[<>]", _PLACEHOLDER.sub("", text)):
        raise PlanError(f"{option.flag} `{text}`: a placeholder is written '<NAME>', in capitals")
    if option.name in IN_RECORDS and "," in text:
        raise PlanError(f"{option.flag} `{text}` holds a comma, which separates the fields of the launchers' records")


def _listed(option: Option, text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in option.choices:
            raise PlanError(_refusal(option.flag, name, option.choices))
    return names


def _number(option: Option, text: str) -> object:
    try:
        value = float(text) if option.kind == "number" else int(text)
    except ValueError:
        what = "a number" if option.kind == "number" else "a whole number"
        raise PlanError(f"{option.flag} takes {what}, not `{text}`") from None
    if not option.least <= value <= option.most:
        raise PlanError(f"{option.flag} takes {option.least:g} to {option.most:,.0f}, not `{text}`")
    return value


def _refusal(what: str, text: str, allowed: tuple[str, ...]) -> str:
    return unknown(what, text, allowed)


def unknown(what: str, text: str, allowed: tuple[str, ...]) -> str:
    """The message for a value that is not one of those allowed, with the nearest one."""
    from difflib import get_close_matches

    near = get_close_matches(text, allowed, n=1)
    hint = f" (did you mean `{near[0]}`?)" if near else ""
    return f"{what} `{text}` is not known{hint}; allowed: {', '.join(allowed)}"
