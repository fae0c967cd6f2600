x=(a)b; probe "${x[@]}|$x"
x=(a b)$y; probe "${x[@]}|$x"
x=(a b)"q r" probe
wh\
ile true; do probe w; break; do\
ne; if true; th\
en probe q; fi
probe "a\
b" do\
ne
for (( ; ; )); do probe endless; break; done
