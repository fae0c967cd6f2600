f() { probe "${FUNCNAME[0]}" "${FUNCNAME[1]}" "${FUNCNAME[@]}" "${BASH_SOURCE[0]}" "${#BASH_SOURCE[@]}"; }
g() { f; }
g
f
echo 'h() { probe "${FUNCNAME[*]}" "${BASH_SOURCE[*]}"; }; probe "${BASH_SOURCE[*]}" "$0" "${FUNCNAME[*]}"; h; f' > lib.sh
. ./lib.sh
h
