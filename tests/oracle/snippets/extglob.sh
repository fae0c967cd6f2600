shopt -s extglob
x=foobarfoo
probe "${x##+(foo)}" "${x%%+(foo|bar)}" "${x//@(foo|bar)/X}" "${x/?(f)oo/Y}" "${x//!(o)/Z}"
case $x in foo*(bar)foo) probe m1;; esac
case a.txt in !(*.md|*.rst)) probe m2;; esac
[[ $x == foo@(bar|baz)* ]] && probe m3
[[ file.tar.gz == *.@(tar.gz|zip) ]] && probe m4
probe *.@(txt|md) !(data|sub|conf) +([a-z]).txt
y="  trim me  "; y="${y##+([[:space:]])}"; y="${y%%*([[:space:]])}"; probe "[$y]"
[[ 12345 == +([0-9]) ]] && probe num
[[ -5 == ?(-)+([0-9]) ]] && probe neg
shopt -u extglob
