# arguments: --model m -n 3 extra --flag --lr=1e-6 -v -- rest
OPTS=$(getopt -o n:vh --long model:,lr:,flag,help -n "$0" -- "$@") || exit 1
eval set -- "$OPTS"
while true; do
  case "$1" in
    --model) MODEL=$2; shift 2;;
    -n) N=$2; shift 2;;
    --lr) LR=$2; shift 2;;
    --flag) FLAG=1; shift;;
    -v) V=1; shift;;
    --) shift; break;;
    *) probe bad "$1"; exit 1;;
  esac
done
probe "$MODEL" "$N" "$LR" "$FLAG" "$V" "$@"
