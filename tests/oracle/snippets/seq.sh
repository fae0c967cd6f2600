probe $(seq 3) $(seq 2 4) $(seq 1 2 7) $(seq -s, 3) $(seq -s : 2 3) $(seq 5 -2 0) $(seq -w 8 11) $(seq 3 1) "$(seq -s ' ' 1 3)" $(seq -2 1) $(seq 1 1 01)
for i in $(seq 0 3); do probe "$i"; done
