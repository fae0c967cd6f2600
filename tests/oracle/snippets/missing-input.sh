probe < missing/file
probe $?
while read x; do probe $x; done < missing
probe $?
