"""Launchers looked at as they stand: nobody knows the arguments and the environment."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bash_oracle import Checkout
from verlint.languages.bash.command import Command
from verlint.languages.bash.replay import Entry, Path, Resolution, explore
from verlint.languages.bash.wrappers import program_name
from verlint.source import Source
from verlint.value import MAY_SET, Literal, Text


def resolve(text: str, files: Mapping[str, str] | None = None) -> Resolution:
    """All paths of a launcher in an open world."""
    given = {**(files or {}), "run.sh": text}
    checkout = Checkout(given)
    source = checkout.source("run.sh")
    assert source is not None
    return explore([source], checkout, Entry(name="run.sh"))


def started(path: Path) -> list[Command]:
    """The programs of a path."""
    return [command for command in path.commands if not command.builtin and not command.function]


def shown(command: Command) -> str:
    """The words of a command, elastic ones with a star."""
    return " ".join(("*" if word.elastic else "") + word.shown for word in command.argv)


def programs(text: str, files: Mapping[str, str] | None = None) -> list[list[str]]:
    """The programs of each path."""
    return [[shown(command) for command in started(path)] for path in resolve(text, files).paths]


def only(text: str, files: Mapping[str, str] | None = None) -> Command:
    """The one program of a launcher with one path."""
    (path,) = resolve(text, files).paths
    (command,) = started(path)
    return command


def trail(word: Text) -> list[str]:
    """The steps of provenance of a word: line and text."""
    return [hop.note or (f"{hop.span.begin.line}: {hop.span.text}" if hop.span else "") for hop in word.trail()]


def kinds(resolution: Resolution) -> list[str]:
    """The kinds of notes of the first path."""
    return [note.kind for note in resolution.paths[0].notes]


# ---- unknowns


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("train $A\n", [["train *${A}"]]),
        ('train "$A" x$A "x$A/y"\n', [["train ${A} x${A} x${A}/y"]]),
        ("train $name ${name}x end\n", [["train x end"]]),  # a name in lower case does not come from outside
        ("train ${A:-d} ${A-e}\n", [["train d e"]]),
        ("train ${A:-} ${B:-$A}\n", [["train *${A} *${A}"]]),
        (': "${A:=d}"\ntrain $A\n', [["train d"]]),
        (': "${A:?folder}"\ntrain $A\n', [["train *${A}"]]),
        ("train ${A:+--x $A} end\n", [["train end"], ["train --x *${A} end"]]),
        ("train ${#A} $((A + 1)) ${A,,} ${A##*/}\n", [["train ${#A} $((A + 1)) *${A} *${A##*/}"]]),
        ('A=$(date)\ntrain "$A" "$A"\n', [["date", "train $(date) $(date)"]]),
        ("train $RANDOM $$ $(hostname)\n", [["hostname", "train *${RANDOM} $$ *$(hostname)"]]),
        ('train "$@" $@ x"$@"\n', [["train *$@ *$@ *x$@"]]),
        ('train "$1" "${@:2}" "${@:1:2}" "${@: -1}"\n', [["train $1 *${@:2} *${@:1:2} *${@: -1}"]]),
        ('set -- a b "$@"; train "${@:2:1}" "${@:1:2}" "${@:2}"\n', [["train b a b b *$@"]]),
        ('train $1 "${2:-d}" $#\n', [["train *$1 d *$#"]]),
        ("read -r a b\ntrain $a\n", [["train *${a}"]]),
        ("cd sub\ntrain $PWD/x\n", [["train ${PWD}/sub/x"]]),
        ('D=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)\ntrain $D/x\n', [["dirname run.sh", "train ${PWD}/x"]]),
        ('unset A\ntrain "[$A]"\n', [["train []"]]),
        ("set -u\ntrain $lower\n", [["train *${lower}"]]),
        ('set -- a $(list)\ntrain "$@" "$1" "$2" $#\n', [["list", "train a *$(list) a $(list) $#"]]),
        ('a=($(list))\ntrain "${a[@]}" "${#a[@]}" "${a[0]}"\n', [["list", "train *$(list) ${#a[@]} $(list)"]]),
        ('b=(x $A y)\ntrain "${b[@]}" ${#b[@]} "$b" "${b[*]}"\n', [["train x *${A} y ${#b[@]} x x${A} y"]]),
        ('run() { train "$@" $#; }\nrun --a $A $B\n', [["train --a *${A} *${B} 3"]]),  # a call passes one word for each
        ('for f in $A/*.txt; do train "$f"; done\n', [["train ${A}/<*.txt>"]]),
        ("train /data/*.json key=$A/*.txt [$A]\n", [["train */data/<*.json> key=${A}/*.txt [${A}]"]]),
        ("eval \"train '$HOME' $A y\"\n", [["train ${HOME} *${A} y"]]),
        ("exec 3< <(echo one; echo two)\nread -r x <&3\nread -r y <&3\ntrain $x $y\n", [["train one two"]]),
        ("exec {fd}> out\necho hi >&$fd\ntrain $(cat out)\n", [["cat out", "train hi"]]),
        ('for v in ${!NCCL_@}; do train "$v"; done\n', [["train ${NCCL_}"]]),
        ('NCCL_A=1; train ${!NCCL_@} "${!own_*}" end\n', [["train NCCL_A *${NCCL_}  end"]]),
        ("env -u A sh -c 'train ${A:-d} ${B}'\n", [["env -u A sh -c train ${A:-d} ${B}", "train d *${B}"]]),
        ("env -i C=1 sh -c 'train [${B}]'\n", [["env -i C=1 sh -c train [${B}]", "train []"]]),
        ("unset A; sh -c 'train ${A:-d}'\n", [["sh -c train ${A:-d}", "train d"]]),
        ('y=${A}b; train "${y^}" "${y^^}"\n', [["train ${y^} ${A}B"]]),
        ('PY=$(which python3)\n"$PY" train.py\n', [["which python3", "${…}/python3 train.py"]]),
    ],
)
def test_unknown_values(text: str, paths: list[list[str]]) -> None:
    assert programs(text) == paths


def test_paths_do_not_see_what_others_change() -> None:
    text = (
        "A=(1 2) B=x\n"
        'if [ "$MODE" = long ]; then A[0]=9; B+=y; export B; fi\nprogram "${A[@]}" $B\n'
        'if [ "$SIZE" = big ]; then A+=(3); unset B; fi\nprogram "${A[@]}" [$B]\n'
    )
    assert programs(text) == [
        ["program 1 2 x", "program 1 2 [x]"],
        ["program 9 2 xy", "program 9 2 [xy]"],
        ["program 1 2 x", "program 1 2 3 []"],
        ["program 9 2 xy", "program 9 2 3 []"],
    ]


def test_formats_with_widths_are_known() -> None:
    text = "show \"$(printf '%05d|%-4s|%4s|%3d' 7 ab cd 12)\" $(printf %08.3f 2.5)\n"
    assert programs(text) == [["show 00007|ab  |  cd| 12 0002.500"]]


def test_options_sorted_by_getopt_are_followed() -> None:
    text = """\
OPTS=$(getopt -o m: --long model:,lr: -n run -- "$@") || exit 1
eval set -- "$OPTS"
MODEL=base
while true; do
    case "$1" in
        -m | --model) MODEL=$2; shift 2 ;;
        --lr) LR=$2; shift 2 ;;
        --) shift; break ;;
    esac
done
train $MODEL "$LR" "$@"
"""
    assert programs(text) == [["getopt -o m: --long model:,lr: -n run -- *$@", "train base <--lr> *$@"]]


@pytest.mark.parametrize(
    ("letters", "given", "ordered"),
    [
        ("fx::m:", "-fxy -m big -x --lr=3 rest -fm 5", "-f -x y -m big -x  --lr 3 -f -m 5 -- rest"),
        ("+fm:", "-f rest -m 5", "-f -- rest -m 5"),
        ("-fm:", "-f rest -m 5", "-f rest -m 5 --"),
    ],
)
def test_given_options_are_sorted_as_getopt_does(letters: str, given: str, ordered: str) -> None:
    call = f'getopt -o {letters} --long lr: -- "$@"'
    assert programs(f'set -- {given}\neval set -- "$({call})"\nshow "$@"\n')[0][-1] == f"show {ordered}"


@pytest.mark.parametrize(
    ("left", "right", "answer"),
    [
        ("$A", "$A", True),
        ("x$A", "x$A", True),
        ("$A", "$B", None),
        ("x$A", "y$A", False),
        ("$A/x", "$A/y", False),
        ("${A:-d}", "d", True),
        ("$(date)", "$(date)", None),
        ("$((A + 1))", "$((A + 1))", True),
        ("$((A + 1))", "$((A + 2))", None),
    ],
)
def test_equality_of_unknowns(left: str, right: str, answer: bool | None) -> None:
    command = started(resolve(f'train "{left}" "{right}"\n').paths[0])[-1]
    assert command.argv[1].same_as(command.argv[2]) is answer


def test_a_remembered_output_is_one_unknown() -> None:
    command = started(resolve('A=$(date)\ntrain "$A" "$A"\n').paths[0])[-1]
    assert command.argv[1].same_as(command.argv[2]) is True


def test_defaults_may_be_replaced() -> None:
    command = only('ROOT=${ROOT:-/data}\ntrain "$ROOT/x" /data/y\n')
    assert [[getattr(part, "overridable", None) for part in word.parts] for word in command.words] == [
        ["ROOT", ""],
        [""],
    ]


# ---- options


LOOP = """\
MODEL=base
while [[ $# -gt 0 ]]; do
  case "$1" in
    --model) MODEL="$2"; shift 2 ;;
    --ckpt|-c) CKPT="$2"; shift 2 ;;
    --len=*) LEN="${1#*=}"; shift ;;
    --fast) FAST=1; shift ;;
    *) break ;;
  esac
done
"""


def test_options_are_named_unknowns() -> None:
    command = only(LOOP + 'train "$MODEL" "$CKPT" "$LEN" "$FAST" "$@"\n')
    assert shown(command) == "train base <--ckpt> <--len> <--fast> *$@"
    assert [hole.reason for word in command.words for hole in word.holes] == [
        "option --ckpt",
        "option --len",
        "option --fast",
        "arguments of the caller",
    ]
    assert getattr(command.words[0].parts[0], "overridable", "") == "--model"


def test_given_arguments_come_before_unknown_ones() -> None:
    text = 'bash one.sh --ckpt 800 "$@"\n'
    files = {"one.sh": LOOP + 'train "$MODEL" "$CKPT" "$LEN" "$@"\n'}
    assert programs(text, files) == [["bash one.sh --ckpt 800 *$@", "train base 800 <--len> *$@"]]


def test_given_overrides_end_the_options() -> None:
    text = 'bash one.sh --ckpt 800 a.b=1 "$@"\n'
    files = {"one.sh": LOOP + 'train "$CKPT" "[$LEN]" "$@"\n'}
    assert programs(text, files)[0] == ["bash one.sh --ckpt 800 a.b=1 *$@", "train 800 [${LEN}] a.b=1 *$@"]


def test_options_of_a_function_that_gets_all_arguments() -> None:
    text = "main() {\n" + LOOP + 'train "$MODEL" "$CKPT" "$@"\n}\nmain "$@"\n'
    assert programs(text) == [["train base <--ckpt> *$@"]]


@pytest.mark.parametrize(
    "loop",
    [
        'while getopts "n:v" o; do case $o in n) N=$OPTARG ;; v) V=1 ;; *) exit 1 ;; esac; done',
        'for a in "$@"; do case $a in -n=*) N="${a#*=}" ;; -v) V=1 ;; esac; done',
        'for a; do case "$a" in -n=*) N="${a#*=}" ;; -v) V=1 ;; esac; done',
    ],
)
def test_other_option_loops(loop: str) -> None:
    assert programs(f'N=4\n{loop}\ntrain "$N" "$V"\n') == [["train 4 <-v>"]]


def test_the_arms_of_an_option_loop_run_with_their_options() -> None:
    loop = 'for a in "$@"; do case $a in -n=*) show "${a#*=}" ;; -v) show $a ;; esac; done'
    assert programs(f"{loop}\n") == [["show <-n>", "show -v"]]


# ---- paths


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        (
            'if [ -z "$A" ]; then train a; else train b; fi\n',
            [("A is not set", True, ["train a"]), ("A is not set", False, ["train b"])],
        ),
        (
            'if [ "$A" = x ]; then train a; else train b; fi\n',
            [("${A} is x", False, ["train b"]), ("${A} is x", True, ["train a"])],
        ),
        (
            '[ "$A" = x ] && train a\ntrain b\n',
            [("${A} is x", False, ["train b"]), ("${A} is x", True, ["train a", "train b"])],
        ),
        (
            "case $A in x) train a ;; *) train b ;; esac\n",
            [("${A} is x", False, ["train b"]), ("${A} is x", True, ["train a"])],
        ),
        (
            "if check; then train a; else train b; fi\n",
            [("check succeeds", True, ["check", "train a"]), ("check succeeds", False, ["check", "train b"])],
        ),
        (
            "check && train a || train b\n",
            [("check succeeds", True, ["check", "train a"]), ("check succeeds", False, ["check", "train b"])],
        ),
        (
            "if [ -f $A/x ]; then train a; else train b; fi\n",
            [("${A}/x is a file", False, ["train b"]), ("${A}/x is a file", True, ["train a"])],
        ),
        (
            "if command -v nvcc; then train a; else train b; fi\n",
            [("nvcc is installed", True, ["train a"]), ("nvcc is installed", False, ["train b"])],
        ),
        (  # whoever gives up without a file expects it
            "if [ ! -s $A/x ]; then echo none; exit 2; fi\ntrain a\n",
            [("${A}/x exists", True, ["train a"]), ("${A}/x exists", False, [])],
        ),
        (
            "if [ -d $A/x ]; then echo there; exit 1; fi\ntrain a\n",
            [("${A}/x is a folder", False, ["train a"]), ("${A}/x is a folder", True, [])],
        ),
        *(
            (f"{guard}\ntrain a\n", [("${A}/x exists", True, ["train a"]), ("${A}/x exists", False, [])])
            for guard in (
                "[ -s $A/x ] || exit 1",
                "[[ -s $A/x ]] || { echo none >&2; exit 2; }",
                "test -s $A/x || exit",
                "[ ! -s $A/x ] && exit 3",
                "! [ -s $A/x ] && { echo none; exit 3; }",
                "[ -n x ] && [ -s $A/x ] || exit 1",
                'die() { echo "$1"; exit 1; }; [ -s $A/x ] || die none',
                "set -e; test -s $A/x",
            )
        ),
        *(  # whoever is done with it does not
            (f"{guard}\ntrain a\n", [("${A}/x exists", False, ["train a"]), ("${A}/x exists", True, [])])
            for guard in ("[ -s $A/x ] && exit 0", "[ -s $A/x ] && exit", "[ ! -s $A/x ] || { echo done; exit; }")
        ),
        ("((A > 3)) && train a\n", [("((A > 3))", True, ["train a"]), ("((A > 3))", False, [])]),
    ],
)
def test_undecided_conditions_make_two_paths(text: str, paths: list[tuple[str, bool, list[str]]]) -> None:
    found = resolve(text).paths
    assert [
        (path.conditions[0].text, path.conditions[0].holds, [shown(each) for each in started(path)]) for path in found
    ] == paths
    assert all(len(path.conditions) == 1 for path in found)


@pytest.mark.parametrize(
    ("text", "programs_"),
    [
        ("check || exit 1\ntrain\n", ["check", "train"]),
        ("check && train\n", ["check", "train"]),
        ("until check; do wait_; done\ntrain\n", ["check", "train"]),
        ("while ! check; do wait_; done\ntrain\n", ["check", "train"]),
        ('[ "$A" = "$A" ] && train\n', ["train"]),
        ('[ -n "x$A" ] && train\n', ["train"]),
        ("[[ /a/$A == /* ]] && train\n", ["train"]),
        ('if [ "${RANK:-0}" -eq 0 ]; then train; else sleep infinity; fi\n', ["train"]),
        ("if [ -f there.sh ]; then train; fi\n", ["train"]),
        ("mkdir -p logs\nif [ -d logs ]; then train; fi\n", ["mkdir -p logs", "train"]),
        ("false && train a || train b\n", ["train b"]),
    ],
)
def test_decided_or_expected_conditions_make_one_path(text: str, programs_: list[str]) -> None:
    assert programs(text, {"there.sh": ""}) == [programs_]


def test_each_file_that_is_asked_for_is_expected() -> None:
    text = "[[ -s $A/x && -s $A/y ]] || exit 1\n[ -s $A/z ] || exit 1\ntrain\n"
    assert programs(text)[0] == ["train"]
    first = [(each.text, each.holds) for each in resolve(text).paths[0].conditions]
    assert first == [(f"${{A}}/{name} exists", True) for name in "xyz"]


def test_an_answer_stays_the_same() -> None:
    text = 'if [ -n "$A" ]; then x=1; fi\nif [ -z "$A" ]; then x=2; fi\ntrain "$x"\n'
    assert programs(text) == [["train 2"], ["train 1"]]


def test_guards_stand_around_what_they_guard() -> None:
    text = 'a_ x\nif [ "$A" = x ]; then\n  b_ y\nelse\n  c_ z\nfi\nd_ w\n[ -z "$B" ] && e_\nf_\n'
    found = {
        shown(command): [(guard.text, guard.holds) for guard in command.around.guards]
        for path in resolve(text).paths
        for command in started(path)
    }
    assert found == {
        "a_ x": [],
        "b_ y": [("${A} is x", True)],
        "c_ z": [("${A} is x", False)],
        "d_ w": [],
        "e_": [("B is not set", True)],
        "f_": [],
    }


def test_a_return_leaves_its_guards_behind() -> None:
    text = 'f() { [ -z "$A" ] && return; train a; }\nf\ntrain b\n'
    found = [
        [(shown(each), [guard.text for guard in each.around.guards]) for each in started(path)]
        for path in resolve(text).paths
    ]
    assert found == [[("train b", [])], [("train a", []), ("train b", [])]]


def test_many_paths_are_cut_short_and_it_is_said() -> None:
    text = "".join(f'[ "$A{number}" = x ] && train {number}\n' for number in range(8))
    found = resolve(text)
    assert (len(found.paths), found.cut_short) == (16, True)


# ---- provenance


def test_from_literal_through_assignment() -> None:
    command = only('ROOT=/data\nTRAIN=$ROOT/train\npython3 -m m data.train_files="$TRAIN"\n')
    assert trail(command.argv[3]) == [
        "1: /data",
        "1: ROOT=/data",
        "2: TRAIN=$ROOT/train",
        '3: data.train_files="$TRAIN"',
    ]


def test_from_option_of_the_caller_through_a_nested_script() -> None:
    files = {"one.sh": LOOP + "train ckpt=$CKPT\n"}
    command = started(resolve("STEP=800\nbash one.sh --ckpt $STEP\n", files).paths[0])[-1]
    assert trail(command.argv[1]) == ["1: 800", "1: STEP=800", '5: CKPT="$2"', "11: ckpt=$CKPT"]
    assert [(call.name, str(call.span)) for call in command.around.stack] == [("one.sh", "run.sh:2:1")]


def test_from_a_field_of_a_record() -> None:
    text = 'E="run,50,200"\nIFS=, read -r NAME FIRST LAST <<< "$E"\ntrain $FIRST\n'
    command = only(text)
    assert trail(command.argv[1]) == [
        "1: 50",
        '1: E="run,50,200"',
        '2: IFS=, read -r NAME FIRST LAST <<< "$E"',
        "3: $FIRST",
    ]


def test_from_arithmetic() -> None:
    command = only("LEN=1024\nMAX=$((LEN + 512))\ntrain $MAX\n")
    assert trail(command.argv[1]) == [
        "2: $((LEN + 512))",
        "1: LEN=1024",
        "2: $((LEN + 512))",
        "2: MAX=$((LEN + 512))",
        "3: $MAX",
    ]


def test_from_an_array() -> None:
    command = only('A=(x y)\ntrain "${A[@]}"\n')
    assert [trail(word) for word in command.words] == [
        ["1: x", "1: A=(x y)", '2: "${A[@]}"'],
        ["1: y", "1: A=(x y)", '2: "${A[@]}"'],
    ]


def test_words_know_where_they_are_written() -> None:
    command = only("exec train \\\n  a=1 \\\n  'b c'\n")
    assert [(word.span.text, word.span.begin.line) for word in command.argv if word.span] == [
        ("train", 1),
        ("a=1", 2),
        ("'b c'", 3),
    ]


# ---- surroundings


def test_a_subshell_has_its_own_folder() -> None:
    path = resolve("(cd verl && git checkout x)\ntrain\ncd a\n(cd b; train)\nx=$(cd c; train)\n").paths[0]
    assert [(shown(each), each.around.cwd.shown) for each in started(path)] == [
        ("git checkout x", "${PWD}/verl"),
        ("train", "${PWD}"),
        ("train", "${PWD}/a/b"),
        ("train", "${PWD}/a/c"),
    ]


def test_what_is_substituted_is_marked() -> None:
    text = "a=$(x_)\nb=`y_`\nz_ < <(p_)\nq_ | r_\n(s_)\nt_ <(u_)\n"
    found = {each.name: each.around.substitution for each in started(resolve(text).paths[0])}
    assert found == {
        "x_": True,
        "y_": True,
        "p_": True,
        "z_": False,
        "q_": False,
        "r_": False,
        "s_": False,
        "u_": True,
        "t_": False,
    }


@pytest.mark.parametrize(
    ("call", "xtrace"),
    [
        ("bash c.sh", False),
        ("bash -x c.sh", True),
        ("source ./c.sh", True),
        ("(train)", True),
        ("bash -c train", False),
        ("export SHELLOPTS; bash c.sh", True),
    ],
)
def test_a_child_shell_has_its_own_trace(call: str, xtrace: bool) -> None:
    path = resolve(f"set -x\n{call}\n", {"c.sh": "train\n"}).paths[0]
    assert started(path)[-1].around.xtrace is xtrace


def test_prefixes_exports_and_pipes() -> None:
    path = resolve("export A=1\nB=2 C=$A train | tee log &\n").paths[0]
    first, second = started(path)
    assert {name: value.shown for name, value in first.prefix.items()} == {"B": "2", "C": "1"}
    assert {name: value.shown for name, value in first.around.environment.items()} == {"A": "1", "B": "2", "C": "1"}
    assert (first.pipe, second.pipe) == ((0, 2), (1, 2))
    assert (first.around.background, second.argv[1].shown) == (True, "log")


def test_recorded_builtins() -> None:
    text = ': "${A:?}"\n:\ncd x\nexport B=1\ntrue\n[ a ]\ntest b\nset -e\nshift\necho c\n'
    path = resolve(text).paths[0]
    assert [shown(each) for each in path.commands if each.builtin] == [
        ": ${A}",
        "cd x",
        "export B=1",
        "set -e",
        "echo c",
    ]
    assert [shown(each) for each in path.tests] == ["[ a ]", "test b"]


def test_assignments_in_order() -> None:
    path = resolve("A=1\nexport B=$A\nB=2\nf() { local c=3; }\nf\nD=(x y)\nread -r e <<< 5\n").paths[0]
    found = [
        (each.name, each.value.shown if each.value else [item.shown for item in each.items], each.exported)
        for each in path.assignments
    ]
    assert found == [
        ("A", "1", False),
        ("B", "1", True),
        ("B", "2", True),
        ("c", "3", False),
        ("D", ["x", "y"], False),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('train "$size"\n', "train "),
        ('source ./none.sh\ntrain "$size"\n', "train ${size}"),
        ('source ~/.bashrc\ntrain "$size"\n', "train "),
        ('(source ./none.sh)\ntrain "$size"\n', "train "),
        ('size=3\nsource ./none.sh\ntrain "$size"\n', "train 3"),
    ],
)
def test_a_sourced_file_that_is_not_here_may_set_any_name(text: str, words: str) -> None:
    assert shown(only(text)) == words


@pytest.mark.parametrize(
    ("before", "command", "free"),
    [
        ("x=1 y=2", "source env.sh", "source env.sh"),
        ("x=1 y=2", 'eval "$(settings --shell)"', 'eval "$(settings --shell)"'),
        ("readonly x=1", ". env.sh", ""),
        ("x=1", "source ~/.bashrc", ""),
        ("x=1", "source /etc/network", ""),
        ("", "source env.sh; x=1", ""),
        ("x=${X:-1}", "source env.sh", "X"),
    ],
)
def test_a_sourced_file_that_is_not_here_may_replace_what_was_set(before: str, command: str, free: str) -> None:
    (word,) = resolve(f"{before}\n{command}\ntrain $x\n").paths[0].commands[-1].words
    assert word.known == "1"
    assert [part.overridable for part in word.parts if isinstance(part, Literal)] == [free]
    assert any(step.endswith(MAY_SET) for step in trail(word)) == bool(free)


def test_parts_of_a_match_that_nobody_knows() -> None:
    text = "[[ $MODEL =~ ([0-9]+)B ]] && size=${BASH_REMATCH[1]}\ntrain ${size}x\n"
    assert programs(text) == [["train ${BASH_REMATCH}x"], ["train x"]]


@pytest.mark.parametrize("look", ["$(command -v python3)", "$(command -v python3 || which python)", "`which python3`"])
def test_a_program_that_was_looked_up(look: str) -> None:
    text = f"PY={look}\n$PY train.py\n"
    assert started(resolve(text).paths[0])[-1].argv[0].shown == "${…}/python3"
    assert program_name(started(resolve(text).paths[0])[-1].argv[0]) == "python3"


# ---- notes and budgets


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("while true; do x=1; done\n", "endless"),
        ("for ((i=0; i<3; i+=STEP)); do x=1; done\n", None),
        ("step=\nfor ((i=0; i<3; i+=step)); do x=1; done\n", "endless"),
        ("set -- --path\nwhile [[ $# -gt 0 ]]; do case $1 in --path) shift 2 ;; esac; done\n", "endless"),
        ("set -- --path\nshift 2\n", "shift"),
        ("source ./none.sh\n", "missing-source"),
        ("bash none.sh\n", "missing-script"),
        ("x=$((1 + ))\n", "arithmetic"),
        ("[ a b ]\n", "malformed-test"),
        ("train ${a.b}\n", "bad-substitution"),
        ("train > $none\n", "bad-redirect"),
        ("set -u\ntrain ${none#x}\n", "unset"),
    ],
)
def test_notes(text: str, kind: str | None) -> None:
    found = [each for each in kinds(resolve(text)) if each != "empty"]
    assert found[-1:] == ([] if kind is None else [kind])


def test_an_endless_loop_ends_the_path() -> None:
    assert programs("while true; do train; done\nafter\n") == [["train", "train", "train", "train"]]


@pytest.mark.parametrize(
    ("text", "proof"),
    [
        ("while true; do train; done\n", "constant"),
        ("until false; do train; done\n", "constant"),
        ("while [ 1 -eq 1 ]; do train; done\n", "constant"),
        ("for ((;;)); do train; done\n", "constant"),
        ("while :; do n=$((n + 1)); done\n", "constant"),
        ("while :; do (exit 1); echo $(exit 1); done\n", "constant"),
        ("while :; do while :; do break; done; done\n", "constant"),
        ("f() { return; }\nwhile :; do f; done\n", "constant"),
        ("i=0\nwhile [ $i -lt 5 ]; do train; done\n", "unchanged"),
        ("i=0\nwhile [ $i -lt 5 ]; do j=$((i+1)); done\n", "unchanged"),
        ("i=0\nwhile (( i < 5 )); do i=0; done\n", "unchanged"),
        ("i=0\nwhile [ $i -lt $N ]; do train; done\n", "unchanged"),
        ("for ((i=0; i<5; )); do train; done\n", "unchanged"),
        ("f() { train; f; }\nf\n", "call"),
        ("set -e\nf() { train; f; }\nf\n", None),
        ("coproc { while :; do train; done; }\n", "loop"),
        ("i=0\ntrap 'i=9' USR1\nwhile [ $i -lt 5 ]; do train; done\n", "loop"),
        ("while [ $PWD != / ]; do cd ..; done\n", None),
        ("i=0\ndeclare -n j=i\nwhile [ $i -lt 5 ]; do j=$((j + 1)); done\n", None),
        ("f() { g; }\ng() { f; }\nf\n", "call"),
        ("while :; do train || break; done\n", "loop"),
        ("while :; do train || exit; done\n", "loop"),
        ("while :; do while :; do break 2; done; done\n", None),
        ("f() { exit; }\nwhile :; do train || f; done\n", "loop"),
        ("while :; do $CHECK; done\n", "loop"),
        ("while :; do . ./state.sh; done\n", "loop"),
        ("while :; do : ${NAME:?}; done\n", "loop"),
        ("while :; do train; done &\n", "loop"),
        ("while :; do train; done | head\n", "loop"),
        ("train > >(while :; do date; done)\n", "loop"),
        ("timeout 9 bash -c 'while :; do train; done'\n", "loop"),
        ("i=0\nwhile [ $i -lt 5 ]; do i=$((i+1)); done\n", None),
        ("while [ ! -f done ]; do sleep 1; done\n", None),
        ("until train; do sleep 1; done\n", None),
        ("f() { [ $1 = 0 ] && return; f $(($1 - 1)); }\nf 9\n", None),
    ],
)
def test_proof_that_a_loop_never_ends(text: str, proof: str | None) -> None:
    notes = [note for path in resolve(text).paths for note in path.notes if note.kind == "endless"]
    assert {note.text for note in notes} == ({proof} if proof else set())


@pytest.mark.parametrize(
    "text",
    [
        "while :; do train || break; done\nafter\n",
        "i=0\nwhile [ $i -lt 5000 ]; do i=$((i + 1)); done\nafter\n",
        "for i in $(seq 5000); do :; done\nafter\n",
        "for ((i=0; i<5000; i++)); do :; done\nafter\n",
        "for i in $(seq 500); do for j in $(seq 500); do for k in $(seq 500); do :; done; done; done\nafter\n",
        "(while :; do train; done) &\nafter\n",
        "timeout 9 bash -c 'while :; do train; done'\nafter\n",
    ],
)
def test_what_stands_behind_a_long_loop_is_looked_at(text: str) -> None:
    assert programs(text)[0][-1] == "after"


def test_what_a_long_loop_changes_is_not_known() -> None:
    path = resolve("i=0 k=1\nwhile [ $i -lt 5000 ]; do i=$((i + 1)); done\ntrain $i $k\n").paths[0]
    assert [word.known for word in path.commands[-1].argv] == ["train", None, "1"]
    assert path.over_budget


def test_reserved_words_before_continued_lines() -> None:
    text = "if a; then\\\n  b\\\n\nelse\\\n\\\n  c\nfi\\\n\nwhile false; do\\\n  d; done\\\n; e\n"
    assert programs(text)[0] == ["a", "b", "e"]


def test_readme_texts_run_one_after_the_other() -> None:
    texts = [
        Source("README.md", "STEP=800\ncd x\n"),
        Source("README.md", "train $STEP\nexit 1\n"),
        Source("README.md", "train again\n"),
    ]
    (path,) = explore(texts, Checkout({}), Entry(arguments=[])).paths
    assert [shown(each) for each in started(path)] == ["train 800", "train again"]


@pytest.mark.parametrize("written", ["don\\\ne", "do\\\n\\\nne", "fu\\\nnction", "x=don\\\ne", '"don\\\ne"'])
def test_the_place_of_a_word_in_which_a_line_is_continued(written: str) -> None:
    (word,) = only(f"train {written}\n").words
    assert word.span is not None
    assert word.span.text == written
    spans = [part.span for part in word.parts if part.span is not None]
    assert (spans[0].start, spans[-1].end) == (
        word.span.start + (written[0] == '"'),
        word.span.end - (written[0] == '"'),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('a=("$@")\ntrain "${#a[@]}" "${a[1]}" "${a[@]:1}" "${a[@]}"\n', "train ${#a[@]} $@ *${a[@]:1} *$@"),
        ('a=(x "$@" y)\ntrain "$a" "${a[-1]}" "${#a[@]}"\n', "train x y ${#a[@]}"),
        ('set -- "$@" x\ntrain "$#" "$1" "${@:2}"\n', "train $# $@ *${@:2}"),
        ('set -- "$@" x\nshift\ntrain "$@"\n', "train *$@ x"),
        ('f() { train "$#" "$1" "$2" "$@"; }\nf a "$@" b\n', "train $# a $@ a *$@ b"),
        ('train "${@#a}" "${@/#/--}"\n', "train *${@#a} *--$@"),
        ('all="$*"\ntrain $all "x $*"\n', "train *$@ *x $@"),
    ],
)
def test_lists_that_hold_the_arguments_of_the_caller(text: str, words: str) -> None:
    assert shown(only(text)) == words


def test_files_of_a_default_may_be_others() -> None:
    (word,) = only("train ${FILES:-d*.txt}\n", {"data.txt": ""}).words
    assert [(part.text, part.overridable) for part in word.parts if isinstance(part, Literal)] == [
        ("data.txt", "FILES")
    ]


def test_parts_of_a_match_in_a_default_may_be_others() -> None:
    (word,) = only("[[ ${MODEL:-Qwen-7B} =~ ([0-9]+)B ]]\ntrain ${BASH_REMATCH[1]}\n").words
    assert [(part.text, part.overridable) for part in word.parts if isinstance(part, Literal)] == [("7", "MODEL")]
