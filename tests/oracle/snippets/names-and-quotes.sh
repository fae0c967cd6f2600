# Names by their beginning, and the quoted forms of values.
ab1=1 ab2=
probe "${!ab*}" "${!ab@}" ${!ab*} "${!none@}" end "${!none*}"
line=$'one\ntwo' plain="it's"
probe "${line@Q}" "${plain@Q}" ${unset@Q} "${unset@Q}" end
printf -v text '%b' 'a\tb\x41\0101'
probe "$text" $'cut\0off' "$(printf '%q ' "$line" "$plain")"
probe "$(type -t cd)" "$(type -t probe)" "$(type -t if)"
f() { :; }
probe "$(type -t f)"
