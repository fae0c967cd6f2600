a=(); probe "x${a[-1]}y"; probe next
x=${a[-1]}; probe "st$?"; f() { probe "${a[-2]}" in; probe after; }; f; probe aft
probe "${a[-1]:-d}"; a[-1]=3; probe "n3"
probe n4
