set -u
probe $((nothing+1)); probe same
