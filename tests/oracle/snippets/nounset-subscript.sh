set -u
a=(1 2); ((1 || nothing)); probe ok "$((a[7]+1))"; probe ${a[nothing]}; probe same
