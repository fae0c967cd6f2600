"""Each row of constraints at both edges of the versions it holds in, and what its finding says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from constraint_launches import MAIN, findings_of, launches_of, parquet_end
from verlint.experiment.launch import Launch
from verlint.verl.constraints import Row, violations
from verlint.verl.constraints.asynchronous import ROWS as ASYNCHRONOUS
from verlint.verl.constraints.batch import ROWS as BATCH
from verlint.verl.constraints.data import ROWS as DATA
from verlint.verl.constraints.distillation import PAIRS as TEACHER_PAIRS
from verlint.verl.constraints.distillation import POOLS as TEACHER_POOLS
from verlint.verl.constraints.distillation import TOKENS as TEACHER_TOKENS
from verlint.verl.constraints.lora import ROWS as LORA
from verlint.verl.constraints.micro import ROWS as MICRO
from verlint.verl.constraints.mini import ROWS as MINI
from verlint.verl.constraints.pairs import ROWS as PAIRS
from verlint.verl.constraints.ranks import ROWS as RANKS
from verlint.verl.constraints.removed import ROWS as REMOVED
from verlint.verl.constraints.rollout import ROWS as ROLLOUT
from verlint.verl.constraints.sequence import ROWS as SEQUENCE
from verlint.verl.constraints.steps import ROWS as STEPS
from verlint.verl.constraints.supervised import BATCHES, PARTS, SEQUENCES
from verlint.verl.constraints.tokens import ROWS as TOKENS
from verlint.verl.constraints.values import ROWS as VALUES
from verlint.verl.schema import versions

RULES: dict[str, tuple[Row, ...]] = {
    "VL713": VALUES,
    "VL720": (*BATCH, *BATCHES),
    "VL721": MICRO,
    "VL722": (*MINI, *RANKS, *PARTS),
    "VL723": (*SEQUENCE, *SEQUENCES),
    "VL724": (*TOKENS, *TEACHER_TOKENS),
    "VL725": (*ROLLOUT, *TEACHER_POOLS),
    "VL726": REMOVED,
    "VL727": (*PAIRS, *TEACHER_PAIRS),
    "VL728": DATA,
    "VL729": ASYNCHRONOUS,
    "VL730": LORA,
    "VL731": STEPS,
}
SUPERVISED = "verl.trainer.fsdp_sft_trainer"
FULLY = "verl.experimental.fully_async_policy.fully_async_main"

SHORT = {
    "tbs": "data.train_batch_size",
    "n": "actor_rollout_ref.rollout.n",
    "mini": "actor_rollout_ref.actor.ppo_mini_batch_size",
    "micro": "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu",
    "micro_all": "actor_rollout_ref.actor.ppo_micro_batch_size",
    "dyn": "actor_rollout_ref.actor.use_dynamic_bsz",
    "sp": "actor_rollout_ref.actor.ulysses_sequence_parallel_size",
    "gpus": "trainer.n_gpus_per_node",
    "adv": "algorithm.adv_estimator",
    "engine": "trainer.use_legacy_worker_impl",
    "v1": "trainer.use_v1",
    "megatron": "actor_rollout_ref.actor.megatron",
    "actor": "actor_rollout_ref.actor",
    "rollout": "actor_rollout_ref.rollout",
    "ref": "actor_rollout_ref.ref",
    "model": "actor_rollout_ref.model",
    "async": "trainer.v1.separate_async",
}
BASE = (
    "data.train_files=/data/train.parquet model.path=/models/policy rollout.name=vllm adv=grpo tbs=64 mini=64 micro=2 "
    "rollout.log_prob_micro_batch_size_per_gpu=2 ref.log_prob_micro_batch_size_per_gpu=2 "
    "critic.ppo_micro_batch_size_per_gpu=2"
)
SEPARATE = "trainer.v1.trainer_mode=separate_async tbs=256 rollout.nnodes=1 rollout.n_gpus_per_node=8 rollout.checkpoint_engine.backend=nccl"
STREAMED = "tbs=0 actor_rollout_ref.hybrid_engine=False"
SMALL = "model.path=models/small"
SCALED = "model.path=models/scaled"
LAYERED = "model.path=models/layered"
LONG = "data.max_prompt_length=1024 data.max_response_length=1024"
OLD_DAPO = "reward_model.reward_manager=dapo ++reward_model.reward_kwargs.overlong_buffer_cfg.enable=True"
NEW_DAPO = "reward.reward_manager.name=dapo ++reward.reward_kwargs.overlong_buffer_cfg.enable=True"
FEW = "data.train_files=data/few.parquet"
VALUE = "adv=gae critic.model.path=models/small critic.model.use_remove_padding=True"
SPLIT = "rollout.name=sglang rollout.disaggregation.enabled=True"
CONTEXT = "MEGATRON megatron.dynamic_context_parallel=True"
VEOMNI = "model_engine=veomni"
CORRECTED = "rollout.calculate_log_probs=True algorithm.rollout_correction.rollout_rs_threshold=2.0"
TEACHER_ENGINE = "distillation.teacher_models.teacher_model.inference"
TEACHER_LOSS = "distillation.distillation_loss"
TEACHER = (
    "distillation.enabled=True distillation.nnodes=1 distillation.teacher_models.teacher_model.model_path=/models/large"
)

CASES = """
V1    | 0.2    |        | tbs=60 mini=4                                 | tbs=64 mini=4
V2    | 0.4.0  |        | MEGATRON megatron.tensor_model_parallel_size=3 | MEGATRON megatron.tensor_model_parallel_size=2
V2m   | 0.6.0  |        | MEGATRON dyn=True megatron.tensor_model_parallel_size=3 | MEGATRON dyn=True megatron.tensor_model_parallel_size=2
V2e   | 0.4.0  |        | MEGATRON megatron.expert_tensor_parallel_size=1 megatron.expert_model_parallel_size=3 | MEGATRON megatron.expert_tensor_parallel_size=1 megatron.expert_model_parallel_size=2
V2f   | 0.4.0  |        | MEGATRON megatron.expert_model_parallel_size=8 megatron.tensor_model_parallel_size=2 megatron.pipeline_model_parallel_size=1 | MEGATRON megatron.expert_model_parallel_size=4 megatron.tensor_model_parallel_size=2 megatron.pipeline_model_parallel_size=1
V3    | 0.4.0  |        | MEGATRON tbs=40 mini=8 micro=4 megatron.tensor_model_parallel_size=1 megatron.pipeline_model_parallel_size=1 | MEGATRON tbs=64 mini=8 micro=4 megatron.tensor_model_parallel_size=1 megatron.pipeline_model_parallel_size=1
W32   | 0.4.0  |        | MEGATRON LAYERED megatron.pipeline_model_parallel_size=8 | MEGATRON LAYERED megatron.pipeline_model_parallel_size=4
T30   | 0.4.0  | 0.6.1  | MEGATRON megatron.tensor_model_parallel_size=2 megatron.pipeline_model_parallel_size=1 tbs=12 mini=12 micro=1 | MEGATRON megatron.tensor_model_parallel_size=2 megatron.pipeline_model_parallel_size=1 tbs=12 mini=12 micro=1 trainer.balance_batch=False
W33   | 0.4.1  | 0.6.0  | DAPO rollout.mode=async                       | DAPO rollout.mode=sync
T21n  | 0.5.0  | 0.6.0  | adv=remax n=2                                 | adv=remax n=1
T18s  | 0.6.1  | 0.6.1  | rollout.calculate_log_probs=True algorithm.rollout_correction.bypass_mode=True | rollout.calculate_log_probs=True
W22d  | 0.8.0  | 0.8.0  | model.use_fused_kernels=True model.use_remove_padding=False | model.use_fused_kernels=True model.use_remove_padding=True
D21l  | 0.4.0  | 0.7.1  | MEGATRON LAYERED ++megatron.use_mbridge=False | MEGATRON LAYERED megatron.use_dist_checkpointing=True megatron.dist_checkpointing_path=/models/shards
W3    | 0.7.0  |        | engine=disable tbs=24 mini=12                 | engine=disable tbs=24 mini=8
W18   | 0.2    | 0.4.1  | tbs=12 n=2 mini=4                             | tbs=16 n=2 mini=4
W18d  | 0.6.0  |        | v1=False dyn=True tbs=12 mini=4               | v1=False dyn=True tbs=16 mini=4
W19   | 0.5.0  |        | v1=False rollout.mode=async gpus=4 tbs=4 mini=4 micro=1 | v1=False rollout.mode=async gpus=4 tbs=8 mini=4 micro=1
W26   | 0.7.1  |        | v1=False ++actor.use_prefix_grouper=True n=2 tbs=12 mini=12 micro=1 | v1=False ++actor.use_prefix_grouper=True n=2 tbs=12 mini=12 micro=1 trainer.balance_batch=False
V4    | 0.2    |        | micro=null                                    | micro=null micro_all=64
V5    | 0.2    |        | rollout.log_prob_micro_batch_size=8           |
V6    | 0.2    |        | actor.use_kl_loss=True ref.log_prob_micro_batch_size_per_gpu=null | actor.use_kl_loss=True
V7    | 0.2    |        | adv=gae critic.ppo_micro_batch_size_per_gpu=null | adv=grpo critic.ppo_micro_batch_size_per_gpu=null
V8    | 0.2    | 0.7.0  | reward_model.enable=True ++reward_model.use_reward_loop=False reward_model.micro_batch_size_per_gpu=null | reward_model.enable=True ++reward_model.use_reward_loop=False reward_model.micro_batch_size_per_gpu=2
V3n   | 0.4.0  |        | MEGATRON micro=null micro_all=64               | MEGATRON
W6a   | 0.7.0  |        | engine=disable micro=null micro_all=8         | engine=disable
W6r   | 0.7.0  |        | engine=disable rollout.log_prob_micro_batch_size_per_gpu=null rollout.log_prob_micro_batch_size=8 | engine=disable
V9    | 0.2    |        | mini=128                                      | mini=32
S1    | 0.2    | 0.7.1  | dyn=True mini=100 tbs=64                      | dyn=True mini=32
S1    | 0.9.0  |        | dyn=True mini=100 tbs=64                      | dyn=True mini=32
W27   | 0.7.0  |        | engine=disable v1=False mini=24               | engine=disable v1=False mini=32
V10a  | 0.2    |        | micro=null micro_all=8 tbs=24 mini=12         | micro=null micro_all=8 mini=16
V10b  | 0.2    |        | micro=null micro_all=4                        | micro=null micro_all=8
V11   | 0.3    |        | adv=gae critic.ppo_mini_batch_size=128        | adv=gae critic.ppo_mini_batch_size=32
V11a  | 0.2    |        | adv=gae critic.ppo_micro_batch_size_per_gpu=null critic.ppo_micro_batch_size=8 critic.ppo_mini_batch_size=12 | adv=gae critic.ppo_micro_batch_size_per_gpu=null critic.ppo_micro_batch_size=8 critic.ppo_mini_batch_size=16
V11b  | 0.2    |        | adv=gae critic.ppo_micro_batch_size_per_gpu=null critic.ppo_micro_batch_size=4 | adv=gae critic.ppo_micro_batch_size_per_gpu=null critic.ppo_micro_batch_size=8
W1    | 0.3    | 0.7.1  | mini=4 micro=1                                | mini=8 micro=1
W2    | 0.2    | 0.7.1  | micro=null micro_all=20 mini=40 tbs=40       | micro=null micro_all=8 mini=40 tbs=40
W2    | 0.4.0  | 0.7.1  | mini=16 micro=4                               | mini=16 micro=2
W2c   | 0.4.0  | 0.7.1  | adv=gae critic.ppo_mini_batch_size=16 critic.ppo_micro_batch_size_per_gpu=4 | adv=gae critic.ppo_mini_batch_size=16
W28l  | 0.2    | 0.7.1  | rollout.log_prob_micro_batch_size_per_gpu=null rollout.log_prob_micro_batch_size=4 | rollout.log_prob_micro_batch_size_per_gpu=null rollout.log_prob_micro_batch_size=8
W28f  | 0.2    | 0.7.1  | actor.use_kl_loss=True ref.log_prob_micro_batch_size_per_gpu=null ref.log_prob_micro_batch_size=4 | ref.log_prob_micro_batch_size_per_gpu=null ref.log_prob_micro_batch_size=8
W4    | 0.7.0  |        | engine=disable mini=16 micro=4                | engine=disable mini=16 micro=2
W4l   | 0.7.0  |        | engine=disable tbs=16 mini=16 rollout.log_prob_micro_batch_size_per_gpu=4 | engine=disable tbs=16 mini=16
W4f   | 0.7.0  |        | engine=disable tbs=16 mini=16 actor.use_kl_loss=True ref.log_prob_micro_batch_size_per_gpu=4 | engine=disable tbs=16 mini=16 ref.log_prob_micro_batch_size_per_gpu=4
V12   | 0.2    |        | sp=2 model.use_remove_padding=False           | sp=2 model.use_remove_padding=True
W16e  | 0.3    |        | sp=3 model.use_remove_padding=True            | sp=2 model.use_remove_padding=True
W16   | 0.3    |        | SMALL sp=8 model.use_remove_padding=True      | SMALL sp=4 model.use_remove_padding=True
W16g  | 0.3    |        | SMALL gpus=6 sp=3 model.use_remove_padding=True | SMALL gpus=6 sp=6 model.use_remove_padding=True
V13   | 0.2    | 0.7.1  | adv=gae critic.ulysses_sequence_parallel_size=2 critic.model.use_remove_padding=False | critic.ulysses_sequence_parallel_size=2 critic.model.use_remove_padding=False
W10   | 0.3    | 0.6.1  | LONG rollout.max_num_batched_tokens=1024      | LONG rollout.max_num_batched_tokens=1024 rollout.enable_chunked_prefill=False
W11   | 0.2    | 0.6.1  | SMALL LONG data.max_prompt_length=3073        | SMALL LONG data.max_prompt_length=3072
W11   | 0.5.0  | 0.6.1  | SCALED LONG data.max_prompt_length=7169       | SCALED LONG data.max_prompt_length=7168
W11   | 0.4.0  | 0.4.1  | SCALED LONG rollout.name=sglang rollout.max_model_len=4097 | SCALED LONG rollout.name=sglang rollout.max_model_len=4096
W12   | 0.7.1  |        | SMALL rollout.max_model_len=4097              | SMALL rollout.max_model_len=4096
W14   | 0.4.0  | 0.6.1  | LONG rollout.name=sglang rollout.max_model_len=2000 | LONG rollout.name=sglang rollout.max_model_len=2048
W15a  | 0.2    | 0.7.1  | LONG dyn=True actor.ppo_max_token_len_per_gpu=2000 | LONG dyn=True actor.ppo_max_token_len_per_gpu=2048
W15l  | 0.2    | 0.7.1  | LONG rollout.log_prob_use_dynamic_bsz=True rollout.log_prob_max_token_len_per_gpu=2000 | LONG rollout.log_prob_max_token_len_per_gpu=2000
W15f  | 0.2    | 0.7.1  | LONG actor.use_kl_loss=True ref.log_prob_use_dynamic_bsz=True ref.log_prob_max_token_len_per_gpu=2000 | LONG actor.use_kl_loss=True ref.log_prob_use_dynamic_bsz=False ref.log_prob_max_token_len_per_gpu=2000
W15c  | 0.2    | 0.7.1  | LONG adv=gae critic.use_dynamic_bsz=True critic.ppo_max_token_len_per_gpu=2000 | LONG critic.use_dynamic_bsz=True critic.ppo_max_token_len_per_gpu=2000
W15v  | 0.2    | 0.7.1  | LONG adv=gae critic.use_dynamic_bsz=True critic.ppo_max_token_len_per_gpu=2048 critic.forward_max_token_len_per_gpu=2000 | LONG adv=gae critic.use_dynamic_bsz=True critic.ppo_max_token_len_per_gpu=2048 critic.forward_max_token_len_per_gpu=2048
W7    | 0.2    |        | rollout.tensor_model_parallel_size=3          | rollout.tensor_model_parallel_size=4
W17   | 0.2    |        | SMALL rollout.tensor_model_parallel_size=8    | SMALL rollout.tensor_model_parallel_size=4
W8    | 0.6.0  |        | rollout.mode=async gpus=4 trainer.nnodes=3 rollout.tensor_model_parallel_size=6 tbs=96 | rollout.mode=async gpus=4 trainer.nnodes=2 rollout.tensor_model_parallel_size=8
D4    | 0.6.0  |        | rollout.expert_parallel_size=4 rollout.tensor_model_parallel_size=2 | rollout.expert_parallel_size=2 rollout.tensor_model_parallel_size=2
D5    | 0.6.0  |        | rollout.pipeline_model_parallel_size=2        | rollout.pipeline_model_parallel_size=1
D6    | 0.7.1  |        | ++rollout.moe_tensor_parallel_size=2          | ++rollout.moe_tensor_parallel_size=1
D6p   | 0.7.1  |        | rollout.name=trtllm ++rollout.moe_tensor_parallel_size=2 rollout.expert_parallel_size=2 rollout.tensor_model_parallel_size=2 | rollout.name=trtllm ++rollout.moe_tensor_parallel_size=2 rollout.expert_parallel_size=2 rollout.tensor_model_parallel_size=4
D7    | 0.8.0  |        | rollout.name=trtllm rollout.disaggregation.enabled=True | rollout.name=sglang rollout.disaggregation.enabled=True
D7    | 0.8.0  | 0.8.0  | rollout.disaggregation.enabled=True           | rollout.name=sglang rollout.disaggregation.enabled=True
D2    | 0.7.0  |        | rollout.mode=sync                             | rollout.mode=async
W9    | 0.2    | 0.4.1  | rollout.enforce_eager=False                   | rollout.enforce_eager=False rollout.free_cache_engine=False
T20   | 0.7.1  | 0.7.1  | adv=optimal_token_baseline                    | adv=opo
T20   | 0.9.0  |        | adv=optimal_token_baseline                    | adv=optimal_token_baseline v1=False
T21   | 0.9.0  |        | adv=remax                                     | adv=remax v1=False
W5    | 0.7.0  |        | engine=disable dyn=True rollout.log_prob_use_dynamic_bsz=False | engine=disable dyn=True
V15   | 0.3    |        | rollout.val_kwargs.do_sample=True rollout.temperature=0 | rollout.val_kwargs.do_sample=True rollout.temperature=0.6
V16   | 0.4.0  | 0.4.1  | rollout.multi_turn.enable=True                | rollout.multi_turn.enable=True rollout.multi_turn.tool_config_path=tools.yaml
V16g  | 0.4.0  | 0.4.1  | adv=rloo rollout.multi_turn.enable=True rollout.multi_turn.tool_config_path=tools.yaml | rollout.multi_turn.enable=True
V18   | 0.9.1  |        | MEGATRON megatron.router_replay.mode=R2 algorithm.rollout_correction.bypass_mode=True | MEGATRON megatron.router_replay.mode=R3 algorithm.rollout_correction.bypass_mode=True
V20   | 0.2    |        | v1=False actor_rollout_ref.hybrid_engine=False | v1=False actor_rollout_ref.hybrid_engine=True
T8    | 0.3    |        | v1=False trainer.default_hdfs_dir=hdfs://a/b trainer.resume_mode=auto | v1=False trainer.default_hdfs_dir=hdfs://a/b trainer.resume_mode=disable
T18   | 0.6.1  |        | algorithm.rollout_correction.bypass_mode=True rollout.calculate_log_probs=False | algorithm.rollout_correction.bypass_mode=True rollout.calculate_log_probs=True
W23   | 0.7.0  |        | rollout.prometheus.enable=True rollout.disable_log_stats=True | rollout.prometheus.enable=True rollout.disable_log_stats=False
T14   | 0.9.0  |        | algorithm.filter_groups.enable=True algorithm.filter_groups.metric=null | algorithm.filter_groups.enable=True algorithm.filter_groups.metric=reward
T14r  | 0.9.0  |        | algorithm.filter_groups.enable=True algorithm.filter_groups.metric=acc reward.reward_model.enable=True | algorithm.filter_groups.enable=True algorithm.filter_groups.metric=acc
T14i  | 0.9.0  |        | algorithm.filter_groups.enable=True algorithm.filter_groups.max_inflight_gen_batches=0 | algorithm.filter_groups.max_inflight_gen_batches=0
T10   | 0.5.0  | 0.7.1  | data.sampler.class_path=order.py data.sampler.class_name=Order | data.sampler.class_path=order.py data.sampler.class_name=Order data.dataloader_num_workers=0
D15   | 0.6.0  | 0.7.0  | reward_model.enable_resource_pool=True          | reward_model.enable_resource_pool=True reward_model.nnodes=1 reward_model.n_gpus_per_node=8
D15   | 0.7.1  |        | reward.reward_model.enable_resource_pool=True   | reward.reward_model.enable_resource_pool=True reward.reward_model.nnodes=1
T20s  | 0.8.0  |        | v1=False adv=optimal_token_baseline           | v1=False adv=optimal_token_baseline ++actor.calculate_sum_pi_squared=True
W22   | 0.8.0  |        | ++actor.calculate_sum_pi_squared=True model.use_fused_kernels=True | ++actor.calculate_sum_pi_squared=True
T22   | 0.4.1  | 0.6.1  | OLD_DAPO ++reward_model.reward_kwargs.overlong_buffer_cfg.len=512 | OLD_DAPO ++reward_model.reward_kwargs.overlong_buffer_cfg.len=512 ++reward_model.reward_kwargs.max_resp_len=2048
T22   | 0.7.1  |        | NEW_DAPO ++reward.reward_kwargs.overlong_buffer_cfg.len=512 | NEW_DAPO ++reward.reward_kwargs.overlong_buffer_cfg.len=512 ++reward.reward_kwargs.max_resp_len=2048
T22l  | 0.5.0  | 0.6.1  | OLD_DAPO ++reward_model.reward_kwargs.overlong_buffer_cfg.len=512 ++reward_model.reward_kwargs.max_resp_len=256 | OLD_DAPO
T22p  | 0.7.0  | 0.7.0  | OLD_DAPO ++reward_model.reward_kwargs.overlong_buffer_cfg.len=512 | OLD_DAPO ++reward_model.reward_kwargs.overlong_buffer_cfg.len=512 ++reward_model.reward_kwargs.max_resp_len=2048
T22lp | 0.7.0  | 0.7.0  | OLD_DAPO ++reward_model.reward_kwargs.overlong_buffer_cfg.len=512 ++reward_model.reward_kwargs.max_resp_len=256 | OLD_DAPO
T22g  | 0.5.0  | 0.6.1  | OLD_DAPO ++reward_model.reward_kwargs.overlong_buffer_cfg.len=512 ++reward_model.reward_kwargs.max_resp_len=2048 ++reward_model.reward_kwargs.overlong_buffer_cfg.enable=True | OLD_DAPO ++reward_model.reward_kwargs.overlong_buffer_cfg.len=512 ++reward_model.reward_kwargs.max_resp_len=2048 ++reward_model.reward_kwargs.overlong_buffer_cfg.enable=True ++reward_model.reward_kwargs.overlong_buffer_cfg.penalty_factor=1 ++reward_model.reward_kwargs.overlong_buffer_cfg.log=False
T22gp | 0.7.0  | 0.7.0  | OLD_DAPO ++reward_model.reward_kwargs.overlong_buffer_cfg.len=512 ++reward_model.reward_kwargs.max_resp_len=2048 ++reward_model.reward_kwargs.overlong_buffer_cfg.enable=True | OLD_DAPO ++reward_model.reward_kwargs.overlong_buffer_cfg.len=512 ++reward_model.reward_kwargs.max_resp_len=2048 ++reward_model.reward_kwargs.overlong_buffer_cfg.enable=False
T22g  | 0.7.1  |        | NEW_DAPO ++reward.reward_kwargs.overlong_buffer_cfg.len=512 ++reward.reward_kwargs.max_resp_len=2048 ++reward.reward_kwargs.overlong_buffer_cfg.enable=True ++reward.reward_kwargs.overlong_buffer_cfg.penalty_factor=1 | NEW_DAPO ++reward.reward_kwargs.overlong_buffer_cfg.len=512 ++reward.reward_kwargs.max_resp_len=2048 ++reward.reward_kwargs.overlong_buffer_cfg.enable=True ++reward.reward_kwargs.overlong_buffer_cfg.penalty_factor=1 ++reward.reward_kwargs.overlong_buffer_cfg.log=True
T22r  | 0.4.0  | 0.4.1  | DAPO reward_model.overlong_buffer.enable=True reward_model.overlong_buffer.len=512 data.max_response_length=256 | DAPO reward_model.overlong_buffer.enable=True reward_model.overlong_buffer.len=64 data.max_response_length=256
T22s  | 0.5.0  | 0.7.0  | DAPO reward_model.overlong_buffer.enable=True reward_model.overlong_buffer.len=512 data.max_response_length=256 | DAPO reward_model.overlong_buffer.len=512 data.max_response_length=256
T14m  | 0.4.0  | 0.7.0  | DAPO algorithm.filter_groups.enable=True      | DAPO algorithm.filter_groups.enable=True algorithm.filter_groups.metric=acc
T22l  | 0.7.1  |        | NEW_DAPO ++reward.reward_kwargs.overlong_buffer_cfg.len=512 ++reward.reward_kwargs.max_resp_len=256 | NEW_DAPO
T3    | 0.2    | 0.6.1  | data.train_files=[/data/a.parquet,/data/b.json] | data.train_files=[/data/a.parquet]
T3    | 0.2    | 0.7.0  | data.val_files=/data/test.jsonl               | data.val_files=/data/test
T3    | 0.2    |        | data.train_files=/data/train.csv              | data.train_files=/data/train.csv ++data.custom_cls.path=mine.py
T15g  | 0.9.0  |        | ++data.gen_batch_size=24                      | ++data.gen_batch_size=16
T15t  | 0.9.0  |        | trainer.v1.sampler.max_off_policy_threshold=0 | trainer.v1.sampler.max_off_policy_threshold=2
T15s  | 0.9.0  |        | trainer.v1.sampler.max_off_policy_strategy=keep | trainer.v1.sampler.max_off_policy_strategy=wait
T16   | 0.9.0  |        | SEPARATE async.parameter_sync_step=2          | SEPARATE async.parameter_sync_step=4
T16n  | 0.9.0  |        | SEPARATE rollout.nnodes=0                     | SEPARATE
T16g  | 0.9.0  |        | SEPARATE rollout.n_gpus_per_node=0            | SEPARATE
T16b  | 0.9.0  |        | SEPARATE rollout.checkpoint_engine.backend=naive | SEPARATE
T17   | 0.8.0  |        | FULLY tbs=64                                  | FULLY STREAMED
T17e  | 0.8.0  |        | FULLY STREAMED data.gen_batch_size=4          | FULLY STREAMED
T17s  | 0.8.0  |        | FULLY STREAMED async_training.staleness_threshold=-1 | FULLY STREAMED async_training.staleness_threshold=0
T17t  | 0.8.0  |        | FULLY STREAMED async_training.trigger_parameter_sync_step=0 | FULLY STREAMED
T17l  | 0.8.0  |        | FULLY STREAMED rollout.calculate_log_probs=False | FULLY STREAMED rollout.calculate_log_probs=True
T17h  | 0.8.0  |        | FULLY STREAMED actor_rollout_ref.hybrid_engine=True | FULLY STREAMED
T17g  | 0.8.0  |        | FULLY STREAMED ++rollout.nnodes=1 RAW:rollout.nnodes=0 | FULLY STREAMED
V17   | 0.6.1  |        | model.lora_rank=1024                          | model.lora_rank=64
S26   | 0.6.1  |        | v1=False trainer.total_training_steps=100 trainer.total_epochs=1 data.train_max_samples=640 | v1=False trainer.total_training_steps=10 trainer.total_epochs=1 data.train_max_samples=640
S26   | 0.2    |        | FEW v1=False trainer.total_training_steps=100 trainer.total_epochs=2 | FEW v1=False trainer.total_training_steps=2 trainer.total_epochs=2
T2    | 0.2    |        | FEW tbs=128                                   | FEW
T2    | 0.6.1  |        | tbs=128 data.train_max_samples=100            | data.train_max_samples=100
T2v   | 0.4.0  |        | v1=False data.val_files=data/none.parquet     | v1=False data.val_files=data/few.parquet
W3c   | 0.8.0  |        | adv=gae critic.ppo_mini_batch_size=12         | adv=gae critic.ppo_mini_batch_size=16
W25   | 0.4.0  | 0.7.1  | MEGATRON dyn=True actor.use_kl_loss=True ref.log_prob_micro_batch_size_per_gpu=null | MEGATRON dyn=True actor.use_kl_loss=True
W16c  | 0.3    | 0.7.1  | VALUE critic.ulysses_sequence_parallel_size=8 | VALUE critic.ulysses_sequence_parallel_size=4
W16c  | 0.8.0  |        | VALUE critic.fsdp.ulysses_sequence_parallel_size=8 | VALUE critic.fsdp.ulysses_sequence_parallel_size=4
W16d  | 0.3    | 0.7.1  | VALUE gpus=6 critic.ulysses_sequence_parallel_size=3 | VALUE gpus=6 critic.ulysses_sequence_parallel_size=2
W16d  | 0.8.0  |        | VALUE gpus=6 critic.fsdp.ulysses_sequence_parallel_size=3 | VALUE gpus=6 critic.fsdp.ulysses_sequence_parallel_size=2
W13   | 0.7.0  | 0.9.0  | SMALL rollout.enable_chunked_prefill=False rollout.max_num_batched_tokens=4095 | SMALL rollout.enable_chunked_prefill=False rollout.max_num_batched_tokens=4096
W13   | 0.7.1  | 0.9.0  | rollout.enable_chunked_prefill=False rollout.max_model_len=9000 | rollout.enable_chunked_prefill=False rollout.max_model_len=8000
W22g  | 0.7.1  | 0.7.1  | ++actor.calculate_sum_pi_squared=True ++actor.use_prefix_grouper=True | ++actor.calculate_sum_pi_squared=True
W22g  | 0.7.1  | 0.7.1  | ++actor.calculate_sum_pi_squared=True model.use_fused_kernels=True | model.use_fused_kernels=True
W20   | 0.8.0  |        | rollout.name=trtllm rollout.quantization=fp8 rollout.load_format=auto | rollout.name=trtllm rollout.quantization=fp8 rollout.load_format=dummy
D13   | 0.7.1  | 0.9.0  | MEGATRON v1=False actor.router_replay.mode=R2 rollout.enable_rollout_routing_replay=True | MEGATRON v1=False actor.router_replay.mode=R3 rollout.enable_rollout_routing_replay=True
D13   | 0.9.1  |        | MEGATRON v1=False megatron.router_replay.mode=R2 rollout.enable_rollout_routing_replay=True | MEGATRON megatron.router_replay.mode=R2 rollout.enable_rollout_routing_replay=True
D13v  | 0.8.0  | 0.9.0  | VEOMNI actor.router_replay.mode=R3 model.use_remove_padding=False | VEOMNI actor.router_replay.mode=R3 model.use_remove_padding=True
D13v  | 0.9.1  |        | VEOMNI actor.veomni.router_replay.mode=R3 model.use_remove_padding=False | VEOMNI model.use_remove_padding=False
D14   | 0.7.0  | 0.7.0  | reward_manager.source=importlib               | reward_manager.source=importlib reward_manager.module.path=mine.py
D14   | 0.7.1  |        | reward.reward_manager.source=importlib        | reward.reward_manager.source=importlib reward.reward_manager.module.path=mine.py
D21   | 0.7.0  |        | MEGATRON engine=disable megatron.use_mbridge=False | MEGATRON engine=disable
D21h  | 0.7.0  | 0.7.1  | MEGATRON megatron.dtype=float16 megatron.use_mbridge=False | MEGATRON megatron.use_mbridge=False
D17   | 0.9.0  |        | CONTEXT                                       | CONTEXT megatron.max_seqlen_per_dp_cp_rank=4096
D17r  | 0.9.0  |        | CONTEXT megatron.use_remove_padding=False     | CONTEXT
D17p  | 0.9.0  |        | CONTEXT megatron.pad_to_length=True           | CONTEXT
D17v  | 0.9.0  |        | CONTEXT megatron.virtual_pipeline_model_parallel_size=2 | CONTEXT megatron.virtual_pipeline_model_parallel_size=1
D17e  | 0.9.0  |        | CONTEXT gpus=3                                | CONTEXT gpus=4
D7p   | 0.8.0  |        | SPLIT rollout.disaggregation.prefill_replicas=2 | SPLIT
D7d   | 0.8.0  |        | SPLIT rollout.disaggregation.decode_replicas=0 | SPLIT
D7o   | 0.8.0  |        | SPLIT rollout.disaggregation.bootstrap_port=70000 | SPLIT rollout.disaggregation.bootstrap_port=7000
D7a   | 0.8.0  |        | SPLIT rollout.data_parallel_size=2            | SPLIT
D7g   | 0.8.0  |        | SPLIT rollout.tensor_model_parallel_size=4 rollout.disaggregation.decode_replicas=2 | SPLIT rollout.tensor_model_parallel_size=4 rollout.disaggregation.decode_replicas=2 rollout.disaggregation.decode_tensor_model_parallel_size=2
S36   | 0.4.0  | 0.6.0  | model.lora_rank=24                            | model.lora_rank=32
S36o  | 0.4.0  | 0.6.0  | model.lora_rank=1                             | model.lora_rank=8
S37   | 0.4.1  | 0.6.1  | rollout.mode=async                            | rollout.mode=async data.return_raw_chat=True
S37   | 0.4.1  | 0.6.1  | rollout.name=sglang rollout.mode=sync rollout.multi_turn.enable=True rollout.multi_turn.tool_config_path=t.yaml | rollout.name=sglang rollout.mode=sync
S38   | 0.5.0  | 0.6.1  | rollout.name=vllm rollout.mode=sync rollout.multi_turn.enable=True | rollout.name=vllm rollout.mode=async data.return_raw_chat=True rollout.multi_turn.enable=True
S32   | 0.4.0  |        | model.lora_rank=32 rollout.layered_summon=True | model.lora_rank=32 rollout.layered_summon=True rollout.load_format=safetensors
D16t  | 0.8.0  |        | TEACHER TEACHER_ENGINE.max_model_len=1024      | TEACHER TEACHER_ENGINE.max_model_len=1025
D16g  | 0.8.0  |        | TEACHER distillation.nnodes=0                 | TEACHER
D16d  | 0.8.0  |        | TEACHER distillation.n_gpus_per_node=7        | TEACHER distillation.n_gpus_per_node=7 TEACHER_ENGINE.tensor_model_parallel_size=1
D16k  | 0.8.0  |        | TEACHER TEACHER_LOSS.loss_mode=k1             | TEACHER TEACHER_LOSS.loss_mode=k1 TEACHER_LOSS.use_policy_gradient=True
D16p  | 0.8.0  |        | TEACHER TEACHER_LOSS.policy_loss_mode=gspo    | TEACHER
D16n  | 0.8.0  |        | TEACHER TEACHER_LOSS.loss_mode=forward_kl_topk TEACHER_LOSS.topk=null | TEACHER TEACHER_LOSS.loss_mode=forward_kl_topk
D16m  | 0.8.0  |        | distillation.enabled=True distillation.nnodes=1 | TEACHER
S35   | 0.8.0  |        | TEACHER +distillation.teacher_models.math.model_path=/models/math | +distillation.teacher_models.math.model_path=/models/math
D8    | 0.7.0  |        | rollout.trace.max_samples_per_step_per_worker=-1 | rollout.trace.max_samples_per_step_per_worker=0
T19   | 0.6.1  |        | CORRECTED algorithm.rollout_correction.rollout_rs=group | rollout.calculate_log_probs=False algorithm.rollout_correction.rollout_rs=group
T19n  | 0.6.1  |        | rollout.calculate_log_probs=True algorithm.rollout_correction.rollout_rs=token_k1 | CORRECTED algorithm.rollout_correction.rollout_rs=token_k1
T19l  | 0.7.1  |        | CORRECTED algorithm.rollout_correction.rollout_rs=seq_max_k2 algorithm.rollout_correction.rollout_rs_threshold=0.5_2.0 | CORRECTED algorithm.rollout_correction.rollout_rs=token_k1 algorithm.rollout_correction.rollout_rs_threshold=0.5_2.0
T19i  | 0.6.1  |        | CORRECTED algorithm.rollout_correction.rollout_is=token algorithm.rollout_correction.rollout_is_threshold=0 | CORRECTED algorithm.rollout_correction.rollout_is=token
D19   | 0.6.0  |        | model.path=models/double                      | model.path=models/single
D19t  | 0.7.1  |        | model.target_modules=[q_proj,1]               | model.target_modules=[q_proj,v_proj]
VM1   | 0.2    |        | rollout.name=vllm rollout.gpu_memory_utilization=60 | rollout.name=vllm rollout.gpu_memory_utilization=0.6
VM2   | 0.2    |        | rollout.name=vllm rollout.top_p=95            | rollout.name=vllm rollout.top_p=0.95
D21u  | 0.2    | 0.7.1  | MEGATRON ++sp=2                               | MEGATRON ++sp=1
D21s  | 0.4.0  | 0.7.1  | MEGATRON actor.shuffle=True actor.data_loader_seed=null | MEGATRON actor.shuffle=True actor.data_loader_seed=1
W22p  | 0.9.0  |        | MEGATRON megatron.pad_to_length=True megatron.router_replay.mode=R3 | MEGATRON megatron.pad_to_length=True
W22p  | 0.9.0  |        | MEGATRON megatron.pad_to_length=True TEACHER TEACHER_LOSS.loss_mode=forward_kl_topk | MEGATRON megatron.pad_to_length=True TEACHER TEACHER_LOSS.loss_mode=k3
W22f  | 0.9.0  |        | actor.fsdp_config.pad_to_length=True TEACHER TEACHER_LOSS.loss_mode=forward_kl_topk | actor.fsdp_config.pad_to_length=True TEACHER
D16l  | 0.8.0  |        | TEACHER TEACHER_LOSS.loss_mode=forward_kl_topk +TEACHER_ENGINE.engine_kwargs.vllm.max_logprobs=8 | TEACHER TEACHER_LOSS.loss_mode=forward_kl_topk +TEACHER_ENGINE.engine_kwargs.vllm.max_logprobs=32
D18   | 0.9.1  |        | VEOMNI actor.veomni.activation_offload_host_cache_limit_gb=-1 | VEOMNI actor.veomni.activation_offload_host_cache_limit_gb=0
T21d  | 0.9.0  |        | adv=gdpo +algorithm.gdpo_reward_keys=[format,answer] | v1=False adv=gdpo +algorithm.gdpo_reward_keys=[format,answer]
T21k  | 0.7.1  |        | v1=False adv=gdpo                             | v1=False adv=gdpo +algorithm.gdpo_reward_keys=[format,answer]
T24   | 0.2    | 0.7.0  | SFT tbs=60                                    | SFT tbs=64
T24   | 0.2    | 0.7.0  | SFT tbs=30 ulysses_sequence_parallel_size=2   | SFT tbs=28 ulysses_sequence_parallel_size=2
T24m  | 0.2    | 0.7.0  | SFT tbs=64 data.micro_batch_size_per_gpu=3    | SFT tbs=64 data.micro_batch_size_per_gpu=4
T24p  | 0.2    | 0.7.0  | SFT ulysses_sequence_parallel_size=2          | SFT ulysses_sequence_parallel_size=2 use_remove_padding=True
"""
MODELS = {
    "single": '{"num_attention_heads": 12, "architectures": ["Small"]}',
    "double": '{"num_attention_heads": 12, "architectures": ["Small", "Large"]}',
    "small": '{"num_attention_heads": 12, "num_key_value_heads": 2, "max_position_embeddings": 4096}',
    "scaled": '{"max_position_embeddings": 4096, "rope_scaling": {"rope_type": "yarn", "factor": 2.0}}',
    "layered": '{"num_attention_heads": 12, "num_hidden_layers": 28, "architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe"}',
}
PHRASES = {
    name: globals()[name]
    for name in (
        *(
            "SMALL",
            "SCALED",
            "LAYERED",
            "VALUE",
            "FEW",
            "SEPARATE",
            "STREAMED",
            "LONG",
            "OLD_DAPO",
            "NEW_DAPO",
            "SPLIT",
        ),
        *("TEACHER_ENGINE", "TEACHER_LOSS", "TEACHER", "CORRECTED", "CONTEXT", "VEOMNI"),
    )
}


def words_of(text: str) -> list[str]:
    """The override words that a cell of the table stands for."""
    for name, phrase in PHRASES.items():
        text = text.replace(name, phrase)
    out: list[str] = []
    for word in f"{BASE} {text}".split():
        if word == "MEGATRON":
            out.insert(0, "--config-name=ppo_megatron_trainer")
        elif word.startswith("RAW:"):
            out.append(word.removeprefix("RAW:"))
        elif word not in ("FULLY", "SFT", "DAPO"):
            sign = word[: len(word) - len(word.lstrip("+"))]
            key, _, value = word.lstrip("+").partition("=")
            head, dot, rest = key.partition(".")
            out.append(f"{sign}{SHORT.get(head, head)}{dot}{rest}={value}")
    return out


def entry_of(text: str) -> str:
    """The entry point that a cell of the table is about."""
    if "DAPO" in text.split():
        return "recipe.dapo.main_dapo"
    return FULLY if "FULLY" in text else SUPERVISED if "SFT" in text else MAIN


def rows_of(text: str) -> list[tuple[str, str, str, str, str]]:
    """The lines of the table, cells stripped."""
    lines = [line.split("|") for line in text.strip().splitlines()]
    return [
        (id.strip(), first.strip(), last.strip(), bad.strip(), good.strip()) for id, first, last, bad, good in lines
    ]


TABLE = rows_of(CASES)


def test_every_row_is_in_the_table() -> None:
    assert {row.id for rows in RULES.values() for row in rows} == {case[0] for case in TABLE}


def near(first: str, last: str) -> tuple[list[str], list[str]]:
    """The versions at the edges of a range, and those just outside of it."""
    known = list(versions())
    start = next(at for at, each in enumerate(known) if each.startswith(first))
    end = next((at for at, each in enumerate(known) if last and each.startswith(last)), len(known) - 1)
    outside = [known[at] for at in (start - 1, end + 1) if 0 <= at < len(known)]
    return sorted({known[start], known[end]}), outside


def ids_in(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, version: str, rows: Sequence[Row]) -> set[str]:
    """The rows that a launch violates on a version."""
    (launch,) = launches_of(folder, monkeypatch, [words_of(text)], version, entry_of(text))
    return {each.row.id for each in violations(launch.facts, rows)}


@pytest.mark.parametrize(
    ("id", "first", "last", "bad", "good"), TABLE, ids=[f"{case[0]}-{case[1]}-{at}" for at, case in enumerate(TABLE)]
)
def test_a_row_holds_in_its_versions(
    id: str, first: str, last: str, bad: str, good: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in MODELS.items():
        (tmp_path / "models" / name).mkdir(parents=True)
        (tmp_path / "models" / name / "config.json").write_text(text)
    (tmp_path / "data").mkdir()
    for name, rows in (("few", 100), ("none", 0)):
        (tmp_path / "data" / f"{name}.parquet").write_bytes(parquet_end(rows))
    (code,) = (code for code, rows in RULES.items() if any(row.id == id for row in rows))
    inside, outside = near(first, last)
    for version in inside:
        assert id in ids_in(tmp_path, monkeypatch, bad, version, RULES[code]), f"{version}: {bad}"
        assert id not in ids_in(tmp_path, monkeypatch, good, version, RULES[code]), f"{version}: {good}"
        found = findings_of(tmp_path, monkeypatch, words_of(bad), version, code, entry_of(bad))
        verdicts = {each.verdict.value for each in found if each.help}
        assert verdicts == ({"unsure"} if any(row.verify for row in RULES[code] if row.id == id) else {"fail"})
    for version in outside:
        if version != "0.1":
            assert id not in ids_in(tmp_path, monkeypatch, bad, version, RULES[code]), f"{version}: {bad}"


@pytest.mark.parametrize(
    ("text", "fitting", "code", "shown"),
    [
        ("mini=16 micro=4", ("0.8.0", "0.7.1"), "VL722", "W4"),
        ("mini=4 micro=1", ("0.8.0", "0.7.1"), "VL720", ""),
        ("mini=12 micro=1 tbs=24", ("0.8.0", "0.7.1"), "VL720", ""),
        ("dyn=True tbs=12 mini=4", ("0.8.0", "0.5.0"), "VL720", "W18d"),
        ("dyn=True tbs=12 mini=4", ("0.9.1", "0.5.0"), "VL720", ""),
        ("rollout.mode=sync", ("0.7.0", "0.6.1"), "VL726", ""),
        ("SMALL rollout.max_model_len=4097", ("0.7.1", "0.6.1"), "VL724", ""),
        ("VALUE critic.ulysses_sequence_parallel_size=8", ("0.8.0", "0.7.1"), "VL723", ""),
    ],
)
def test_of_versions_that_may_be_in_use_all_must_reject(
    text: str, fitting: Sequence[str], code: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models/small").mkdir(parents=True)
    (tmp_path / "models/small/config.json").write_text(MODELS["small"])
    facts = [
        launch.facts[0]
        for version in fitting
        for launch in launches_of(tmp_path, monkeypatch, [words_of(text)], version, entry_of(text))
    ]
    assert {each.row.id for each in violations(facts, RULES[code])} == ({shown} if shown else set())


def test_what_a_launch_is_told_does_not_hang_on_those_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bases = (["data.train_batch_size=64"], ["data.train_batch_size=True"], ["actor_rollout_ref.rollout.n=${N}"])
    more = (
        ["actor_rollout_ref.rollout.n=1"],
        ["actor_rollout_ref.rollout.n=1.0"],
        ["actor_rollout_ref.actor.ppo_mini_batch_size=128"],
        ["actor_rollout_ref.actor.ppo_mini_batch_size=$MINI"],
        ["actor_rollout_ref.actor.use_dynamic_bsz=$DYNAMIC"],
        ["actor_rollout_ref.actor.use_dynamic_bsz=1"],
        ["actor_rollout_ref.actor.use_dynamic_bsz=True", "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=8"],
    )
    sets = [[*base, *words] for base in bases for words in ([], *more)]

    rows = [row for every in RULES.values() for row in every]

    def said(launch: Launch) -> list[str]:
        return [each.row.id + each.message + str(each.on_defaults) for each in violations(launch.facts, rows)]

    together = [said(launch) for launch in launches_of(tmp_path, monkeypatch, sets, "0.7.0")]
    alone = []
    for launch in launches_of(tmp_path, monkeypatch, sets, "0.7.0"):
        for facts in launch.facts:
            facts.about.clear()
        alone.append(said(launch))
    assert together == alone
    assert any(together)
