for i in {1..3}; do probe $i; done
for i in {10..1..4} {a..e..2} {01..03} x{1,2}{a,b} {a,b{1..2},c} {,x}y "{a,b}" {a} a{b,c}d{e,f} {1..a} {-1..1} {z..x}; do probe "$i"; done
probe {$x,y} $HOME/{a,b} "q"{1,2} {a,"b c"} {1..3}{,.bak} pre-{x,y}-post --{lr,bs}=1 {a,b}={1,2} '{'a,b} \{a,b\} {a,b c,d}
n=3; probe {1..$n} $(seq 1 $n)
eval "probe {1..$n}"
