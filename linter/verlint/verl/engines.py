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
