"""Parts of the config that VeRL hands on as they are: any key is fine below them, and none of them is dead.

Source: their uses in the released wheels 0.2 to 0.9.1 (`**config.engine_kwargs.vllm`, `override_config` given to the
model's own config, Ray's `runtime_env`, Nsight's options, TransferQueue's backends, the operator tables of VeOmni).
"""

from __future__ import annotations

from functools import lru_cache

OPEN = frozenset(
    [
        *("override_config", "override_transformer_config", "override_ddp_config", "override_model_config"),
        *("override_mcore_model_config", "override_optimizer_config", "runtime_env", "custom", "engine_kwargs"),
        *("controller_nsight_options", "worker_nsight_options", "model_config", "hydra", "kw_args"),
    ]
)
"""Sections whose keys VeRL does not name, by their last name; so are all that end in `_kwargs`."""

HANDED_ON = frozenset(["lora", "mindspeed", "ops_implementation", "transfer_queue", "wrap_policy", "turbo_config"])
"""Sections that are handed whole to another library: their keys are fixed, but which of them counts VeRL's code does
not show."""

TAKEN_BY_NAME = frozenset(["ignore_eos", "model_engine"])
"""Keys that code reads without naming them: sampling parameters are copied by the names vLLM has, and the engine picks
config files."""


@lru_cache(maxsize=4096)
def is_open(key: str) -> bool:
    """Whether a key lies below a section that takes any key."""
    return any(_open(piece) for piece in key.split(".")[:-1])


def _open(piece: str) -> bool:
    return piece in OPEN or (piece.endswith("_kwargs") and piece != "ray_kwargs")


def is_handed_on(key: str) -> bool:
    """Whether a key lies in a section that is given to another library as it is."""
    pieces = key.split(".")
    last = pieces[-1]
    return (
        any(_open(piece) for piece in pieces)
        or any(piece in HANDED_ON for piece in pieces[:-1])
        or last in TAKEN_BY_NAME
        or last.endswith("_implementation")
    )
