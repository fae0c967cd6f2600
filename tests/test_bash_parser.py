"""The parser of bash: it takes what bash takes, in the same words, and knows where everything stands."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bash_mutants import mutate
from bash_oracle import required_bash
from bash_scripts import make_script
from bash_snippets import SNIPPETS
from bash_spans import misplaced
from verlint.languages.bash.parser import parse
from verlint.languages.bash.syntax import Lit, Simple, Word
from verlint.languages.bash.walk import walk

ROOT = Path(__file__).resolve().parent.parent
LAUNCHERS = {
    path.relative_to(ROOT).as_posix(): path.read_bytes().decode("utf-8", "replace")
    for path in sorted(ROOT.glob("fixtures/**/*.sh"))
}

ACCEPTED = [
    "", "\n", "  \n\t\n", "# only a comment", "a", "a;", "a &", "a & b", "a; b\n", "a && b", "a &&\n b", "a |\n\n b", "a || # why\n b", "a |& b",
    "! a", "! ! a", "!", "time", "time -p a", "time a | b", "! time a", "a | time b", "{ a; }", "{ a; } > f", "{ a & }", "(a)", "( (a) )", "((1))", "((a) )", "( (a); b )",
    "if a; then b; fi", "if a\nthen b\nelif c\nthen d\nelse e\nfi", "if ! a; then b; fi", "if a; b; then c; fi", "if (a) then b; fi", "if { a; } then b; fi", "while a; do b; done < f | c",
    "until a; do b; done", "for x in 1 2; do a; done", "for x in; do a; done", "for x; do a; done", "for x\ndo a; done", "for x in 1\n\ndo a; done", "for x in a b; { c; }", "for ((;;)); do a; done", "for ((i=0; i<3; i++)) do a; done",
    "for ((i=0;i<3;i++)); { a; }", "select x in 1 2; do a; done", "case x in esac", "case x in a) ;; esac", "case x in (a) b;; (c|d) e;; esac", "case x in a) b;& c) d;;& *) e; esac", "case x in a) b\nesac", "case in in in) a;; esac",
    "case $x in\n  # note\n  a) b ;;\n\n  *) c ;;\nesac", "case x in a | b ) c ;; esac", "f() { a; }", "f () { a; }", "f()\n{ a; }", "f() ( a )", "f() if a; then b; fi", "f() [[ -n a ]]", "function f { a; }", "function f() { a; }", "function f\n{ a; }", "f() { a; } > g 2>&1",
    "a-b.c() { d; }", "[[ a ]]", "[[ -n a && -z b ]]", "[[ a == b* ]]", "[[ a =~ ^(b|c)$ ]]", "[[ a =~ b[[:space:]]c ]]", "[[ ( a ) ]]", "[[ ! a ]]", "[[ a &&\n b ]]", "[[ -n a\n]]", "if [[ a ]] then b; fi", "while ((a)) do b; done", "{ (a) }", "if a; then if b; then c; fi fi", "[[ a < b ]]", "[[ -f a ]] && b", "[[ $a -gt 3 ]]", "[[ a == @(b|c) ]]", "[[ a != \"b c\" ]]",
    "a=1", "a=1 b=2 c", "a=", "a=(1 2)", "a=(\n1 # one\n2\n)", "a+=(1)", "a[1]=2", "a[1]+=2", "a[b c]=d", "a=([1]=2 [x y]=3)", "a=([1, 2])", "export a=(1 2)", "declare -a a=(1) b", "local a=1", "a=b=c", "a=$(b)", "a=`b`", "a=\"b c\"d'e f'",
    "a > f", "a >f 2>&1", "a &> f", "a &>> f", "> f", "> f a", "a < f > g", "a 2> /dev/null", "a <> f", "a >| f", "a >&2", "a {fd}> f", "a <<< b", "a <<< \"b c\"", "a < <(b)", "a > >(b)", "a <(b) <(c)", "diff <(a | b) <(c)",
    "a <<E\nb\nE\n", "a <<'E'\n$(\nE\n", "a <<-E\n\tb\n\tE\n", "a <<E | b\nc\nE\n", "a <<E; b <<F\nc\nE\nd\nF\n", "a <<E\nb", "a <<\"E\"\nb\nE\n", "a <<E\n`\nE\n", "a <<E\n${x\nE\n", "if a <<E\nb\nE\nthen c; fi", "$(a <<E\nb\nE\n)",
    "$a", "${a}", "${a:-b}", "${a:-\"b c\"}", "${a:-${b:-c}}", "\"${a:-'}'}\"", "a <<E\n${a:-it's}\nE\n", "${a#*/}", "${a##*}", "${a%.*}", "${a/b/c}", "${a//b}", "${a/#b/c}", "${a:1:2}", "${a: -1}", "${a[@]}", "${a[${#a[@]}-1]}", "${#a}", "${#a[@]}", "${!a}", "${!a[@]}", "${!a*}", "${a@Q}", "${a^^}", "${a,,}", "${@:1}", "${1:-x}", "${a.b}", "${a b}", "\"${a[}\"", "${-}", "${$}", "${#}", "${?}", "${#?}",
    "$((1 + 2))", "$((a ? b : c))", "$(( (1) ))", "$((a[1]))", "$[1+2]", "$(a)", "$( (a) )", "$((a) | b)", "$(a; b)", "$(case x in a) b;; esac)", "$(case x in (a) b;; esac)", "\"$(a \"b c\")\"", "`a \\`b\\``", "$'a\\'b'", "$\"a b\"", "a\\ b", "a\\\nb", "a \\\n b", "a \\ \n b", "a \\", "'a\nb'", "\"a\nb\"", "a{b,c}d", "{1..3}", "a{b", "a}b", "{a", "a?b*c[d]", "a#b", "a #b", "a;#b", "~/a", "a=~/b", "a\r\nb", "coproc a", "coproc { a; }", "coproc NAME { a; }", "coproc NAME ( a ) >f", "coproc NAME while a; do b; done", "coproc a b", "coproc NAME\n{ a; }", "coproc X=1 a", "coproc a | b", "x=`(`", "x=`fi`; a", "x=$((fi) )", "x=$((a) ; b)", "a=${x:-<(b)}", "\"${x:-<(b)}\"", "\"${x:-<<(}\"", "\"${x+(}\"", "\"${x:-'<('}\"", "while a; do b; done\\\n\nc", "x=$(('a'))", "echo if then fi", "echo { }", "echo }", "echo [[", "a=if", "'if' a", "\\if a", "shopt -s extglob\na", "let a=1+2", "alias a='b c'", "a:b", "a=b:c d", "1a", "2>f", "a 2 > f", "a=1>f", "[ a ]", "[ a = b -o ! -f c ]", "test a", "[", "]", "a @ b", "a ! b", "a=! b", "((a=1, b=2))", "((a<b))", "(( a > (b) ))",
]  # fmt: skip

REJECTED = [
    ")", "a )", "}", "fi", "done", "then", "do", "esac", "else", "]]", ";", ";;", "&", "&& a", "|", "| a", "a |", "a | | b", "a &&", "a && && b", "a ;; b", "a ; ; b", "a & & b", "a && ; b", "( )", "()", "{ }", "{ a }", "{ a; ", "( a", "(a))", "((1)", "a (", "a ( b )", "a b ()",
    "if", "if a", "if a; then", "if a; then b", "if a; then fi", "if; then b; fi", "if a then b; fi", "if a; b; fi", "if a; then b; else fi", "if a; then b; elif fi", "if a; then b; done", "while a; do b; fi", "while a; b; done", "while do a; done", "while a; do done", "until a; do",
    "for", "for x", "for x in", "for x in 1 2", "for x in 1; do", "for x in 1; do done", "for x in 1 do a; done", "for x in 1; a; done", "for x in (a); do b; done", "for ((i=0; i<3)); do a; done", "for ((;;)) a", "for ((a;b;c;d)); do a; done", "for ((a)); do b; done", "for (()); do b; done", "for ((a;b;c))) ; do a; done", "for ((a;b;c)\ndo a; done", "coproc", "\"${x:-<(}\"", "${x:->(}", "\"${x[<(]}\"", "\"${x#<(}\"", "x=$((a'b))", "((a'))", "x=$[[a]", "((a)))", "x=$((a)))",
    "case", "case x", "case x in", "case x in a) b", "case x in a b) c;; esac", "case x in a) b;; c", "case x in a) b esac", "case x; in a) b;; esac", "case x in ;; esac", "f()", "f() a", "f() g() { a; }", "function", "function f", "function f a", "f( { a; }", "f(a) { b; }", "a() b",
    "[[", "[[ a", "[[ a ]",   "[[ && a ]]", "[[ ( a ]]", "[[ a == ]]", "[[ a\n&& b ]]", "[[ (a\n) ]]", "[[ -n\na ]]", "[[ a ==\nb ]]", "[[ a\n]]", "[[ a =b ]]", "\"${a:-it's}\"", "\"${a:?it's}\"", "if (a) > f then b; fi", "{ a > f }", "(a) b", "[[ a b ]]", "'", "\"", "`", "a 'b", "a \"b", "a `b", "a \"$(b\"", "$(", "$(a", "${", "${a", "${a:-b", "\"${a\"", "$((1", "$((1)", "a <(", "a <(b", "a $(b", "a=(", "a=(1", "a=(1 (2) 3)", "a=([1)", "a[1 b", "a=(1 | 2)",
    ">", "a >", "a > ;", "a <", "a <<", "a <<<", "a >& ", "< ;", "a > > b", "a | ! | b", "echo (a)", "echo a(b", "echo @(a|b)", "a=1 b=(", "if a; then b; fi c", "{ a; } b", "(a) b", "for x in 1; do a; done b", "\n)\n", "a\nb )\nc", "a; }", "if a; then (b; fi)", "$(if a; then b)", "while a; do b; done done", "! !&",
]  # fmt: skip

MUTANTS = 400


def verdicts(texts: Sequence[str]) -> Iterator[bool]:
    """Whether bash accepts each text. It forgives a fault inside `[[ ]]` when it only reads, but says what it thinks."""
    program = required_bash()
    with tempfile.TemporaryDirectory(prefix="verlint-bash-") as name:
        for number, text in enumerate(texts):
            (Path(name) / str(number)).write_bytes(text.encode("utf-8", "surrogateescape"))
        loop = f"for ((i = 0; i < {len(texts)}; i++)); do {program} -n $i 2> $i.said; echo $? >> $i.said; done"
        subprocess.run([program, "-c", loop], cwd=name, check=True, timeout=120, env={"LC_ALL": "C.UTF-8"})
        for number in range(len(texts)):
            said = (Path(name) / f"{number}.said").read_text("utf-8", "replace").splitlines()
            yield all("warning: here-document" in line for line in said[:-1]) and said[-1] == "0"


def disagreements(texts: Sequence[str]) -> list[str]:
    """Texts that only one of bash and the parser accepts."""
    out = []
    for text, accepted in zip(texts, verdicts(texts), strict=True):
        problem = parse(text).problem
        if accepted != (problem is None or problem.silent):
            out.append(f"{text!r}: bash {'accepts' if accepted else 'rejects'} it, verlint says {problem}")
    return out


@pytest.mark.parametrize("text", ACCEPTED)
def test_accepts(text: str) -> None:
    assert parse(text).problem is None


@pytest.mark.parametrize("text", REJECTED)
def test_rejects(text: str) -> None:
    assert parse(text).problem is not None


@pytest.mark.parametrize(
    "texts", [ACCEPTED, REJECTED, list(LAUNCHERS.values())], ids=["accepted", "rejected", "launchers"]
)
def test_bash_agrees(texts: list[str]) -> None:
    assert disagreements([text for text in texts if "extglob" not in text]) == []  # -n reads, but does not run shopt


def test_bash_agrees_on_snippets_and_random_scripts() -> None:
    texts = [snippet.text for snippet in SNIPPETS.values()] + [make_script(seed) for seed in range(100)]
    assert disagreements([text for text in texts if "extglob" not in text]) == []


def test_bash_agrees_on_damaged_launchers() -> None:
    texts = list(LAUNCHERS.values())
    assert disagreements([mutate(texts[seed % len(texts)], seed) for seed in range(MUTANTS)]) == []


def test_the_fault_is_found_where_it_is() -> None:
    program = parse('a=1\nif true; then\n  echo "b\nfi\n')
    assert program.problem is not None
    assert (program.problem.message, program.problem.opened) == ('this " is never closed', 25)
    assert len(program.groups) == 1


@pytest.mark.parametrize(
    ("text", "kept"),
    [("a\nb )\nc", 1), ("a\nb\nif c", 2), ("a; b\n'", 1), ("a <<E\nb\nE\n}", 1), ("a \\\nb\n(", 1), ("# a\n\n;;", 0)],
)
def test_what_stands_before_a_fault_is_kept(text: str, kept: int) -> None:
    program = parse(text)
    assert (program.problem is not None, len(program.groups)) == (True, kept)


def all_texts() -> Iterable[str]:
    yield from ACCEPTED
    yield from REJECTED
    yield from LAUNCHERS.values()
    yield from (snippet.text for snippet in SNIPPETS.values())
    launchers = list(LAUNCHERS.values())
    yield from (mutate(launchers[seed % len(launchers)], seed) for seed in range(MUTANTS))


def test_every_node_stands_inside_the_node_above() -> None:
    assert {text: wrong for text in all_texts() if (wrong := misplaced(parse(text), text))} == {}


@settings(max_examples=300, derandomize=True, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab$(){}[]<>|&;'\"`\\ \n\t#=!*?~/:-+%^,@0"), max_size=60))
def test_any_text_is_read(text: str) -> None:
    assert misplaced(parse(text), text) == []


@settings(max_examples=200, derandomize=True, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "if",
                "then",
                "fi",
                "a",
                "$(",
                ")",
                "((",
                "))",
                "{",
                "}",
                "[[",
                "]]",
                "${x",
                "'",
                '"',
                "`",
                "<<E",
                "\nE\n",
                "\n",
                ";",
                "&&",
                "|",
                "case x in",
                "a)",
                ";;",
                "esac",
                "for i in",
                "do",
                "done",
                "x=(",
                "\\\n",
                "# c",
            ]
        ),
        max_size=25,
    )
)
def test_any_words_are_read(words: list[str]) -> None:
    text = " ".join(words)
    assert misplaced(parse(text), text) == []


# ---- words


def shfmt() -> str:
    """The program `shfmt`; skips the test where it is not installed."""
    found = shutil.which("shfmt", path=sysconfig.get_path("scripts")) or shutil.which("shfmt")
    if found is None:
        pytest.skip("needs shfmt (the package shfmt-py)")
    return found


_DECLARING = ("export", "declare", "local", "readonly", "typeset", "let", "alias")


def words_of_shfmt(text: str) -> list[list[str]] | None:
    """The words of every simple command as shfmt reads them, None when it cannot."""
    done = subprocess.run([shfmt(), "--to-json"], input=text.encode(), capture_output=True, check=False)
    return sorted(_calls(json.loads(done.stdout), text.encode())) if done.returncode == 0 else None


def _calls(node: Any, text: bytes) -> Iterator[list[str]]:
    if isinstance(node, list):
        for each in node:
            yield from _calls(each, text)
    elif isinstance(node, dict):
        if node.get("Type") == "CallExpr" and node.get("Args") and not _is_declaration(node, text):
            yield [_plain(text[word["Pos"]["Offset"] : word["End"]["Offset"]].decode()) for word in node["Args"]]
        for each in node.values():
            yield from _calls(each, text)


def words_of_verlint(text: str) -> list[list[str]]:
    """The words of every simple command as the parser reads them."""
    nodes = (node for group in parse(text).groups for node in walk(group))
    commands = (node for node in nodes if isinstance(node, Simple) and node.words and not _declares(node.words[0]))
    return sorted([_plain(text[word.start : word.end]) for word in command.words] for command in commands)


def _declares(word: object) -> bool:
    return (
        isinstance(word, Word)
        and len(word.parts) == 1
        and isinstance(word.parts[0], Lit)
        and word.parts[0].text in _DECLARING
    )


def _is_declaration(node: Any, text: bytes) -> bool:
    first = node["Args"][0]
    return text[first["Pos"]["Offset"] : first["End"]["Offset"]].decode() in _DECLARING


def _plain(text: str) -> str:
    return text.replace("\\\n", "").strip(" \t")


def test_words_are_those_of_shfmt() -> None:
    """Left out is what shfmt reads in its own way: carriage returns, and a backslash at the end of a comment."""
    texts = {path: text for path, text in LAUNCHERS.items() if not re.search(r"\r|\\\n\s*#|#.*\\\n", text)}
    texts |= {
        name: SNIPPETS[name].text for name in SNIPPETS if name.startswith(("array", "loop", "function", "condition"))
    }
    different = {}
    for name, text in texts.items():
        expected = words_of_shfmt(text)
        if expected is not None and (found := words_of_verlint(text)) != expected:
            different[name] = [pair for pair in zip(found, expected, strict=False) if pair[0] != pair[1]][:3] or (
                found,
                expected,
            )
    assert different == {}
