while read -r -u 3 z; do probe "$z"; done 3< data/train.txt
exec {fd}> out.txt; echo hi >&$fd; exec {fd}>&-; probe "$(cat out.txt)"
