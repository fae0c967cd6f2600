a=(b=~/x c=~ ~/d x:~/e); probe "${a[@]}"; a+=(q=~/z); probe ${a[-1]}; declare -A m=([k]=~/x [j]=a:~/b); probe "${m[k]}" "${m[j]}"; b=([2]=x=~/y); probe "${b[@]}"
