#!/usr/bin/env bash
# Trains a mathematics model with GRPO on one or several nodes of eight GPUs.
#
# Start a Ray cluster first when there are several nodes:
#
#     head node:    ray start --head --port 6379
#     other nodes:  ray start --address "$HEAD_ADDRESS:6379"
#
# then run this file on the head node:
#
#     NNODES=2 MODEL_PATH=/models/base bash launcher_200.sh
#
# Every setting below can be replaced through the environment; further Hydra overrides are taken as arguments.

set -euo pipefail

# --------------------------------------------------------------------------------------------------------------------
# What to train
# --------------------------------------------------------------------------------------------------------------------

MODEL_PATH=${MODEL_PATH:-Qwen/Qwen2.5-7B-Instruct}
REWARD_FILE=${REWARD_FILE:-}
ALGORITHM=${ALGORITHM:-grpo}
SEED=${SEED:-42}

# --------------------------------------------------------------------------------------------------------------------
# Where things lie
# --------------------------------------------------------------------------------------------------------------------

DATA_ROOT=${DATA_ROOT:-"${HOME}/data"}
CHECKPOINT_ROOT=${CHECKPOINT_ROOT:-"${HOME}/checkpoints"}
TRAIN_FILES=${TRAIN_FILES:-"${DATA_ROOT}/gsm8k/train.parquet"}
VAL_FILES=${VAL_FILES:-"${DATA_ROOT}/gsm8k/test.parquet"}

PROJECT=${PROJECT:-math-rl}
RUN_NAME=${RUN_NAME:-"${ALGORITHM}-$(basename "$MODEL_PATH")-$(date +%Y%m%d-%H%M)"}
CHECKPOINT_DIR="${CHECKPOINT_ROOT}/${PROJECT}/${RUN_NAME}"
LOG_FILE="${CHECKPOINT_DIR}/train.log"

# --------------------------------------------------------------------------------------------------------------------
# Cluster
# --------------------------------------------------------------------------------------------------------------------

NNODES=${NNODES:-1}
GPUS_PER_NODE=${GPUS_PER_NODE:-8}
WORLD=$((NNODES * GPUS_PER_NODE))
TENSOR_PARALLEL=${TENSOR_PARALLEL:-2}
SEQUENCE_PARALLEL=${SEQUENCE_PARALLEL:-1}

# --------------------------------------------------------------------------------------------------------------------
# Sizes
# --------------------------------------------------------------------------------------------------------------------

TRAIN_BATCH_SIZE=${TRAIN_BATCH_SIZE:-256}
MINI_BATCH_SIZE=${MINI_BATCH_SIZE:-64}
MICRO_BATCH_SIZE=${MICRO_BATCH_SIZE:-4}
ROLLOUTS=${ROLLOUTS:-8}
MAX_PROMPT=${MAX_PROMPT:-1024}
MAX_RESPONSE=${MAX_RESPONSE:-3072}
MAX_TOKENS=$(((MAX_PROMPT + MAX_RESPONSE) * 2))

LEARNING_RATE=${LEARNING_RATE:-1e-6}
KL_COEF=${KL_COEF:-0.001}
ENTROPY_COEF=${ENTROPY_COEF:-0}
EPOCHS=${EPOCHS:-15}
SAVE_EVERY=${SAVE_EVERY:-20}
TEST_EVERY=${TEST_EVERY:-5}

# --------------------------------------------------------------------------------------------------------------------
# Backends
# --------------------------------------------------------------------------------------------------------------------

ENGINE=${ENGINE:-vllm}
case "$ENGINE" in
    vllm)
        export VLLM_USE_V1=1
        GPU_MEMORY=${GPU_MEMORY:-0.6}
        ;;
    sglang)
        GPU_MEMORY=${GPU_MEMORY:-0.7}
        ;;
    *)
        echo "unknown engine: $ENGINE" >&2
        exit 2
        ;;
esac

OFFLOAD=False
if [ "$WORLD" -lt 8 ]; then
    OFFLOAD=True
fi

LOGGERS="['console']"
if [ -n "${WANDB_API_KEY:-}" ]; then
    LOGGERS="['console','wandb']"
fi

export TOKENIZERS_PARALLELISM=true
export NCCL_DEBUG=${NCCL_DEBUG:-WARN}
export HYDRA_FULL_ERROR=1

# --------------------------------------------------------------------------------------------------------------------
# Checks
# --------------------------------------------------------------------------------------------------------------------

for file in "$TRAIN_FILES" "$VAL_FILES"; do
    if [ ! -f "$file" ]; then
        echo "missing data: $file" >&2
        exit 1
    fi
done

if ((TRAIN_BATCH_SIZE % MINI_BATCH_SIZE != 0)); then
    echo "the train batch must be a multiple of the mini batch" >&2
    exit 1
fi

mkdir -p "$CHECKPOINT_DIR"

# --------------------------------------------------------------------------------------------------------------------
# Overrides
# --------------------------------------------------------------------------------------------------------------------

DATA=(
    data.train_files="$TRAIN_FILES"
    data.val_files="$VAL_FILES"
    data.train_batch_size="$TRAIN_BATCH_SIZE"
    data.max_prompt_length="$MAX_PROMPT"
    data.max_response_length="$MAX_RESPONSE"
    data.filter_overlong_prompts=True
    data.truncation=error
    data.shuffle=True
)

ACTOR=(
    actor_rollout_ref.model.path="$MODEL_PATH"
    actor_rollout_ref.model.use_remove_padding=True
    actor_rollout_ref.model.enable_gradient_checkpointing=True
    actor_rollout_ref.actor.optim.lr="$LEARNING_RATE"
    actor_rollout_ref.actor.ppo_mini_batch_size="$MINI_BATCH_SIZE"
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu="$MICRO_BATCH_SIZE"
    actor_rollout_ref.actor.use_dynamic_bsz=True
    actor_rollout_ref.actor.ppo_max_token_len_per_gpu="$MAX_TOKENS"
    actor_rollout_ref.actor.ulysses_sequence_parallel_size="$SEQUENCE_PARALLEL"
    actor_rollout_ref.actor.use_kl_loss=True
    actor_rollout_ref.actor.kl_loss_coef="$KL_COEF"
    actor_rollout_ref.actor.kl_loss_type=low_var_kl
    actor_rollout_ref.actor.entropy_coeff="$ENTROPY_COEF"
    actor_rollout_ref.actor.fsdp_config.param_offload="$OFFLOAD"
    actor_rollout_ref.actor.fsdp_config.optimizer_offload="$OFFLOAD"
)

ROLLOUT=(
    actor_rollout_ref.rollout.name="$ENGINE"
    actor_rollout_ref.rollout.n="$ROLLOUTS"
    actor_rollout_ref.rollout.tensor_model_parallel_size="$TENSOR_PARALLEL"
    actor_rollout_ref.rollout.gpu_memory_utilization="$GPU_MEMORY"
    actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu="$MICRO_BATCH_SIZE"
    actor_rollout_ref.rollout.temperature=1.0
    actor_rollout_ref.rollout.val_kwargs.n=1
    actor_rollout_ref.rollout.val_kwargs.do_sample=False
)

REF=(
    actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu="$MICRO_BATCH_SIZE"
    actor_rollout_ref.ref.fsdp_config.param_offload=True
)

TRAINER=(
    trainer.project_name="$PROJECT"
    trainer.experiment_name="$RUN_NAME"
    trainer.default_local_dir="$CHECKPOINT_DIR"
    trainer.logger="$LOGGERS"
    trainer.nnodes="$NNODES"
    trainer.n_gpus_per_node="$GPUS_PER_NODE"
    trainer.total_epochs="$EPOCHS"
    trainer.save_freq="$SAVE_EVERY"
    trainer.test_freq="$TEST_EVERY"
    trainer.val_before_train=True
)

REWARD=()
if [ -n "$REWARD_FILE" ]; then
    REWARD+=(custom_reward_function.path="$REWARD_FILE" custom_reward_function.name=score)
fi

# --------------------------------------------------------------------------------------------------------------------
# Run
# --------------------------------------------------------------------------------------------------------------------

echo "training $RUN_NAME on $WORLD GPUs, seed $SEED"

python3 -m verl.trainer.main_ppo \
    algorithm.adv_estimator="$ALGORITHM" \
    algorithm.use_kl_in_reward=False \
    "${DATA[@]}" \
    "${ACTOR[@]}" \
    "${ROLLOUT[@]}" \
    "${REF[@]}" \
    "${TRAINER[@]}" \
    "${REWARD[@]}" \
    "$@" 2>&1 | tee "$LOG_FILE"
