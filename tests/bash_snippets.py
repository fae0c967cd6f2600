r"""Snippets whose commands bash and the interpreter must agree on, by name.

They are harmless wherever they run: commands have names that no program has. `show` is the command that is looked at."""

from __future__ import annotations

from bash_oracle import Snippet

PITFALLS: dict[str, Snippet | str] = {
    # 1: a backslash and a blank at the end of a line
    "blank-after-backslash": "python3 -m main a=1 \\ \n  b=2\nshow after\n",
    "tab-after-backslash": "python3 -m main a=1 \\\t\n  b=2\n",
    "two-blanks-after-backslash": "python3 -m main a=1 \\  \n  b=2 \\\n  c=3\n",
    # 2: a comment between continued lines
    "comment-after-continuation": "python3 -m main a=1 \\\n  # b=2 \\\n  c=3\n",
    "comment-in-array": 'args=(a=1  # one\n  # two\n  b=2)\nshow "${args[@]}"\n',
    "comment-at-end-of-continued-line": "show a \\\n  b # c \\\nshow d\n",
    "hash-inside-word": "show a#b '#c' \"#d\" \\#e x=#f\n",
    # 3: a backslash at the very end
    "backslash-at-end-of-file": "show a \\",
    "backslash-at-end-of-string": "bash -c 'show a \\'\n",
    "backslash-then-empty-line": "show a \\\n\nshow b\n",
    # 4: shift past the end of the arguments
    "shift-too-far": 'set -- --path\nfor turn in 1 2 3; do\n  case $1 in --path) value=$2; shift 2 || show stuck "$#";; esac\ndone\nshow "$value" "$#"\n',
    "shift-exactly": 'set -- --path x\nshift 2\nshow "$#"\nshift\nshow "$? $#"\n',
    # 5: loops that count with variables
    "for-arith": "A=50 B=200 STEP=50\nfor ((i=A; i<=B; i+=STEP)); do show $i; done\nshow end $i\n",
    "for-arith-unset-bound": "for ((i=0; i<=NOTHING; i+=1)); do show $i; done\n",
    "for-arith-text-bound": "B=A A=2\nfor ((i=0; i<B; i++)); do show $i; done\n",
    "for-arith-empty-parts": "i=0\nfor ((;;)); do ((i++)); [ $i -gt 3 ] && break; show $i; done\n",
    "octal-error": "x=08\nfor ((i=x; i<10; i++)); do show $i; done; show same-line\nshow next-line\n",
    "number-of-text": "x=abc\nshow $((x + 1)) $((undefined))\n",
    # 6: arithmetic errors
    "arith-error-drops-line": "x=$((5e-6)); show same\nshow next\n",
    "arith-error-in-function": "f() { y=$((1 + )); show in; }\nf; show same\nshow next\n",
    "arith-error-in-loop": "for i in 1 2; do y=$((1 / 0)); show $i; done; show same\nshow next\n",
    "arith-error-in-eval": "eval 'x=$((1/0)); show same\nshow next'; show outer\n(x=$((1/0)); show never\nshow never)\nshow $?\ny=$(x=$((1/0)); echo never\necho never); show [$y]\n",
    "arith-error-in-conditions": "((1/0)) || show or; show same\n[[ 1/0 -eq 1 ]] || show or\nshow next\n",
    "arith-error-under-errexit": "set -e\ny=$((7 % 0)) || true\nshow next\n",
    "float-in-arith": "LR=1.5\nshow $((LR * 2)); show same\nshow next\n",
    # 7: [ with an empty operand
    "test-without-operand": "x=\nif [ $x -gt 3 ]; then show yes; else show no; fi\nshow on\n",
    "test-without-operand-errexit": "set -e\nx=\nif [ $x -gt 3 ]; then show yes; else show no; fi\nshow on\n",
    "test-one-word": 'x=\nif [ $x ]; then show yes; else show no; fi\nif [ -n $x ]; then show yes; else show no; fi\nif [ -n "$x" ]; then show yes; else show no; fi\n',
    "test-two-words": 'x="a b"\nif [ -n $x ]; then show yes; else show no $?; fi\n',
    "test-text-as-number": "if [ abc -eq 0 ]; then show yes; else show no; fi\nif [[ abc -eq 0 ]]; then show yes; else show no; fi\n",
    # 8: set -u
    "nounset-plain": "set -u\nshow a\nshow $MISSING\nshow b\n",
    "nounset-default": "set -u\nshow ${MISSING:-} x ${MISSING-d}\nshow b\n",
    "nounset-arguments": 'set -u\nshow "$@" $@ "$*"\nshow "$#"\nshow $1\nshow b\n',
    "nounset-array": 'set -u\na=()\nshow "${a[@]}" end\n',
    "nounset-alternative": 'set -u\nshow ${X:+a} ${X+b} "${X:+c}" end\n',
    # 9: brackets and braces are patterns
    "list-is-a-pattern": Snippet("show l=[a,b] files=*.txt x?.txt\n", files={"x1.txt": "", "y.txt": ""}),
    "list-matches-a-file": Snippet("show l=[ab]\n", files={"l=a": "", "l=b": ""}),
    "pattern-under-nullglob": Snippet("shopt -s nullglob\nshow a *.none 'b*' l=[x,y]\n"),
    "pattern-under-noglob": Snippet("set -f\nshow *.txt\n", files={"x.txt": ""}),
    "braces": "show d={a:1,b:2} {a:1} '{a,b}' \"{a,b}\" x{1..3}y {01..03} {c..a} {5..1..2} a{,b} {a,{b,c}}\n",
    "braces-in-declarations": "export A={x,y}\ndeclare B={p..r}\nC={x,y}\nshow $A $B $C\n",
    "braces-make-names": "I=a\nI1=b\nshow $I{1,2} ${I}{1,2} $I{/x,.y}\n",
    "braces-with-variables": 'x=1\nshow {$x,2} ${x}{a,b} {$x..3} "a"{b,c}\n',
    "quotes-inside-list": "show l=['a','b'] m=[\"a\",\"b\"] n=\"['a','b']\" o='[\"a\",\"b\"]'\n",
    "hidden-files": Snippet("show * .h*\n", files={".hidden": "", "seen": ""}),
    "folders-only": Snippet("show */ */*\n", files={"d/f": "", "e/": "", "g": ""}),
    "assignment-does-not-glob": Snippet('y=*.txt\nshow "$y" $y\n', files={"x.txt": ""}),
    # 10: tilde
    "tilde": 'show ~ ~/x a=~/x data.f=~/x +a=~/x --a=~/x \'~/x\' "~/x" x~/y\nA=~/x:~/y\nshow "$A"\n',
    "tilde-from-variable": "x='~/x'\nshow $x ${Y:-~/y} \"${Y:-~/y}\"\n",
    "tilde-in-export": 'export A=~/x\nshow "$A"\n',
    # 11: assignments do not split
    "assignment-does-not-split": 'x="a  b"\ny=$x\nexport z=$x\nlocal_=$x$x\nshow "$y" "$z" "$local_"\n',
    "env-splits": 'x="a b"\nenv a=$x cmd\ncmd a=$x\n',
    "prefix-uses-old-value": 'A=old\nA=new show $A "$A"\nshow $A\n',
    "prefix-is-exported": "A=1 bash -c 'show \"$A\"'\nbash -c 'show \"[$A]\"'\n",
    "several-prefixes": 'A=1 B=$A bash -c \'show "$A" "$B"\'\n',
    "declarations-expand-first": 'A=old\nexport A=1 B=$A\nshow $A $B\nf() { local a=1 b=$a; show "[$b]"; }\nf\ndeclare C=2 D=$C E=$(echo e)\nshow "$C" "[$D]" $E\n',
    "declare-case": "declare -u U=abc\ndeclare -l L=ABC\nU+=d\nshow $U $L\n",
    "declare-does-not-split": 'x="a b"\ndeclare y=$x\nreadonly z=$x\nf() { local l=$x; show "$l"; }\nf\nshow "$y" "$z"\n',
    # 12: lists and emptiness
    "empty-list-and-string": 'a=()\nx=\nshow "${a[@]}" "$x" $x end\nshow "${a[*]}" end\n',
    "glued-list": 'a=(1 2 3)\nshow "x${a[@]}y" x${a[@]}y "x${a[*]}y"\n',
    "glued-arguments": Snippet('show "x$@y" "$@" "$*" $*\n', ["a b", "c"]),
    "empty-neighbours-of-lists": 'e=\na=()\nshow "$e$@" "${@:2}$e" ""$@"" x"$@" "$e${a[@]}" "${u-}$@" "$(true)$@" "$e"$@ end\nset -- ""\nshow "$@" "$e$@" end\n',
    "no-arguments-glued": 'show "x$@y" "$@" x"$@"\n',
    "alternative-keeps-quotes": 'x="a b"\nshow ${x:+--p "$x"} "${x:+--p $x}" ${x:+--p $x}\n',
    "list-with-empty-elements": 'a=("" b "")\nshow "${a[@]}"\nshow ${a[@]}\nshow "${#a[@]}"\n',
    # 13: IFS
    "read-fields": 'IFS=, read -r a b c <<< "x,,z,w"\nshow "$a" "$b" "$c"\nshow "[$IFS]"\n',
    "read-too-few": 'IFS=, read -r a b c <<< "x,y"\nshow "$a" "$b" "$c"\n',
    "read-trailing-separator": 'IFS=, read -r a b <<< "x,y,"\nshow "$a" "$b"\nIFS=, read -ra l <<< "x,y,"\nshow "${#l[@]}"\n',
    "read-array": 'IFS=, read -ra l <<< "a,,b c, d"\nshow "${l[@]}"\nshow "${#l[@]}"\n',
    "read-array-of-nothing": 'IFS= read -ra l <<< ""\nshow "${#l[@]}"\nIFS=, read -ra l <<< ""\nshow "${#l[@]}"\nIFS= read -r a <<< ""\nshow "[$a]"\n',
    "read-blanks": 'read -r a b <<< "  x   y  z  "\nshow "$a" "$b"\nread -r line <<< "  x  "\nshow "$line"\nIFS= read -r line <<< "  x  "\nshow "$line"\n',
    "ifs-splits": 'IFS=:\nx="a::b:"\nshow $x\nshow "$x"\nset -- 1 2\nshow "$*"\n',
    "ifs-of-blanks": 'x=" a  b "\nshow $x end\nIFS=" ,"\ny=" a , b,,c "\nshow $y\n',
    "ifs-empty": 'IFS=\nx="a b"\nshow $x\nset -- 1 2\nshow "$*"\n',
    "read-backslash": "read a <<< 'x\\ty'\nread -r b <<< 'x\\ty'\nshow \"$a\" \"$b\"\n",
    "read-without-name": 'read -r <<< "  a b "\nshow "$REPLY"\n',
    # 14: arguments from a place on
    "arguments-from-one": Snippet('show a.b=1 "${@:1}" a.c=2\n', ["x=1", "y z"]),
    "arguments-from-zero": Snippet('show "${@:0}"\nshow "${@:2}" "${@: -1}" "${@:1:1}"\n', ["x", "y", "z"]),
    "arguments-many": Snippet('show $1 $9 ${10} $10 "$#"\n', list("abcdefghijk")),
    # 15: subshells
    "pipe-loses-variables": 'n=0\nprintf "a\\nb\\n" | while read -r x; do n=$((n+1)); show $x $n; done\nshow $n\n',
    "process-substitution-keeps": 'n=0\nwhile read -r x; do n=$((n+1)); done < <(printf "a\\nb\\n")\nshow $n\n',
    "subshell-loses": "x=1\n(x=2; cd d 2>/dev/null; show $x)\nshow $x\ny=$(x=3; echo $x)\nshow $x $y\n",
    "background-loses": "x=1\n{ x=2; show $x; } &\nwait\nshow $x\n",
    "exit-in-subshell": "(exit 3); show $?\nx=$(exit 4); show $?\n(show in; exit; show never)\nshow out\n",
    # 16: status of assignments
    "status-of-substitution": "x=$(false); show $?\nf() { local x=$(false); show $?; }\nf\nexport y=$(false); show $?\n",
    "errexit-substitution": "set -e\nx=$(false)\nshow never\n",
    "errexit-exempt": "set -e\n! true\nfalse && true\nfalse || show or\nif false; then :; fi\nwhile false; do :; done\nshow on\nfalse\nshow never\n",
    "errexit-function-in-condition": "set -e\nf() { false; show on; }\nif f; then show yes; fi\nf || show no\nf\nshow never\n",
    "errexit-subshell": "set -e\n(false; show never) || show caught\n(false)\nshow never\n",
    "errexit-compound": "set -e\nfor i in 1; do false && true; done\nshow 1\nif true; then false && true; fi\nshow 2\nwhile [ $i = 1 ]; do i=2; false && true; done\nshow 3\n{ false && true; }\nshow 4\n(false && true) || show 5\nf() { false && true; }\nf\nshow never\n",
    "errexit-pipeline": "set -e\nfalse | true\nshow on\nset -o pipefail\nfalse | true\nshow never\n",
    "negation": "! false; show $?\n! true; show $?\nif ! false; then show yes; fi\n",
    # 17: redirections that fail
    "redirect-to-empty": 'F=\nshow a > $F\nshow b > "$F"\nshow c\n',
    "redirect-ambiguous": 'F="a b"\nshow a > $F\nshow b > "$F"\n',
    "redirect-into-missing-folder": "show a > missing/file\nshow b\n",
    "redirect-into-folder": Snippet(
        "show a > logs/file\nshow b 2>&1\nshow c &> logs/all\nshow d >> logs/file 2> /dev/null\n", files={"logs/": ""}
    ),
    "redirect-failing-errexit": "set -e\nshow a > missing/file\nshow never\n",
    # 18: source
    "source-sees-arguments": Snippet(
        'source ./f.sh\nshow "$@"\n', ["a", "b", "c"], files={"f.sh": 'show in "$1" "$#"\nshift\n'}
    ),
    "source-own-arguments": Snippet(
        'source ./f.sh x\nshow "$@"\n', ["a", "b"], files={"f.sh": 'show in "$@"\nshift\n'}
    ),
    "source-variables": Snippet(
        '. ./f.sh\nshow "$A" "${L[@]}" "$(f)"\n', files={"f.sh": "A=1\nL=(a b)\nf() { echo F; }\n"}
    ),
    "source-return": Snippet(". ./f.sh\nshow $?\n", files={"f.sh": "show a\nreturn 3\nshow never\n"}),
    "source-relative-to-caller": Snippet(
        "cd d\nsource ./f.sh\nsource ../g.sh\n", files={"d/f.sh": "show d\n", "f.sh": "show top\n", "g.sh": "show g\n"}
    ),
    "function-arguments": Snippet('f() { shift; show "$@" "$0"; }\nf 1 2 3\nshow "$@"\n', ["a"]),
    "source-missing": "source ./none.sh\nshow on\n",
    # 19: carriage returns
    "crlf-value": 'x=a\r\nshow "$x"\r\n',
    "crlf-continuation": "show a \\\r\n  b\r\n",
    "crlf-plain": "show a b\r\nshow c\n",
    # 20: nested scripts
    "child-sees-exports": Snippet(
        'A=1\nexport B=2\nbash c.sh x "y z"\nshow "$A"\n',
        files={"c.sh": 'show "[$A]" "[$B]" "$@" "$0"\nB=3\nexport B\nA=4\n'},
    ),
    "child-allexport": Snippet("set -a\nA=1\nset +a\nC=3\nbash c.sh\n", files={"c.sh": 'show "[$A]" "[$C]"\n'}),
    "child-functions": Snippet("f() { show f; }\ng() { show g; }\nexport -f g\nbash c.sh\n", files={"c.sh": "f\ng\n"}),
    "child-runs-in-callers-folder": Snippet(
        "cd d\nbash ../c.sh\nbash c.sh\n",
        files={
            "c.sh": "source ./here.sh\nshow $0\n",
            "here.sh": "show top\n",
            "d/here.sh": "show d\n",
            "d/c.sh": "show dc\n",
        },
    ),
    "child-options": Snippet(
        "set -e\nbash c.sh || show failed\nbash -e c.sh || show failed-too\n", files={"c.sh": "false\nshow on\n"}
    ),
    "child-status": Snippet(
        "bash c.sh; show $?\nif bash c.sh; then show yes; else show no; fi\n", files={"c.sh": "exit 3\n"}
    ),
    "child-string": 'x=\'a b\'\nexport x\nbash -c \'show "$x" "$0" "$@"\' name 1 2\nbash -c "show $x"\n',
    "child-from-input": "bash <<'EOF'\nshow \"$0\" a\nEOF\necho 'show piped' | bash\nbash -s x y <<'EOF'\nshow \"$@\"\nEOF\n",
    "child-by-path": Snippet("./c.sh a\nd/e.sh b\n", files={"c.sh": 'show "$0" "$@"\n', "d/e.sh": 'show "$0" "$@"\n'}),
    "child-name": Snippet("bash d/c.sh\n", files={"d/c.sh": 'show "$0" "$(basename "$0" .sh)" "$(dirname "$0")"\n'}),
    # 21: associative arrays, without their order
    "associative": 'declare -A m=([a]=1 ["b c"]=2)\nm[d]=3\nk=a\nshow "${m[a]}" "${m[b c]}" "${m[$k]}" "${m[d]}" "${#m[@]}" "[${m[none]}]"\n',
    "associative-single": 'declare -A m\nm[x]=y\nfor k in "${!m[@]}"; do show "$k" "${m[$k]}"; done\n',
    # 22: case and defaults
    "case-of-value": 'x=True\nshow ${x,,} ${x^^} ${x,} ${x^} ${Y:-Dflt} "${x,,}" ${x,,[T]}\n',
    "quotes-in-default": 'show "${x:-\'q\'}" ${x:-\'q\'} "${x:-"q r"}" ${x:-"q r"} ${x:-q r}\n',
    "nested-default": 'show ${A:-${B:-${C:-x}}} "${A:-"a/${B:-b c}"}" ${A:-a/${B:-b c}}\n',
    "default-in-braces": 'show ${x:-{a,b}} "${x:-{a:1\\}}" ${x:-[1,2]}\n',
}

WORDS: dict[str, Snippet | str] = {
    "quotes": "show 'a b' \"c d\" e\\ f 'it'\\''s' \"a'b\" 'a\"b' a''b \"\" ''\n",
    "ansi-quotes": "show $'a\\tb' $'x\\'y' $'\\x41\\u00e9' $'a\\nb' $\"text\"\n",
    "escapes-in-double-quotes": 'show "a\\b" "\\$x" "\\`" "\\\\" "\\"" "a\\\nb" "\\n"\n',
    "continued-word": "show a\\\nb c=[x,\\\ny]\n",
    "continued-name": 'M=/m\nX=$M\\\na.b=3\nshow p=$M\\\nactor.lr=3 q=$M\\\n z "r=$M\\\nc.d" "$M\\\n" $M\\\n/k ${M}\\\nzz [$X]\nMab=1\nshow $M\\\na\\\nb $1\\\n2\n',
    "continued-in-single-quotes": "show 'a\\\nb'\n",
    "dollar-alone": "show $ a$ \"$\" $. '$x' \\$x\n",
    "command-substitution": 'show $(echo a b) "$(echo a b)" `echo c` "$(echo \'x y\')" $(echo) "$(printf \'a\\n\\n\')"\n',
    "nested-substitution": 'show "$(echo "$(echo "a b")")" `echo \\`echo x\\``\n',
    "substitution-in-word": 'show a=$(echo b)c"$(echo d e)"\n',
    "substitution-splits": "show $(printf 'a\\nb c\\n')\n",
    "here-string": 'x="a b"\nread -r l <<< $x\nshow "$l"\nread -r l <<< "$x  c"\nshow "$l"\n',
    "here-document": 'V=1\nwhile read -r l; do show "$l"; done <<EOF\na $V "q" \\$V `echo s` $((1+1))\n  b\nEOF\n',
    "here-document-quoted": "V=1\nwhile read -r l; do show \"$l\"; done <<'EOF'\na $V \\$V\nEOF\n",
    "here-document-tabs": 'cat_() { while IFS= read -r l; do show "$l"; done; }\ncat_ <<-EOF\n\ta\n\t  b\n\tEOF\nshow end\n',
    "two-here-documents": 'read -r a <<A; read -r b <<B\none\nA\ntwo\nB\nshow "$a" "$b"\n',
    "here-document-continued": 'while read -r l; do show "$l"; done <<EOF\na \\\nb\nEOF\n',
    "read-delimiter": "read -r -d '' CMD <<EOF\npython -m x \\\n  a=1\n  b=2\nEOF\nshow $CMD\n",
    "comments": "show a # b\n# show c\nshow d;# e\n  # f\nshow g'#'h\n",
    "semicolons": "show a; show b\nshow c;\n{ show d; }\n(show e)\n",
    "extended-glob": Snippet(
        "shopt -s extglob\nshow @(a|b).txt !(a).txt\n", files={"a.txt": "", "b.txt": "", "c.txt": ""}
    ),
    "multi-line-string": 'CFG="\n  a=1 \\\n  b=2\n  c=\'x y\'"\nshow $CFG end\nshow "$CFG"\n',
    "unicode": "show 'äö' $'\\u20ac' \"日本\" ä=ö\nx=äöü\nshow ${#x} ${x:1:1} ${x^^}\n",
    "glued-quotes": 'x=1\nshow a"b c"\'d e\'$x"$x"\n',
    "process-substitution-read": 'while read -r a; do show "$a"; done < <(echo x; echo y)\n',
    "positional-in-quotes": Snippet('show "$1" $2 "${3}" "${4:-none}" "$5"\n', ["a b", "c d", "", "x"]),
    "special-parameters": 'show "$#" "$?" "$0" "${#}" "${?}"\nfalse\nshow $?\n',
    "equals-words": "show a=b =c d= 'e=f' --g=h +i=j ++k=l ~m.n\n",
}

PARAMETERS: dict[str, Snippet | str] = {
    "defaults": Snippet(
        'show ${A:-d} ${A-d} ${E:-d} "${E-d}" ${S:-d} ${A:=s} $A ${E:+p} ${S:+p} ${E+p} "${N+p}"\n',
        environment={"E": "", "S": "v"},
    ),
    "required": "show ${A:?missing}\nshow never\n",
    "required-given": Snippet(': "${A:?missing}"\nshow $A\n', environment={"A": "1"}),
    "required-in-subshell": '(: "${A:?missing}"; show never)\nshow on $?\n',
    "trim": 'p=/a/b.c/d.tar.gz\nshow ${p##*/} ${p#*/} ${p%.*} ${p%%.*} ${p%/*} "${p##*.}" ${p#none} ${p%"gz"}\n',
    "trim-options": 'o=--n=a=b\nshow "${o#*=}" "${o##*=}" "${o%%=*}" "${o#--}"\n',
    "trim-quoted-pattern": 'x=\'a*b\'\nshow "${x#\'a*\'}" "${x#a*}" "${x%\\*b}"\n',
    "replace": 'x=a.b.a\nshow ${x/a/c} ${x//a/c} ${x/#a/c} ${x/%a/c} ${x//.} ${x//[ab]/-} "${x/b/"y z"}" ${x/none/c}\n',
    "replace-slash": 'p=a/b/c\nshow ${p//\\//_} ${p/\\/b/} "${p////-}"\n',
    "replace-all-overrides": 'ACTOR="actor_rollout_ref.actor.lr=1 actor_rollout_ref.actor.x=2"\nshow ${ACTOR//actor_rollout_ref.actor/critic}\n',
    "replace-in-list": 'a=(x1 x2)\nshow "${a[@]/#/--}" "${a[@]/x/y}" "${a[@]%1}"\n',
    "substring": "x=abcdef\nshow ${x:2} ${x:1:3} ${x: -2} ${x:0:-1} ${x:2:0}e ${x:9}e ${x:(-3):2} ${x:1+1}\n",
    "length": "x=abc\na=(1 2 3)\nshow ${#x} ${#a[@]} ${#a[1]} ${#none} ${#}\n",
    "indirect": 'A=B\nB=v\nshow ${!A} "${!A:-d}"\nL=(p q)\nR="L[@]"\nshow "${!R}"\nI="L[1]"\nshow ${!I}\n',
    "names": 'VP_A=1\nVP_B=2\nshow ${!VP_*} "${!VP_@}"\n',
    "quoted-form": 'x="a b"\nshow ${x@Q} ${x@U}\n',
    "default-from-command": "D=${D:-$(true 2>/dev/null && echo yes || echo no)}\nshow $D\nE=${E:-$(false && echo yes || echo no)}\nshow $E\n",
    "nested-operators": 'p=/a/b/c.txt\nn=${p##*/}\nshow ${n%.txt} "${X:-${n%.*}}"\n',
    "unset": 'x=1\nunset x\nshow "[$x]" ${x:-d}\nexport Y=2\nunset Y\nbash -c \'show "[$Y]"\'\na=(1 2 3)\nunset "a[1]"\nshow "${a[@]}" "${!a[@]}"\n',
    "assign-default-twice": ': ${X:=1}\n: "${X:=2}"\nshow $X\n',
    "pattern-from-variable": 'x=abc.txt\np=.txt\nq="*"\nshow ${x%$p} ${x%%$q} ${x%%"$q"}\n',
    "substring-error": "x=a\nshow ${x:1:-1}; show same\nshow next\nf() { show ${x:0:-5}; show in; }\nf; show same\nset -e\nshow ${x:0:-5}; show same\nshow last\n",
    "bad-substitution-errexit": "set -e\nshow a\nshow ${a.b}\nshow never\n",
    "declared-under-nounset": "set -u\nf() { local x; show a; show $x; show never; }\nf\nshow never\n",
    "length-under-nounset": "set -u\na=()\nshow ${#a[@]}\nshow ${#none}\nshow never\n",
    "bad-substitution": "show a\nshow ${a.b}\nshow never\n",
}

ARRAYS: dict[str, Snippet | str] = {
    "literal": 'a=(1 "2 3" \'4\' $((5)) $(echo 6 7))\nshow "${a[@]}"\nshow ${a[@]}\nshow "$a" "${a[0]}" ${a[1]} "${a[-1]}"\n',
    "append": 'a=(1)\na+=(2 "3 4")\na+=x\nshow "${a[@]}"\ns=a\ns+=b\nshow $s\n',
    "element": 'a[3]=x\na[1]=y\ni=2\na[i]=z\na[$i+2]=w\nshow "${a[@]}" "${!a[@]}" "${#a[@]}"\n',
    "indexed-literal": 'a=([2]=x y [0]=z)\nshow "${a[@]}" "${!a[@]}"\n',
    "slice": 'a=(a b c d e)\nshow "${a[@]:1:2}" "${a[@]:3}" "${a[@]: -2}" ${a[@]:9}\n',
    "split-into": 'B="x y z"\nA=($B)\nQ=("$B")\nshow ${#A[@]} ${#Q[@]} "${A[2]}"\n',
    "copy": 'a=("x y" z)\nb=("${a[@]}" w)\nshow "${b[@]}"\n',
    "override-array": Snippet(
        'TR=/d/t\nDATA=( data.train_files="$TR" data.val_files="[\'$V1\',\'$V2\']" )\npython3 -m m $CFG "${DATA[@]}" "$@"\n',
        ["x=1"],
        {"V1": "a", "V2": "b", "CFG": " p=1  q=2 "},
    ),
    "conditional-append": 'A=(a)\nif [ "$X" = "" ]; then A+=(b=1); fi\n[[ -n $Y ]] && A+=(c)\nshow "${A[@]}"\n',
    "loop-over": 'EXPS=( "run-a,50,500" "run b,1," )\nfor E in "${EXPS[@]}"; do IFS=\',\' read -r N S T <<< "$E"; show "$N" "$S" "[$T]"; done\n',
    "index-loop": 'a=(x y z)\nfor i in "${!a[@]}"; do show $i ${a[$i]} ${a[i]}; done\nfor ((i=0;i<${#a[@]};i++)); do show ${a[i]}; done\n',
    "join": 'a=(1 2 3)\nIFS=,\nshow "${a[*]}" ${a[*]}\nj=$(IFS=+; echo "${a[*]}")\nshow $j\n',
    "mapfile": 'mapfile -t l < <(printf "a\\nb c\\n\\nd\\n")\nshow "${#l[@]}" "${l[@]}"\nmapfile m <<< "x"\nshow "${m[0]}"\n',
    "pass-to-function": 'f() { local -a l=("$@"); show "${#l[@]}" "${l[1]}"; }\nf a "b c" d\n',
    "empty-append": 'a=()\na+=()\na+=("")\nshow ${#a[@]}\n',
    "append-with-index": 'a=(p q)\na+=([5]=x y)\na+=(z)\nshow "${a[@]}" "${!a[@]}"\nb=s\nb+=(t)\nshow "${b[@]}"\nshow "${b[-9]}" on\nb[-9]=x; show same\nshow next\n',
    "negative-index": "a=(a b c)\nshow ${a[-1]} ${a[-3]} ${a[${#a[@]}-1]}\n",
    "bracket-element": 'a=([1, 2] x)\nshow "${a[@]}"\na=([ p\n q ]r [[s] t] "[" [0]=z)\nshow "${a[@]}"\nx="1 2"\na+=([$x 3])\nshow "${a[@]}"\nf() { local l=([1, 2] 3); show "${l[@]}"; }\nf\n',
    "sparse-slice": 'a=([2]=x [5]=y [9]=z)\nshow "${a[@]:3}" - "${a[@]:0:2}" - "${a[@]: -1}" - "${a[@]: -20}" end\nshow "${a[@]:0:-1}"; show same\nshow next\n',
    "list-default": 'a=()\nshow "${a[@]:-none}" "${a[@]+x}"\nb=(1)\nshow "${b[@]:-none}" "${b[@]:+y}"\n',
    "arguments-as-array": Snippet('a=("$@")\nset -- "${a[@]:1}" z\nshow "$@"\n', ["p", "q r"]),
    "array-from-glob": Snippet('f=(*.txt)\nshow "${#f[@]}" "${f[0]}"\n', files={"b.txt": "", "a.txt": ""}),
}

ARITHMETIC: dict[str, Snippet | str] = {
    "bare-names": "RLEN=2048\nPMAX=$((RLEN + 1024))\nCAP=$((PMAX + RLEN))\nshow $PMAX ppo_max_token_len_per_gpu=${CAP}\n",
    "operators": "show $((7/2)) $((-7/2)) $((7%3)) $((-7%3)) $((2**10)) $((1<<4)) $((5&3)) $((5|3)) $((5^3)) $((~5)) $((!5)) $((3>2)) $((2>3||1))\n",
    "precedence": "show $((1+2*3)) $(((1+2)*3)) $((2**3**2)) $((-2**2)) $((1?2:3)) $((0?2:3?4:5)) $((1,2))\n",
    "bases": "show $((0x1F)) $((010)) $((2#101)) $((16#ff)) $((36#z))\n",
    "assignments": "i=5\n((i++))\nshow $i\n((i+=2)); show $i\nshow $((i=3)) $i $((i++)) $i $((++i)) $((i--)) $i $((i*=4)) $i\n",
    "status": "((0)) && show yes || show no\n((1)) && show yes\ni=0\n((i++)) || show zero\nlet i=i+5 j=2\nshow $i $j\n",
    "short-circuit": "i=0\n((1 || i++))\n((0 && i++))\nshow $i $((0 ? i++ : 7)) $i\n",
    "dollar-names": 'N=4\nG=8\nshow $(($N*$G)) $((${N}*G)) $((N * ${M:-2})) $(( "3" + 1 ))\n',
    "array-elements": "a=(1 2 3)\nshow $((a[1]+a[2])) $((a[0]*${a[2]}))\n((a[1]=9))\nshow ${a[1]}\n",
    "wraps": "show $((9223372036854775807 + 1)) $((2**63)) $((2**64)) $((9223372036854775807 * 2))\n",
    "old-form": "show $[1+2]\n",
    "spaces-and-lines": "show $((\n 1 +\n 2 ))\n",
    "integer-variables": "declare -i n=3+4\nn+=2\nshow $n\nn=n*2\nshow $n\nn=abc\nshow $n\n",
    "empty-is-zero": "x=\nshow $((x+1)) $((${x:-0}+1))\n",
    "compare": "show $((3==3)) $((3!=3)) $((2<=1)) $((2>=1))\n",
    "substitution-inside": "show $(( $(echo 3) * 2 )) $(( `echo 4` + 1 ))\n",
}

CONDITIONS: dict[str, Snippet | str] = {
    "strings": 'x=True\n[ "$x" = "True" ] && show 1\n[ "$x" == True ] && show 2\n[ "$x" != False ] && show 3\n[[ $x == T* ]] && show 4\n[[ $x == "T*" ]] || show 5\n[[ $x = True ]] && show 6\n[ -z "$y" ] && show 7\n[ -n "$x" ] && show 8\n[[ a < b ]] && show 9\n',
    "numbers": "[ 3 -gt 2 ] && show 1\n[ 3 -lt 2 ] || show 2\n[[ 3 -ge 3 ]] && show 3\n[ 03 -eq 3 ] && show 4\nn=5\n[[ n -eq 5 ]] && show 5\n[[ n+1 -eq 6 ]] && show 6\n(( n > 4 )) && show 7\n",
    "joined": "[ a = a -a b = b ] && show 1\n[ a = b -o b = b ] && show 2\n[[ a == a && b == b ]] && show 3\n[[ a == b || b == b ]] && show 4\n[[ ! a == b ]] && show 5\n[ ! a = b ] && show 6\n[[ ( a == b || a == a ) && b == b ]] && show 7\n[ \\( a = a \\) ] && show 8\n",
    "files": Snippet(
        'for t in -f -d -e -s -x -r; do for n in f.txt d none e.sh; do [ $t $n ] && show $t $n; done; done\n[[ -f d/g ]] && show nested\n[ -f "" ] || show empty\n',
        files={"f.txt": "x", "d/g": "", "e.sh": "x\n"},
    ),
    "regex": '[[ run-12 =~ ^run-([0-9]+)$ ]] && show "${BASH_REMATCH[1]}" "${BASH_REMATCH[0]}"\n[[ abc =~ b ]] && show in\n[[ a.c =~ a\\.c ]] && show dot\n[[ abc =~ "a.c" ]] || show quoted\np="^[a-z]+$"\n[[ abc =~ $p ]] && show var\n[[ ab1 =~ ^[[:alpha:]]+[[:digit:]]$ ]] && show classes\n',
    "set": "x=1\n[[ -v x ]] && show 1\n[[ -v y ]] || show 2\n[ -v x ] && show 3\n[[ -z ${y+x} ]] && show 4\n",
    "rank-gate": 'if [ "${OMPI_COMM_WORLD_RANK:-0}" -eq 0 ]; then python3 -m m; else sleep infinity; fi\n',
    "rank-gate-other": Snippet(
        'if [ "${OMPI_COMM_WORLD_RANK:-0}" -eq 0 ]; then python3 -m m; else sleep_ infinity; fi\n',
        environment={"OMPI_COMM_WORLD_RANK": "1"},
    ),
    "chained": "false || false || show c\ntrue && false || show d\ntrue || show never && show e\nfalse && show never || true && show f\n",
    "path-prefix": "for p in /a/b a/b; do if [[ $p == /* ]]; then show abs $p; else show rel $p; fi; done\n",
    "lower-case-flag": 'for X in True false TRUE 1; do if [[ "${X,,}" == true ]]; then show on $X; else show off $X; fi; done\n',
    "case": 'for x in a ab b.sh --n=3 "x y" ""; do case "$x" in a) show A;; a*|b*) show AB "$x";; --n=*) show N "${x#*=}";; "x y") show XY;; "") show E;; *) show rest;; esac; done\n',
    "case-fall-through": "case a in a) show 1;& b) show 2;; c) show 3;; esac\ncase a in a) show 1;;& [a-c]) show 2;;& b) show 3;; *) show 4;; esac\n",
    "case-patterns": 'x="*"\ny=abc\ncase $y in "$x") show no;; $x) show yes;; esac\ncase $y in [!a]*) show no;; ?b?) show yes;; esac\ncase "$y" in (abc) show paren;; esac\n',
    "case-without-match": "case a in b) show no;; esac\nshow $?\n",
    "elif": "for m in 7b 14b 70b; do if [ $m = 7b ]; then show s; elif [[ $m == 14* ]]; then show m; else show l; fi; done\n",
    "test-arguments": 'if test -n "$1"; then show yes; else show no; fi\nif test 1 -lt 2; then show yes; fi\n',
    "condition-lines": "if [[ -n a &&\n   -n b ]] ||\n  false; then\n  show yes\nfi\n",
    "status-before": 'false; for x in 1; do show $?; done; false; case a in a) show $?;; esac; false; for x in; do :; done; show $?; false; case a in b) ;; esac; show $?; false; { show $?; }; false; (show $?); false; for ((i=0;i<1;i++)); do show $?; done; false; x=$(echo $?); show $x; false; x=$? y=$?; show $y; false; [[ -n $? ]]; show $?; false; eval; show $?\nwhile [ "$z" != 1 ]; do z=1; false; done; show $?\n$(exit 3); show $?\nx=$NOTHING; show $?\n',
    "status-of-if": "if false; then show no; fi\nshow $?\nif true; then false; fi\nshow $?\n",
    "test-operators-as-words": '[ "-n" = "-n" ] && show 1\n[ ! ] || show 2\n[ "!" = "!" ] && show 3\nx="-f"\n[ "$x" ] && show 4\n[ "$x" = -f ] && show 5\n',
    "command-status": "if show a; then show yes; else show no; fi\nif ! show b; then show no; else show yes; fi\nshow c && show d || show e\n",
}

LOOPS: dict[str, Snippet | str] = {
    "argument-loop": Snippet(
        'while [[ $# -gt 0 ]]; do case $1 in --n) N="$2"; shift 2;; --n=*) N="${1#*=}"; shift;; --flag) F=1; shift;; *) break;; esac; done\nshow "$N" "$F" "$@"\n',
        ["--flag", "--n", "a b", "x=1", "--n", "c"],
    ),
    "argument-loop-equals": Snippet(
        'while [[ $# -gt 0 ]]; do case $1 in --n) N="$2"; shift 2;; --n=*) N="${1#*=}"; shift;; *) break;; esac; done\nshow "$N" "$@"\n',
        ["--n=3", "y"],
    ),
    "argument-loop-collects": Snippet(
        'REST=()\nfor a in "$@"; do case "$a" in -*) O+=("$a");; *) REST+=("$a");; esac; done\nshow "${O[@]}" -- "${REST[@]}"\n',
        ["-a", "b c", "-d", "e"],
    ),
    "for-arguments": Snippet(
        'for a; do show "$a"; done\nfor a in "$@"; do show "$a"; done\nfor a in $@; do show "$a"; done\n', ["x y", "z"]
    ),
    "for-words": 'for s in 100 200 {7..8} $(seq 2 3) "a b"; do show "$s"; done\nshow last $s\n',
    "for-empty": "for x in $NOTHING; do show no; done\nfor x in; do show no; done\nshow end\n",
    "while-count": "i=0\nwhile [ $i -lt 3 ]; do show $i; i=$((i+1)); done\nuntil ((i==0)); do ((i--)); done\nshow $i\n",
    "break-continue": "for i in 1 2 3 4; do [ $i = 2 ] && continue; [ $i = 4 ] && break; show $i; done\nfor i in 1 2; do for j in a b; do [ $j = b ] && continue 2; [ $i = 2 ] && break 2; show $i $j; done; show never; done\nshow end\n",
    "read-loop": 'while IFS=: read -r a b; do show "$a" "$b"; done <<EOF\nx:y z\np:q:r\nEOF\n',
    "read-last-line": 'while read -r a; do show "$a"; done < <(printf "x\\ny")\nprintf "x\\ny" | while read -r a || [ -n "$a" ]; do show "$a"; done\n',
    "read-loop-file": Snippet(
        'while read -r n s; do show "$n" "$s"; done < list.txt\n', files={"list.txt": "a 1\nb 2 3\n"}
    ),
    "nested-loops": "for lr in 1e-6 5e-6; do for n in 4 8; do python3 -m m lr=$lr n=$n name=run_${lr}_$n; done; done\n",
    "loop-status": "for i in 1; do false; done; show $?\nwhile false; do :; done; show $?\n",
    "loop-with-record": 'EXPS=( "run-a,50,150,50,org/model" )\nfor E in "${EXPS[@]}"; do IFS=\',\' read -r NAME S T D MODEL <<< "$E"\n  for ((i=S; i<=T; i+=D)); do show --model $MODEL --ckpt $i --name "$NAME"; done; done\n',
    "getopts": Snippet(
        'while getopts "n:vx" o; do case $o in n) N=$OPTARG;; v) V=1;; x) X=1;; *) show bad;; esac; done\nshift $((OPTIND-1))\nshow "$N" "$V" "$X" "$@"\n',
        ["-vx", "-n", "3", "rest"],
    ),
    "getopts-glued": Snippet(
        'while getopts "n:v" o; do show $o "$OPTARG"; done\nshow $OPTIND\n', ["-n3", "-v", "--", "-v"]
    ),
    "loop-redirect": "for i in 1 2; do echo $i; done > out.txt\nwhile read -r x; do show $x; done < out.txt\n",
    "loop-in-pipe": "for i in b a; do echo $i; done | while read -r x; do show $x; done\n",
    "brace-body": "for i in 1 2; { show $i; }\n",
    "select-words": "until false; do show once; break; done\n",
}

FUNCTIONS: dict[str, Snippet | str] = {
    "define-and-call": 'f() { show f "$@"; }\nfunction g { show g $1; }\nfunction h() { show h; return 3; }\nf 1 "2 3"\ng x y\nh; show $?\n',
    "local": 'x=1\nf() { local x=2 y; y=3; z=4; show $x $y; }\nf\nshow $x "[$y]" $z\n',
    "local-of-caller": 'f() { local x=1; g; show $x; }\ng() { show $x; x=2; }\nf\nshow "[$x]"\n',
    "return-status": "f() { return 1; }\nif f; then show yes; else show no; fi\nf || show or\ng() { false; }\ng; show $?\n",
    "output": 'f() { echo "a $1"; }\nx=$(f b)\nshow "$x" $(f c)\n',
    "nameref": 'f() { local -n r=$1; r=(a b); }\nf out\nshow "${out[@]}"\n',
    "overriding-a-command": 'train() { show wrapped "$@"; }\ntrain a\ncommand train b\n',
    "recursion": "f() { [ $1 -le 0 ] && return; show $1; f $(($1-1)); }\nf 3\n",
    "defined-inside": "f() { g() { show g; }; }\nf\ng\n",
    "function-body-subshell": "x=1\nf() ( x=2; show $x )\nf\nshow $x\n",
    "function-redirect": "f() { echo in; } > log.txt\nf\nread -r l < log.txt\nshow $l\n",
    "caller-positional": Snippet('f() { show "$#" "$1"; }\nf\nf "$@"\nshow "$#"\n', ["a", "b"]),
    "exit-inside": "f() { exit 2; }\nf\nshow never\n",
    "function-before-definition": "f a\nf() { show f; }\nf b\n",
    "prefix-before-function": 'f() { show "$A"; }\nA=1 f\nshow "[$A]"\n',
    "unset-of-caller": 'x=1\nf() { local x=2; unset x; show "[$x]"; x=3; g; show "[$x]"; }\ng() { unset x; show "[$x]"; }\nf\nshow $x\n',
    "unset-function": "f() { show f; }\nunset -f f\nf x\n",
}

SHELL: dict[str, Snippet | str] = {
    "cd": Snippet(
        'cd a/b\nshow "$PWD"\ncd ..\nshow "$(pwd)"\ncd - > /dev/null\nshow "$(basename "$PWD")"\n(cd ..; show "$(basename "$PWD")")\nshow "$(basename "$PWD")"\n',
        files={"a/b/": ""},
    ),
    "cd-missing": 'cd none && show no || show yes\nshow "$(basename "$PWD")"\n',
    "cd-missing-errexit": "set -e\ncd none\nshow never\n",
    "pushd": Snippet(
        'pushd a > /dev/null\nshow "$(basename "$PWD")"\npopd > /dev/null\n[ -d a ] && show back\n', files={"a/": ""}
    ),
    "script-folder": Snippet(
        "bash s/x.sh\n",
        files={
            "s/x.sh": 'D=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)\nshow "${D##*/}"\nR="$(dirname "$D")"\nshow "$(basename "$0")"\nsource "$D/lib.sh"\n',
            "s/lib.sh": 'show lib "$(basename "${BASH_SOURCE[0]}")"\n',
        },
    ),
    "echo-options": 'show "$(echo -n a)" "$(echo -e \'a\\tb\')" "$(echo -E \'a\\tb\')" "$(echo \'a\\tb\')" "$(echo -x)" "$(echo -- a)"\n',
    "printf": "show \"$(printf '%s-%d' a 3)\" \"$(printf '%s\\n' a b)\" \"$(printf '%05d|%-4s|%4s' 7 ab cd)\" \"$(printf '%.2f' 3.14159)\" \"$(printf '%s')\" \"$(printf '%%')\" \"$(printf '%x' 255)\" \"$(printf '%b' 'a\\tb')\"\nprintf -v v '%03d' 5\nshow $v\n",
    "printf-quote": "show $(printf '%q' 'a b') $(printf '%q ' x 'y z')\n",
    "eval": 'x="show a \\"b c\\""\neval $x\neval "$x"\neval "y=1; show \\$y"\n',
    "eval-syntax-error": "eval \"'\"; show $?\neval 'show a\nif'; show $?\n",
    "eval-arguments": "eval show a '\"b  c\"'\n",
    "command-string": 'CMD="python3 -m m a=1"\n$CMD b=2\nCMD2="show \'a b\'"\n$CMD2\nARR=(show "a b")\n"${ARR[@]}"\n',
    "command-from-variable": 'P=python3\n$P -m m\n"$P" -m m\n${P:-x} -c y\n$NOTHING show z\n',
    "empty-command-quoted": '"$NOTHING" show z\nshow $?\n',
    "set-arguments": 'set -- a "b c"\nshow "$#" "$2"\nset --\nshow "$#"\nset x y\nshow $1\nset -e -- -q\nshow $1\n',
    "shift-many": Snippet(
        'shift; show "$@"\nshift 2; show "$@"\nshift 5 || show no\nshow "$#"\n', ["a", "b", "c", "d"]
    ),
    "exit-status": "show a\nexit 3\nshow b\n",
    "exit-trap": "trap 'show bye $x' EXIT\nx=1\nshow a\nexit 2\n",
    "exit-trap-at-end": "trap 'show bye' EXIT\nshow a\n",
    "exit-trap-replaced": "trap 'show one' EXIT\ntrap 'show two' EXIT\n",
    "exit-trap-removed": "trap 'show one' EXIT\ntrap - EXIT\nshow a\n",
    "exec": 'show a\nexec bash -c \'show "$0" "$@"\' b c\nshow never\n',
    "background": "show a & wait\nshow b\n",
    "pipes": "echo a | show b\necho x | { read -r l; show $l; }\necho y | show c 2>&1\n",
    "pipe-both": "echo x |& { read -r l; show $l; }\n",
    "tee": "show a=1 2>&1 | cat\n",
    "time": "time show a\ntime -p show b\n! show c\nshow $?\n",
    "command-v": "if command -v nothing_like_it > /dev/null; then show yes; else show no; fi\ncommand -v cd > /dev/null && show builtin\nf() { :; }\ntype f > /dev/null && show function\n",
    "true-false": "true; show $?\nfalse; show $?\n:; show $?\n: ignored words; show $?\n",
    "group": "{ show a; x=1; }\nshow $x\n{ echo b; } 2>&1 | show c\n",
    "export-forms": 'export A=1 B C="x y"\nB=2\nexport -n A\nbash -c \'show "[$A]" "$B" "$C"\'\nD=4\nexport D\nD=5\nbash -c \'show $D\'\ndeclare -x E=6\nbash -c \'show $E\'\n',
    "export-variable-names": 'N=FOO\nexport $N=bar\nexport "${N}2=a b"\nbash -c \'show "$FOO" "$FOO2"\'\n',
    "readonly-value": "readonly R=1\nshow $R\n",
    "pipeline-status": "false | true; show $?\ntrue | false; show $?\nset -o pipefail\nfalse | true; show $?\n",
    "cat-here-document": 'X=$(cat <<EOF\n{"a": "$HOME"}\nEOF\n)\nshow "$X"\ncat > f.json <<EOF\n{"b": 1}\nEOF\nshow "$(cat f.json)" "$(<f.json)"\n',
    "text-tools": 'show "$(basename /a/b.txt .txt)" "$(dirname /a/b.txt)" "$(dirname a)" "$(dirname /)" "$(basename a/)" "$(echo AbC | tr A-Z a-z)" "$(echo a,b | tr \',\' \' \')" "$(seq 3 | wc -l)" "$(echo a/b/c | cut -d/ -f2)" $(seq 2 2 6) $(seq 3 -1 1) "$(seq -s, 3)" "$(printf \'x\\ny\\n\' | head -n 1)"\n',
    "runtime-env-json": 'V=1\nRT="{ \\"env_vars\\": { \\"K\\": \\"${V}\\" } }"\nray job submit --runtime-env-json="$RT" -- python3 train.py ${M_ARGS[@]} ${R_ARGS[@]} end\n',
    "environment-prefix-continued": "A=1 B=2 \\\n python3 -m m\nA=1 \\\n # note\npython3 -m n\n",
    "wrappers": "nohup python3 -m m a > /dev/null 2>&1 &\nwait\nenv -u X A=1 python3 -m m\ntimeout 5 python3 x.py\n",
    "slurm": Snippet(
        'srun -w "$head" --nodes=1 --container-image=img python3 -m m trainer.nnodes=$SLURM_NNODES\n',
        environment={"head": "n1", "SLURM_NNODES": "2"},
    ),
    "ssh-string": "export A=1 B=2\nC='x y'\nssh h \"show $A '$C' \\$B\" | cat\n",
    "ssh-words": "export A=1\nssh h show \"a b\" '$A' \\; show '\"c  d\"'\n",
    "ssh-given": "A='p q'\nssh h \"export A='$A'; show \\$A; bash -c 'show \\\"\\$A\\\"'\"\nshow $A\n",
    "ssh-input": Snippet(
        "A=1\nssh h bash -s -- x <<END\nshow \\$1 $A \\$A\nEND\nssh h bash < part.sh\n",
        files={"part.sh": "show part\n"},
    ),
    "ssh-nested": "export A=1\nssh h 'ssh i \"show 1 $A\"; A=2; show $A'\n",
    "docker-string": "export A=1\nB=2\ndocker run image bash -c 'show a $A $B'\ndocker exec box bash -c \"show $A\"\n",
    "docker-given": "export A=1\nB=2\ndocker run -e A -e B -e C=\"$B 3\" image bash -c 'show a $A b $B c $C'\n",
    "optional-words": Snippet(
        "python3 -m m ${REF:+actor.ref_path=$REF} ${A_ARG} ${B_ARG} end\n",
        environment={"REF": "/m/x y", "B_ARG": "p=1 q=2"},
    ),
    "list-continued": "val=[$(echo /w)/d/a.parquet,\\\n$(echo /w)/d/b.parquet]\nshow data.val_files=$val\n",
    "log-name": "NAME=run\nLOG=logs/${NAME}_$(echo 1).log\nshow $LOG\n",
    "nested-launcher": Snippet(
        'export BASE=m\nbash base/run.sh trainer.x=1 "$@"\n',
        ["y=2"],
        files={"base/run.sh": 'set -x\npython3 -m main model=$BASE a=1 "$@" b=2\n'},
    ),
    "nested-twice": Snippet("bash a.sh 1\n", files={"a.sh": 'bash b.sh "$1" 2\nshow a\n', "b.sh": 'show b "$@"\n'}),
    "syntax-error-later": "show a\nshow b\nif true; then\nshow c\n",
    "syntax-error-on-line": "show a\nshow b; )\nshow c\n",
    "unfinished-quote": "show a\nshow 'b\n",
    "line-number": "show $LINENO\n\nshow $LINENO\n",
    "options-in-variable": 'OPTS="--a 1 --b 2"\n[ -n "$EXTRA" ] && OPTS="$OPTS $EXTRA"\nOPTS+=" --c"\nshow $OPTS\n',
    "string-config": 'C="a=1"\nC="$C b=2"\nC="${C} c=\'x\'"\nshow $C\n',
    "set-options": "set -euo pipefail\nshow ok ${X:-}\nfalse || true\nshow on\n",
    "xtrace-off": "{ set +x; } 2>/dev/null\nshow a\n",
    "star-arguments": Snippet('show $* "$*"\n', ["a b", "c"]),
    "let-and-expr": 'let "n = 3 * 4"\nshow $n\n',
    "brace-group-line": "true && { show a; show b; } || show c\nfalse && { show d; } || { show e; }\n",
    "semicolon-newline-mix": "if true; then show a; fi; for i in 1; do show $i; done; case x in x) show c; esac\n",
    "alias-is-ignored": "alias ll='show aliased'\nll x\n",
    "heredoc-to-nested": "bash -s -- a <<'EOF'\nset -e\nshow \"$1\"\nfalse\nshow never\nEOF\nshow on\n",
    "unset-option-call": Snippet(
        "bash eval.sh --model m --ckpt ${MISSING} --len 5\n",
        files={
            "eval.sh": 'while [[ $# -gt 0 ]]; do case $1 in --model) M=$2; shift 2;; --ckpt) C=$2; shift 2;; --len) L=$2; shift 2;; *) break;; esac; done\nshow "$M" "$C" "[$L]" "$@"\n'
        },
    ),
    "find-exec": "find_ d -exec cp {} e \\;\nshow next\n",
    "variable-in-command-string": 'D=x\nbash -c "cd / && show $D"\n',
    "subshell-keeps-its-changes": 'A=(1 2) B=x\n(A[0]=9; A+=(3); unset \'A[1]\'; B+=y; show "${A[@]}" $B)\nshow "${A[@]}" $B\n',
    "subshell-keeps-its-attributes": "export A=1 B=5\n(export -n A; declare -i B; B+=1; readonly A; bash -c 'show \"[$A]\" $B')\nB+=1 A=2\nbash -c 'show \"[$A]\" $B'\n",
    "subshell-in-a-function": "X=g\nf() { local X=l; declare -n R=X; (R=in; X+=s; show $X $R); show $X $R; }\nf\nshow $X\n",
    "substitution-keeps-its-changes": "X=1\nY=$(X=2; echo $X; (X=3; echo $X); echo $X)\nshow $X $Y\nX+=0\nshow $X\n",
    "trailing-and": "show a &&\n  show b ||\n  show c\necho d |\n  show e\n",
    "assign-and-command-lines": "A=1\nB=2; C=3\nA=4 show $A\nshow $A $B $C\n",
    "keywords-in-two-lines": "for i in 1 2; d\\\no show $i; do\\\nne\ni\\\nf true; th\\\nen show yes; fi\nshow end\n",
    "declare-no-name": "export 1x=2\nshow $?\ndeclare a.b=c d=e\nshow $? $d\nf() { local x-y=2 z=3; show $? $z; }\nf\nreadonly =\nshow $?\ndeclare a[1]=x\nshow $? ${a[1]}\n",
    "export-no-name-under-errexit": "set -e\nexport MY-NAME=1 || show caught\nexport MY-NAME=1\nshow never\n",
    "export-with-blanks": 'export "A B=1"\nshow $?\nexport "A=1 2" B\nshow $? "$A"\n',
    "errors-to-another-stream": 'exec 3>/dev/null\nx=$({ echo a >&2; echo b; } 2>&3)\nshow "[$x]"\n',
    "append-behind-a-removed-element": 'a=(x)\nunset "a[0]"\na+=(w)\nshow "${!a[@]}" "${a[@]}"\nb=(x y z)\nunset "b[1]"\nb+=(w)\nshow "${!b[@]}"\nunset "b[3]" "b[2]"\nb+=(v)\nshow "${!b[@]}"\n',
    "missing-input-of-a-group": "{ show a; } < missing\nshow $?\nset -e\nif { show b; } < missing; then show yes; else show no; fi\n{ show c; } < missing || show caught\nwhile :; do show d; done < missing\nshow never\n",
    "break-without-loop": "false\nbreak\nshow $?\nfalse\ncontinue 2\nshow $?\n",
    "options-of-a-child": Snippet(
        "bash -eo pipefail s.sh a\nshow $?\nbash -o errexit -o nounset s.sh b\nbash +eo pipefail -c 'false | true; show $? $0 $1' x y\nbash -uo errexit -c 'show u; show $NONE; show never'\n",
        files={"s.sh": "show $1\nfalse | true\nshow on $1\nfalse\nshow end\n"},
    ),
    "octal-for-tr": "show $(echo abc | tr '\\141' x) $(echo a1b1c | tr '\\061\\142' '_-') \"$(printf 'a\\nb' | tr '\\012' ' ')\" $(echo a7 | tr '\\0617' xy)\n",
    "ranges-in-a-list": "for x in a + - z c; do case $x in [a--]) show $x 1;; [+--]) show $x 2;; esac; case $x in [+z-a]) show $x 3;; [!z-a]) show $x 4;; esac; case $x in [z-a]) show $x 5;; [a-c-z]) show $x 6;; esac; done\n",
    "numbers-beyond-64-bits": "show {1..99999999999999999999} {a..c..99999999999999999999} {0001..3} {1..3..000000000000000000002}; [ 99999999999999999999 -eq 1 ]; show $?; [ 1_0 -eq 10 ]; show $?; [ +5 -eq 5 ]; show $?; [ 0000000000000000000000008 -eq 8 ]; show $?\n",
    "dash-in-a-list": "for x in a b - ] z; do [[ $x =~ ^[a-]$ ]] && show $x 1; [[ $x =~ ^[-a]$ ]] && show $x 2; [[ $x =~ ^[]a-c]$ ]] && show $x 3; [[ $x =~ ^[^a-c-]$ ]] && show $x 4; case $x in [a-]) show $x 5;; [!a-]) show $x 6;; esac; done\n",
    "wait-for-nothing": "false\nwait\nshow $?\nfalse\nshow x &\nwait\nshow $?\n",
    "lone-dash-of-a-child": Snippet(
        "bash - s.sh a\nbash -e - s.sh b\necho 'show in $1' | bash -s - c\necho 'show in' | bash -\n",
        files={"s.sh": "show $1\nfalse\nshow end\n"},
    ),
    "path-of-nothing": '[ -e missing ] || show missing\n[ -e "$X/missing" ] || show missing too\n',
}

SNIPPETS: dict[str, Snippet] = {
    f"{theme}-{name}": each if isinstance(each, Snippet) else Snippet(each)
    for theme, table in {
        "pitfall": PITFALLS,
        "word": WORDS,
        "parameter": PARAMETERS,
        "array": ARRAYS,
        "arithmetic": ARITHMETIC,
        "condition": CONDITIONS,
        "loop": LOOPS,
        "function": FUNCTIONS,
        "shell": SHELL,
    }.items()
    for name, each in table.items()
}
