trap 'probe int' INT TERM
trap -p > /dev/null
cleanup() { probe cleanup "$?"; }
trap cleanup EXIT
( trap 'probe sub' EXIT; probe in )
bash -c 'trap "probe child" EXIT; probe c'
set -e
false
probe no
