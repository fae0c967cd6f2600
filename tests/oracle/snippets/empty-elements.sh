# Without quotes empty elements stay where the separator is no blank.
set -- '' a ''
a=('' x '' y '')
probe $* end
probe ${a[@]} end
IFS=:
probe $*
probe $@
probe ${a[*]}
probe ${a[@]}
probe x$*y
set -- a:b '' ''
probe $*
probe "$@"
IFS=''
probe $* end
