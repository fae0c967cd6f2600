GPUS=(0 1 2 3); N=${#GPUS[@]}
declare -a pids
for ((i = 0; i < N; i++)); do
    gpu=${GPUS[$i]}
    CUDA_VISIBLE_DEVICES=$gpu python eval.py --shard $i --num-shards $N > "log_$i.txt" 2>&1 &
    pids[$i]=$!
done
for pid in "${pids[@]}"; do wait "$pid" || exit 1; done
for task in math code:3 "rea son"; do
    IFS=: read -r name shots <<< "$task"
    python eval.py --task "$name" ${shots:+--shots "$shots"}
done
declare -A PATHS=([math]=/d/math)
for t in math none; do p=${PATHS[$t]:-default/$t}; probe "$p"; [[ -v PATHS[$t] ]] && probe has $t; done
for pair in "a 1" "b 2"; do set -- $pair; probe "$1" "$2"; done
models=("m1|p1|8" "m2|p2|4")
for rec in "${models[@]}"; do IFS='|' read -r m p n <<< "$rec"; probe "$m" "$p" $((n*2)); done
for f in data/*.txt; do b=$(basename "$f" .txt); probe "$b" "${f%.txt}.out"; done
for d in */; do probe "${d%/}"; done
i=0; until [ $i -ge 3 ]; do probe $i; i=$((i+1)); done
seq 1 3 | while read -r n; do probe "n$n"; done
for i in $(seq -f '%02g' 1 2); do :; done
while :; do ((c++ >= 2)) && break; probe loop; done
for x in a b c; do [[ $x == b ]] && continue; for y in 1 2; do [[ $y == 2 ]] && continue 2; probe $x$y; done; probe no; done
for i in 1 2 3; do case $i in 2) break;; esac; probe "c$i"; done
printf '%s\n' "${GPUS[@]}" | sort -n | head -1
probe "$(printf '%s,' "${GPUS[@]}" | sed 's/,$//')" "$(IFS=,; echo "${GPUS[*]}")"
