"""Token budgets, and the longest sequence of the model: one sequence must fit in them.

Sources: `utils/seqlen_balancing.py:rearrange_micro_batches`, called with padded sequences by the legacy workers (to
0.7.1), `workers/rollout/vllm_rollout/vllm_rollout_spmd.py` (0.3.0 to 0.6.1), `_validate_configs` of
`vllm_async_server.py`, `sglang_rollout.py` and their like."""

from __future__ import annotations

from collections.abc import Callable

from verlint.verl.constraints import AT_STEP, AT_WORKERS, Ask, Row, Say
from verlint.verl.facts import ACTOR, DYNAMIC, LONGEST, MODEL_PATH, REF, ROLLOUT, SEQUENCE_PARALLEL, Facts
from verlint.verl.undecided import Undecided

PROMPT = "data.max_prompt_length"
RESPONSE = "data.max_response_length"
BATCHED = f"{ROLLOUT}.max_num_batched_tokens"
CHUNKED = f"{ROLLOUT}.enable_chunked_prefill"
MODEL_LENGTH = f"{ROLLOUT}.max_model_len"
ACTOR_BUDGET = f"{ACTOR}.ppo_max_token_len_per_gpu"
ROLLOUT_BUDGET = f"{ROLLOUT}.log_prob_max_token_len_per_gpu"
REF_BUDGET = f"{REF}.log_prob_max_token_len_per_gpu"
REF_PARALLEL = f"{REF}.ulysses_sequence_parallel_size"
CRITIC_PARALLEL = "critic.ulysses_sequence_parallel_size"


def said_longest(facts: Facts) -> str:
    """The tokens of the longest sample with their arithmetic."""
    return f"{facts.said(PROMPT)} + {facts.said(RESPONSE)} = {facts.longest}"


def _rollout_longest(facts: Facts) -> int:
    own = facts.count_or_none(MODEL_LENGTH)
    if own:
        return own
    return facts.count(f"{ROLLOUT}.prompt_length") + facts.count(f"{ROLLOUT}.response_length")


def _prefill(facts: Facts) -> bool:
    if facts.text(f"{ROLLOUT}.name") != "vllm" or facts.rollout_path != "spmd":
        return False
    return facts.count(BATCHED) < _rollout_longest(facts) and facts.flag(CHUNKED)


def _prefill_message(facts: Facts) -> str:
    longest = facts.said(MODEL_LENGTH) if facts.count_or_none(MODEL_LENGTH) else said_longest(facts)
    return f"{facts.said(BATCHED)} is below {longest} with {facts.said(CHUNKED)}"


def _prefill_help(facts: Facts) -> str:
    return f"set {BATCHED} to at least {_rollout_longest(facts)}, or {CHUNKED}=False"


def _unchunked(facts: Facts) -> bool:
    if facts.text(f"{ROLLOUT}.name") != "vllm" or facts.flag(CHUNKED, otherwise=True):
        return False
    return facts.count(BATCHED) < _served(facts)


def _served(facts: Facts) -> int:
    """Tokens of the longest sequence that the server of the rollout takes: its own key from 0.7.1, else the model's."""
    own = facts.count_or_none(MODEL_LENGTH) if facts.at_least("0.7.1") else None
    return own or facts.of_model(LONGEST)


def _unchunked_message(facts: Facts) -> str:
    own = facts.count_or_none(MODEL_LENGTH) if facts.at_least("0.7.1") else None
    longest = facts.said(MODEL_LENGTH) if own else facts.of_model_said(LONGEST)
    return f"{facts.said(BATCHED)} is below {longest} with {facts.said(CHUNKED)}"


# ---- the longest sequence that the model knows


def _asked(facts: Facts) -> int:
    """Tokens that the rollout of one process with the trainer asks a model for: prompt and response."""
    for key in (PROMPT, RESPONSE):  # what the rollout's own keys refer to
        facts.has(key)
    return facts.count(f"{ROLLOUT}.prompt_length") + facts.count(f"{ROLLOUT}.response_length")


def _asked_said(facts: Facts) -> str:
    if _asked(facts) == facts.longest:
        return said_longest(facts)
    prompt, response = facts.said(f"{ROLLOUT}.prompt_length"), facts.said(f"{ROLLOUT}.response_length")
    return f"{prompt} + {response} = {_asked(facts)}"


def _is_rollout(facts: Facts, *names: str) -> bool:
    return facts.rollout_path == "spmd" and facts.text(f"{ROLLOUT}.name") in names


def _beyond(facts: Facts) -> bool:
    """To 0.3: whatever the scaling."""
    return _is_rollout(facts, "vllm", "sglang") and _asked(facts) > facts.of_model(LONGEST)


def _beyond_unscaled(facts: Facts) -> bool:
    """0.4: with scaled positions vLLM alone decides, SGLang takes no notice of the scaling."""
    if _is_rollout(facts, "sglang"):
        return max(_asked(facts), facts.count_or_none(MODEL_LENGTH) or 0) > facts.of_model(LONGEST)
    return _is_rollout(facts, "vllm") and facts.rope_factor is None and _asked(facts) > facts.of_model(LONGEST)


def _reach(facts: Facts) -> float:
    """Tokens of the longest sequence with scaled positions."""
    return facts.of_model(LONGEST) * (facts.rope_factor or 1)


def _beyond_scaled(facts: Facts) -> bool:
    return _is_rollout(facts, "vllm", "sglang") and _asked(facts) > _reach(facts)


def _beyond_message(facts: Facts) -> str:
    own = facts.count_or_none(MODEL_LENGTH)
    asked = facts.said(MODEL_LENGTH) if own and own > _asked(facts) and not facts.at_least("0.5.0") else ""
    return f"{asked or _asked_said(facts)} is above {facts.of_model_said(LONGEST)}"


def _scaled_message(facts: Facts) -> str:
    factor = facts.rope_factor
    times = "" if factor is None else f" x rope_scaling.factor {factor:g} = {_reach(facts):g}"
    return f"{_asked_said(facts)} is above {facts.of_model_said(LONGEST)}{times}"


def _beyond_row(since: str, until: str, rejects: Ask, message: Say, reach: Callable[[Facts], float]) -> Row:
    return Row(
        "W11",
        since,
        (PROMPT, RESPONSE, MODEL_LENGTH, MODEL_PATH),
        rejects,
        message,
        lambda facts: f"make {PROMPT} and {RESPONSE} {reach(facts):g} or less together, or take another model",
        "rollout: model context length should be greater than total sequence length",
        AT_WORKERS,
        until=until,
    )


def _server_beyond(facts: Facts, *names: str) -> bool:
    own = facts.count_or_none(MODEL_LENGTH)
    return own is not None and facts.text(f"{ROLLOUT}.name") in names and own > facts.of_model(LONGEST)


def _server_row(since: str, until: str, *names: str) -> Row:
    return Row(
        "W12",
        since,
        (MODEL_LENGTH, MODEL_PATH),
        lambda facts: _server_beyond(facts, *names),
        lambda facts: f"{facts.said(MODEL_LENGTH)} is above {facts.of_model_said(LONGEST)}",
        lambda facts: f"set {MODEL_LENGTH} to {facts.of_model(LONGEST)} or less, or leave it out",
        "rollout server: max_model_len should be less than or equal to max_position_embeddings",
        AT_WORKERS,
        until=until,
        fix=lambda facts: (MODEL_LENGTH, str(facts.of_model(LONGEST))),
    )


def _cut_off(facts: Facts) -> bool:
    own = facts.count_or_none(MODEL_LENGTH)
    if not own or facts.text(f"{ROLLOUT}.name") != "sglang" or facts.rollout_path != "spmd":
        return False
    return own < facts.longest


def _short(budget: str, parallel: str, role: Ask, after: str = "") -> Ask:
    """Whether a budget on the GPUs that share a sequence is below the longest one. A default that is too small where
    `after` is too small as well is explained by that one."""

    def ask(facts: Facts) -> bool:
        if facts.implementation != "legacy" or not facts.trains or not facts.at_least("0.2.0"):
            return False
        if after and not facts.given(budget) and facts.count(after) == facts.count(budget):
            return False
        return facts.count(budget) * _parallel(facts, parallel) < facts.longest and role(facts)

    return ask


def _parallel(facts: Facts, key: str) -> int:
    if facts.strategy == "megatron":
        if not facts.at_least("0.4.1"):
            raise Undecided(key)
        return facts.count(f"{ACTOR}.megatron.context_parallel_size")
    return facts.count(key, 1)


def _row(id: str, budget: str, parallel: str, role: Ask, after: str = "") -> Row:
    def message(facts: Facts) -> str:
        size = _parallel(facts, parallel)
        times = f" x {facts.said(parallel)} = {facts.count(budget) * size}" if size > 1 else ""
        return f"{facts.said(budget)}{times} is below {said_longest(facts)}, and sequences are padded to that"

    def help(facts: Facts) -> str:
        return f"set {budget} to at least {-(-facts.longest // _parallel(facts, parallel))}"

    return Row(
        id,
        "0.2.0",
        (budget, PROMPT, RESPONSE),
        _short(budget, parallel, role, after),
        message,
        help,
        "rearrange_micro_batches: max_token_len must be greater than the sequence length",
        AT_STEP,
        fix=lambda facts: (budget, str(-(-facts.longest // _parallel(facts, parallel)))),
    )


def _log_prob_dynamic(facts: Facts) -> bool:
    return facts.flag(f"{ROLLOUT}.log_prob_use_dynamic_bsz")


def _ref_dynamic(facts: Facts) -> bool:
    return facts.ref_used and facts.flag(f"{REF}.log_prob_use_dynamic_bsz")


def _critic_dynamic(facts: Facts) -> bool:
    return facts.critic_used and facts.flag("critic.use_dynamic_bsz")


ROWS: tuple[Row, ...] = (
    Row(
        "W10",
        "0.3.0",
        (BATCHED, MODEL_LENGTH, PROMPT, RESPONSE),
        _prefill,
        _prefill_message,
        _prefill_help,
        "vllm_rollout_spmd.py",
        AT_WORKERS,
        until="0.6.1",
        fix=lambda facts: (BATCHED, str(_rollout_longest(facts))),
    ),
    Row(
        "W13",
        "0.7.0",
        (BATCHED, CHUNKED, MODEL_LENGTH, MODEL_PATH),
        _unchunked,
        _unchunked_message,
        lambda facts: f"set {BATCHED} to at least {_served(facts)}, or {CHUNKED}=True",
        "SchedulerConfig of vLLM",
        "newer releases of vLLM stop when the server starts",
        until="0.9.0",
        fix=lambda facts: (BATCHED, str(_served(facts))),
        verify="python3 -c 'import vllm; print(vllm.__version__)'  # 0.24 and newer reject it",
    ),
    Row(
        "W14",
        "0.4.0",
        (MODEL_LENGTH, PROMPT, RESPONSE),
        _cut_off,
        lambda facts: f"{facts.said(MODEL_LENGTH)} is below {said_longest(facts)}",
        lambda facts: f"set {MODEL_LENGTH} to at least {facts.longest}, or leave it out",
        "sglang_rollout.py",
        AT_WORKERS,
        until="0.6.1",
        fix=lambda facts: (MODEL_LENGTH, str(facts.longest)),
    ),
    _beyond_row("0.2.0", "0.3.0", _beyond, _beyond_message, lambda facts: facts.of_model(LONGEST)),
    _beyond_row("0.4.0", "0.4.1", _beyond_unscaled, _beyond_message, lambda facts: facts.of_model(LONGEST)),
    _beyond_row("0.5.0", "0.6.1", _beyond_scaled, _scaled_message, _reach),
    _server_row("0.7.1", "0.7.1", "vllm", "sglang"),
    _server_row("0.8.0", "", "vllm", "sglang", "trtllm"),
    _row("W15a", ACTOR_BUDGET, SEQUENCE_PARALLEL, lambda facts: facts.flag(DYNAMIC)),
    _row("W15l", ROLLOUT_BUDGET, SEQUENCE_PARALLEL, _log_prob_dynamic, ACTOR_BUDGET),
    _row("W15f", REF_BUDGET, REF_PARALLEL, _ref_dynamic, ACTOR_BUDGET),
    _row("W15c", "critic.ppo_max_token_len_per_gpu", CRITIC_PARALLEL, _critic_dynamic),
    _row(
        "W15v",
        "critic.forward_max_token_len_per_gpu",
        CRITIC_PARALLEL,
        _critic_dynamic,
        "critic.ppo_max_token_len_per_gpu",
    ),
)
