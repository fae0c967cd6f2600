echo x | tee none/f.txt; probe $?
set -o pipefail
probe a 2>&1 | tee logs/x.log; probe $?
mkdir -p logs; probe a 2>&1 | tee logs/x_$(date).log; probe $?
