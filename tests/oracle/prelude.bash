# Sourced through BASH_ENV by every bash in the sandbox. No program can be found there, so bash asks
# command_not_found_handle (in a process of its own, as for a real program). All names begin with _oracle_.

command_not_found_handle() {
    { set +aefuxvC; } 2>/dev/null
    _oracle_start "${BASH_SOURCE[1]-}:${BASH_LINENO[0]-}" "$@"
}

# PLACE NAME ARG...: put a program on record and do what it would do.
_oracle_start() {
    local _oracle_place=$1 _oracle_kind=program
    shift
    [[ -x /.oracle/tools/$1 ]] && _oracle_kind=tool
    _oracle_note "$_oracle_place" "$_oracle_kind" "$@"
    _oracle_become "$@"
}

_oracle_note() {
    {
        builtin printf '%s\0' "$PWD" "${@:1:2}" "$(($# - 2))" "${@:3}"
        builtin export -p
    } >|"/.records/$EPOCHREALTIME-$BASHPID"
}

# NAME ARG...: take the place of a program without another record.
_oracle_become() {
    local _oracle_name=${1##*/}
    case $_oracle_name in
        bash) builtin exec -a bash /.oracle/bash "${@:2}" ;;
        sh | dash) builtin exec /.oracle/bash "${@:2}" ;;
        env | nohup | setsid | stdbuf | nice | ionice | timeout | sudo | time | srun | numactl | unbuffer)
            _oracle_unwrap "$@"
            return ;;
        cp | mv | ln | rm | rmdir)
            [[ -x /.oracle/moving/$_oracle_name ]] && /.oracle/moving/"$_oracle_name" "${@:2}" 2>/dev/null
            return 0 ;;
    esac
    if [[ $1 != */* && -x /.oracle/tools/$1 ]]; then
        builtin exec /.oracle/tools/"$1" "${@:2}"
    fi
    if [[ $1 == */* && -x $1 && ! -d $1 ]]; then
        export _oracle_quiet=1
        "$@"
        return
    fi
    [[ -f /.oracle/output/$_oracle_name ]] && builtin printf '%s\n' "$(</.oracle/output/"$_oracle_name")"
    return 0
}

# WRAPPER ARG...: skip the words of `env`, `timeout` and kin, then become what they start.
_oracle_unwrap() {
    local _oracle_wrapper=${1##*/}
    shift
    while (($#)); do
        case $_oracle_wrapper:$1 in
            *:--) shift; break ;;
            env:-u) unset "$2"; shift 2 ;;
            env:-C | timeout:-[ks] | nice:-n | ionice:-[cn] | sudo:-[ugh] | stdbuf:-[ioe] | srun:-[nNJpcAtGwoD])
                shift $(($# > 1 ? 2 : 1)) ;;
            *:-*) shift ;;
            env:[A-Za-z_]*=* | sudo:[A-Za-z_]*=*) export "$1"; shift ;;
            timeout:*) shift; break ;;
            *) break ;;
        esac
    done
    (($#)) || return 0
    _oracle_become "$@"
}

exec() {
    while [[ ${1-} == -[cl]* ]]; do shift; done
    [[ ${1-} == -a ]] && shift 2
    (($#)) || return 0
    local _oracle_from="${BASH_SOURCE[1]-}:${BASH_LINENO[0]-}" _oracle_status=0
    (
        { set +aefuxvC; } 2>/dev/null
        _oracle_start "$_oracle_from" "$@"
    ) || _oracle_status=$?
    trap - EXIT
    builtin exit "$_oracle_status"
}

# Limits of the machine are no business of the launcher here.
ulimit() { :; }

# Shells that are called by their full path; the files there serve `#!` lines.
_oracle_by_path() { (
    { set +aefuxvC; } 2>/dev/null
    _oracle_start "${BASH_SOURCE[2]-}:${BASH_LINENO[1]-}" "$@"
); }
/bin/bash() { _oracle_by_path /bin/bash "$@"; }
/bin/sh() { _oracle_by_path /bin/sh "$@"; }
/usr/bin/bash() { _oracle_by_path /usr/bin/bash "$@"; }
/usr/bin/env() { _oracle_by_path /usr/bin/env "$@"; }
