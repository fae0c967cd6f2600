set -o pipefail
false | cat; probe $?
grep zz a.txt | wc -l; probe $?
set +o pipefail; false | true; probe $?
set -o | grep -q nothing; [[ -o pipefail ]] || probe off; set -o errexit; [[ -o errexit ]] && probe on; probe "$-"; set +e
set -f; probe *.txt; set +f; probe *.txt
set -a; X=1; set +a; Y=2; probe
set -- -x -y; probe "$@"; set --; probe $#; set a b; probe "$1"; set - c; probe "$@"
set -o noglob; probe *; set +o noglob
shopt -s expand_aliases; alias ll='probe aliased'; ll x
