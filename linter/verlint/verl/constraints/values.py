"""Values that a key of its own does not take, whatever the other keys say, and models that VeRL does not load.

Sources: vLLM's `CacheConfig` and `SamplingParams` (0.6 to 0.11), `TraceConfig` of `workers/config/rollout.py` (from
0.7.0), `HFModelConfig` of `workers/config/model.py` (from 0.6.0), `trainer/ppo/rollout_corr_helper.py` (from 0.6.1)."""

from __future__ import annotations

from verlint.verl.constraints import AT_STEP, AT_WORKERS, STOCK, Ask, Row
from verlint.verl.facts import ACTOR, MODEL, MODEL_PATH, ROLLOUT, STRATEGY, Facts
from verlint.verl.undecided import Undecided

TRACED = f"{ROLLOUT}.trace.max_samples_per_step_per_worker"
TARGETS = f"{MODEL}.target_modules"
CACHED = f"{ACTOR}.veomni.activation_offload_host_cache_limit_gb"
MEMORY = f"{ROLLOUT}.gpu_memory_utilization"
TOP_P = f"{ROLLOUT}.top_p"
_CORRECTION = "algorithm.rollout_correction"
REJECTION, REJECTION_LIMIT = f"{_CORRECTION}.rollout_rs", f"{_CORRECTION}.rollout_rs_threshold"
WEIGHTS, WEIGHTS_LIMIT = f"{_CORRECTION}.rollout_is", f"{_CORRECTION}.rollout_is_threshold"
OPTIONS = (
    *("token_k1", "token_k2", "token_k3", "seq_sum_k1", "seq_sum_k2", "seq_sum_k3"),
    *("seq_mean_k1", "seq_mean_k2", "seq_mean_k3", "seq_max_k2", "seq_max_k3"),
)
"""Source: `SUPPORTED_ROLLOUT_RS_OPTIONS` of `rollout_corr_helper.py`, the same from 0.7.1 to 0.9.1."""
OLD_OPTIONS = ("token", "sequence", "geometric")
"""Source: `valid_rs_levels` of the same file, 0.6.1 and 0.7.0; one at a time."""


def _corrects(facts: Facts) -> bool:
    """Whether the correction is computed at all: with log-probs of the rollout, and not in bypass mode."""
    log_probs = facts.flag(f"{ROLLOUT}.calculate_log_probs")
    return log_probs and facts.trains and not facts.flag(f"{_CORRECTION}.bypass_mode")


def _known(facts: Facts) -> tuple[str, ...]:
    return OPTIONS if facts.at_least("0.7.1") else OLD_OPTIONS


def _options(facts: Facts) -> list[str]:
    if not facts.at_least("0.7.1"):
        return [facts.text(REJECTION)]
    return [part.strip() for part in facts.text(REJECTION).split(",") if part.strip()]


def _wrong_options(facts: Facts) -> bool:
    return facts.get(REJECTION, None) is not None and bool(_strange(facts)) and _corrects(facts)


def _strange(facts: Facts) -> list[str]:
    return [option for option in _options(facts) if option not in _known(facts)]


def _no_limit(facts: Facts) -> bool:
    return facts.get(REJECTION, None) is not None and facts.get(REJECTION_LIMIT, None) is None and _corrects(facts)


def _limits(facts: Facts) -> list[str]:
    found = facts.get(REJECTION_LIMIT)
    return [part.strip() for part in str(found).split(",") if part.strip()]


def _wrong_limits(facts: Facts) -> bool:
    if facts.get(REJECTION, None) is None or facts.get(REJECTION_LIMIT, None) is None or not _corrects(facts):
        return False
    limits, options = _limits(facts), _options(facts)
    if _strange(facts):
        return False
    if len(limits) not in (1, len(options)):
        return True
    limits = limits * len(options) if len(limits) == 1 else limits
    return any(map(_wrong_limit, options, limits))


def _wrong_limit(option: str, limit: str) -> bool:
    parts = limit.split("_", 1) if option.endswith("k1") else [limit]
    return any(not _positive(part) for part in parts)


def _positive(text: str) -> bool:
    try:
        return float(text) > 0 and "_" not in text
    except ValueError:
        return False


def _low_weight(facts: Facts) -> bool:
    return facts.get(WEIGHTS, None) is not None and facts.number(WEIGHTS_LIMIT) <= 0 and _corrects(facts)


def _no_single_class(facts: Facts) -> bool:
    if facts.model is None or not facts.model.lists_architectures:
        raise Undecided(MODEL_PATH)
    return len(facts.model.architectures) != 1


def _too_much_memory(facts: Facts) -> bool:
    return facts.text(f"{ROLLOUT}.name") == "vllm" and facts.number(MEMORY) > 1


def _no_share(key: str) -> Ask:
    """Whether the text that is sampled from is no share of the distribution; greedy sampling does not read it."""
    return lambda facts: facts.text(f"{ROLLOUT}.name") == "vllm" and not 0 < facts.number(key) <= 1


def _odd_targets(facts: Facts) -> bool:
    found = facts.plain(TARGETS)
    if found is None or isinstance(found, str):
        return False
    return not isinstance(found, list) or not all(isinstance(each, str) for each in found)


ROWS: tuple[Row, ...] = (
    Row(
        "VM1",
        "0.2",
        (MEMORY,),
        _too_much_memory,
        lambda facts: f"{facts.said(MEMORY)} is above 1: it is the share of a GPU's memory that vLLM takes",
        lambda facts: f"set {MEMORY} to a share such as 0.6",
        "vLLM: CacheConfig._verify_args",
        AT_WORKERS,
    ),
    Row(
        "VM2",
        "0.2",
        (TOP_P,),
        _no_share(TOP_P),
        lambda facts: f"{facts.said(TOP_P)} is not above 0 and at most 1",
        lambda facts: f"set {TOP_P}=1.0 to sample from the whole distribution",
        "vLLM: SamplingParams._verify_args",
        AT_STEP,
    ),
    Row(
        "D8",
        "0.7.0",
        (TRACED,),
        lambda facts: (most := facts.count_or_none(TRACED)) is not None and most < 0,
        lambda facts: f"{facts.said(TRACED)} is below 0",
        lambda facts: f"set {TRACED}=null to trace all samples",
        "TraceConfig",
        AT_WORKERS,
    ),
    Row(
        "T19",
        "0.6.1",
        (REJECTION,),
        _wrong_options,
        lambda facts: f"{_strange(facts)[0]} is no {REJECTION}",
        lambda facts: f"it takes {', '.join(_known(facts))}",
        "rollout_corr_helper.py: Invalid rollout_rs option",
        AT_STEP,
        entries=STOCK,
    ),
    Row(
        "T19n",
        "0.6.1",
        (REJECTION_LIMIT, REJECTION),
        _no_limit,
        lambda facts: f"{facts.said(REJECTION)} needs {REJECTION_LIMIT}",
        lambda facts: f"set {REJECTION_LIMIT}, for k1 as lower_upper (0.5_2.0), else one number",
        "rollout_corr_helper.py: rollout_rs_threshold must be provided",
        AT_STEP,
        entries=STOCK,
    ),
    Row(
        "T19l",
        "0.7.1",
        (REJECTION_LIMIT, REJECTION),
        _wrong_limits,
        lambda facts: f"{facts.said(REJECTION_LIMIT)} does not go with {facts.said(REJECTION)}",
        lambda facts: "give one threshold for all or one for each, above 0, as lower_upper (0.5_2.0) for k1 only",
        "rollout_corr_helper.py: _parse_rollout_rs_thresholds",
        AT_STEP,
        entries=STOCK,
    ),
    Row(
        "T19i",
        "0.6.1",
        (WEIGHTS_LIMIT, WEIGHTS),
        _low_weight,
        lambda facts: f"{facts.said(WEIGHTS_LIMIT)} is not above 0",
        lambda facts: f"set {WEIGHTS_LIMIT}=2.0",
        "rollout_corr_helper.py: rollout_is_threshold must be positive",
        AT_STEP,
        entries=STOCK,
    ),
    Row(
        "D18",
        "0.9.1",
        (CACHED, STRATEGY),
        lambda facts: facts.strategy == "veomni" and facts.number(CACHED) < 0,
        lambda facts: f"{facts.said(CACHED)} is below 0",
        lambda facts: f"set {CACHED}=4.0",
        "VeOmniEngineConfig: must be a finite non-negative value",
        AT_WORKERS,
    ),
    Row(
        "D19",
        "0.6.0",
        (MODEL_PATH,),
        _no_single_class,
        lambda facts: (
            f"architectures of {facts.model.path if facts.model else ''} has "
            f"{len(facts.model.architectures) if facts.model else 0} names, not one"
        ),
        lambda facts: "keep the class of the model alone in its config.json",
        "HFModelConfig: Expect only one architecture",
        AT_WORKERS,
    ),
    Row(
        "D19t",
        "0.7.1",
        (TARGETS,),
        _odd_targets,
        lambda facts: f"{TARGETS} is neither a text nor a list of texts",
        lambda facts: f"set {TARGETS}=all-linear, or list names of modules",
        "HFModelConfig: target_modules must be a string or a list of strings",
        AT_WORKERS,
    ),
)
