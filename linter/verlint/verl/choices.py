"""Keys that take one of a few names, and what VeRL does with any other.

Hand-written; `registry` names a list of `schemas.json.gz`, which is read from the wheels. Source of each row: the named
file of the released wheels 0.2 to 0.9.1.
"""

from __future__ import annotations

from verlint.record import dataclass
from verlint.value import Data
from verlint.verl.rows import Term, is_, is_not


@dataclass(frozen=True, slots=True)
class Choice:
    """Which names a key takes, from version `since` to `until` (both included, "" for no end), when all terms of `when`
    hold: those of a registry, or `names`. `suffix` may follow a name. `fate` says what becomes of a run with another
    name, `source` where that is read. `open_to` are keys by which a run may bring names of its own; null means none."""

    key: str
    fate: str
    source: str
    registry: str = ""
    names: tuple[Data, ...] = ()
    since: str = ""
    until: str = ""
    when: tuple[Term, ...] = ()
    suffix: str = ""
    open_to: tuple[str, ...] = ()


_A, _R = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
_FSDP = is_(f"{_A}.strategy", "fsdp", "fsdp2")
_LIBRARY = ("actor_rollout_ref.model.external_lib",)
_STARTS = "the run stops at start-up"
_STOPS = "the workers stop"
_MEGATRON, _TITAN = is_(f"{_A}.strategy", "megatron"), is_(f"{_A}.strategy", "torchtitan")
_LEGACY = is_not("trainer.use_legacy_worker_impl", "disable")
_LEVELS = ("level_none", "level0", "level1", "level2")

CHOICES: tuple[Choice, ...] = (
    Choice(
        "algorithm.adv_estimator",
        f"{_STARTS} with NotImplementedError",
        "trainer/ppo/ray_trainer.py",
        registry="adv_estimator",
        until="0.5.0",
        open_to=_LIBRARY,
    ),
    Choice(
        "algorithm.adv_estimator",
        "the first step fails with 'Unknown advantage estimator'",
        "trainer/ppo/core_algos.py",
        registry="adv_estimator",
        since="0.6.0",
        open_to=_LIBRARY,
    ),
    Choice(
        f"{_A}.loss_agg_mode",
        "the first update fails with 'Invalid loss_agg_mode'",
        "trainer/ppo/core_algos.py, workers/config/actor.py",
        registry="loss_agg_mode",
        since="0.4.0",
    ),
    Choice(
        f"{_A}.policy_loss.loss_mode",
        "the first update fails with 'Unsupported loss mode'",
        "trainer/ppo/core_algos.py",
        registry="policy_loss",
        since="0.4.1",
        open_to=_LIBRARY,
    ),
    Choice(
        f"{_A}.kl_loss_type",
        "the first update fails with NotImplementedError",
        "trainer/ppo/core_algos.py",
        registry="kl_penalty",
        until="0.5.0",
        when=(is_(f"{_A}.use_kl_loss", True),),
    ),
    Choice(
        f"{_A}.kl_loss_type",
        "the first update fails with NotImplementedError",
        "trainer/ppo/core_algos.py",
        registry="kl_penalty",
        since="0.6.0",
        when=(is_(f"{_A}.use_kl_loss", True),),
        suffix="+",
    ),
    Choice(
        "algorithm.kl_penalty",
        "the first step fails with NotImplementedError",
        "trainer/ppo/core_algos.py",
        registry="kl_penalty",
        since="0.4.0",
        when=(is_("algorithm.use_kl_in_reward", True),),
        suffix="+",
    ),
    Choice(
        "algorithm.kl_ctrl.type",
        f"{_STARTS} with NotImplementedError",
        "trainer/ppo/core_algos.py",
        names=("fixed", "adaptive"),
        since="0.4.0",
        when=(is_("algorithm.use_kl_in_reward", True),),
    ),
    Choice(
        "trainer.resume_mode",
        "the run fails once the models are loaded",
        "trainer/ppo/ray_trainer.py",
        names=("auto", "disable", "resume_path"),
        since="0.3.0",
    ),
    Choice(
        "data.truncation",
        "the run fails at the first prompt that is too long",
        "utils/torch_functional.py",
        names=("error", "left", "right"),
        since="0.3.0",
        until="0.3.0",
    ),
    Choice(
        "data.truncation",
        "the run fails at the first prompt that is too long",
        "utils/torch_functional.py, utils/dataset/rl_dataset.py",
        names=("error", "left", "right", "middle"),
        since="0.4.0",
        until="0.6.1",
    ),
    Choice(
        "data.truncation",
        "the trainer stops with AssertionError when it loads its data",
        "utils/dataset/sft_dataset.py, utils/dataset/multiturn_sft_dataset.py",
        names=("error", "left", "right"),
        since="0.4.0",
        until="0.6.1",
        when=(is_not("model.partial_pretrain", None),),
    ),
    *(
        Choice(
            f"{_R}.multi_turn.format",
            "the first turn with tools stops with 'Unknown tool parser'",
            "experimental/agent_loop/tool_parser.py",
            names=names,
            since=since,
            until=until,
            when=(is_(f"{_R}.multi_turn.enable", True), is_(f"{_R}.mode", "async"), is_(f"{_R}.name", "vllm")),
            open_to=(*_LIBRARY, f"{_R}.agent.agent_loop_config_path"),
        )
        for since, until, names in (("0.5.0", "0.5.0", ("hermes",)), ("0.6.0", "0.7.0", ("hermes", "gpt-oss")))
    ),
    Choice(
        f"{_A}.strategy",
        f"{_STARTS} with NotImplementedError",
        "trainer/main_ppo.py",
        names=("fsdp", "megatron"),
        until="0.3.0",
    ),
    Choice(
        f"{_A}.strategy",
        f"{_STARTS} with NotImplementedError",
        "trainer/main_ppo.py",
        names=("fsdp", "fsdp2", "megatron"),
        since="0.4.0",
        until="0.6.1",
    ),
    Choice(
        f"{_A}.strategy",
        f"{_STARTS} with NotImplementedError",
        "trainer/main_ppo.py",
        names=("fsdp", "fsdp2", "megatron"),
        since="0.7.0",
        until="0.7.0",
        when=(_LEGACY,),
    ),
    Choice(
        f"{_A}.strategy",
        f"{_STARTS} with NotImplementedError",
        "trainer/main_ppo.py",
        names=("fsdp", "fsdp2", "megatron", "veomni", "torchtitan"),
        since="0.7.1",
        until="0.7.1",
        when=(_LEGACY,),
    ),
    *(
        Choice(
            f"{_A}.strategy",
            f"{_STOPS}: there is no such engine",
            "workers/engine: EngineRegistry",
            names=("fsdp", "fsdp2", "megatron", "veomni", "torchtitan", "automodel", more),
            since=since,
            until=until,
            open_to=_LIBRARY,
        )
        for since, until, more in (("0.8.0", "0.9.0", "mindspeed_megatron"), ("0.9.1", "", "fsdp_turbo"))
    ),
    Choice(
        f"{_A}.optim.warmup_style",
        "the workers stop with NotImplementedError",
        "workers/fsdp_workers.py",
        names=("constant", "cosine"),
        since="0.4.0",
        until="0.5.0",
        when=(_FSDP,),
    ),
    Choice(
        f"{_A}.optim.lr_scheduler_type",
        "the workers stop with AssertionError",
        "workers/config/optimizer.py",
        names=("constant", "cosine"),
        since="0.6.0",
        when=(_FSDP,),
    ),
    Choice(
        f"{_A}.fsdp_config.dtype",
        "the workers stop: 'dtype not supported'",
        "workers/config/engine.py",
        names=("bfloat16", "float16"),
        since="0.6.1",
        when=(_FSDP,),
    ),
    Choice(
        f"{_A}.megatron.dtype",
        f"{_STOPS}: 'dtype not supported'",
        "workers/config/engine.py",
        names=("bfloat16", "float16"),
        since="0.8.0",
        when=(_MEGATRON,),
    ),
    *(
        Choice(
            f"{_A}.torchtitan.{key}",
            f"{_STOPS}: '{key} not supported'",
            "workers/config/engine.py",
            names=names,
            since="0.9.0",
            when=(_TITAN,),
        )
        for key, names in (
            ("attn_type", ("flex", "flex_flash", "varlen")),
            ("spmd_backend", ("default", "full_dtensor", "spmd_types")),
            ("activation_checkpoint", ("selective", "full", "none")),
        )
    ),
    *(
        Choice(
            f"{_A}.optim.{key}",
            f"{_STOPS} with AssertionError",
            "workers/config/optimizer.py",
            names=("fp32", "float32", "32", "bf16", "bfloat16"),
            since="0.9.0",
            when=(_MEGATRON,),
        )
        for key in ("main_grads_dtype", "exp_avg_dtype", "exp_avg_sq_dtype")
    ),
    *(
        Choice(
            f"{role}.profiler.tool_config.npu.{key}",
            f"{_STOPS}: 'Profiler {key} only supports …'",
            "utils/profiler/config.py",
            names=names,
            since="0.6.0",
        )
        for role in (_A, "actor_rollout_ref.ref", "critic")
        for key, names in (("level", _LEVELS), ("contents", ("npu", "cpu", "memory", "shapes", "module", "stack")))
    ),
    *(
        Choice(
            f"{_R}.quantization",
            "the rollout stops: 'Currently only support … quantization'",
            f"workers/rollout/{engine}_rollout",
            names=names,
            since=since,
            until=until,
            when=(is_(f"{_R}.name", engine),),
        )
        for engine, since, until, names in (
            ("vllm", "0.7.0", "0.7.1", ("fp8", "torchao")),
            ("vllm", "0.8.0", "", ("fp8", "torchao", "ascend")),
            ("sglang", "0.7.0", "", ("fp8",)),
            ("trtllm", "0.8.0", "", ("fp8",)),
        )
    ),
    Choice(
        f"{_R}.disaggregation.transfer_backend",
        f"{_STOPS}: the backend is not in the list",
        "workers/config/disaggregation.py",
        names=("nixl", "mooncake", "ascend", "mori", "fake"),
        since="0.8.0",
        when=(is_(f"{_R}.disaggregation.enabled", True), is_(f"{_R}.name", "sglang")),
    ),
    Choice(
        f"{_R}.disaggregation.transfer_backend",
        f"{_STOPS} with NotImplementedError",
        "workers/rollout/vllm_rollout/vllm_pd_replica.py",
        names=("nixl", "mooncake"),
        since="0.9.0",
        when=(is_(f"{_R}.disaggregation.enabled", True), is_(f"{_R}.name", "vllm")),
    ),
    Choice(
        f"{_R}.disaggregation.mooncake_protocol",
        f"{_STOPS}: the protocol is not in the list",
        "workers/config/disaggregation.py",
        names=("nvlink", "local", "rdma", "tcp"),
        since="0.9.0",
        when=(is_(f"{_R}.disaggregation.enabled", True), is_(f"{_R}.disaggregation.transfer_backend", "mooncake")),
    ),
    Choice(
        "distillation.distillation_loss.loss_mode",
        f"{_STOPS}: there is no such distillation loss",
        "trainer/distillation/losses.py",
        names=("forward_kl_topk", "kl", "k1", "abs", "mse", "k2", "low_var_kl", "k3"),
        since="0.8.0",
        when=(is_("distillation.enabled", True),),
        open_to=_LIBRARY,
    ),
    Choice(
        f"{_R}.name",
        "the workers stop: there is no such rollout",
        "workers/rollout/base.py, workers/fsdp_workers.py",
        registry="rollout",
    ),
    Choice(
        "trainer.logger",
        f"{_STARTS}: 'is not supported'",
        "utils/tracking.py",
        registry="logger",
    ),
    Choice(
        "trainer.v1.trainer_mode",
        f"{_STARTS}: there is no such trainer",
        "trainer/ppo/v1",
        registry="trainer_mode",
        since="0.9.0",
        when=(is_("trainer.use_v1", True),),
        open_to=_LIBRARY,
    ),
    Choice(
        f"{_A}.router_replay.mode",
        "the workers stop with 'Invalid router_replay mode'",
        "workers/config/actor.py",
        names=("disabled", "R2", "R3"),
        since="0.7.0",
        until="0.9.0",
    ),
    *(
        Choice(
            f"{_A}.{engine}.router_replay.mode",
            f"{_STOPS} with 'Invalid router_replay mode'",
            "workers/config/engine.py",
            names=("disabled", "R2", "R3"),
            since="0.9.1",
            when=(is_(f"{_A}.strategy", engine),),
        )
        for engine in ("megatron", "veomni")
    ),
    Choice(
        "algorithm.rollout_correction.rollout_is",
        "the first step fails with 'Invalid rollout_is'",
        "trainer/ppo/rollout_corr_helper.py",
        names=("token", "sequence", None),
        since="0.6.1",
        when=(is_not("algorithm.rollout_correction.bypass_mode", True),),
    ),
    Choice(
        "reward_model.reward_manager",
        f"{_STARTS}: there is no such reward manager",
        "trainer/main_ppo.py, workers/reward_manager",
        registry="reward_manager",
        until="0.6.1",
        open_to=(*_LIBRARY, "custom_reward_function.path"),
    ),
    *(
        Choice(
            key,
            "the workers stop: there is no such source",
            "trainer/ppo/reward.py",
            names=("register", "importlib"),
            since=since,
            until=until,
        )
        for key, since, until in (
            ("reward_manager.source", "0.7.0", "0.7.0"),
            ("reward.reward_manager.source", "0.7.1", ""),
        )
    ),
    Choice(
        "reward.reward_manager.name",
        f"{_STARTS}: there is no such reward manager",
        "experimental/reward_loop/reward_manager",
        registry="reward_manager",
        since="0.7.1",
        when=(is_("reward.reward_manager.source", "register"),),
        open_to=(*_LIBRARY, "reward.custom_reward_function.path"),
    ),
)
"""All rows. A key may have several, for versions that follow each other."""
