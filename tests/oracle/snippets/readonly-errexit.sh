set -e
readonly F=a
F=c || true
probe no
