x=1; probe "${PIPESTATUS[@]}"; false; x=2; probe "${PIPESTATUS[@]}"; if false | true; then :; fi; probe "${PIPESTATUS[@]}"; ! false; probe "${PIPESTATUS[0]}"; for i in 1; do false; done; echo "${PIPESTATUS[@]}"; true | false | (exit 3); { false; }; probe "${PIPESTATUS[@]}"
true | false | (exit 3)
s=("${PIPESTATUS[@]}")
probe "${s[@]}" "${#s[@]}"
true | false | (exit 3)
probe "${#PIPESTATUS[@]}"
[[ a == b ]]; probe "${PIPESTATUS[@]}"
if (exit 3) | true; then [[ ${PIPESTATUS[0]} -ne 0 ]] && probe failed; fi
false | true; (( PIPESTATUS[0] )) && probe x
