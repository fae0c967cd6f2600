probe "$(printf '%q ' a 'b c' "d'e" '' $'n\nl' '$x' '*' '~' 'a=b' é '#x' 'x#' '{a}' '!' '^' 'a,b' '%' '@' '(' ';' '&' '|' '<' '>' '"' '`' '\' '[' ']' '?' '-' '+' ':' '/' '.' '_' $'\t' $'\e' 'a~' '~a')"
x=$(printf '%q' "it's a test"); eval "probe $x"
declare -p x > /dev/null; probe "${x@Q}"
a=(1 'b c'); printf -v s '%q ' "${a[@]}"; eval "b=($s)"; probe "${b[@]}"
probe "$(printf '%s\n' a b | cat)" "$(printf '%d items' 3)" "$(printf '%05.2f' 3.14159)" "$(printf '%x' 255)" "$(printf '%-10s|' hi)" "$(printf '%+d' 5)" "$(printf '%%')" "$(printf 'a\tb')" "$(printf '%b' 'x\ny')" "$(printf '\\n')" "$(printf "%s" "-n")"
probe "$(echo -e 'a\tb\nc')" "$(echo -n x)" "$(echo -E 'a\tb')" "$(echo 'a\tb')" "$(echo -en 'q\n')" "$(echo -- x)" "$(echo -x y)" "$(echo -e 'a\cb')" "$(echo -e '\x41\0101\u00e9')"
printf 'no newline' > nn.txt; read -r l < nn.txt; probe "$?" "$l"
probe "$(printf '%s' "$(printf 'a\n\n')")x" "$(printf '\n\na\n')"
probe $(echo "a   b") "$(echo "a   b")" `echo 'x y'` "`echo "q  r"`" "$(echo $(echo nested "$(echo deep)"))"
probe "${x:-$(echo d)}" "${none:-$(echo 'd e')}" ${none:-"a b" c} "${none:-"q"}" "${none:-'q'}" ${none:-'q r'} "${none:+x}" ${none+"x y"} "${x:+"$x" y}"
probe a"b"'c'$'d'\e "a'b" 'a"b' "a\"b\$c\\d\e" a\ b "" '' $nothing "$nothing" "a"$nothing ""$nothing'' -- -
probe ~ ~/x ~nobody_zz "~" x~ a=~ --p=~/x ~/"a b" "$HOME"~ :~ a:~
probe *.zzz [ab].txt "[ab].txt" \*.txt data/* d*/t* ./*.txt .*/ [!a].txt ?.txt
