bash <<'EOF'
probe heredoc "$0" $#
EOF
bash -s -- a "b c" <<EOF
probe "\$1" "\$2" $HOME
EOF
echo 'probe piped $1' | bash -s x
bash -c 'probe "$0" "$@"' zero one "two 2"
bash -c "probe $HOME '\$HOME' \"\$0\""
sh -c 'for i in "$@"; do probe $i; done' _ 1 2
bash -ec 'false; probe no'; probe $?
bash -x -o pipefail -c 'probe $-'
source <(echo 'SRC=1; probe sourced'); probe $SRC
. conf/env.sh; probe "$SOURCED"; from_env x
. ./conf/env.sh arg1; source conf/env.sh
echo 'probe "$1" "$#"; set -- z; shift; X=9' > args.sh; set -- p q; . ./args.sh; probe "$@" $X; . ./args.sh r s; probe "$@"
eval 'x="a b"; probe $x'; eval probe "'q  r'" '$x'; cmd='probe e1; probe "e 2"'; eval "$cmd"; eval "$(echo probe gen)"; eval "arr=($(echo 1 2))"; probe ${#arr[@]}
c="probe --flag 'a b'"; $c; c=(probe --flag 'a b'); "${c[@]}"; "${c[@]:0:1}" z; pre=; $pre probe pp; DRY=echo; $DRY probe dry; ${DRY:+probe} dd
run() { probe "RUN $*"; "$@"; }; run probe inner "x y"
command probe c1; builtin echo b >/dev/null; command -v bash >/dev/null || probe nobash; type nothing 2>/dev/null || probe nt
\probe escaped; "probe" quoted; p=pro; ${p}be joined
(exec probe ex; probe no); exec_fn() { exec probe fn; }; (exec_fn); 
time probe timed; time -p probe tp; ! probe neg; probe $?
nice -n 5 probe nice; nohup probe nh; sudo -u x probe su; env -i A=1 probe envi; env -u HOME A=2 probe envu; setsid probe ss; timeout -k 5 10 probe to; stdbuf -oL probe sb
xargs probe < a.txt; find . -name x -exec probe {} \;
A=1 B=2 probe ab; A=1 B=$A probe; A=x; A=y probe $A; A=z bash -c 'probe $A'; probe $A
X=$(probe cs) Y=`probe bq`; probe "$X$Y"
