# A reference that is declared again, counts in a loop, or is unset.
for each in one two; do
    declare -n out=$each
    out="value of $each"
done
probe "$one" "$two"
declare -n each_of
for each_of in left right; do each_of=1$each; done
probe "$left" "$right"
unset -n each_of
x=1
declare -n to=x
unset to
probe "${x-unset}"
to=5
probe "$x" "$to"
unset -n to
probe "${to-unset}" "$x"
