exec 2>&1
set -euo pipefail
readonly SCRIPT_DIR="$(cd -- "$(dirname -- "${BASH_SOURCE[0]:-$0}")" &> /dev/null && pwd -P)"
readonly ROOT="${SCRIPT_DIR%/*}"; PROJ="$(realpath "$SCRIPT_DIR/data/..")"
log() { printf '[%s] %s\n' "$(date +%T)" "$*" >&2; }
die() { log "ERROR: $*"; exit 1; }
usage() { cat <<EOF
Usage: $(basename "$0") [options]
EOF
}
require() { command -v "$1" >/dev/null 2>&1 || log "missing $1"; }
require python3
NUM_GPUS=$(nvidia-smi -L | wc -l); NUM_GPUS=${NUM_GPUS:-8}
MASTER_PORT=$((29500 + RANDOM % 100))
TS=$(date +%Y%m%d_%H%M%S); OUT="outputs/run_${TS}"; mkdir -p "$OUT"/{ckpt,logs}
probe "$SCRIPT_DIR" "$ROOT" "$PROJ"
[[ -d "$OUT/ckpt" ]] && probe made
opts=(); [[ -n ${WANDB_KEY:-} ]] && opts+=(--wandb) || true; ((${#opts[@]})) && probe has || probe hasnt
python3 train.py ${opts[@]+"${opts[@]}"} --out "$OUT" "${opts[@]:-none}" |& tee "$OUT/logs/train.log"
status=${PIPESTATUS[0]}; probe "$status"
for seed in 1 2; do for lr in 1e-{5,6}; do name="s${seed}_lr${lr}"; [[ -e $OUT/$name ]] && continue; python3 train.py seed=$seed lr=$lr name=$name & done; wait; done
find "$OUT" -name '*.pt' -print0 | while IFS= read -r -d '' f; do probe "$f"; done
latest=$(ls -d "$OUT"/ckpt/global_step_* 2>/dev/null | sort -V | tail -n 1 || true); probe "[$latest]"
step=${latest##*_}; [[ $step =~ ^[0-9]+$ ]] || step=0; probe "$step" || true
if [[ "${1:-}" == "--help" ]]; then usage; exit 0; fi
trap 'log cleanup; probe cleanup' EXIT
usage > /dev/null
die "finished $*"
