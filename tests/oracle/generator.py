"""Launchers made up at random from what the interpreter supports: the same seed and number give the same launcher.

Every loop ends, nothing depends on time or chance, and what runs in the background says nothing that others wait for.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

TEXTS = (
    "alpha", "beta", "a b", "", "x=1", "data/train.txt", "*.txt", "a,b,,c", "10", "7", "-n", "--opt", "k.v=[1,2]", "{p}",
    "~", "it's", 'say "hi"', "tab\there", "$HOME", "back\\slash", "UPPER lower", "a:b:c", "  lead", "trail  ",
    "[ab]", "?", "é", "#no", "a;b", "x&y", "1e-6", "True", "100%", "hi!", "a\nb", "--lr=1e-5", "Qwen/Qwen3-4B", "x/y/z.tar.gz",
)  # fmt: skip
SIMPLE = ("alpha", "beta", "x1", "data/train.txt", "k.v=3", "--opt", "a,b,c", "10", "0.5", "True", "Qwen/Q3", "a:b")
NAMES = ("name", "path", "mode", "text", "rest")
NUMBERS = ("i", "j", "k")
ARRAYS = ("items", "opts")
EXPORTED = ("MODE", "RANK", "ROOT")
UNSET = ("MISSING", "nothing")
PATTERNS = (
    "*", "a*", "*.txt", "?", "??*", "[a-c]*", "[!a]*", "*/", "/*", "*/*", ",*", "*,", "*=", "=*", "-*", "[[:digit:]]", "[0-9]",
    "'a b'", "$name", '"$name"', "'*'", "\\*", "*a*", "data", ".", "\\ *",
)  # fmt: skip
FILES = {
    "data/train.txt": "one\ntwo words\n",
    "data/test.txt": "1,2,3\n",
    "data/.hidden": "",
    "a.txt": "alpha\n",
    "b.txt": "",
    "conf/env.sh": 'SOURCED="from env"\nexport RANK=3\nfrom_env() { probe from_env "$@"; }\n',
    "sub/echo.sh": '#!/usr/bin/env bash\nprobe sub "$0" "$#" "$@" "${MODE-}" "${RANK:-none}"\n',
    "sub/options.sh": """\
MODEL=base STEPS=5
while [[ $# -gt 0 ]]; do
    case "$1" in
        --model) MODEL="$2"; shift 2 ;;
        --steps=*) STEPS="${1#*=}"; shift ;;
        --flag) FLAG=1; shift ;;
        *) break ;;
    esac
done
launch --model "$MODEL" --steps "$STEPS" ${FLAG:+--flag "$FLAG"} "$@"
""",
}


@dataclass(frozen=True)
class Script:
    """A launcher, `main.sh`, with the files around it, and how it is called."""

    lines: tuple[str, ...]
    arguments: tuple[str, ...]
    environment: Mapping[str, str]

    @property
    def texts(self) -> dict[str, str]:
        return {**FILES, "main.sh": "\n".join(self.lines) + "\n"}


def generate(seed: int, number: int) -> Script:
    """Launcher `number` of a seed."""
    return _Writer(random.Random(f"{seed}:{number}")).script()


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.functions: list[str] = []
        self.in_function = False
        self.depth = 0
        self.here = 0

    def script(self) -> Script:
        rng = self.rng
        lines = ["#!/usr/bin/env bash"]
        if rng.random() < 0.4:
            lines.append(rng.choice(("set -e", "set -u", "set -x", "set -euo pipefail", "set -eu", "set -ex")))
        lines.extend(
            f"{'export ' if name in EXPORTED else ''}{name}={self.quoted(rng.choice(TEXTS))}"
            for name in (*NAMES, *EXPORTED)
            if rng.random() < 0.7
        )
        lines.append("; ".join(f"{name}={rng.randint(-3, 12)}" for name in NUMBERS))
        lines.extend(self.array_literal(name) for name in ARRAYS)
        for _ in range(rng.randint(5, 11)):
            lines.extend(self.statement())
        lines.append(self.probe())
        if rng.random() < 0.15:
            lines.append(f"exit {rng.choice(('0', '3', '$?', '256', '$((i & 7))'))}")
        arguments = tuple(rng.choice(TEXTS) for _ in range(rng.randint(0, 4)))
        environment = {"GIVEN": rng.choice(TEXTS)} if rng.random() < 0.5 else {}
        return Script(tuple("\n".join(lines).split("\n")), arguments, environment)

    # ---- statements

    def statement(self) -> list[str]:
        """The lines of one statement."""
        rng = self.rng
        simple: list[tuple[int, Callable[[], str]]] = [
            (30, self.probe), (14, self.assign), (6, self.array_change), (5, self.arithmetic_command), (5, self.read),
            (4, self.positional), (5, self.options), (4, self.export), (5, self.nested), (4, self.list_of_commands),
            (2, self.here_document), (2, self.print_to_variable), (2, self.evaluation), (2, self.directory), (2, self.declaration),
            (4, self.files), (4, self.statuses), (3, self.attributes), (3, self.associative), (3, self.readers), (2, self.regex),
            (2, self.sorted_options), (2, self.shell_option), (3, self.unknown_words),
        ]  # fmt: skip
        compound: list[tuple[int, Callable[[], str]]] = [
            (7, self.if_command), (6, self.case), (5, self.for_words), (3, self.for_arithmetic), (4, self.while_loop),
            (4, self.group), (4, self.pipeline), (4, self.function), (3, self.option_loop),
        ]  # fmt: skip
        choices = simple if self.depth >= 2 else [*simple, *compound]
        make = rng.choices([each for _, each in choices], [weight for weight, _ in choices])[0]
        self.depth += 1
        text = make()
        self.depth -= 1
        return text.split("\n")

    def block(self, low: int = 1, high: int = 3) -> str:
        """Some statements, indented."""
        lines = [line for _ in range(self.rng.randint(low, high)) for line in self.statement()]
        marked = any("<<" in line and "<<<" not in line for line in lines)
        return "\n".join(lines if marked or any("\\n" in line for line in lines) else (f"    {line}" for line in lines))

    def probe(self) -> str:
        rng = self.rng
        words = [self.word() for _ in range(rng.randint(1, 4))]
        prefix = ""
        if rng.random() < 0.12:
            prefix = " ".join(
                f"{rng.choice((*EXPORTED, 'EXTRA'))}={self.word(single=True)}" for _ in range(rng.randint(1, 2))
            )
        joint = " \\\n    " if rng.random() < 0.1 else " "
        return f"{prefix} probe {joint.join(words)}{self.redirection()}".strip()

    def redirection(self) -> str:
        if self.rng.random() > 0.12:
            return ""
        return " " + self.rng.choice((
            "> /dev/null", "2>&1", ">> /tmp/log.txt 2>&1", "&> /tmp/out.log", "< a.txt", '<<< "$name"', "2> /dev/null", '> "/tmp/out$j"',
        ))  # fmt: skip

    def assign(self) -> str:
        rng = self.rng
        name = rng.choice((*NAMES, *EXPORTED[:1]))
        local = "local " if self.in_function and rng.random() < 0.4 else ""
        operator = "+=" if not local and rng.random() < 0.2 else "="
        if local:  # a name that is exported nowhere
            name = "own"
        text = f"{local}{name}{operator}{self.word(single=True)}"
        if rng.random() < 0.15 and not local:
            text += f" {rng.choice(NAMES)}={self.word(single=True)}"
        if rng.random() < 0.15:
            text = f"{rng.choice(NUMBERS)}=$(({self.expression()}))"
        return text

    def array_literal(self, name: str) -> str:
        words = [self.word() for _ in range(self.rng.randint(0, 4))]
        return f"{name}=({' '.join(words)})"

    def array_change(self) -> str:
        name = self.rng.choice(ARRAYS)
        return self.rng.choice((
            lambda: self.array_literal(name),
            lambda: f"{name}+=({self.word()} {self.word()})",
            lambda: f"{name}[{self.rng.randint(0, 5)}]={self.word(single=True)}",
            lambda: f'{name}=("${{{name}[@]:1}}")',
            lambda: f'{name}=("${{{name}[@]}}" {self.word()})',
            lambda: f"unset '{name}[{self.rng.randint(0, 2)}]'",
        ))()  # fmt: skip

    def arithmetic_command(self) -> str:
        name = self.rng.choice(NUMBERS)
        return self.rng.choice((
            f"(({name} = {self.expression()})) || true",
            f"(({name}++)) || :",
            f"let '{name} += 2' || true",
            f"(({name} > {self.rng.randint(0, 9)})) && probe bigger",
            f"{name}=$(({name} * 2 + {self.expression()}))",
        ))  # fmt: skip

    def read(self) -> str:
        rng = self.rng
        first, second = rng.sample(NAMES, 2)
        return rng.choice((
            f'IFS=, read -r {first} {second} <<< "{self.inner()}"',
            f'IFS=: read -r {first} {second} rest <<< "{self.inner()}" || true',
            f'read -r {first} {second} <<< "{self.inner()}" || :',
            f'IFS=, read -ra items <<< "{self.inner()}"',
            f'read -ra items <<< "{self.inner()}"',
            f"mapfile -t items < <(printf '%s\\n' {self.word()} {self.word()})",
            f"while IFS= read -r {first}; do probe line \"${first}\"; done < data/train.txt",
            f"while read -r {first} {second}; do probe line \"${first}\" \"${second}\"; done < <(printf '%s\\n' {self.word()} {self.word()})",
            f"printf '%s\\n' {self.word()} {self.word()} | while read -r {first}; do probe piped \"${first}\"; done",
        ))  # fmt: skip

    def positional(self) -> str:
        rng = self.rng
        return rng.choice((
            f"set -- {self.word()} {self.word()} {self.word()}", f'set -- "$@" {self.word()}', "shift || true", "shift 2 || true",
            'probe "$#" "$@"', 'probe "${@:2}"', 'probe "${@:1:2}"', 'probe "$*"', "probe $*", 'probe "x${@}y"', 'set -- "${@:2}"',
        ))  # fmt: skip

    def options(self) -> str:
        return self.rng.choice((
            "set -e", "set +e", "set -u", "set +u", "set -f", "set +f", "set -o pipefail", "set -a", "set +a", "IFS=,", "IFS=$' \\t\\n'", "unset IFS",
        ))  # fmt: skip

    def export(self) -> str:
        rng = self.rng
        name = rng.choice(EXPORTED)
        return rng.choice((
            f"export {name}", f"export {name}={self.word(single=True)}", f"unset {name}", f"export {rng.choice(NAMES)}",
            f"export -n {name}", f"{name}={self.word(single=True)}", f": ${{{name}:={rng.choice(SIMPLE)}}}",
        ))  # fmt: skip

    def declaration(self) -> str:
        kind = self.rng.choice("ixula")
        name = f"declared_{kind}"
        value = self.word(single=True)
        if kind == "i":
            value = f'"{self.expression()}"'
        elif kind == "a":
            value = f"({self.word()} {self.word()})"
        return f'declare -{kind} {name}={value}\nprobe "${{{name}}}"'

    def nested(self) -> str:
        rng = self.rng
        words = " ".join(self.word() for _ in range(rng.randint(0, 2)))
        return rng.choice((
            f"bash sub/echo.sh {words}", f"./sub/echo.sh {words}", f"bash sub/options.sh --model {self.word()} {words}",
            f"MODE={self.word(single=True)} bash sub/options.sh --steps=5 --flag {words}", f"rank={self.word(single=True)}\nenv RANK=\"$rank\" bash sub/echo.sh {words}",
            f"nohup bash sub/echo.sh {words}", f"timeout 5 bash sub/options.sh {words}", f"source conf/env.sh\nfrom_env {words}",
            f". conf/env.sh {words}\nprobe \"$SOURCED\"", f"bash -c 'probe \"$0\" \"$@\" \"${{MODE-}}\"' zero {words}", f"bash sub/echo.sh {words} &\nwait",
            f'bash -c "probe {rng.choice(SIMPLE)} $i"', f"sh -c 'probe $# $1' x {words}", f"exec_result=$(bash sub/echo.sh {words})", f"command probe {words}",
        ))  # fmt: skip

    def list_of_commands(self) -> str:
        rng = self.rng
        first, second, third = self.condition(), self.probe(), self.probe()
        return rng.choice((
            f"{first} && {second}", f"{first} || {second}", f"{first} && {second} || {third}", f"! {first} && {second}",
            f"{{ {first} && {second}; }} || {third}", f"{second}; {third}", f"{first} || exit_code=$?\nprobe \"${{exit_code:-0}}\"",
            "false || probe after", f"true && {second}", f"probe background {self.word()} &\nwait", "probe $?", "false\nprobe $?",
        ))  # fmt: skip

    def here_document(self) -> str:
        self.here += 1
        quote = self.rng.choice(("", "", "'"))
        end = f"END{self.here}"
        body = f"first $name {self.rng.choice(SIMPLE)}\n\\$escaped $((i + 1)) `echo tick` ${{path:-none}}"
        return self.rng.choice((
            f"cat > /tmp/here{self.here}.txt <<{quote}{end}{quote}\n{body}\n{end}\nprobe \"$(cat /tmp/here{self.here}.txt)\"",
            f"text=$(cat <<{quote}{end}{quote}\n{body}\n{end}\n)\nprobe \"$text\"",
            f"while read -r name rest; do\n    probe \"$name\" \"$rest\"\ndone <<{quote}{end}{quote}\n{body}\n{end}",
            f"IFS= read -r text <<{quote}{end}{quote}\n{body}\n{end}\nprobe \"$text\"",
        ))  # fmt: skip

    def print_to_variable(self) -> str:
        name = self.rng.choice(NAMES)
        return self.rng.choice((
            f"printf -v {name} '%s-%03d' \"{self.inner()}\" {self.rng.randint(0, 50)}", f"printf -v {name} '%5s|%-4s|' ab c",
            f"printf -v {name} '%s,' {self.word()} {self.word()}", f"printf -v {name} '%q' {self.rng.choice(SIMPLE)}",
        ))  # fmt: skip

    def evaluation(self) -> str:
        name = self.rng.choice(NAMES)
        return self.rng.choice((
            f"eval '{name}=\"evaluated $i\"'", f"eval \"{name}=$j\"", "eval 'probe evaluated \"$name\"'", f'ref={name}\nprobe "${{!ref}}"',
            'eval "probe $i $j"',
        ))  # fmt: skip

    def directory(self) -> str:
        return self.rng.choice((
            "cd data && probe *.txt; cd ..", "(cd sub && probe \"$PWD\")", "cd data && probe \"$(basename \"$PWD\")\" && cd - > /dev/null",
            'here=$(cd "$(dirname "$0")" && pwd)\nprobe "$here"', "pushd sub > /dev/null\nprobe *\npopd > /dev/null",
            'probe "${BASH_SOURCE[0]}" "$0"', "echo one > /tmp/made.txt\nprobe $(cat /tmp/made.txt) $(<a.txt)",
        ))  # fmt: skip

    def files(self) -> str:
        """Files that are made, moved and removed, and what globs see of them."""
        rng = self.rng
        one, two = rng.choice(("new", "made", "out")), rng.choice(("x", "y"))
        act = rng.choice((
            f"touch {one}.txt", f"mkdir -p {one}/{two}", f"echo {rng.choice(SIMPLE)} > {one}.txt", f"echo more >> {one}.txt", f"> {one}.txt", f"cp a.txt {one}.txt",
            f"mkdir -p {one} && cp a.txt b.txt {one}", f"mv a.txt {one}.txt", f"rm -f {one}.txt a.txt", f"rm -rf {one} data", f"cp -r data {one}", f"echo t | tee {one}.txt > /dev/null",
            f"ln -s a.txt {one}.txt", f"{{ echo a; echo b; }} > {one}.txt", f"probe > {one}.txt", f"echo x > {one}/{two} || true", f"touch {one}/{two}.txt || true", f"cat a.txt > {one}.txt",
        ))  # fmt: skip
        look = rng.choice((
            "probe *.txt", f"probe {one}/*", "probe */", f"probe {one}*", f"[ -f {one}.txt ] && probe file", f"[[ -d {one} ]] && probe folder || true", f"[ -s {one}.txt ] && probe full",
            f"probe \"$(cat {one}.txt)\"", "for each in *.txt; do probe \"$each\"; done", f"while read -r name; do probe \"$name\"; done < {one}.txt", "probe data/*", f"probe \"$(wc -l < {one}.txt)\"",
        ))  # fmt: skip
        return f"{act}\n{look}"

    def statuses(self) -> str:
        rng = self.rng
        status = rng.choice(("0", "1", "3", "$((i & 3))"))
        return rng.choice((
            f"(exit {status}) | true\nprobe \"${{PIPESTATUS[@]}}\"", f"false | (exit {status})\nprobe \"${{PIPESTATUS[0]}}\" $?", f"(exit {status}) &\nwait $!\nprobe $?",
            f"(exit {status}) & job=$!\nprobe between\nwait $job || probe failed $?", "jobs=(); for t in 1 0; do (exit $t) & jobs+=($!); done\nfor job in \"${jobs[@]}\"; do wait $job || probe failed; done",
            "trap 'probe failed' ERR", "trap - ERR", "set -E", "trap 'probe bye' EXIT", "trap - EXIT", f"(trap 'probe sub' EXIT; exit {status})\nprobe $?", f"name=$(exit {status})\nprobe $?",
            f"local_status() {{ local own=$(exit {status}); probe $?; }}; local_status", f"bash -c 'exit {status}'\nprobe $?", "probe \"$-\"", f"if (exit {status}); then probe yes; else probe no $?; fi",
            f"return {status}\nprobe $?", f"returns() {{ return {status}; }}; returns\nprobe $?", f"eval 'false; (exit {status})' || probe $?", "cd nowhere || probe $?", "probe < nowhere || probe $?",
            "printf '%d' x > /dev/null || probe $?", "[ a b ] || probe $?", "shift 9 || probe $?", "let 0 || probe $?", "set -o pipefail; false | true || probe $?; set +o pipefail",
        ))  # fmt: skip

    def attributes(self) -> str:
        rng = self.rng
        name, value = rng.choice((*EXPORTED, "own")), rng.choice(SIMPLE)
        inside = rng.choice((
            f"local {name}={value}", f"local {name}", f"{name}={value}", f"export {name}={value}", f"unset {name}", f"declare {name}+={value}", f"local {name}+={value}", f"declare -g {name}={value}", "probe only",
        ))  # fmt: skip
        show = f'probe "${{{name}-unset}}"'
        call = rng.choice(("with", f"{name}={value}2 with", f"{name}={value}3 with || true"))
        return rng.choice((
            f"with() {{ {inside}; {show if 'local ' + name != inside else ':'}; }}\n{call}\n{show}", f"readonly fixed{rng.randint(0, 1)}={value} || true\nprobe \"$?\"", f"fixed0={value}\nprobe after",
            f"declare -u upper={value}\nupper+=x\nprobe \"$upper\"", f"declare -l lower={value}\nprobe \"$lower\"", "declare -i number=i+1\nnumber+=2\nprobe $number", f"declare -n alias_of={name}\nprobe \"${{alias_of-unset}}\"\nunset -n alias_of",
            "declare -i numbers=(1+1 2*3)\nnumbers+=(i)\nprobe \"${numbers[@]}\"", f"{name}={value} {rng.choice(('eval', 'command'))} probe \"${name}\"\n{show}", f"export {name}; export -n {name}; probe",
            f"set -a; late={value}; set +a; bash -c 'probe \"$late\"'", f"refers() {{ local -n out=$1; out={value}; }}; refers {name}\n{show}", f"unset {name}; probe \"${{{name}:-none}}\" \"${{{name}+set}}\"",
        ))  # fmt: skip

    def associative(self) -> str:
        rng = self.rng
        key = rng.choice(("a", "key", "$name", '"a b"', "x.y", "$i"))
        first = "declare -A map=([a]=1 [x.y]=two)"
        then = rng.choice((
            f"map[{key}]={self.word(single=True)}", f"map[{key}]+=more", "unset 'map[a]'", f"map+=([new]={self.word(single=True)})", "((map[a]++)) || true", ":", f"map=([only]={rng.choice(SIMPLE)})",
        ))  # fmt: skip
        look = rng.choice((
            'probe "${#map[@]}"', f'probe "${{map[{key}]-none}}"', '[[ -v map[a] ]] && probe has', 'probe "${map[a]:-empty}" "${map[x.y]-}"', 'probe $((map[a] + 1))', 'probe "${map[only]-}" "${map[new]+set}"',
        ))  # fmt: skip
        return f"{first}\n{then}\n{look}"

    def readers(self) -> str:
        rng = self.rng
        text = rng.choice(("one two  three", "a,b,,c", " lead", "back\\\\ slash", "x\\ty", "abc", ""))
        return rng.choice((
            f"read -n {rng.randint(1, 4)} name <<< '{text}' || true\nprobe \"$name\"", f"read name rest <<< '{text}' || true\nprobe \"$name\" \"$rest\"", f"read -r -d , name <<< '{text}' || true\nprobe \"$name\"",
            f"IFS=, read -r -a items <<< '{text}' || true\nprobe \"${{items[@]}}\"", "mapfile -t -n 1 items < data/train.txt\nprobe \"${items[@]}\"", "mapfile -t -s 1 items < data/train.txt\nprobe \"${items[@]}\"",
            f"readarray -t -d , items <<< '{text}'\nprobe \"${{items[@]}}\"", "mapfile items < data/test.txt\nprobe \"${items[@]}\"", f"while read -r -n 2 name; do probe \"$name\"; done <<< '{text}'",
            "while read -r -u 3 name; do probe \"$name\"; done 3< data/train.txt", f"printf '{text}' | while read -r name || [ -n \"$name\" ]; do probe \"$name\"; done", "{ read -r name; read -r path; } < data/train.txt\nprobe \"$name\" \"$path\"",
            f"select name in one two; do probe \"$name\" \"$REPLY\"; break; done <<< {rng.choice('123x')}", "{ echo e >&2; echo o; } > /tmp/both.txt 2>&1\nprobe \"$(cat /tmp/both.txt)\"", "text=$(echo e 2>&1 >&2 | cat; { echo f >&2; } 2>&1)\nprobe \"$text\"",
        ))  # fmt: skip

    def regex(self) -> str:
        rng = self.rng
        pattern = rng.choice((
            "^([a-z]+)/?(.*)$", "[0-9]+", "^a.*", "(a|b)", "b$", "^[[:alpha:]]*$", "[^,]+,", "x{0,1}", "^$", "\\.", "[]a]", "[[:space:]]", "^(.)(.)?", "a+b*c?", "=(.*)",
        ))  # fmt: skip
        return rng.choice((
            f"pattern='{pattern}'\nif [[ \"{self.expansion()}\" =~ $pattern ]]; then probe \"${{BASH_REMATCH[@]}}\" \"${{#BASH_REMATCH[@]}}\"; fi",
            f"[[ \"{self.expansion()}\" =~ {pattern} ]] && probe \"${{BASH_REMATCH[1]-none}}\"",
        ))  # fmt: skip

    def sorted_options(self) -> str:
        rng = self.rng
        words = " ".join(
            rng.choice(
                (
                    "-a",
                    "-b 1",
                    "-b2",
                    "--long",
                    "--value x",
                    "--value=y",
                    "--val z",
                    "rest",
                    "'a b'",
                    "-ab3",
                    "--",
                    "-z",
                    "--none",
                    "''",
                )
            )
            for _ in range(rng.randint(0, 5))
        )
        return rng.choice((
            f"sorted=$(getopt -o ab: --long long,value: -- {words} 2> /dev/null) || probe failed\neval set -- \"$sorted\"\nprobe \"$@\"", f"set -- {words}\nOPTIND=1\nwhile getopts ':ab:' each; do probe \"$each\" \"${{OPTARG-}}\"; done\nprobe $OPTIND",
            f"OPTIND=1\nwhile getopts 'ab:' each {words}; do probe \"$each\" \"${{OPTARG-}}\"; done",
        ))  # fmt: skip

    def shell_option(self) -> str:
        rng = self.rng
        return rng.choice((
            "shopt -s nullglob\nprobe nomatch* [ x ] l=[a,b] *.txt\nshopt -u nullglob", "shopt -s dotglob\nprobe data/*\nshopt -u dotglob", "shopt -s globstar\nprobe **/*.txt\nshopt -u globstar",
            "shopt -s nocasematch\n[[ ALPHA == alpha ]] && probe same\nshopt -u nocasematch", "shopt -s lastpipe\necho piped | read -r name\nprobe \"$name\"\nshopt -u lastpipe", "[[ -o errexit ]] && probe on || probe off",
            "shopt -s inherit_errexit", "shopt -u inherit_errexit", "[ -f a.txt ] && shopt -s nullglob && [ -d data ] && probe both; shopt -u nullglob",
        ))  # fmt: skip

    def unknown_words(self) -> str:
        """Lists of which nobody knows how long they are: `output` prints nothing."""
        rng = self.rng
        look = rng.choice(
            (
                'probe "$@"',
                "probe $#",
                'probe "${1-}" "${2-none}"',
                "for each; do :; done; probe end",
                'probe "${@:2}"',
                'shift || true; probe "$@"',
            )
        )
        array = rng.choice(
            (
                'probe "${list[@]}"',
                'probe "${#list[@]}"',
                'probe "${list[0]-}" "${list[1]-none}"',
                'probe "${list[@]/#/--}"',
                'probe "${list[*]}"',
                'probe "${!list[@]}"',
            )
        )
        return rng.choice((
            f"set -- a $(output) b\n{look}\nset --", f"set -- $(output)\n{look}\nset --", f"list=(a $(output) b)\n{array}", f"list=($(output))\n{array}",
            'passes() { probe "$@"; }; passes a $(output) b', "eval \"probe $(output) x '$(output)'\"",
        ))  # fmt: skip

    def if_command(self) -> str:
        parts = [f"if {self.condition()}; then", self.block()]
        if self.rng.random() < 0.3:
            parts += [f"elif {self.condition()}; then", self.block(1, 2)]
        if self.rng.random() < 0.6:
            parts += ["else", self.block(1, 2)]
        return "\n".join([*parts, "fi"])

    def case(self) -> str:
        rng = self.rng
        subject = rng.choice((f'"{self.expansion()}"', self.expansion(), f"${rng.choice(NAMES)}", '"${1-}"'))
        arms = []
        for _ in range(rng.randint(1, 3)):
            patterns = " | ".join(rng.choice(PATTERNS) for _ in range(rng.randint(1, 2)))
            arms += [
                f"{rng.choice(('', '('))}{patterns})",
                self.block(1, 2),
                rng.choice((";;", ";;", ";;", ";&", ";;&")),
            ]
        return "\n".join([f"case {subject} in", *arms, "*)", self.block(1, 1), ";;", "esac"])

    def for_words(self) -> str:
        words = " ".join(self.word() for _ in range(self.rng.randint(0, 3)))
        head = self.rng.choice(
            (
                f"for each in {words}; do",
                "for each; do",
                'for each in "$@"; do',
                'for each in "${items[@]}"; do',
                "for each in {1..3}; do",
                "for each in $(seq 1 3); do",
                'for each in ${items[@]+"${items[@]}"}; do',
            )
        )
        ends = self.rng.choice(("", "", "    [[ $each == a* ]] && continue\n", '    [ "$each" = 2 ] && break\n'))
        return f'{head}\n{ends}    probe "$each"\n{self.block(1, 1)}\ndone'

    def for_arithmetic(self) -> str:
        name = "t" if self.depth < 2 else "s"
        head = self.rng.choice(
            (
                f"(({name} = 0; {name} < 3; {name}++))",
                f"(({name}=3;{name}>0;{name}--))",
                f"(({name} = 1; {name} <= 9; {name} *= 3))",
            )
        )
        return f'for {head}; do\n    probe "${name}" $(({name} * 2))\n{self.block(1, 1)}\ndone'

    def while_loop(self) -> str:
        name = f"turn{self.depth}"
        test = self.rng.choice(
            (f"while [ ${name} -lt 3 ]; do", f"while (({name} < 2)); do", f"until [[ ${name} -ge 2 ]]; do")
        )
        return f"{name}=0\n{test}\n    {name}=$(({name} + 1))\n{self.block(1, 2)}\ndone"

    def group(self) -> str:
        opening, closing = self.rng.choice((("(", ")"), ("{", "}"), ("{", "} > /dev/null"), ("(", ") 2>&1")))
        return f"{opening}\n{self.block(1, 3)}\n{closing}"

    def pipeline(self) -> str:
        rng = self.rng
        name = rng.choice(NAMES)
        return rng.choice((
            f"probe {self.word()} | tee /tmp/log.txt", f"{name}=$(printf '%s\\n' {self.word()} {self.word()} | head -n 1)", f"{name}=$(echo {rng.choice(SIMPLE)} | tr a-z A-Z)",
            f"{name}=$(echo a,b,c | cut -d, -f2)", f"{name}=$(printf '%s\\n' {self.word()} b | wc -l)", f"probe {self.word()} | probe {self.word()}",
            "{ probe left; false; } | probe right\nprobe $?", f"echo {self.word()} | {{ read -r {name}; probe \"${name}\"; }}", f"bash sub/echo.sh {self.word()} 2>&1 | tee /tmp/log.txt",
            f"{name}=$(echo \"${name}\" | cat)", "false | probe piped",
        ))  # fmt: skip

    def function(self) -> str:
        name = f"f{len(self.functions)}"
        outer, self.in_function = self.in_function, True
        end = self.rng.choice(("", "", "\n    return 3", "\n    return $((i & 1))", "\n    echo result"))
        body = self.block(1, 3)
        self.in_function = outer
        opening = self.rng.choice((f"{name}() {{", f"function {name} {{", f"{name} () {{"))
        self.functions.append(name)
        words = f"{self.word()} {self.word()}"
        call = self.rng.choice(
            (
                f"{name} {words}",
                f"{name} {words} || probe failed $?",
                f'got=$({name} {words}) || true\nprobe "$got"',
            )
        )
        return f'{opening}\n    local first=${{1-}} second="${{2:-none}}"\n    probe "$first" "$second" $#\n{body}{end}\n}}\n{call}'

    def option_loop(self) -> str:
        return f"""\
set -- --model {self.word(single=True)} --steps {self.rng.randint(1, 9)} {self.rng.choice(("--flag", "--name=x", "", "tail"))} {self.word()}
while [[ $# -gt 0 ]]; do
    case $1 in
        --model) model="$2"; shift 2 ;;
        --steps) steps=$2; shift; shift ;;
        --flag) flag=true; shift ;;
        --*=*) key="${{1%%=*}}"; value="${{1#*=}}"; shift; probe "${{key#--}}" "$value" ;;
        *) break ;;
    esac
done
probe "$model" "$steps" ${{flag:-false}} "$@\""""

    # ---- conditions

    def condition(self) -> str:
        rng = self.rng
        word, other = f'"{self.expansion()}"', f'"{self.inner()}"'
        return rng.choice((
            f"[ -z {word} ]", f"[ -n {word} ]", f"[ {word} = {other} ]", f"[ {word} != alpha ]", f"[[ {self.expansion()} == {rng.choice(PATTERNS)} ]]",
            f"[[ {word} != {rng.choice(PATTERNS)} ]]", f"[[ -n {self.expansion()} && {word} == {other} ]]", "[ $i -gt 3 ]", "[ $i -le $j ]", "[[ $i -eq j ]]",
            "((i > j))", "[ -f data/train.txt ]", "[ -d data ]", "[[ -e nowhere ]]", "[ ! -s b.txt ]", f"test {word} = alpha", "[[ ${items[*]-} =~ ^a ]]",
            '[[ $name =~ ^([a-z]+)([0-9]*)$ ]]', "[ $# -gt 1 ]", "[[ -v MISSING ]]", "[[ -z ${MISSING-} || -n ${name-} ]]", f"[ {word} \\< beta ]", f"[[ {word} < beta ]]",
            "[ -n \"$name\" -a -n \"$path\" ]", "[[ ! ( $i -lt 0 || $j -lt 0 ) ]]", "[[ -d sub && ! -f sub ]]", "true", "false",
        ))  # fmt: skip

    # ---- words

    def word(self, *, single: bool = False) -> str:
        """A word; with `single` one that is fit for the right side of an assignment."""
        rng = self.rng
        kinds: list[tuple[int, Callable[[], str]]] = [
            (8, lambda: rng.choice(SIMPLE)), (10, lambda: self.quoted(rng.choice(TEXTS))), (12, lambda: f'"{self.expansion()}"'), (10, self.expansion),
            (7, lambda: f'"{self.inner()}"'), (5, lambda: f"{rng.choice(SIMPLE)}{self.expansion()}"), (4, lambda: f'{rng.choice(("--x=", "a.b=", "pre"))}"{self.expansion()}"'),
            (4, lambda: f"$(({self.expression()}))"), (5, self.substitution), (2, lambda: rng.choice(("~", "~/x", "x~"))),
        ]  # fmt: skip
        if not single:
            kinds += [
                (6, self.list_expansion), (3, lambda: rng.choice(("*.txt", "data/*", "[ab].txt", "?.txt", "nomatch*", "sub/*.sh", "*/", "data/.*n", "l=[a,b]", "*"))),
                (4, lambda: rng.choice(("{a,b}", "x{1..3}y", "{a,b}{1,2}", "pre{,x}", "{a:1,b:2}", "{a:1}", "{3..1}", "{01..3}", '{"a b",c}', "{$i,$j}", "{a..e..2}", "[{a,b}]"))),
            ]  # fmt: skip
        return rng.choices([each for _, each in kinds], [weight for weight, _ in kinds])[0]()

    def quoted(self, text: str) -> str:
        """A text written so that it stands for itself."""
        escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`")
        ansi = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t")
        styles = ["'" + text.replace("'", "'\\''") + "'", f'"{escaped}"', f"$'{ansi}'"]
        if text and "\n" not in text:
            styles.append("".join(each if each.isalnum() or each in "/.,:=-_" else f"\\{each}" for each in text))
        if len(text) > 2 and "'" not in text:
            styles.append(f"\"{text[:1].translate({34: None, 36: None, 92: None, 96: None})}\"'{text[1:]}'")
        return self.rng.choice(styles)

    def scalar(self) -> str:
        return self.rng.choice(
            (*NAMES, *NAMES, *EXPORTED, *NUMBERS, *UNSET, "GIVEN", "1", "2", "items[0]", "items[1]", "opts[2]")
        )

    def default(self) -> str:
        """The word after `:-` and kin."""
        return self.rng.choice(
            (
                *SIMPLE,
                "",
                "two words",
                "'q r'",
                '"q r"',
                "$i",
                "${path}",
                "a*",
                "$(echo sub)",
                "~",
                "${rest:-deep}",
                '"$name"',
                "\\$x",
                "{a,b}",
            )
        )

    def expansion(self) -> str:
        """One `$…` of a single value."""
        rng = self.rng
        name = self.scalar()
        pattern = rng.choice(PATTERNS).replace('"', "" if rng.random() < 0.5 else '"')
        if name.startswith(("items", "opts")):
            operators = (":-", "-", ":+", "%", "#")
            return f"${{{name}{rng.choice(operators)}{rng.choice(SIMPLE)}}}"
        simple = f"${name}" if name.isidentifier() or name.isdigit() else f"${{{name}}}"
        assignable = name if name in NAMES else "rest"
        return rng.choice((
            simple, simple, simple, f"${{{name}}}", f"${{{name}}}", f"${{{name}:-{self.default()}}}", f"${{{name}-{self.default()}}}", f"${{{assignable}:={rng.choice(SIMPLE)}}}",
            f"${{{name}:+{self.default()}}}", f"${{{name}+{self.default()}}}", f"${{#{name}}}", f"${{{name}#{pattern}}}", f"${{{name}##{pattern}}}", f"${{{name}%{pattern}}}",
            f"${{{name}%%{pattern}}}", f"${{{name}/{self.safe_pattern()}/{rng.choice(('', 'Z', '$i', '_ _'))}}}", f"${{{name}//{self.safe_pattern()}/{rng.choice(('', 'Z', '-', ' '))}}}", f"${{{name}/#a/Z}}",
            f"${{{name}/%a/Z}}", f"${{{name},,}}", f"${{{name}^^}}", f"${{{name}^}}", f"${{{name}:{rng.randint(0, 4)}}}", f"${{{name}:{rng.randint(0, 3)}:{rng.randint(0, 4)}}}", f"${{{name}: -2}}",
            "$#", "$0", f"${{{name}:i}}",
        ))  # fmt: skip

    def safe_pattern(self) -> str:
        return self.rng.choice(("a", "[a-c]", ",", "?", "a*", "\\/", ".", " ", "=", "*b", "[0-9]", "$i", '"*"', "b"))

    def list_expansion(self) -> str:
        array = self.rng.choice(ARRAYS)
        return self.rng.choice((
            '"$@"', "$@", '"$*"', '"${@:2}"', "$*", f'"${{{array}[@]}}"', f"${{{array}[@]}}", f'"${{{array}[*]}}"', f'"${{{array}[@]:1}}"', f'"${{{array}[@]:0:2}}"',
            f'"${{{array}[@]%.txt}}"', f'"${{{array}[@]/a/Z}}"', f'"${{!{array}[@]}}"', f'"pre${{{array}[@]}}post"', f'"${{{array}[@]/#/--}}"', f'${{{array}[0]:+"${{{array}[0]}}"}}', f'"${{{array}[@]^^}}"',
            '${1:+--one "$1"}', '"${@:1:1}"', f'${{{array}+"${{{array}[@]}}"}}',
        ))  # fmt: skip

    def inner(self) -> str:
        """What stands between double quotes."""
        rng = self.rng
        parts = [
            rng.choice(
                (
                    self.expansion,
                    self.expansion,
                    lambda: rng.choice(("a,b,,c", "x y", "1:2", " ", ",", "-", "'", '\\"', "end", "*", "~")),
                )
            )()
            for _ in range(rng.randint(1, 3))
        ]
        return "".join(parts)

    def substitution(self) -> str:
        rng = self.rng
        inside = rng.choice((
            lambda: f"echo {self.word()}", lambda: f"printf '%s' {self.word(single=True)}", lambda: f"printf '%s\\n' {self.word()} {self.word()}", lambda: f"basename -- {self.quoted(rng.choice(SIMPLE))}",
            lambda: f"dirname -- {self.quoted(rng.choice(SIMPLE))}", lambda: f"echo \"{self.expansion()}\"", lambda: "cat data/train.txt", lambda: "seq 2 2 6", lambda: "basename x/y/z.tar.gz .gz",
            lambda: "cd sub && pwd", lambda: "probe unknown_output > /dev/null", lambda: "echo one; echo two", lambda: "echo -n x y", lambda: "echo 'a  b'",
        ))()  # fmt: skip
        text = f"`{inside}`" if rng.random() < 0.15 and not set(inside) & set('`\\$"') else f"$({inside})"
        return f'"{text}"' if rng.random() < 0.5 else text

    def expression(self) -> str:
        rng = self.rng
        first, second = (
            rng.choice((*NUMBERS, "3", "${i}", "$j", "10", "0x1f", "010", "${MISSING:-4}")),
            rng.choice((*NUMBERS, "2", "7", "${k}", "5")),
        )
        return rng.choice((
            first, f"{first} + {second}", f"{first} * ({second} - 1)", f"{first} / {rng.choice(('2', '3', '4'))}", f"{first} % 5", f"{first} > {second} ? {second} : 1", f"{first} << 2",
            f"{first} ** 2", f"{first} & {second}", f"{first} == {second}", f"!{first}", f"-{first}", f"{first} && {second}", f"({first} + {second} - 1) / 4", f"{first}, {second}", f"++i + {second}",
            f"k += {second}", f"~{first}", f"{first} / {second}" if rng.random() < 0.3 else first,
        ))  # fmt: skip
