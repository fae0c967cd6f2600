x=1; { x=2; probe $x; }; ( x=3; probe $x ); probe $x; { probe grp; } | cat; x=4 | true; probe $x
echo a | read y; probe "${y-unset}"; shopt -s lastpipe; echo b | read z; probe "${z-unset}"
true && { probe t; } || probe f; false && probe no || probe yes; true || probe no && probe both; false || { false; probe $?; }
! true || probe nt; ! false && probe nf; if ! false; then probe inf; fi; while ! true; do probe no; done
[ 1 -eq 1 ] && [ 2 -eq 2 ] && probe and2; [[ 1 -eq 1 && 2 -eq 3 ]] || probe or2
if [ -z "$none" ] && ! [ -n "$none" ]; then probe e; elif true; then probe no; else probe no2; fi
if probe cmd; then probe ok; fi; if false; then :; elif false; then :; else probe els; fi; probe $?
if false; then :; fi; probe $?; while false; do :; done; probe $?; for i in; do :; done; probe $?; case x in y) false;; esac; probe $?
(exit 5); probe $?; { (exit 6); }; probe $?; true | (exit 7); probe $?; x=$(exit 8); probe $?; x=5; probe $?; : ; probe $?; [ a = b ]; probe $?; [[ a ]]; probe $?; ((0)); probe $?; ((5)); probe $?; let 0; probe $?; test; probe $?; [ ]; probe $?; [ a b ]; probe $?; [ 1 -eq x ]; probe $?; [[ x -eq 0 ]]; probe $?
nosuchbuiltin_fn() { return 9; }; nosuchbuiltin_fn; probe $?; exit_code() { false; local r=$?; return $r; }; exit_code; probe $?
(set -e; false; probe no); probe $?; (set -u; probe $undefined_x); probe $?
set -e; (false) || true; f() { false; probe inf; }; f || true; if f; then probe t; fi; f && true; probe before; [[ $(f; echo x) ]]; probe here; f; probe no
