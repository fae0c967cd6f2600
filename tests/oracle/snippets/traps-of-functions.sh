# What a function does when it returns, and matches of a default.
work() {
    trap 'probe returned' RETURN
    probe working
}
work
quiet() { probe quiet; }
quiet
[[ ${MODEL:-Qwen2.5-7B-Base} =~ ^([A-Za-z]+).*-([0-9]+)B(-Chat)? ]] && probe "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "[${BASH_REMATCH[3]}]"
x=abab i=0 none=
probe "${x/a/$((++i))}" $i "${x/#$none/P}" "${x/b/\&}" "${x//[ab]/'&'}" "${none/*/N}" "${none//?/N}"
shopt -s extglob
probe "${x/?(z)/R}" "${x//?(z)/R}" "${x/%?(z)/R}" "${none//?(z)/R}"
printf -v text '%.1f %.0f' "'q" 0x1F
probe "$text"
declare -A map=([k]=1)
declare -rx fixed=1
probe "${map@a}" "${fixed@a}" "${x@a}" "${text@P}"
