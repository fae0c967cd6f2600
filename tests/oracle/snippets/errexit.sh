set -euo pipefail
f() { probe f; return 1; }
if f; then probe y; else probe n; fi
f || probe or
! f
x=$(f) || probe "caught $x"
f && probe no
{ f; } || probe grp
(f) || probe sub
while f; do probe no; done
until f; do break; done
false | true || probe pf
y=$(false; echo still); probe "$y"
z=$(set +e; false; echo z); probe "$z"
local_fail() { local v=$(false); probe "local $?"; }; local_fail
[[ a == b ]] || probe ne
[[ a == b ]] && probe no
((0)) || probe zero
let 0 || probe let
test -f none && probe no
for i in 1; do [[ $i == 2 ]] && probe no; done
probe "${u:-d}" "${u-}" "${u+x}"
cat none.txt || probe nocat
probe before
((1-1))
probe unreachable
