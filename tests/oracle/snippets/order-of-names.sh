# The order in which the names of associative arrays come, and lists that are given as text.
declare -A sizes=([small]=1 [medium]=2 [large]=3 [x.y]=4 [é]=5 [--lr]=6 [--bs]=7)
sizes[tiny]=0
probe "${!sizes[@]}"
probe "${sizes[@]}"
for name in "${!sizes[@]}"; do probe "$name=${sizes[$name]}"; done
unset 'sizes[medium]'
sizes+=([huge]=9)
probe "${!sizes[*]}"
declare -a list='(1 "2 3")'
probe "${list[@]}"
declare -A pairs="([a]=1 [b]='2 3')"
probe "${pairs[a]}" "${pairs[b]}"
