x=5
case $x in [0-4]) probe low;; [5-9]) probe high;;& 5) probe five;& 6) probe six;; *) probe other;; esac
case "a b" in a\ b) probe sp;; esac
case $x$x in 5?) probe two;; esac
case "" in "") probe empty;; esac
case x in y) ;; *) probe dflt; esac
case "*" in "*") probe star1;; esac
case abc in "a"*) probe q1;; esac
p='a*'; case abc in $p) probe pv;; esac; case abc in "$p") probe no;; *) probe lit;; esac
case yes in [Yy]|[Yy][Ee][Ss]) probe y;; esac
case $- in *e*) probe e;; *) probe note;; esac
shopt -s nocasematch; case ABC in abc) probe nc;; esac; [[ FOO == foo ]] && probe nc2; [[ FOO =~ ^f ]] && probe nc3; shopt -u nocasematch
case "$(uname)" in *) probe any;; esac
v=$(case a in a) echo in;; esac); probe "$v"
