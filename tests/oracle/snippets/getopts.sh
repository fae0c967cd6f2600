# arguments: -a -b val -c one two
while getopts "ab:cd:" opt; do
  case $opt in
    a) probe a;;
    b) probe "b=$OPTARG";;
    c) probe c;;
    d) probe "d=$OPTARG";;
    \?) probe bad;;
  esac
done
probe "$OPTIND"
shift $((OPTIND - 1)); probe "$@"
OPTIND=1
while getopts ":xy:" o -x -y 1 -z -y; do probe "$o" "${OPTARG-unset}"; done
OPTIND=1; while getopts "xy" o -xy -x; do probe "$o"; done
f() { local OPTIND o; while getopts "n:" o; do probe "f$o$OPTARG"; done; }; f -n5; f -n 6 rest
OPTIND=1; while getopts "n:q" o -n -q -z; do probe "$o" "$OPTARG"; done
