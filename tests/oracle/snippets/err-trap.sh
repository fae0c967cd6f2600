trap 'probe exit $?' EXIT
trap 'probe err' ERR
false
probe after
f() { false; }
f
(exit 3)
false || true
if false; then :; fi
trap - ERR
false
exit 4
