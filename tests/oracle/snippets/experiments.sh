# a driver in the style of the experiments
declare -A STEPS=([base]=100 [large]=200)
MODELS=(base large)
SEEDS="1 2"
for m in "${MODELS[@]}"; do
  for s in $SEEDS; do
    out="runs/${m}-s${s}"; mkdir -p "$out"
    cfg="$out/config.yaml"
    cat > "$cfg" <<EOF
model: $m
steps: ${STEPS[$m]}
EOF
    cmd=(python3 -m train --config "$cfg" --seed "$s")
    [[ $m == large ]] && cmd+=(--fp16)
    printf '%q ' "${cmd[@]}" > "$out/cmd.sh"; echo >> "$out/cmd.sh"
    "${cmd[@]}" > "$out/log.txt" 2>&1 || { probe failed; exit 1; }
    bash "$out/cmd.sh"
  done
done
probe runs/*/config.yaml runs/*
for c in runs/*/config.yaml; do IFS=': ' read -r k v < "$c"; probe "$k" "$v" "$(basename "$(dirname "$c")")"; done
best=; for d in runs/*/; do d=${d%/}; [[ -z $best || $d > $best ]] && best=$d; done; probe "$best"
rm -rf runs/base-*; probe runs/*; mv runs/large-s1 runs/final; probe runs/*; [ -e runs/final/config.yaml ] && probe kept
printf 'job %s\n' a b | while read -r _ name; do probe "$name"; done
while IFS='=' read -r key val; do export "$key=$val"; done <<< $'AA=1\nBB=x=y'; probe "$AA" "$BB"
set -a; source <(echo 'CC=3'); set +a; bash -c 'probe "$CC"'
args=(); while IFS= read -r a; do args+=("$a"); done < <(printf '%s\n' --x '--y z'); probe "${args[@]}"
