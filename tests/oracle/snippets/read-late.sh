x=`(`
probe after $?
y=`echo a
(`; probe "[$y] $?"
x=$((fi; done) ); probe "s$?"
probe $((1 + (2) )) "$( (echo q) )" "$((echo a) | cat)"
