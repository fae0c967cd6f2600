i=5; ((i++)); probe $i $((i--)) $((--i)) $((i+=2)) $i $((i*2 % 3)) $((2**10)) $((7/2)) $((-7/2)) $((-7%3)) $((1<<4)) $((i>3?10:20)) $((i==6&&1)) $((!i)) $((~i)) $((0x1f)) $((010)) $((2#101)) $((16#ff)) $(( (1+2)*3 )) $((i=3,i+1)) $((a=b=2)) $a
x=3; y=x; probe $((y)) $((y+1)) $(($x+1)) $((x*x)) "$((x > 2 ? 1 : 0))"
arr=(10 20 30); probe $((arr[1]+1)) $((${arr[2]}+1)) ${arr[i-1]} ${arr[$((1+1))]} ${#arr[@]} $((${#arr[@]}*2)); ((arr[0]+=5)); probe ${arr[0]}
for ((i=0; i<${#arr[@]}; i++)); do probe "$i=${arr[i]}"; done
((x>=3 && x<5)) && probe range; if ((x % 2)); then probe odd; fi; while ((x-- > 0)); do probe $x; done
declare -A m=([a]=1); ((m[a]++)); probe ${m[a]} $((m[a]*2))
let "x=5*2" y=x+1; probe $x $y; x=08; probe $((10#$x)); z=$((x1 + 1)); probe $z
probe $((1.5)) ; probe after
probe $(( 1 +
2 )) $[1+1] "$((4))px"
n=$((RANDOM % 1)); probe $n; e=; probe $((e+1)) $(( ${e:-5} + 1 ))
GPUS=0,1,2,3; N=$(echo "$GPUS" | tr ',' '\n' | wc -l); probe $N $((N*2)); IFS=, read -ra g <<< "$GPUS"; probe ${#g[@]}
commas="${GPUS//[^,]/}"; probe $(( ${#commas} + 1 ))
