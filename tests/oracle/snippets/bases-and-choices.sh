# Large bases, choices in choices, and what an expression does before it is found to be wrong.
probe $((64#_)) $((62#Z)) $((36#z)) $((36#Z)) $((1 ? 2 : 0 ? 3 : 4))
declare -A sizes=([a.b]=3 [x y]=4)
probe $((sizes[a.b] + 1)) $((sizes[x y]))
i=1
probe "$((i++ > 5 ? 1 : i = 9))"
probe $i
i=1
probe "$((i = 7, 2.5))"
probe $i
