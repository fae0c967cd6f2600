"""Completion scripts for bash, zsh and fish, written from the command line as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint import __version__
from verlint.cli.command_line import FILE, FOLDER, RULE, RULES, Option, Verb

_GENERAL = ("-h", "--help", "-V", "--version")


def script(shell: str, verbs: Sequence[Verb], rules: Sequence[str]) -> str:
    """The script for a shell. `rules` are the names that rules can be called by."""
    write = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]
    return "\n".join(write(verbs, rules)) + "\n"


def _head(shell: str) -> str:
    return f"# Completion of verlint {__version__} for {shell}, printed by `verlint completion {shell}`."


# bash: one function; where it gives nothing, files are completed ------------------------------------------------------


def _bash(verbs: Sequence[Verb], rules: Sequence[str]) -> Iterator[str]:
    yield _head("bash")
    yield f'_verlint_rules="{" ".join(rules)}"'
    yield _BASH_START
    yield f"        '') words='{' '.join([*_GENERAL, *(verb.name for verb in verbs)])}' ;;"
    for verb in verbs:
        yield f"        {verb.name}) case $before in"
        for option in verb.options:
            if option.value:
                yield f"            {'|'.join(option.names)}) {_bash_value(option)} ;;"
        names = " ".join(name for option in verb.options for name in option.names)
        yield f"            *) if [[ $cur == -* ]]; then words='{names}'; else {_bash_argument(verb)}; fi ;;"
        yield "        esac ;;"
    yield _BASH_END


def _bash_value(option: Option) -> str:
    if option.kind in (RULE, RULES):
        return f"words=$_verlint_rules{' comma=1' if option.kind == RULES else ''}"
    return f"words='{' '.join(option.words)}'" if option.words else ":"


def _bash_argument(verb: Verb) -> str:
    argument = next(iter(verb.arguments), None)
    return ":" if argument is None else _bash_value(argument)


_BASH_START = """\
_verlint() {
    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb='' words='' comma='' head='' i
    # bash takes `--option=value` apart at the `=`
    if [[ $cur == '=' ]]; then cur=''
    elif [[ $before == '=' ]]; then before=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == -- ]]; then COMPREPLY=(); return
        elif [[ -z $verb && ${COMP_WORDS[i]} != -* ]]; then verb=${COMP_WORDS[i]}
        fi
    done
    case $verb in"""
_BASH_END = """\
    esac
    if [[ -n $comma && $cur == *,* ]]; then head=${cur%,*},; fi
    COMPREPLY=()
    if [[ -n $words ]]; then
        while IFS= read -r i; do COMPREPLY+=("$i"); done < <(compgen -P "$head" -W "$words" -- "${cur#"$head"}")
    fi
}
complete -o bashdefault -o default -F _verlint verlint"""


# zsh ----------------------------------------------------------------------------------------------------------------


def _zsh(verbs: Sequence[Verb], rules: Sequence[str]) -> Iterator[str]:
    yield "#compdef verlint"
    yield _head("zsh")
    yield f"_verlint_names=({' '.join(rules)})"
    yield '_verlint_rule() { compadd "$@" -- "${_verlint_names[@]}" }'
    yield '_verlint_rules() { _sequence "$@" compadd - "${_verlint_names[@]}" }'
    yield "_verlint() {"
    yield "    local curcontext=$curcontext state line ret=1"
    yield "    typeset -A opt_args"
    yield "    local -a verbs=("
    yield from (f"        {_single(f'{verb.name}:{verb.line}')}" for verb in verbs)
    yield "    )"
    general = "'(- *)'{-h,--help}'[show the help]' '(- *)'{-V,--version}'[show the version]'"
    yield f"    _arguments -C {general} '1: :->verb' '*:: :->rest' && ret=0"
    yield "    case $state in"
    yield "    verb) _describe -t verbs verb verbs && ret=0 ;;"
    yield "    rest) case $words[1] in"
    for verb in verbs:
        yield f"        {verb.name}) _arguments -S \\"
        specs = [spec for option in verb.options for spec in _zsh_option(option)]
        specs += [_single(f"{'*' if option.many else ''}:{_zsh_value(option)}") for option in verb.arguments]
        yield from (f"            {spec} \\" for spec in specs)
        yield "            && ret=0 ;;"
    yield "        esac ;;"
    yield "    esac"
    yield "    return ret"
    yield "}"
    yield 'if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _verlint "$@"; else compdef _verlint verlint; fi'


def _zsh_option(option: Option) -> Iterator[str]:
    about = "".join(f"\\{char}" if char in "[]:\\" else char for char in option.about)
    others = f"({' '.join(option.names)})" if not option.many else "*"
    for name in option.names:
        equals = "=" if option.value and name.startswith("--") else ""
        value = f":{_zsh_value(option)}" if option.value else ""
        yield _single(f"{others}{name}{equals}[{about}]{value}")


def _zsh_value(option: Option) -> str:
    label = option.value.replace(":", "\\:")
    if option.words:
        return f"{label}:({' '.join(option.words)})"
    actions = {FILE: "_files", FOLDER: "_files -/", RULE: "_verlint_rule", RULES: "_verlint_rules"}
    return f"{label}:{actions.get(option.kind, ' ')}"


def _single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# fish ---------------------------------------------------------------------------------------------------------------


def _fish(verbs: Sequence[Verb], rules: Sequence[str]) -> Iterator[str]:
    yield _head("fish")
    yield "function __verlint_rules"
    yield f"    printf '%s\\n' {' '.join(rules)}"
    yield "end"
    yield "complete -c verlint -f"
    yield "complete -c verlint -n __fish_use_subcommand -s h -l help -d 'show the help'"
    yield "complete -c verlint -n __fish_use_subcommand -s V -l version -d 'show the version'"
    for verb in verbs:
        yield f"complete -c verlint -n __fish_use_subcommand -a {verb.name} -d {_fish_text(verb.line)}"
    for verb in verbs:
        here = f"complete -c verlint -n '__fish_seen_subcommand_from {verb.name}'"
        yield from (f"{here} {_fish_value(option, -1)}".rstrip() for option in verb.arguments)
        for option in verb.options:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            value = f" {_fish_value(option, 1)}" if option.value else ""
            yield f"{here} {names}{value} -d {_fish_text(option.about)}"


def _fish_value(option: Option, named: int) -> str:
    """What completes a value: of an option, which must have one (`named` is 1), or of an argument."""
    must = "-x " if named == 1 else ""
    if option.words:
        return f"{must}-a {_fish_text(' '.join(option.words))}"
    if option.kind == FILE:
        return "-r -F" if named == 1 else "-F"
    actions = {
        FOLDER: "(__fish_complete_directories)",
        RULE: "(__verlint_rules)",
        RULES: "(__fish_complete_list , __verlint_rules)",
    }
    return f"{must}-a '{actions[option.kind]}'" if option.kind in actions else must.rstrip()


def _fish_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
