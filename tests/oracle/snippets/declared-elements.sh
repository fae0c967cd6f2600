# `export` and `readonly` take no elements; what a declared variable is given is changed before it is used.
c=5
export c[1] d=2
probe $? "$c" "$d"
export c[1]=x
probe $? "${c[1]-none}"
readonly c[1]
probe $?
declare c[1]=y
probe $? "${c[1]}"
declare -i number
probe ${number:=word} "$number"
declare -u upper
probe ${upper:=word}
declare -l lower
probe "${lower=WORD}" "$lower"
a=(a b c)
unset 'a[-1]'
probe "${a[@]}"
