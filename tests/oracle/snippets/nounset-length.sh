set -u
a=(); probe "${#a[0]}"; probe "${#a[@]}"; probe "${a[@]}" ; probe "${#a}"; probe next
