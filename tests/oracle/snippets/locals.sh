f() { local -a arr=("$@"); local -A m=([x]=1); local -i n=2+3; local -r ro=5; local -x ex=1; local a=1 b=$a c; probe "${arr[@]}" "${m[x]}" "$n" "$ro" "$a$b$c"; arr+=(z); probe "${#arr[@]}"; unset a; probe "${a-unset}"; local a=9; probe $a; }
f 1 "2 3"; probe "${arr[@]-none}" "${ex-none}"
g() { local x=$1; h; probe "g $x"; }; h() { x+=more; probe "h $x"; local x=mine; probe "h2 $x"; }; x=global; g arg; probe $x
k() { declare v=1; declare -g w=2; typeset z=3; v2=4; readonly c=5; export d=6; }; k; probe "${v-no}" "$w" "${z-no}" "$v2" "$c" "$d"
l() { local IFS=:; set -- a:b:c; probe $1 "$*"; }; l; probe "a:b"
m() { local x; probe "${x-unset}" "${x+set}"; x=; probe "${x+set}"; [[ -v x ]] && probe v; }; m
n() { local x=1; (x=2; probe $x); probe $x; y=$(x=3; echo $x); probe $x $y; }; n
o() { local f; for f in 1 2; do :; done; probe $f; }; f2=keep; o; probe "${f-none}"
p() { eval "$1=\$2"; }; p dyn "a b"; probe "$dyn"; q() { printf -v "$1" '%s' "$2"; }; q dyn2 v; probe $dyn2
r() { local ref=$1; probe "${!ref}"; local -n nr=$1; nr=new; }; t=old; r t; probe $t
s() { local out; out=$(cat); probe "$out"; }; s <<< "stdin"; echo pipe | s; s < a.txt
u() { while read -r l; do probe "u$l"; done; }; printf '1\n2\n' | u; u < <(echo ps)
v() { probe "$FUNCNAME" "$LINENO" "${BASH_LINENO[0]}" "${#FUNCNAME[@]}"; }; v
w() { shift 2; probe "$@"; }; w a b c d; x() { shift 5; probe $? "$@"; }; x a b
y() { return; }; false; y; probe $?; z() { false; return; }; z; probe $?; aa() { return 300; }; aa; probe $?; bb() { return -1; }; bb; probe $?; cc() { :; }; false; cc; probe $?
dd() { exit 3; }; (dd); probe $?; e1=$(dd; echo no); probe $? "$e1"
ee() { local x=$(exit 4); probe $?; local z; z=$(exit 4); probe $?; export q=$(exit 5); probe $?; readonly rr=$(exit 6); probe $?; declare dd=$(exit 7); probe $?; tt=$(exit 8) uu=$(exit 9); probe $?; }; ee
