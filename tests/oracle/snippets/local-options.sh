# Options of a function, the stack of folders, and what a program does not get of the environment.
quiet() {
    local -
    set -f
    probe *
}
quiet
probe *.txt
pushd data > /dev/null
(pushd ../sub > /dev/null)
probe "$PWD" "${DIRSTACK[@]}"
pushd > /dev/null
probe "$PWD"
popd > /dev/null
probe "$PWD"
popd > /dev/null
export GONE=1 KEPT=2
env -u GONE bash -c 'probe "${GONE-unset}" "$KEPT"'
env --unset=GONE GONE=3 bash -c 'probe "$GONE"'
unset GONE
bash -c 'probe "${GONE:-unset}"'
