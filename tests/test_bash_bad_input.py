"""Texts that nobody means well with: read and run within bounds, without an exception."""

from __future__ import annotations

import pytest

from bash_oracle import Checkout
from verlint.languages.bash.parser import parse
from verlint.languages.bash.replay import Entry, Resolution, explore
from verlint.languages.bash.run import MAX_HANDED_ON, MAX_STEPS
from verlint.source import Source

DEEP = 10_000

NESTED = {
    "parentheses": "(" * DEEP,
    "substitutions": "$(" * DEEP,
    "quoted-substitutions": '"$(' * DEEP,
    "defaults": "${a:-" * DEEP,
    "quoted-defaults": '"${a:-' * DEEP,
    "arithmetic": "$((" * DEEP,
    "back-quotes": "`" * (DEEP + 1),
    "ifs": "if " * DEEP,
    "braces": "{ " * DEEP,
    "conditions": "[[ " + "( " * DEEP,
    "negated-conditions": "[[ " + "! " * DEEP + " a ]]",
    "cases": "case x in a) " * DEEP,
    "functions": "f() { " * DEEP,
    "bodies": "f() " * DEEP + "{ a; }",
    "arrays": "a=(" * DEEP,
    "brackets": "a=(" + "[" * DEEP,
    "subscripts": "${a[" * DEEP,
    "process-substitutions": "<(" * DEEP,
    "loops": "while a; do " * DEEP,
    "extended-patterns": "shopt -s extglob\necho " + "@(" * DEEP,
    "single-quotes": "'" * (DEEP + 1),
}

ODD = {
    "closed-parentheses": "(" * DEEP + "a" + ")" * DEEP,
    "doubled-unknown": "x=$A\nfor i in {1..100}; do x=$x$x; done\ntrain $x\n",
    "dollars": "$" * DEEP,
    "backslashes": "\\" * (DEEP + 1),
    "negations": "! " * DEEP + "a",
    "pipes": "a | " * 500 + "a",
    "ands": "a && " * 2000 + "a",
    "closed-arithmetic": "echo $((" + "(" * DEEP + "1" + ")" * DEEP + "))",
    "nested-substitutions": "x=" + "$(echo " * 60 + "a" + ")" * 60,
    "here-document-of-substitutions": "cat <<E\n" + "$(" * DEEP + "\nE\n",
    "many-here-documents": "cat <<A <<B <<C\n" * 500,
    "nul": "a\0b\0\ntrain x\0y\n",
    "carriage-returns": "a=1\r\ntrain $a \\\r\n b\r\nif true; then\r\n a\r\nfi\r\n",
    "byte-order-mark": "\ufefftrain a\n",
    "control-characters": "".join(map(chr, range(1, 256))),
    "surrogates": "train \udc80\ud800\n",
    "the-mark-of-holes": 'train \U0010ffff "$A\U0010ffff"\n[ "\U0010ffff" = "$A" ] && train\n',
    "brace-ranges": "echo {1..1000000} {1..1000000}{1..1000000} {1..99999999999999999999}\n",
    "open-braces": "echo " + "{a," * DEEP,
    "nested-braces": "echo " + "{" * DEEP + "a,b" + "}" * DEEP,
    "product-of-braces": "echo " + "{a,b}" * 30,
    "seq": "for i in $(seq 1000000); do train $i; done\necho $(seq 1 1000000000) $(seq 5 -1 -1000000)\n",
    "printf-widths": "printf '%1000000000d' 1\nx=$(printf '%1000000000s' a)\ny=$(printf '%*d' 999999999 1)\nz=$(printf '%.1000000000f' 1)\necho $x $y $z\n",
    "powers": "echo $((2**64)) $((2**1000000000)) $((9**9**9**9)) $((1<<99999))\n",
    "big-numbers": "echo $((" + "9" * 5_000 + "))\necho $((64#_))\necho $((99#1))\n",
    "smallest-number": "x=$((2**63)); echo $((x / -1)) $((x % -1)) $((-x))\n",
    "numbers-of-themselves": 'x=x; echo $((x)); x=y+y; y=x+x; echo $((x)); a[a[0]]=1; a="a[a]"; echo $((a))\n',
    "names-of-themselves": "x=x; echo ${!x}; a=b b=a; echo ${!a}; declare -n r=r; r=1; declare -n c=d d=c; c=1; echo $c\n",
    "far-elements": 'a[99999999999]=1\na[2**62]=x\necho "${a[@]}" ${#a[@]}\n',
    "far-shift": "shift 99999999999999999999\n",
    "patterns": "x=" + "a*" * 5_000 + "\n[[ $x == " + "*a*" * 200 + "b ]] && train\necho ${x##*b} ${x%%b*} ${x//a*c/d}\n",
    "regular-expressions": "[[ " + "a" * 60 + "! =~ ^(a|aa)+$ ]] && train\n[[ " + "a" * 60 + "b =~ ^(a+)+$ ]] && train\n",
    "repeated-patterns": "shopt -s extglob\nx=" + "a" * 60 + "\n[[ $x == +(+(a))b ]] && train\necho ${x//+(+(a))b/c} ${x##+(+(a))b}\n",
    "file-patterns": "echo " + "*/" * 50 + "\n",
    "separators": "IFS=x; a=" + "x" * 20_000 + "\ntrain $a\n",
    "conditions": "".join(f'if [ "$A{number}" = x ]; then train {number}; fi\n' for number in range(200)),
    "hops": "A=$A\n" * 3_000,
}  # fmt: skip

ENDLESS = {
    "doubled-text": "x=aaaaaaaaaa\nwhile true; do x=$x$x; done\n",
    "doubled-array": 'a=(1)\nwhile true; do a+=("${a[@]}"); done\n',
    "doubled-arguments": 'set -- a b\nwhile true; do set -- "$@" "$@"; done\n',
    "doubled-words": 'x="a b"\nwhile true; do x="$x $x"; train $x; done\n',
    "doubled-by-replacing": "x=aaaaaaaaaaaaaaaaaa; while :; do x=${x//a/aa}; done\n",
    "doubled-file": "while :; do echo $x$x$x >> f; x=$(cat f); x=${x}b; done\n",
    "doubled-by-printf": 'x=b; while :; do x=$(printf "%s%s" "$x" "$x"); done\n',
    "doubled-by-read": 'x=b; while :; do read -r x <<< "$x$x"; done\n',
    "doubled-by-calls": 'f() { x=$1$1; f "$x"; }; f a\n',
    "grown-array": "a=(1)\nwhile true; do a+=(x); done\n",
    "counted": "i=0; while true; do i=$((i+1)); train $i; done\n",
    "counted-for": "for ((i=0;;i++)); do train $i; done\n",
    "nested-loops": "for i in {1..1000}; do for j in {1..1000}; do for k in {1..1000}; do :; done; done; done\n",
    "recursion": "f() { f; }\nf\n",
    "recursion-in-substitution": "f() { x=$(f); }\nf\n",
    "doubled-functions": "".join(f"f{i}() {{ f{i + 1}; f{i + 1}; }}\n" for i in range(40)) + "f0\n",
    "fork-bomb": ":(){ :|:& };:\n",
    "eval-of-itself": 'x=\'eval "$x"; eval "$x"\'\neval "$x"\n',
    "strings-of-themselves": 'export X=\'bash -c "$X"; bash -c "$X"\'\nbash -c "$X"\n',
}

CYCLES = {
    "bash": "bash run.sh\n",
    "bash-twice": "bash run.sh; bash run.sh\ntrain\n",
    "source": "source ./run.sh\n",
    "source-twice": "source ./run.sh; source ./run.sh; train\n",
    "by-path": "./run.sh\n",
    "in-a-trap": "trap 'bash run.sh' EXIT\n",
}


def run(text: str, *, closed: bool = False) -> Resolution:
    """Everything a launcher does, as far as it is looked at."""
    checkout = Checkout({"run.sh": text})
    source = checkout.source("run.sh")
    assert source is not None
    arguments: list[str] | None = [] if closed else None
    return explore(
        [source], checkout, Entry(name="run.sh", arguments=arguments, mount="/m" if closed else "", closed=closed)
    )


def check_bounds(found: Resolution) -> None:
    """Nothing grew without end."""
    commands = [command for path in found.paths for command in path.commands]
    words = [word for command in commands for word in command.argv]
    counts = {
        "paths": (len(found.paths), 16),
        "commands": (len(commands), MAX_STEPS + 6_000),
        "characters": (sum(len(word.shown) for word in words), 6_000_000),
        "pieces": (max((len(word.parts) for word in words), default=0), 64),
        "hops": (max((len(part.hops) for word in words for part in word.parts), default=0), 24),
    }
    assert {name: count for name, (count, limit) in counts.items() if count > limit} == {}


@pytest.mark.parametrize("name", NESTED)
def test_too_deep_nesting_is_a_syntax_problem(name: str) -> None:
    accepted = parse(NESTED[name]).problem is None
    assert not accepted
    check_bounds(run(NESTED[name]))


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
@pytest.mark.parametrize("name", ODD)
def test_odd_texts(name: str, closed: bool) -> None:
    check_bounds(run(ODD[name], closed=closed))


@pytest.mark.parametrize("name", ENDLESS)
def test_endless_work_ends(name: str) -> None:
    found = run(ENDLESS[name])
    check_bounds(found)
    path = found.paths[0]
    given_up = path.over_budget or "endless" in [note.kind for note in path.notes]
    assert given_up  # on its own: a failure must not print the path


@pytest.mark.parametrize("name", CYCLES)
def test_scripts_that_start_themselves(name: str) -> None:
    found = run(CYCLES[name])
    check_bounds(found)
    assert sum(len(path.commands) for path in found.paths) <= 30
    assert "recursion" in [note.kind for note in found.paths[0].notes]


@pytest.mark.parametrize(
    "text",
    [
        "A=1\ntrain" + ' "$A" --x=$A ${B:-c} \\\n' * 20_000 + "  end\n",
        "# comment\n" * 100_000,
        "x='" + "a" * 1_000_000 + "'\ntrain $x\n",
        "cat <<E\n" + "line $A\n" * 20_000 + "E\n",
        "\n" * 1_000_000,
        "\\\n" * 200_000 + "train\n",
        "while ((i < N)); do\ntrain --name x" + " " * 20_000 + "\nn=1\ndone\n",
        "while ((i < N)); do\ntrain ${" + "a" * 20_000 + "}\nn=1\ndone\n",
    ],
    ids=[
        "words",
        "comments",
        "text",
        "here-document",
        "lines",
        "continuations",
        "blanks in a loop",
        "a name in a loop",
    ],
)
def test_long_launchers(text: str) -> None:
    check_bounds(run(text))


def test_a_long_launcher_is_read_to_its_end() -> None:
    text = "".join(f'python3 -m m a.b={number} c.d="$X" e.f=${{Y:-1}}\n' for number in range(4_000))
    (path,) = run(text).paths
    assert (len(path.commands), path.over_budget) == (4_000, False)


def test_what_is_known_stays_known_after_odd_values() -> None:
    source = "echo {1..3} $((2**64)) $(printf '%05d' 7)\ntrain $((2**63 - 1)) a{b,c}\n"
    words = [[word.known for word in command.argv] for command in run(source).paths[0].commands]
    assert words[-2][:5] == ["echo", "1", "2", "3", "0"]
    assert words[-1] == ["train", "9223372036854775807", "ab", "ac"]


def test_sources_are_told_apart_by_identity() -> None:
    """Two texts of one content are two launchers."""
    first, second = Source("a.sh", "train $A\n"), Source("a.sh", "train $A\n")
    paths = explore([first, second], Checkout({}), Entry(arguments=[])).paths
    assert [word.span.source is first for command in paths[0].commands for word in command.words if word.span] == [
        True,
        False,
    ]


# ---- bounds that texts inside texts share

RUN = "python3 -m verl.trainer.main_ppo " + " ".join(f"a.b{number}={number}" for number in range(50))


def last_command(script: str) -> tuple[list[str], bool]:
    path = run(script).paths[0]
    return [word.shown for word in path.commands[-1].argv], path.over_budget


@pytest.mark.parametrize(
    "wrapper",
    [
        "srun -N 2 ",
        "env A=1 ",
        "sudo -E ",
        "nohup ",
        "timeout 1h ",
        "tmux new-session -d -s a ",
        "command ",
    ],
)
def test_fifty_wrappers_are_followed_and_thousands_are_not(wrapper: str) -> None:
    followed = run(wrapper * 50 + RUN).paths[0]
    assert [word.shown for word in followed.commands[-1].argv][-51:] == RUN.split()[-51:]
    assert not followed.over_budget
    path = run(wrapper * 5_000 + RUN).paths[0]
    assert sum(len(command.argv) for command in path.commands) < 2 * MAX_HANDED_ON
    assert path.over_budget
    assert [note.kind for note in path.notes] == ["given-up"]


def test_texts_in_texts_share_one_bound() -> None:
    assert last_command("eval " * 8 + RUN) == (RUN.split(), False)
    path = run("eval " * 10_000 + "train\n").paths[0]
    assert sum(len(command.argv) for command in path.commands) < 60_000
    assert path.over_budget


def test_a_loop_of_many_launches_is_left_and_what_follows_is_seen() -> None:
    path = run(f"for i in {{1..2000}}; do {RUN} run=$i; done\nafter\n").paths[0]
    assert path.over_budget
    assert 600 < sum(command.argv[0].known == "python3" for command in path.commands) < 1000
    assert path.commands[-1].argv[0].known == "after"


def test_a_hundred_launches_in_a_loop_are_all_seen() -> None:
    path = run(f"for i in {{1..100}}; do {RUN} run=$i; done\n").paths[0]
    assert [command.argv[-1].known for command in path.commands] == [f"run={number}" for number in range(1, 101)]
    assert not path.over_budget


def test_subshells_of_many_variables_cost_more_than_those_of_few() -> None:
    few = "".join(f"a{number}={number}\n" for number in range(200)) + "b=$(echo $a1)\n" * 400 + "train $b\n"
    assert last_command(few) == (["train", "1"], False)
    many = "".join(f"a{number}={number}\n" for number in range(5_000)) + "b=$(echo $a1)\n" * 2_500
    assert run(many).paths[0].over_budget
