for ((a=0;a<2;a++)); do probe $a; done; for ((i=0,j=5; i<j; i+=2, j--)); do probe $i $j; done
for (( ; ; )); do probe endless; break; done
for ((i=3;i>0;i--)) { probe $i; }
