IFS=','; x="a,b,,c"; probe $x; set -- $x; probe $# "$3"; for i in $x; do probe "$i"; done; y=$x; probe "$y" "$*"; IFS=$' \t\n'
IFS=:; for p in $PATH:/x; do probe "$p"; done; arr=(a:b); probe "${arr[@]}"; v=a:b; arr=($v); probe "${arr[@]}"; unset IFS
IFS=; x="a b"; probe $x; IFS=' '; probe $x; IFS=x; z=axbxc; probe $z; unset IFS; probe $x
old=$IFS; IFS='|'; read -r a b c <<< "1|2|3"; IFS=$old; probe "$a" "$b" "$c"
IFS=- read -r m n <<< "x-y-z"; probe "$m" "$n"; probe "${IFS+set}"
x=" lead trail "; probe $x "$x"; IFS=' ,'; y="a , b,c ,,d"; probe $y; unset IFS
join() { local IFS="$1"; shift; echo "$*"; }; probe "$(join , a b c)" "$(join '; ' x y)"
printf -v list '%s,' a b c; probe "${list%,}"
x=$'a\nb c'; probe $x; IFS=$'\n'; probe $x; for l in $x; do probe "$l"; done; unset IFS
