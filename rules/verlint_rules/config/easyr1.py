"""EasyR1 (`python3 -m verl.trainer.main config=FILE`): what it demands of its own config.

Source: `verl/trainer/config.py`, `verl/workers/rollout/config.py` and `vllm_rollout_spmd.py` of EasyR1."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.experiment.launch import Launch
from verlint.finding import Finding
from verlint.rule import Context
from verlint_rules.on_policy.rewriting import with_value

_PROMPT = "data.max_prompt_length"
_RESPONSE = "data.max_response_length"
_BATCHED = "worker.rollout.max_num_batched_tokens"
_DEFAULTS = {_PROMPT: 512, _RESPONSE: 512, _BATCHED: 8192}


def token_budget(launch: Launch, ctx: Context) -> Iterator[Finding]:
    """Its rollout stops where a whole sequence does not fit into a batch of vLLM, with chunked prefill or without."""
    sizes = {key: _size(launch, key) for key in _DEFAULTS}
    prompt, response, batched = (sizes[key] for key in (_PROMPT, _RESPONSE, _BATCHED))
    if prompt is None or response is None or batched is None or batched >= prompt + response:
        return
    given = [launch[key] for key in (_BATCHED, _RESPONSE, _PROMPT) if launch[key].given]
    if not given:
        return
    finding = ctx.fail(
        given[0],
        f"{_said(launch, _BATCHED, batched)} is below {_said(launch, _PROMPT, prompt)} + "
        f"{_said(launch, _RESPONSE, response)} = {prompt + response:g}; EasyR1 stops when its workers start "
        "(vllm_rollout_spmd.py)",
        help=f"set {_BATCHED} to at least {prompt + response:g}",
    )
    if launch[_BATCHED].given:
        finding = with_value(finding, launch[_BATCHED], f"{prompt + response:g}", safe=False)
    for value in given[1:]:
        finding = finding.with_related(value.span, f"{value.key} = {value}")
    yield finding


def _size(launch: Launch, key: str) -> float | None:
    """A size, of a key that is not given its default; None when the host, or a config that is not here, decides."""
    if launch[key].given:
        return launch[key].number()
    unread = "config" in launch and not launch.of_file
    return None if unread or launch.passes_arguments else _DEFAULTS[key]


def _said(launch: Launch, key: str, size: float) -> str:
    return f"{key.removeprefix('worker.')} {size:g}" + ("" if launch[key].given else " (the default)")
