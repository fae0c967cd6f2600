"""Keys that must go together.

Sources: `_validate_config` of `trainer/ppo/ray_trainer.py` (to 0.5.0), `utils/config.py` (from 0.6.0),
`workers/engine_workers.py:init_model`, `trainer/ppo/ray_trainer.py`, `trainer/ppo/rollout_corr_helper.py`,
`trainer/ppo/v1/trainer_base.py`, `experimental/agent_loop/agent_loop.py`, the reward managers."""

from __future__ import annotations

from collections.abc import Iterator

from verlint.verl.constraints import AT_STEP, AT_WORKERS, STOCK, Ask, Row
from verlint.verl.constraints.batch import PREFIX_GROUPER
from verlint.verl.constraints.data import own_loading
from verlint.verl.facts import (
    ACTOR,
    DYNAMIC,
    ESTIMATOR,
    GPUS,
    MODEL,
    MODEL_PATH,
    NODES,
    ROLLOUT,
    SEQUENCE_PARALLEL,
    STRATEGY,
    Facts,
    short,
)
from verlint.verl.undecided import Undecided

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
LOSS = f"{ACTOR}.policy_loss"
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
MEGATRON = f"{ACTOR}.megatron"
BRIDGE = f"{MEGATRON}.use_mbridge"
CONTEXT = f"{MEGATRON}.dynamic_context_parallel"
COMPONENTS = "algorithm.gdpo_reward_keys"
PADDED = f"{MEGATRON}.pad_to_length"
SHUFFLE, LOADER_SEED = f"{ACTOR}.shuffle", f"{ACTOR}.data_loader_seed"
ROLLOUT_ROUTES = f"{ROLLOUT}.enable_rollout_routing_replay"
REMOVE_PADDING = f"{MODEL}.use_remove_padding"
QUANTIZATION = f"{ROLLOUT}.quantization"
LOAD_FORMAT = f"{ROLLOUT}.load_format"
NAME = f"{ROLLOUT}.name"
RAW_CHAT = "data.return_raw_chat"
MODE, AGENT_LOOPS = f"{ROLLOUT}.mode", f"{ROLLOUT}.agent.agent_loop_config_path"
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


def _no_messages(facts: Facts) -> bool:
    """Whether conversations are to be led that the loader does not hand on. An agent loop of one's own may do without
    from 0.6."""
    if facts.flag(RAW_CHAT) or own_loading(facts):
        return False
    if facts.text(MODE) == "async":
        return not facts.at_least("0.6.0") or facts.get(AGENT_LOOPS, None) is None
    return facts.text(NAME) == "sglang" and facts.flag(MULTI_TURN)


def _no_messages_message(facts: Facts) -> str:
    key = MODE if facts.text(MODE) == "async" else MULTI_TURN
    return f"{facts.said(key)} reads the messages of each prompt, but {facts.said(RAW_CHAT)} leaves them out"


def _single_turns(facts: Facts) -> bool:
    return facts.flag(MULTI_TURN) and facts.text(NAME) == "vllm" and facts.text(MODE) == "sync"


def _other_estimator(facts: Facts) -> bool:
    return facts.flag(MULTI_TURN) and facts.text(ESTIMATOR) != "grpo"


# ---- trainer


def _not_hybrid(facts: Facts) -> bool:
    return facts.trainer == "v0" and not facts.flag(HYBRID, otherwise=True)


def _hdfs(facts: Facts) -> bool:
    """A folder; the text `None` is meant as null, which the check of types says."""
    folder = facts.get(HDFS)
    return facts.trainer == "v0" and folder not in (None, "None", "none") and facts.get(RESUME) != "disable"


def _bypass(facts: Facts) -> bool:
    return facts.flag(BYPASS) and not facts.flag(LOG_PROBS) and facts.trains


def _sealed_loss(facts: Facts) -> bool:
    """0.6.1 writes the correction into the loss of the actor, whose config takes no new keys."""
    return facts.flag(BYPASS) and facts.flag(LOG_PROBS) and facts.trains and not facts.has(f"{LOSS}.rollout_correction")


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


def _shared_logits(facts: Facts) -> bool:
    if facts.implementation != "legacy" or not facts.sharded or not facts.flag(SUM_PI):
        return False
    return facts.flag(PREFIX_GROUPER) or facts.flag(FUSED)


# ---- routes of experts, Megatron


def _routes_twice(facts: Facts) -> bool:
    """R2 records the routes when old log-probs are computed; those of the rollout are another record."""
    if facts.trainer != "v0" or not facts.trains or facts.flag(BYPASS) or facts.strategy != "megatron":
        return False
    old, new = f"{ACTOR}.router_replay.mode", f"{MEGATRON}.router_replay.mode"
    return facts.text(old if facts.has(old) else new, "disabled") == "R2" and facts.flag(ROLLOUT_ROUTES)


def _padded_routes(facts: Facts) -> bool:
    if facts.strategy != "veomni" or facts.flag(f"{ACTOR}.use_remove_padding"):
        return False
    old, new = f"{ACTOR}.router_replay.mode", f"{ACTOR}.veomni.router_replay.mode"
    return facts.text(new if facts.at_least("0.9.1") else old, "disabled") != "disabled"


def _without_bridge(facts: Facts) -> bool:
    if facts.strategy != "megatron" or facts.implementation != "engine" or not facts.has(BRIDGE):
        return False  # a config for another engine has no such section
    return not facts.flag(BRIDGE)


def _half_without_bridge(facts: Facts) -> bool:
    if facts.strategy != "megatron" or facts.implementation != "legacy" or not facts.has(BRIDGE) or facts.flag(BRIDGE):
        return False
    return facts.text(f"{MEGATRON}.dtype", "bfloat16") == "float16"


def _legacy_megatron(facts: Facts) -> bool:
    return facts.strategy == "megatron" and facts.implementation == "legacy"


LOADED = ("LlamaForCausalLM", "Qwen2ForCausalLM")
"""Models that VeRL itself brings into Megatron. Source: `models/weight_loader_registry.py:get_weight_loader`, the same
from 0.4.0 to 0.7.1."""
SHARDS = f"{MEGATRON}.use_dist_checkpointing"


def _class_of_model(facts: Facts) -> str:
    """The one class that the model's config names."""
    if facts.model is None or len(facts.model.architectures) != 1:
        raise Undecided(MODEL_PATH)
    return facts.model.architectures[0]


def _not_loaded(facts: Facts) -> bool:
    if not _legacy_megatron(facts) or facts.flag(BRIDGE) or facts.flag(SHARDS):
        return False
    return facts.flag(f"{ACTOR}.load_weight", otherwise=True) and _class_of_model(facts) not in LOADED


def _not_loaded_help(facts: Facts) -> str:
    shards = f"{SHARDS}=True with a checkpoint of Megatron's"
    return f"set {BRIDGE}=True, or {shards}" if facts.has(BRIDGE) else f"set {shards}"


def _dense_log_probs(facts: Facts) -> bool:
    """The fused kernels give the engine one row for each sample where it takes one for each token."""
    if facts.implementation != "engine" or not facts.sharded or not facts.trains:
        return False
    return facts.flag(FUSED) and not facts.flag(REMOVE_PADDING)


def _unshared_sequences(facts: Facts) -> bool:
    return facts.count(SEQUENCE_PARALLEL, 1) != 1 and _legacy_megatron(facts)


def _unseeded(facts: Facts) -> bool:
    return facts.get(LOADER_SEED, None) is None and facts.flag(SHUFFLE) and _legacy_megatron(facts)


def _padded_pack(facts: Facts) -> bool:
    """Megatron packs, fills up to a length, and then knows no longer which tokens routes or teacher are about."""
    if facts.strategy != "megatron" or not facts.flag(PADDED) or not facts.flag(f"{MEGATRON}.use_remove_padding"):
        return False
    routes = f"{MEGATRON}.router_replay.mode"
    return facts.text(routes, "disabled") != "disabled" or _top_tokens(facts)


def _padded_teacher(facts: Facts) -> bool:
    return facts.sharded and facts.flag(f"{ACTOR}.fsdp_config.pad_to_length") and _top_tokens(facts)


def _top_tokens(facts: Facts) -> bool:
    mode = "distillation.distillation_loss.loss_mode"
    return facts.get(mode, None) == "forward_kl_topk" and facts.flag("distillation.enabled")


def _dynamic_context(wrong: Ask) -> Ask:
    return lambda facts: facts.strategy == "megatron" and facts.flag(CONTEXT) and wrong(facts)


def _odd_ranks(facts: Facts) -> bool:
    from math import prod

    sizes = (facts.count(f"{MEGATRON}.{each}_model_parallel_size") for each in ("tensor", "pipeline"))
    shared = prod(sizes)
    if shared <= 0 or facts.n_gpus % shared:
        return False
    return facts.n_gpus // shared < 2 or facts.n_gpus // shared % 2 != 0


def _context_rows() -> Iterator[Row]:
    """What dynamic context parallelism of Megatron asks for and cannot do."""

    def row(id: str, key: str, wrong: Ask, why: str, help: str) -> Row:
        return Row(
            id,
            "0.9.0",
            (CONTEXT, key),
            _dynamic_context(wrong),
            lambda facts: f"{facts.said(CONTEXT)} {why}, but {facts.said(key)}",
            lambda facts: help,
            "McoreEngineConfig and _check_dcp_unsupported_features",
            AT_WORKERS,
        )

    longest = f"{MEGATRON}.max_seqlen_per_dp_cp_rank"
    yield row(
        "D17",
        longest,
        lambda facts: (most := facts.count_or_none(longest)) is None or most <= 0,
        "needs the longest sequence of a rank",
        f"set {longest} to the tokens that fit one GPU",
    )
    packed = f"{MEGATRON}.use_remove_padding"
    yield row(
        "D17r", packed, lambda facts: not facts.flag(packed), "works on packed sequences only", f"set {packed}=True"
    )
    padded = f"{MEGATRON}.pad_to_length"
    yield row("D17p", padded, lambda facts: facts.flag(padded), "works without padding only", f"set {padded}=False")
    virtual = f"{MEGATRON}.virtual_pipeline_model_parallel_size"
    yield row(
        "D17v",
        virtual,
        lambda facts: facts.count_or_none(virtual) not in (None, 1),
        "knows no virtual pipeline",
        f"set {virtual}=null",
    )
    yield Row(
        "D17e",
        "0.9.0",
        (CONTEXT, GPUS, NODES),
        _dynamic_context(_odd_ranks),
        lambda facts: f"{facts.said(CONTEXT)} needs an even number of data parallel ranks of {facts.gpus_said()}",
        lambda facts: "change the GPUs, or Megatron's tensor or pipeline parallel size",
        "_validate_dcp_world_size",
        AT_WORKERS,
    )


def _no_module(section: str) -> Ask:
    return lambda facts: facts.get(f"{section}.source") == "importlib" and facts.get(f"{section}.module.path") is None


def _module_rows() -> Iterator[Row]:
    for since, until, section in (("0.7.0", "0.7.0", "reward_manager"), ("0.7.1", "", "reward.reward_manager")):
        source, path = f"{section}.source", f"{section}.module.path"
        yield Row(
            "D14",
            since,
            (source, path),
            _no_module(section),
            lambda facts, source=source, path=path: f"{facts.said(source)} needs {path}",  # type: ignore[misc]
            lambda facts, path=path: f"set {path} to the file of the reward manager",  # type: ignore[misc]
            "load_reward_manager: Module path is required",
            AT_WORKERS,
            until=until,
            entries=STOCK,
        )


def _eager_quantization(facts: Facts) -> bool:
    if facts.text(NAME) != "trtllm" or facts.get(QUANTIZATION, None) != "fp8":
        return False
    return facts.text(LOAD_FORMAT) != "dummy"


# ---- the overlong penalty of the reward manager `dapo`


def _overlong_rows(
    section: str, manager: str, since: str, until: str, *, only_enabled: bool, loop: str = ""
) -> tuple[Row, ...]:
    """`loop` is the key that must be on for the manager to be made."""
    buffer, longest = f"{section}.reward_kwargs.overlong_buffer_cfg", f"{section}.reward_kwargs.max_resp_len"
    enabled, length = f"{buffer}.enable", f"{buffer}.len"

    def used(facts: Facts) -> bool:
        if facts.get(manager, "naive") != "dapo" or not facts.given(length):
            return False
        if loop and not facts.flag(loop):
            return False
        return not only_enabled or facts.flag(enabled)

    def unbounded(facts: Facts) -> bool:
        return used(facts) and facts.get(longest, None) is None

    def too_long(facts: Facts) -> bool:
        return used(facts) and facts.count(length) > facts.count(longest)

    def missing(facts: Facts) -> str:
        return next((each for each in fields if facts.get(each, None) is None), "")

    fields = (f"{buffer}.penalty_factor", f"{buffer}.log")
    source, mark = "DAPORewardManager", "p" if loop else ""
    return (
        Row(
            f"T22{mark}",
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
            f"T22l{mark}",
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
        Row(
            f"T22g{mark}",
            since if since != "0.4.1" else "0.5.0",
            (enabled, length),
            lambda facts: used(facts) and facts.flag(enabled) and bool(missing(facts)),
            lambda facts: f"{facts.said(enabled)} reads {missing(facts)}, which is not set and has no default",
            lambda facts: f"add +{missing(facts)}={'False' if missing(facts).endswith('.log') else '1.0'}",
            f"{source}: ConfigAttributeError",
            AT_STEP,
            until=until,
            entries=STOCK,
        ),
    )


def _recipe_rows() -> Iterator[Row]:
    """What the recipe DAPO asks for. Sources: `recipe/dapo/dapo_ray_trainer.py`, `workers/reward_manager/dapo.py`."""
    entries = ("recipe.dapo.main_dapo",)
    buffer = "reward_model.overlong_buffer"
    enabled, length, longest = f"{buffer}.enable", f"{buffer}.len", "data.max_response_length"

    def too_long(facts: Facts) -> bool:
        used = facts.flag(enabled) and facts.get("reward_model.reward_manager", "dapo") == "dapo"
        return used and facts.count(length) > facts.count(longest)

    for id, since, until in (("T22r", "0.4.0", "0.4.1"), ("T22s", "0.5.0", "0.7.0")):
        yield Row(
            id,
            since,
            (length, longest),
            too_long,
            lambda facts: f"{facts.said(length)} is above {facts.said(longest)}",
            lambda facts: f"set {length} to the last part of the response that is penalised, below {longest}",
            "DAPORewardManager",
            AT_WORKERS if since == "0.5.0" else "even an empty response is penalised as too long",
            until=until,
            entries=entries,
            silent=since != "0.5.0",
        )
    yield Row(
        "T14m",
        "0.4.0",
        (FILTER, METRIC),
        lambda facts: facts.flag(FILTER) and not facts.get(METRIC, None),
        lambda facts: f"{facts.said(FILTER)} needs {METRIC}, which is not set",
        lambda facts: f"set {METRIC}=acc, or another value that the reward function returns",
        "RayDAPOTrainer.fit: KeyError of the metric's name",
        AT_STEP,
        until="0.7.0",
        entries=entries,
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
        "S37",
        "0.4.1",
        (RAW_CHAT, MODE, MULTI_TURN),
        _no_messages,
        _no_messages_message,
        lambda facts: f"set {RAW_CHAT}=True",
        "agent_loop.py, sglang_rollout.py: KeyError: 'raw_prompt'",
        AT_STEP,
        until="0.6.1",
        entries=STOCK,
        fix=lambda facts: (RAW_CHAT, "True"),
    ),
    Row(
        "S38",
        "0.5.0",
        (MULTI_TURN, MODE, NAME),
        _single_turns,
        lambda facts: f"{facts.said(MULTI_TURN)} needs {facts.said(MODE)} to be async with {facts.said(NAME)}",
        lambda facts: f"set {MODE}=async and {RAW_CHAT}=True, or take sglang",
        "vllm_rollout_spmd.py",
        "each answer is one turn, and no tool is called",
        until="0.6.1",
        entries=STOCK,
        silent=True,
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
        "T18s",
        "0.6.1",
        (BYPASS,),
        _sealed_loss,
        lambda facts: f"{facts.said(BYPASS)} adds rollout_correction to {short(LOSS)}, whose config takes no new keys",
        lambda facts: f"use VeRL 0.7.0, or set {BYPASS}=False",
        "apply_rollout_correction: ConfigKeyError",
        AT_STEP,
        until="0.6.1",
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
        "T21k",
        "0.7.1",
        (ESTIMATOR, COMPONENTS),
        lambda facts: (
            facts.text(ESTIMATOR) == "gdpo"
            and facts.trainer == "v0"
            and facts.trains
            and facts.plain(COMPONENTS) in (None, [])
        ),
        lambda facts: f"{facts.said(ESTIMATOR)} needs {COMPONENTS}: the components of the reward",
        lambda facts: f"add +{COMPONENTS}=[…], the keys that the reward function returns",
        "core_algos.py: GDPO requires 'algorithm.gdpo_reward_keys'",
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
        "W22d",
        "0.8.0",
        (FUSED, REMOVE_PADDING),
        _dense_log_probs,
        lambda facts: f"{facts.said(FUSED)} gives log-probs that this version takes with {short(REMOVE_PADDING)} only",
        lambda facts: f"set {REMOVE_PADDING}=True, or {FUSED}=False",
        "no_padding_2_padding: assert",
        AT_STEP,
        until="0.8.0",
    ),
    Row(
        "W22g",
        "0.7.1",
        (PREFIX_GROUPER, FUSED, SUM_PI),
        _shared_logits,
        lambda facts: (
            f"{facts.said(SUM_PI)} needs the logits of each sample, "
            f"but {facts.said(PREFIX_GROUPER if facts.flag(PREFIX_GROUPER) else FUSED)}"
        ),
        lambda facts: f"set {PREFIX_GROUPER if facts.flag(PREFIX_GROUPER) else FUSED}=False",
        "dp_actor.DataParallelPPOActor: calculate_sum_pi_squared is not supported",
        AT_WORKERS,
        until="0.7.1",
    ),
    Row(
        "W20",
        "0.8.0",
        (QUANTIZATION, LOAD_FORMAT, NAME),
        _eager_quantization,
        lambda facts: (
            f"{facts.said(QUANTIZATION)} of {facts.said(NAME)} needs dummy weights, not {facts.said(LOAD_FORMAT)}"
        ),
        lambda facts: f"set {LOAD_FORMAT}=dummy",
        "trtllm_async_server.py: FP8 quantization is only supported for dummy load format",
        AT_WORKERS,
    ),
    Row(
        "D13",
        "0.7.1",
        (ROLLOUT_ROUTES, BYPASS),
        _routes_twice,
        lambda facts: (
            f"{facts.said(ROLLOUT_ROUTES)} records routes of experts, and router_replay.mode R2 does so again"
        ),
        lambda facts: f"set {ROLLOUT_ROUTES}=False, or use mode R3",
        "RayPPOTrainer.fit: conflicting router replay configuration",
        AT_STEP,
        entries=STOCK,
    ),
    Row(
        "D13v",
        "0.8.0",
        (REMOVE_PADDING, f"{ACTOR}.use_remove_padding"),
        _padded_routes,
        lambda facts: f"router_replay of VeOmni works on packed sequences only, but {facts.said(REMOVE_PADDING)}",
        lambda facts: f"set {REMOVE_PADDING}=True",
        "VeOmniActorConfig: router_replay requires use_remove_padding=True",
        AT_WORKERS,
        fix=lambda facts: (REMOVE_PADDING, "True"),
    ),
    Row(
        "D21",
        "0.7.0",
        (BRIDGE,),
        _without_bridge,
        lambda facts: f"{facts.said(BRIDGE)}, and the engine loads and saves models through mbridge only",
        lambda facts: f"set {BRIDGE}=True",
        "MegatronEngine: use_mbridge must be True",
        AT_WORKERS,
        fix=lambda facts: (BRIDGE, "True"),
    ),
    Row(
        "D21h",
        "0.7.0",
        (BRIDGE, f"{MEGATRON}.dtype"),
        _half_without_bridge,
        lambda facts: f"{facts.said(f'{MEGATRON}.dtype')} needs mbridge, but {facts.said(BRIDGE)}",
        lambda facts: f"set {BRIDGE}=True",
        "megatron_workers.py: fp16 mode requires use_mbridge to be True",
        AT_WORKERS,
        until="0.7.1",
        fix=lambda facts: (BRIDGE, "True"),
    ),
    Row(
        "D21l",
        "0.4.0",
        (BRIDGE, SHARDS, MODEL_PATH),
        _not_loaded,
        lambda facts: (
            f"VeRL's own loader for Megatron knows {' and '.join(LOADED)} only, not {_class_of_model(facts)}"
            f" ({facts.model.path if facts.model else ''})"
        ),
        _not_loaded_help,
        "get_weight_loader: loader is not supported for now",
        AT_WORKERS,
        until="0.7.1",
    ),
    Row(
        "D21u",
        "0.2.0",
        (SEQUENCE_PARALLEL, STRATEGY),
        _unshared_sequences,
        lambda facts: f"{facts.said(SEQUENCE_PARALLEL)} is for FSDP, not for {facts.said(STRATEGY)}",
        lambda facts: f"remove it; {MEGATRON}.context_parallel_size is what Megatron has",
        "MegatronPPOActor._validate_config: bare assert",
        AT_WORKERS,
        until="0.7.1",
    ),
    Row(
        "D21s",
        "0.4.0",
        (SHUFFLE, LOADER_SEED),
        _unseeded,
        lambda facts: f"{facts.said(SHUFFLE)} of Megatron's actor needs {short(LOADER_SEED)}, so that all ranks agree",
        lambda facts: f"set {LOADER_SEED}=42",
        "MegatronPPOActor._validate_config: seed must be manually set",
        AT_WORKERS,
        until="0.7.1",
    ),
    Row(
        "W22p",
        "0.9.0",
        (PADDED,),
        _padded_pack,
        lambda facts: f"{facts.said(PADDED)} goes neither with router replay nor with a distillation of top tokens",
        lambda facts: f"set {PADDED}=False",
        "MegatronEngineWithLMHead: pad_to_length is not supported",
        AT_STEP,
    ),
    Row(
        "W22f",
        "0.9.0",
        (f"{ACTOR}.fsdp_config.pad_to_length",),
        _padded_teacher,
        lambda facts: "fsdp_config.pad_to_length True does not go with a distillation of top tokens",
        lambda facts: f"set {ACTOR}.fsdp_config.pad_to_length=False",
        "FSDPEngineWithLMHead.prepare_model_inputs",
        AT_STEP,
    ),
    *_context_rows(),
    *_module_rows(),
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
    *_recipe_rows(),
    *_overlong_rows("reward_model", "reward_model.reward_manager", "0.4.1", "0.6.1", only_enabled=False),
    *_overlong_rows(
        "reward_model",
        "reward_model.reward_manager",
        "0.7.0",
        "0.7.0",
        only_enabled=False,
        loop="reward_model.use_reward_loop",
    ),
    *_overlong_rows("reward", "reward.reward_manager.name", "0.7.1", "0.8.0", only_enabled=False),
    *_overlong_rows("reward", "reward.reward_manager.name", "0.9.0", "", only_enabled=True),
)
