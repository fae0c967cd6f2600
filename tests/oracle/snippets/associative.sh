declare -A conf=([lr]=1e-6 [bs]=256 ["my key"]="a b" [$((1+1))]=two)
probe "${conf[lr]}" "${conf[my key]}" "${conf[2]}" "${#conf[@]}" "${conf[none]-unset}"
k=bs; probe "${conf[$k]}" "${conf["$k"]}"
conf[$k]=512; conf[new]+=x; conf[new]+=y; probe "${conf[bs]}" "${conf[new]}"
unset 'conf[lr]'; probe "${#conf[@]}" "${conf[lr]+set}"
[[ -v conf[bs] ]] && probe yes
[[ -v conf[zz] ]] || probe no
if [[ ${conf[bs]} -gt 100 ]]; then probe big; fi
for key in one; do declare -A m_$key; done
declare -A empty=(); probe "${#empty[@]}" "${empty[@]}" "${!empty[@]}"
