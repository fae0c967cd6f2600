set -u
probe "${#b[0]}"; probe same
probe next "${b[@]}"
probe "${#b[@]}"; probe same
probe next
y=nothing; (( y + 1 )); probe same
probe next
