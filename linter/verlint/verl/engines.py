"""Which vLLM each released VeRL runs with, and environment variables that only some vLLM read."""

from __future__ import annotations

from collections.abc import Mapping

from verlint.record import dataclass

VLLM_OF: Mapping[str, tuple[str, str]] = {
    "0.2.0.post2": ("", "0.6.3"),
    "0.3.0.post1": ("", "0.8.2"),
    "0.4.0": ("", "0.8.5"),
    "0.4.1": ("", "0.8.5"),
    "0.5.0": ("0.7.3", "0.8.5"),
    "0.6.0": ("0.7.3", "0.9.1"),
    "0.6.1": ("0.8.5", "0.11.0"),
    "0.7.0": ("0.8.5", "0.12.0"),
    "0.7.1": ("0.8.5", "0.12.0"),
    "0.8.0": ("0.8.5", "0.12.0"),
    "0.9.0": ("0.18.0", "99"),
    "0.9.1": ("0.24.0", "0.24.0"),
}
"""The oldest ("" for any) and the newest vLLM. Source: `Requires-Dist: vllm` of the wheels."""


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable of vLLM: the first version that reads it and the first that does not any more.

    `values` are those that then matter (empty: any); `effect` says what happens, `instead` what to write."""

    name: str
    since: str
    gone: str
    effect: str
    instead: str
    values: frozenset[str] = frozenset()


VARIABLES: tuple[Variable, ...] = (
    Variable(
        "VLLM_USE_V1",
        since="0.7.0",
        gone="0.11.0",
        effect="that engine is gone, and the run uses V1",
        instead="delete it, or pin a vLLM before 0.11.0",
        values=frozenset(["0", "false", "False"]),
    ),
    Variable(
        "VLLM_ATTENTION_BACKEND",
        since="0.2.4",
        gone="0.18.0",
        effect="vLLM chooses the backend by itself",
        instead="write +actor_rollout_ref.rollout.engine_kwargs.vllm.attention_backend=…",
    ),
)
"""Sources: vllm-project/vllm pull requests 25033 and 25351 (the V0 engine is removed), 26315 (the variable of the
backend is deprecated), issue 50292 (nothing reads it)."""


@dataclass(frozen=True, slots=True)
class ReadValue:
    """What a program takes a variable for: the values it knows in lower case (`numbers`: any whole number too), what
    becomes of others, and what to write. `logger` names the logger that must be on for it to matter."""

    name: str
    known: frozenset[str]
    effect: str
    instead: str
    numbers: bool = False
    logger: str = ""


_SWITCH = ("vLLM reads it with int(), and stops with ValueError when it is imported", "write 1 or 0")
READ_VALUES: tuple[ReadValue, ...] = (
    *(
        ReadValue(name, frozenset(), *_SWITCH, numbers=True)
        for name in ("VLLM_USE_V1", "VLLM_ENABLE_V1_MULTIPROCESSING", "VLLM_DISABLE_COMPILE_CACHE")
    ),
    ReadValue(
        "VLLM_USE_MODELSCOPE",
        frozenset(["true", "false", "0", "no"]),
        "vLLM knows True only, and takes this for False",
        "write True",
    ),
    ReadValue(
        "WANDB_MODE",
        frozenset(["online", "offline", "disabled", "dryrun", "run", "shared"]),
        "wandb.init stops: there is no such mode",
        "write online, offline or disabled",
        logger="wandb",
    ),
)
"""Sources: `vllm/envs.py`, `wandb_settings.py` of wandb."""
