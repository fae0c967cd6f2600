# arguments: --model m1 --lr 1e-5 extra=1
set -x
export VLLM_ATTENTION_BACKEND=XFORMERS HYDRA_FULL_ERROR=1
MODEL_PATH=${MODEL_PATH:-Qwen/Qwen2.5-7B}
while [[ $# -gt 0 ]]; do
    case "$1" in
        --model) MODEL_PATH="$2"; shift 2 ;;
        --lr|--learning-rate) LR=$2; shift; shift ;;
        --*=*) key=${1%%=*}; key=${key#--}; printf -v "${key//-/_}" '%s' "${1#*=}"; shift ;;
        *) EXTRA+=("$1"); shift ;;
    esac
done
: "${LR:=1e-6}" "${BS:=128}"
DATA_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/data"
train_files="['$DATA_DIR/train.parquet', '$DATA_DIR/b.parquet']"
ARGS=(
    algorithm.adv_estimator=grpo
    data.train_files="$train_files"   # comment
    data.train_batch_size=$BS
    # another comment
    actor_rollout_ref.model.path=$MODEL_PATH
    "actor_rollout_ref.actor.optim.lr=${LR}"
    trainer.experiment_name="${MODEL_PATH##*/}_lr${LR}_bs${BS}"
    +trainer.flag=true ++x.y=null ~z
    trainer.logger="['console','wandb']"
)
if [[ -n "${EXTRA[*]}" ]]; then ARGS+=("${EXTRA[@]}"); fi
python3 -m verl.trainer.main_ppo "${ARGS[@]}" "$@"
nohup python3 -m verl.trainer.main_ppo --config-path=./config \
    data.max_prompt_length=1024 \
    trainer.n_gpus_per_node=8 $@ > train.log 2>&1 &
PID=$!
wait $PID && probe done
CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node=2 main.py --cfg "$DATA_DIR"/x.yaml
env A=1 B="x y" timeout 10 python x.py
