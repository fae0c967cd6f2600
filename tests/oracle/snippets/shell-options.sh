# Options of `shopt`: changed, asked for, saved and set again.
shopt -q nullglob || probe off
shopt -s nullglob
shopt -q nullglob && probe on
shopt nullglob > /dev/null && probe still
saved=$(shopt -p nullglob extglob)
probe "$saved"
shopt -u nullglob
eval "$saved"
probe *.none end
shopt -so nounset
shopt -qo nounset && probe strict
shopt -uo nounset
shopt -q sourcepath && probe default
shopt -u sourcepath
shopt -q sourcepath || probe changed
hash none 2> /dev/null || probe none
hash -r && probe r
