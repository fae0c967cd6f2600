# Stands for every interpreter that a `#!` line may name: INTERPRETER [OPTIONS] FILE ARG...
_oracle_interpreter=${1##*/} _oracle_options=()
shift
if [[ $_oracle_interpreter == env ]]; then
    read -ra _oracle_options <<<"${1#-S}"
    shift
    _oracle_interpreter=${_oracle_options[0]##*/}
    _oracle_options=("${_oracle_options[@]:1}")
elif [[ $1 == -* ]]; then
    _oracle_options=("$1")
    shift
fi
if [[ -v _oracle_quiet ]]; then
    unset _oracle_quiet
else
    _oracle_note : program "$@"
fi
case $_oracle_interpreter in
    bash | sh | dash) builtin exec /.oracle/bash "${_oracle_options[@]}" "$@" ;;
esac
