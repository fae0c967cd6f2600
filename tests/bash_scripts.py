"""Random scripts of the part of bash that launchers use, always ending, harmless, the same for the same seed."""

from __future__ import annotations

import random

_TEXTS = [
    "a",
    "b c",
    "x,y,,z",
    " lead",
    "trail ",
    "",
    "7",
    "08",
    "-3",
    "k=v",
    "a.b=1",
    "[1,2]",
    "['p','q']",
    "{u,v}",
    "it's",
    "~/d",
    "*",
    "m?in.sh",
    "a\\b",
    "#no",
    "--opt",
    "True",
    "1e-6",
    "a:b",
    "p/q.r.s",
]
_SCALARS = ["A", "B", "C", "D"]
_NUMBERS = ["I", "N"]
_LISTS = ["L", "M"]


class ScriptMaker:
    """Makes one script."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.depth = 0
        self.functions = 0
        self.counters = 0

    def script(self) -> str:
        """A script of some lines, with values to begin with."""
        lines = [f"{name}={self.single(self.pick(_TEXTS))}" for name in _SCALARS[:2]]
        lines += [f"I={self.random.randrange(5)}", f"N={self.random.randrange(1, 4)}", f"L=({self.words(0, 3)})"]
        if self.chance(0.2):
            lines.insert(0, self.pick(["set -u", "set -e", "set -f", "set -eu", "set -x"]))
        lines += [self.statement() for _ in range(self.random.randrange(3, 9))]
        lines.append('show end "${A-}" "${B-}" "${L[@]-}" "${#M[@]}" "$I"')
        return "\n".join(lines) + "\n"

    # ---- choices

    def pick(self, values: list[str]) -> str:
        return self.random.choice(values)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def single(self, text: str) -> str:
        return "'" + text.replace("'", "'\\''") + "'"

    # ---- words

    def words(self, low: int, high: int) -> str:
        return " ".join(self.word() for _ in range(self.random.randint(low, high)))

    def word(self) -> str:
        return "".join(self.part() for _ in range(self.pick_size()))

    def word_without_braces(self) -> str:
        while "{1,2}" in (word := self.word()) or "{p..r}" in word:
            pass
        return word

    def pick_size(self) -> int:
        return self.random.choice([1, 1, 1, 2, 3])

    def part(self) -> str:
        kind = self.random.randrange(10)
        if kind < 2:
            return self.pick(["a", "b=", "c/", "1", "x.y=", "--o=", "\\ ", "\\$", "x[", "]", "{1,2}", "{p..r}", "e,"])
        if kind < 4:
            return self.single(self.pick(_TEXTS))
        if kind < 7:
            return '"' + "".join(self.quoted() for _ in range(self.pick_size())) + '"'
        return self.expansion(False)

    def quoted(self) -> str:
        if self.chance(0.4):
            return self.pick(["a", " b ", '\\"', "\\$", "'q'", "[x]", "{y,z}", "*", "\\n", "~"])
        return self.expansion(True)

    def expansion(self, quoted: bool) -> str:
        kind = self.random.randrange(16)
        name = self.pick(_SCALARS)
        if kind < 4:
            return (
                self.pick([f"${name}", f"${{{name}}}"]) + ("" if quoted else self.pick(["", ".x"]))
                if name != "D"
                else "${D}"
            )
        if kind < 6:
            return f"${{{name}{self.pick([':-', '-', ':+', '+'])}{self.default(quoted)}}}"
        if kind == 6:
            return (
                f"${{{name}{self.pick(['#', '##', '%', '%%'])}{self.pick(['*', '?', 'a', '*.', ',*', '[a-m]', '*/'])}}}"
            )
        if kind == 7:
            return f"${{{name}{self.pick(['/', '//', '/#', '/%'])}{self.pick(['a', ' ', ',', '?', '[xy]', '.'])}/{self.pick(['', 'Z', '-', '_q'])}}}"
        if kind == 8:
            return (
                f"${{{name}{self.pick([':1', ':0:2', ': -2', ':1:-1', '^^', ',,', '^'])}}}"
                if name in "AB"
                else f"${{#{name}}}"
            )
        if kind == 9:
            return f"$(({self.arithmetic()}))"
        if kind == 10:
            return self.pick(
                [
                    "${L[@]}",
                    "${L[*]}",
                    "${L[0]}",
                    "${#L[@]}",
                    "${L[1]-}",
                    "${M[@]}",
                    "${L[@]:1}",
                    "${L[@]/a/b}",
                    "${!L[@]}",
                    "${L[I]-none}",
                ]
            )
        if kind == 11:
            return self.pick(["$@", "$*", "$1", "$#", "${@:2}", "${1:-one}", "${2-}"])
        if kind == 12 and self.depth < 2:
            self.depth += 1
            text = f"$({self.pick(['echo', 'printf %s', 'echo -n'])} {self.words(1, 2)})"
            self.depth -= 1
            return text
        return self.pick(["$I", "$N", "${I}", "${N}"])

    def default(self, quoted: bool) -> str:
        return (
            self.pick(["d", "d e", "", "'s t'", '"u v"', "${B-x}", "$N", "a/${A:-b}", "{1,2}", "[k]", "\\}"])
            if not quoted
            else self.pick(["d", "d e", "", "'s'", "${B-x}", "$N", '"w x"', "[k]"])
        )

    def arithmetic(self) -> str:
        if self.depth > 2 or self.chance(0.5):
            return self.pick(
                ["I", "N", "$I", "2", "10", "${N}", "I+1", "N*3", "(I-N)", "7%N", "2**N", "I<<1", "A", "0x1f"]
            )
        self.depth += 1
        text = f"{self.arithmetic()} {self.pick(['+', '-', '*', '<', '==', '&&', '||', '&', '%', '/', ','])} {self.arithmetic()}"
        self.depth -= 1
        return text

    # ---- statements

    def statement(self) -> str:
        kinds = [self.assignment, self.assignment, self.show, self.show, self.show, self.reading]
        if self.depth < 2:
            kinds += [
                self.choice,
                self.case,
                self.for_loop,
                self.counting,
                self.while_loop,
                self.function,
                self.chain,
                self.subshell,
                self.arguments,
                self.child,
            ]
        self.depth += 1
        text = self.random.choice(kinds)()
        self.depth -= 1
        return text

    def body(self) -> str:
        return "\n".join(self.statement() for _ in range(self.random.randint(1, 3)))

    def show(self) -> str:
        prefix = self.pick(["", "", "", f"X={self.word()} ", "nohup "])
        return f"{prefix}show {self.words(1, 4)}" + self.pick(
            ["", "", "", " \\\n  " + self.word(), "  # note", " 2>&1"]
        )

    def assignment(self) -> str:
        name = self.pick(_SCALARS)
        return self.pick(
            [
                f"{name}={self.word()}", f"{name}+={self.word()}", f"export {name}={self.word_without_braces()}", f"{name}={self.word()} {self.pick(_SCALARS)}={self.word()}",
                f"{self.pick(_LISTS)}=({self.words(0, 3)})", f"{self.pick(_LISTS)}+=({self.words(0, 2)})", f"L[{self.pick(['0', '2', 'I', '$N', 'I+1'])}]={self.word()}",
                f"I=$(({self.arithmetic()}))", f"((I{self.pick(['++', '+=2', '=3', '--'])}))", f"declare {name}={self.word_without_braces()}", f": ${{{name}:={self.default(False)}}}", f"unset {name}",
                f"printf -v {name} '%s-%s' {self.word()} {self.word()}", f"read -r {name} <<< {self.word()}",
            ]
        )  # fmt: skip

    def reading(self) -> str:
        separator = self.pick(["IFS=,", "IFS=:", "", "IFS=", "IFS=', '"])
        names = self.pick(["A", "A B", "A B C", "-a L"])
        return f"{separator} read -r {names} <<< {self.word()}".strip() + '\nshow read "$?" "${A-}" "${B-}" "${L[@]-}"'

    def condition(self) -> str:
        left, right = self.word(), self.word()
        return self.pick(
            [
                f'[ "{self.expansion(True)}" = {self.single(self.pick(_TEXTS))} ]', f"[[ {left} == {self.pick(['a*', '?', '*,*', chr(34) + 'a' + chr(34) + '*', right])} ]]", f"[ -n {left} ]", f"[ -z {left} ]", f"[[ -z {left} ]]",
                f"[ $I {self.pick(['-gt', '-le', '-eq', '-ne'])} {self.pick(['2', '$N', '$A'])} ]", f"[[ I -lt {self.pick(['3', 'N', '$N'])} ]]", f"(({self.arithmetic()}))", "true", "false", "! true", f"[[ -n {left} && {right} != a ]]", f"[[ {left} || -z {right} ]]",
                f"[ {left} ]", f"[[ -v {self.pick(_SCALARS)} ]]", f"[ $# -gt {self.pick(['0', '1', '2'])} ]", f"[ {left} = {right} ]", f"[[ {left} =~ {self.pick(['^a', 'b.c', '[0-9]+', ',', '^$', '(a|b)$'])} ]]",
            ]
        )  # fmt: skip

    def choice(self) -> str:
        text = f"if {self.condition()}; then\n{self.body()}\n"
        if self.chance(0.3):
            text += f"elif {self.condition()}; then\n{self.body()}\n"
        if self.chance(0.5):
            text += f"else\n{self.body()}\n"
        return text + "fi"

    def case(self) -> str:
        arms = [
            f"{self.pick(['a', 'a*', chr(39) + '*' + chr(39), '?', '*,*', '--*|-?', '[0-9]', chr(34) + '$B' + chr(34), '$B', chr(34) + chr(34)])}) {self.show()}\n {self.pick([';;', ';;', ';&', ';;&'])}"
            for _ in range(self.random.randint(1, 3))
        ]
        return f"case {self.word()} in\n" + "\n".join(arms) + f"\n*) {self.show()}\nesac"

    def for_loop(self) -> str:
        variable = self.pick(["A", "E"])
        words = self.pick([self.words(0, 3), '"${L[@]}"', "${L[@]}", '"$@"', "{1..3}", "$A"])
        return f'for {variable} in {words}; do\n{self.body()}\nshow each "${variable}"{self.stop()}\ndone'

    def stop(self) -> str:
        return self.pick(["", "", "\n" + self.condition() + " && break", "\n" + self.condition() + " && continue"])

    def counter(self) -> str:
        self.counters += 1
        return f"k{self.counters}"

    def counting(self) -> str:
        name = self.counter()
        return f"for (({name}={self.pick(['0', '1', 'N'])}; {name}<{self.pick(['3', 'N', 'N+1'])}; {name}{self.pick(['++', '+=1', '+=2'])})); do\n{self.body()}\nshow count ${name}\ndone"

    def while_loop(self) -> str:
        name = self.counter()
        if self.chance(0.3):
            return f'while read -r {self.pick(["A", "A B"])}; do\nshow line "${{A-}}" "${{B-}}"\ndone < <(printf \'%s\\n\' {self.words(1, 3)})'
        return f"{name}=0\nwhile [ ${name} -lt {self.pick(['2', '3'])} ]; do\n{name}=$(({name} + 1))\n{self.body()}{self.stop()}\ndone"

    def function(self) -> str:
        self.functions += 1
        name = f"f{self.functions}"
        local = self.pick(["", f"local A={self.word()}\n", "local B\n", f"local -a L=({self.words(0, 2)})\n"])
        end = self.pick(["", "", f"\nreturn {self.random.randrange(3)}", f"\n{self.condition()}"])
        return (
            f'{name}() {{\n{local}{self.body()}\nshow in "$#" "$@"{end}\n}}\n{name} {self.words(0, 3)}\nshow status $?'
        )

    def chain(self) -> str:
        return f"{self.condition()} {self.pick(['&&', '||'])} {self.show_plain()} {self.pick(['&&', '||'])} {self.show_plain()}"

    def show_plain(self) -> str:
        return f"show {self.words(1, 2)}"

    def subshell(self) -> str:
        return self.pick(
            [
                f"( {self.body()}\n)",
                f"{{ {self.show_plain()}; {self.assignment()}; }}",
                f'A=$({self.pick(["echo", "printf %s"])} {self.words(0, 2)}; {self.pick(["true", "false", "exit 3"])})\nshow sub $? "$A"',
                f'echo {self.words(1, 2)} | while read -r A; do show piped "$A"; done',
            ]
        )

    def arguments(self) -> str:
        return self.pick(
            [
                f"set -- {self.words(1, 3)}",
                "shift",
                "shift 2",
                f'set -- "$@" {self.word()}',
                'for A; do show arg "$A"; done',
            ]
        )

    def child(self) -> str:
        return self.pick(
            [
                'export A B\nbash -c \'show child "${A-}" "${B-}" "${C-}" "$0" "$@"\' zero ' + self.words(0, 2),
                'bash <<EOF\nshow inner ${A-} "$N"\nEOF',
                'while read -r A; do show doc "$A"; done <<EOF\n$N ${B-} x\\\ny\n\\$I `echo z`\nEOF',
                f"eval 'show evaluated' {self.pick(['a', chr(39) + '$N' + chr(39), '$I', '$N b'])}",
            ]
        )


def make_script(seed: int) -> str:
    """The script of a seed."""
    return ScriptMaker(seed).script()
