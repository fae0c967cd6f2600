"""Keys that must go together.

Sources: `_validate_config` of `trainer/ppo/ray_trainer.py` (to 0.5.0), `utils/config.py` (from 0.6.0),
`workers/engine_workers.py:init_model`, `trainer/ppo/ray_trainer.py`, `trainer/ppo/rollout_corr_helper.py`,
`trainer/ppo/v1/trainer_base.py`, `experimental/agent_loop/agent_loop.py`, the reward managers."""

from __future__ import annotations

from verlint.verl.constraints import AT_STEP, AT_WORKERS, STOCK, Row
from verlint.verl.facts import ACTOR, DYNAMIC, ESTIMATOR, MODEL, ROLLOUT, Facts

LOG_PROB_DYNAMIC = f"{ROLLOUT}.log_prob_use_dynamic_bsz"
TEMPERATURE = f"{ROLLOUT}.temperature"
VAL_SAMPLE = f"{ROLLOUT}.val_kwargs.do_sample"
MULTI_TURN = f"{ROLLOUT}.multi_turn.enable"
TOOLS = f"{ROLLOUT}.multi_turn.tool_config_path"
INTERACTIONS = f"{ROLLOUT}.multi_turn.interaction_config_path"
HYBRID = "actor_rollout_ref.hybrid_engine"
HDFS = "trainer.default_hdfs_dir"
RESUME = "trainer.resume_mode"
BYPASS = "algorithm.rollout_correction.bypass_mode"
LOG_PROBS = f"{ROLLOUT}.calculate_log_probs"
PROMETHEUS = f"{ROLLOUT}.prometheus.enable"
NO_STATS = f"{ROLLOUT}.disable_log_stats"
FILTER = "algorithm.filter_groups.enable"
METRIC = "algorithm.filter_groups.metric"
IN_FLIGHT = "algorithm.filter_groups.max_inflight_gen_batches"
SUM_PI = f"{ACTOR}.calculate_sum_pi_squared"
FUSED = f"{MODEL}.use_fused_kernels"
REWARD_POOL = "reward.reward_model.enable_resource_pool"
REWARD_MODEL = "reward.reward_model.enable"
CURRICULUM = "data.sampler.class_path"
LOADERS = "data.dataloader_num_workers"
SAMPLER = "trainer.v1.sampler.custom_sampler.path"

_OLD = "RayPPOTrainer._validate_config"


# ---- dynamic batching of actor and rollout


def _dynamic_apart(facts: Facts) -> bool:
    return facts.implementation == "engine" and facts.flag(DYNAMIC) != facts.flag(LOG_PROB_DYNAMIC)


# ---- sampling


def _cold(facts: Facts) -> bool:
    return facts.number(TEMPERATURE) <= 0 and facts.flag(VAL_SAMPLE)


def _cold_row(since: str, until: str, source: str) -> Row:
    return Row(
        "V15",
        since,
        (VAL_SAMPLE, TEMPERATURE),
        _cold,
        lambda facts: f"{facts.said(VAL_SAMPLE)} needs {facts.said(TEMPERATURE)} to be above 0",
        lambda facts: f"set {VAL_SAMPLE}=False, or {TEMPERATURE} above 0: VeRL looks at the temperature of training",
        source,
        until=until,
        validated=True,
    )


def _no_tools(facts: Facts) -> bool:
    return facts.flag(MULTI_TURN) and facts.get(TOOLS, None) is None and facts.get(INTERACTIONS, None) is None


def _other_estimator(facts: Facts) -> bool:
    return facts.flag(MULTI_TURN) and facts.text(ESTIMATOR) != "grpo"


# ---- trainer


def _not_hybrid(facts: Facts) -> bool:
    return facts.trainer == "v0" and not facts.flag(HYBRID, otherwise=True)


def _hdfs(facts: Facts) -> bool:
    return facts.trainer == "v0" and facts.get(HDFS) is not None and facts.get(RESUME) != "disable"


def _bypass(facts: Facts) -> bool:
    return facts.flag(BYPASS) and not facts.flag(LOG_PROBS) and facts.trains


def _hidden_stats(facts: Facts) -> bool:
    return facts.flag(PROMETHEUS) and facts.flag(NO_STATS)


def _routes(facts: Facts) -> bool:
    key = f"{ACTOR}.{facts.strategy}.router_replay.mode"
    return facts.strategy in ("megatron", "veomni") and facts.get(key, "disabled") == "R2" and facts.flag(BYPASS)


def _filters(facts: Facts) -> bool:
    return facts.trainer == "v1" and facts.flag(FILTER) and facts.get(SAMPLER, None) is None


def _no_metric(facts: Facts) -> bool:
    return not facts.get(METRIC, None) and _filters(facts)


def _colocated_reward(facts: Facts) -> bool:
    return facts.flag(REWARD_MODEL) and not facts.flag(REWARD_POOL) and _filters(facts)


def _none_in_flight(facts: Facts) -> bool:
    if facts.text("trainer.v1.trainer_mode", "sync") != "sync":
        return False
    return facts.count(IN_FLIGHT, 1) <= 0 and _filters(facts)


def _no_sum(facts: Facts) -> bool:
    if facts.text(ESTIMATOR) not in ("optimal_token_baseline", "tir_optimal_token_baseline"):
        return False
    return facts.trainer == "v0" and facts.trains and not facts.flag(SUM_PI)


def _cached_order(facts: Facts) -> bool:
    return facts.get(CURRICULUM, None) is not None and facts.get(LOADERS, 8) != 0


def _pool_rows(section: str, since: str, until: str) -> tuple[Row, ...]:
    """A pool of GPUs for the reward model; its nodes are 0 unless they are set."""
    enabled, sizes = f"{section}.enable_resource_pool", (f"{section}.nnodes", f"{section}.n_gpus_per_node")

    def row(size: str) -> Row:
        return Row(
            "D15",
            since,
            (size, enabled),
            lambda facts: facts.flag(enabled) and facts.count(size) <= 0,
            lambda facts: f"{facts.said(enabled)} needs GPUs, but {facts.said(size)}",
            lambda facts: f"set {size} to those of the reward model",
            "main_ppo: must be greater than 0",
            AT_WORKERS,
            until=until,
            entries=STOCK,
        )

    return tuple(map(row, sizes))


# ---- the overlong penalty of the reward manager `dapo`


def _overlong_rows(section: str, manager: str, since: str, until: str, *, only_enabled: bool) -> tuple[Row, ...]:
    buffer, longest = f"{section}.reward_kwargs.overlong_buffer_cfg", f"{section}.reward_kwargs.max_resp_len"
    enabled, length = f"{buffer}.enable", f"{buffer}.len"

    def used(facts: Facts) -> bool:
        if facts.get(manager, "naive") != "dapo" or not facts.given(length):
            return False
        return not only_enabled or facts.flag(enabled)

    def unbounded(facts: Facts) -> bool:
        return used(facts) and facts.get(longest, None) is None

    def too_long(facts: Facts) -> bool:
        return used(facts) and facts.count(length) > facts.count(longest)

    source = "DAPORewardManager"
    return (
        Row(
            "T22",
            since,
            (length, enabled),
            unbounded,
            lambda facts: f"{facts.said(length)} needs {longest}, which is not set",
            lambda facts: f"add +{longest}=${{data.max_response_length}}",
            source,
            AT_WORKERS,
            until=until,
            entries=STOCK,
        ),
        Row(
            "T22l",
            since if since != "0.4.1" else "0.5.0",
            (length, longest),
            too_long,
            lambda facts: f"{facts.said(length)} is above {facts.said(longest)}",
            lambda facts: f"set {length} to the last part of the response that is penalised, below {longest}",
            source,
            AT_WORKERS,
            until=until,
            entries=STOCK,
        ),
    )


ROWS: tuple[Row, ...] = (
    Row(
        "W5",
        "0.7.0",
        (LOG_PROB_DYNAMIC, DYNAMIC),
        _dynamic_apart,
        lambda facts: f"{facts.said(DYNAMIC)} and {facts.said(LOG_PROB_DYNAMIC)} differ",
        lambda facts: f"remove {LOG_PROB_DYNAMIC}: its default is the actor's",
        "engine_workers.ActorRolloutRefWorker.init_model: bare assert",
        AT_WORKERS,
    ),
    _cold_row("0.3.0", "0.5.0", _OLD),
    _cold_row("0.6.0", "", "validate_config"),
    Row(
        "V16",
        "0.4.0",
        (MULTI_TURN, TOOLS, INTERACTIONS),
        _no_tools,
        lambda facts: f"{facts.said(MULTI_TURN)} needs {TOOLS.rpartition('rollout.')[2]} to name a file",
        lambda facts: f"set {TOOLS}",
        _OLD,
        until="0.4.1",
        validated=True,
    ),
    Row(
        "V16g",
        "0.4.0",
        (ESTIMATOR, MULTI_TURN),
        _other_estimator,
        lambda facts: f"{facts.said(MULTI_TURN)} takes grpo only, not {facts.said(ESTIMATOR)}",
        lambda facts: f"set {ESTIMATOR}=grpo",
        _OLD,
        until="0.4.1",
        validated=True,
    ),
    Row(
        "V18",
        "0.9.1",
        (BYPASS,),
        _routes,
        lambda facts: f"{facts.said(BYPASS)} skips the forward pass in which router_replay.mode R2 records its routes",
        lambda facts: f"set {BYPASS}=False, or use mode R3",
        "validate_config",
        validated=True,
    ),
    Row(
        "V20",
        "0.2.0",
        (HYBRID,),
        _not_hybrid,
        lambda facts: f"{HYBRID} is off, and the trainer has no other",
        lambda facts: f"remove {HYBRID}",
        "RayPPOTrainer: only support hybrid engine",
        AT_WORKERS,
        entries=STOCK,
    ),
    Row(
        "T8",
        "0.3.0",
        (HDFS, RESUME),
        _hdfs,
        lambda facts: f"{facts.said(HDFS)} with {facts.said(RESUME)}: loading from HDFS is not implemented",
        lambda facts: f"set {RESUME}=disable, or remove {HDFS}",
        "RayPPOTrainer._load_checkpoint",
        AT_WORKERS,
        entries=STOCK,
    ),
    Row(
        "T18",
        "0.6.1",
        (BYPASS, LOG_PROBS),
        _bypass,
        lambda facts: f"{facts.said(BYPASS)} takes the log-probs of the rollout, but {facts.said(LOG_PROBS)}",
        lambda facts: f"set {LOG_PROBS}=True",
        "rollout_corr_helper.py: requires rollout_log_probs in batch",
        AT_STEP,
        entries=STOCK,
    ),
    Row(
        "W23",
        "0.7.0",
        (PROMETHEUS, NO_STATS),
        _hidden_stats,
        lambda facts: f"{facts.said(PROMETHEUS)} needs statistics, but {facts.said(NO_STATS)}",
        lambda facts: f"set {NO_STATS}=False",
        "agent loop: PROMETHEUS needs disable_log_stats==False",
        AT_WORKERS,
        entries=STOCK,
    ),
    Row(
        "T14",
        "0.9.0",
        (FILTER, METRIC),
        _no_metric,
        lambda facts: f"{facts.said(FILTER)} needs {METRIC}",
        lambda facts: f"set {METRIC}=reward",
        "PPOTrainer._resolve_filter_groups_metric",
        AT_WORKERS,
        entries=STOCK,
    ),
    Row(
        "T14r",
        "0.9.0",
        (FILTER, REWARD_MODEL, REWARD_POOL),
        _colocated_reward,
        lambda facts: f"{facts.said(FILTER)} needs rewards while sampling, but {facts.said(REWARD_POOL)}",
        lambda facts: f"set {REWARD_POOL}=True, with GPUs of its own",
        "PPOTrainer._resolve_filter_groups_metric",
        AT_WORKERS,
        entries=STOCK,
    ),
    Row(
        "T14i",
        "0.9.0",
        (IN_FLIGHT, FILTER),
        _none_in_flight,
        lambda facts: f"{facts.said(IN_FLIGHT)} is not above 0",
        lambda facts: f"set {IN_FLIGHT}=1 or more",
        "ReplayBuffer",
        AT_WORKERS,
        entries=STOCK,
    ),
    Row(
        "T20s",
        "0.8.0",
        (ESTIMATOR, SUM_PI),
        _no_sum,
        lambda facts: f"{facts.said(ESTIMATOR)} needs {SUM_PI}=True",
        lambda facts: f"set {SUM_PI}=True",
        "compute_advantage: requires sum_pi_squared from actor",
        AT_STEP,
        entries=STOCK,
    ),
    Row(
        "W22",
        "0.8.0",
        (FUSED, SUM_PI),
        lambda facts: facts.flag(SUM_PI) and facts.flag(FUSED),
        lambda facts: f"{facts.said(SUM_PI)} needs the logits, which {facts.said(FUSED)} never makes",
        lambda facts: f"set {FUSED}=False",
        "engine: calculate_sum_pi_squared is not supported with fused kernels",
        AT_STEP,
        entries=STOCK,
    ),
    Row(
        "T10",
        "0.5.0",
        (CURRICULUM, LOADERS),
        _cached_order,
        lambda facts: f"{facts.said(CURRICULUM)} orders samples as the run goes, but {facts.said(LOADERS)} fetch ahead",
        lambda facts: f"set {LOADERS}=0",
        "create_rl_sampler: num_workers must be 0",
        AT_WORKERS,
        until="0.7.1",
        entries=STOCK,
    ),
    *_pool_rows("reward_model", "0.6.0", "0.7.0"),
    *_pool_rows("reward.reward_model", "0.7.1", ""),
    *_overlong_rows("reward_model", "reward_model.reward_manager", "0.4.1", "0.6.1", only_enabled=False),
    *_overlong_rows("reward", "reward.reward_manager.name", "0.7.1", "0.8.0", only_enabled=False),
    *_overlong_rows("reward", "reward.reward_manager.name", "0.9.0", "", only_enabled=True),
)
