echo one > f.txt; echo two >> f.txt; probe "$(cat f.txt)"; > f.txt; probe "[$(cat f.txt)]"
echo x >> data/train.txt; probe "$(cat data/train.txt)"
{ echo a; echo b; } > g.txt; probe "$(<g.txt)"; for i in 1 2; do echo "l$i"; done >> g.txt; probe "$(<g.txt)"
echo err >&2; echo "to both" &> h.txt; probe "$(<h.txt)"; echo "more" &>> h.txt; probe "$(<h.txt)"
x=$(echo out; echo err >&2); probe "$x"; y=$( { echo e >&2; echo o; } 2>&1 ); probe "$y"
(echo sub) > s.txt; probe "$(cat s.txt)"
echo q | tee t.txt > /dev/null; probe "$(cat t.txt)"
printf 'a b\nc d\n' > p.txt; while read -r k v; do probe "$k=$v"; done < p.txt
cat f.txt g.txt > all.txt; probe "$(wc -l < all.txt)"
n=$(grep -c l g.txt); probe $n
if [[ -s f.txt ]]; then probe notempty; else probe empty; fi
[[ -f all.txt && ! -d all.txt && -e data ]] && probe ok
[ -d data -a -f a.txt ] && probe and; [ -f zz -o -f a.txt ] && probe or; [ ! -f zz ] && probe not; test -n "$x" && probe n; [ "$x" ] && probe single; [ -z "" ] && probe z; [ a \< b ] && probe lt; [ 3 -gt 2 ] && probe gt; [ "a b" = "a b" ] && probe eq
[[ a < b ]] && probe lt2; [[ ( a == a && b == c ) || d == d ]] && probe grp; [[ ! a == b ]] && probe neg; [[ -n $x && $x != y* ]] && probe pat
[[ $nothing ]] || probe unset; [[ 10 -gt 9 ]] && probe num; [[ "10" > "9" ]] || probe strcmp
[[ f.txt -ot a.txt ]]; [[ -x sub/echo.sh ]] && probe exec; [[ -r a.txt ]] && probe r; [[ -L a.txt ]] || probe nolink
