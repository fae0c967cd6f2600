x='/b*'
probe $x
for f in /nowhere/*.txt; do probe "$f" $f; done
