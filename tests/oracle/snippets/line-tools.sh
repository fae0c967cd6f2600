# Values that launchers compute with awk, sed, expr and paste.
list=0,1,2,3
probe "$(echo $list | awk -F, '{print NF}')" "$(awk -F ',' '{print $2}' <<< "$list")" "$(awk -F: '{ print $NF }' <<< 'a:b::c')"
probe "$(echo '  one two  three ' | awk '{print $2}')" "$(printf 'a b\n\nc\n' | awk '{print $1}')" "$(awk -F, '{print NF}' <<< '')"
probe "$(echo 'a b c' | awk '{print $0}')" "$(awk '{print $9}' <<< 'a b')" "$(awk -F'|' '{print $2}' <<< 'x|y')"
probe "$(echo a/b/c | sed 's/\//_/g')" "$(echo a/b/c | sed 's|/|-|')" "$(echo $list | sed -e 's/,/ /g')" "$(printf 'v1.2' | sed 's/\./_/')"
probe "$(expr 3 + 4)" "$(expr 7 / -2)" "$(expr -7 % 2)" "$(expr 2 \* 5)" "$(expr 4 - 4)"
expr 1 - 1 > /dev/null || probe zero
probe "$(seq 0 3 | paste -sd,)" "$(seq 0 3 | paste -s -d ' ')" "$(printf 'a\nb\n' | paste -s -d: -)" "$(seq 2 | paste -d, -s)"
