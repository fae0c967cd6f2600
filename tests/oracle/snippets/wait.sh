(exit 3) & wait $!; probe $?; (exit 4) & p=$!; (exit 5) & q=$!; wait $p $q; probe $?; (exit 6) & wait; probe $?;  f() { (exit 8)& wait $!; }; f; probe $?
pids=()
for i in 1 2 3; do (exit $i) & pids+=($!); done
fail=0
for p in "${pids[@]}"; do wait "$p" || fail=$((fail+$?)); done
probe $fail
probe x & wait $!; probe $?
