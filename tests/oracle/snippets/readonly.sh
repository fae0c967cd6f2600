readonly F=a; readonly F=b; probe "same $?"
probe "next $?"; F=c; probe same
probe "n2 $?"; export F=d; probe "same $?"
probe "n3 $?"; for F in 1 2; do probe in; done; probe "f $?"
probe n4; read F <<< x; probe "r $?"; printf -v F x; probe "p $?"; unset F; probe "u $?"; declare F=2; probe "d $?"
probe n5; ((F=3)); probe "a $?"
probe n6 "$F"
readonly -a arr=(1 2); arr+=(3); probe no
arr[0]=3; probe no
probe "${arr[@]}"
x=$(F=b; probe in >&2); probe "[$x] $?"; (F=c; probe sub); probe "s$?"
f() { readonly Q=a; local Q=b; probe "l $?"; }; f; probe after; g() { local Q=3; probe "g $?"; }; g
probe end
