set -e
readonly F=a
readonly F=b || true
probe no
