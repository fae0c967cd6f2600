cat <<EOF > cfg.sh
A=1
B="two words"
C=\$A
D=$HOME
EOF
source cfg.sh; probe "$A" "$B" "$C" "$D"
cat > list.txt <<'EOF'
one,1,x y
two,2,
# comment

three,3
EOF
while IFS=, read -r name num rest; do
  [[ -z $name || $name == \#* ]] && continue
  probe "$name" "$num" "$rest"
done < list.txt
probe "$name"
while read -r line || [[ -n $line ]]; do probe "$line"; done < <(printf 'a\nb  c')
n=0; while read -r a b; do ((n++)); probe "$a|$b"; done <<< "$(printf ' x y z \np')"; probe "$n"
cat list.txt | while read -r l; do probe piped "$l"; break; done
IFS=$'\n' read -r -d '' -a lines < <(cat list.txt; printf '\0'); probe "${#lines[@]}" "${lines[0]}"
read -r first < list.txt; probe "$first"
{ read -r a; read -r b; } < list.txt; probe "$a" "$b"
read -n 2 c <<< "abcdef"; probe "$c"
read -r -p "prompt" d <<< "in"; probe "$d"
read f g <<< 'a\ b c'; probe "$f" "$g"
read -r f g <<< 'a\ b c'; probe "$f" "$g"
read h < /dev/null; probe "$?" "$h"
cat <<-EOT > tabbed
	indented $A
	  two
	EOT
probe "$(cat tabbed)"
x=$(cat <<E1; cat <<E2
first
E1
second
E2
); probe "$x"
probe "$(cat <<< "here $A")"
tr a-z A-Z <<< "shout" > up.txt; probe "$(<up.txt)"
