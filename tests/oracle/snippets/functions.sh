f() { local a=1 b c=3; b=$a$c; probe "$a" "$b" "$c" "$#" "$1" "$@"; shift; probe "$@"; return 3; }
f x "y z"; probe $?
g() { echo "out $1"; }; r=$(g v); probe "$r"; h() { g "$@" | tr a-z A-Z; }; probe "$(h q)"
outer() { inner() { probe inner "$v"; }; local v=loc; inner; }; outer; inner
rec() { (( $1 <= 0 )) && return; probe rec $1; rec $(( $1 - 1 )); }; rec 3
function k { probe k; }; k
function m() { probe "m$1"; }; m 1
fact() { if (( $1 <= 1 )); then echo 1; else echo $(( $1 * $(fact $(( $1 - 1 ))) )); fi; }; probe "$(fact 5)"
n() ( x=sub; cd data; probe "$PWD" ); x=main; n; probe "$x" "$PWD"
o() { probe o; } > o.txt; o; probe "$(cat o.txt)"
unset -f k; k; type f >/dev/null && probe hasf; declare -F f > /dev/null && probe hasf2; declare -f zz >/dev/null || probe nozz
p() { local IFS=,; echo "$*"; }; probe "$(p a b c)" "$*"
q() { set -- new args; probe "$@"; }; set -- old; q; probe "$@"
r() { local x; x=$(false); probe $?; local y=$(false); probe $?; }; r
s() { [[ $1 == ok ]]; }; if s ok; then probe ok; fi; s no || probe notok; s ok && probe again
export -f s; bash -c 's ok && probe exported'
t() { while (( $# )); do case $1 in -a) probe A; shift;; -b) probe "B$2"; shift 2;; *) probe "rest $*"; break;; esac; done; }; t -a -b 2 x y
u() { for arg; do probe "$arg"; done; for arg in "$@"; do probe "[$arg]"; done; }; u 1 "2 3"
