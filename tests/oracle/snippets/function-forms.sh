a() { probe a; }; b() { a; unset -f a; a; }; b
a() { probe a1; a() { probe a2; }; }; a; a
if true; then f() { probe cond; }; else f() { probe no; }; fi; f
function g { probe g "$1"; }; g 1; function h() { probe h; }; h
i() if [[ $1 ]]; then probe "i$1"; fi; i 5
j() for x; do probe "j$x"; done; j 1 2
k() (( $1 > 2 )); k 3 && probe k3; k 1 || probe k1
l() { probe "$#:$*"; } 2>/dev/null; l a b
probe-x() { probe dashed; }; probe-x; my.func() { probe dotted; }; my.func; log::info() { probe "colon $*"; }; log::info z
echo() { builtin echo "E:$*"; }; probe "$(echo hi)"; unset -f echo; probe "$(echo hi)"
cd() { builtin cd "$@" && probe "cd $PWD"; }; cd data; cd ..; unset -f cd
test() { probe mytest; }; test x; unset -f test
ls() { command ls "$@"; }; ls -l
export -f j; bash -c 'j q'; bash -c 'type j >/dev/null && probe has'; sub() { bash -c 'j "$@"' _ "$@"; }; sub r
declare -fx i; bash -c 'i 7'; export -n -f j; bash -c 'j q2'
