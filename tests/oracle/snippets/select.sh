select x in one two; do probe "$x" "$REPLY"; break; done <<< 2
PS3='? '; select o in a "b c" quit; do case $o in quit) break;; *) probe "got $o";; esac; done <<EOF
1
2
9
3
EOF
probe end
select y in a b; do probe no; done < /dev/null; probe "$?"
