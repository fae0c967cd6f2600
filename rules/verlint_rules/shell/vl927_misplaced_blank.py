"""Blanks stand where bash needs them, and nowhere else.

To bash a blank ends a word. `MODEL_PATH = /models/base` starts a program called `MODEL_PATH`, and the variable stays
empty; `export LR = 1e-6` exports two names and sets neither; `$LR=1e-6` runs the value of the variable. `[` is a
program too: `[$RANK -eq 0 ]` looks for one called `[0`, `[ $RANK -eq 0]` misses its closing word. Both fail with one
line on the error output, and a condition takes that for false: the training in its block is skipped. `[ "$A"="$B" ]`
and `[[ $A==b ]]` ask whether one text is empty, which it never is, and `[ $N > 4 ]` writes a file called `4`. An
indented `EOF` ends no here-document: what stands below is a part of the text, and never run.

Left alone are `NAME= program`, which runs a program with an empty variable, names that are functions or builtins, and
documents that only picture a command.

Fix: no blank around the `=` of an assignment, a blank on both sides of `[`, `]` and the operator between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from verlint.experiment.script import Script
from verlint.finding import Finding
from verlint.languages.bash.syntax import (
    Assign,
    DoubleQuoted,
    FunctionDef,
    Lit,
    Node,
    Param,
    Program,
    Redirect,
    Simple,
    UnaryTest,
    Word,
)
from verlint.languages.bash.walk import literal_word, walk
from verlint.lazy import pattern
from verlint.rule import ERROR, Context, rule
from verlint.source import Source, Span, lines_of
from verlint_rules.shell.illustration import is_illustration

_NAME = pattern(r"[A-Za-z_]\w*")
_VALUE = pattern(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[Tt]rue|[Ff]alse|None|null")
_MODEL = pattern(r"(?:Qwen|meta-llama|deepseek-ai|mistralai|google|microsoft|openai|allenai|HuggingFaceTB)/[\w.-]+")
_PROGRAM = pattern(r"(?:^|/)s?bin/|\.(?:sh|bash|py|pl|out|exe|run)$|python|\$\(|`")
"""Words that name a program by its path."""

_PLACE = pattern(r"(?:\$\{?\w+\}?|~)?/\S|\.{0,2}[\w./-]*/[\w./-]+\.(?:parquet|jsonl?|ya?ml|csv|safetensors)$")
_PLACE_NAME = pattern(
    r"(?i)data|model|path|dir|root|ckpt|checkpoint|out|save|file|home|folder|cache|log|policy|critic|train|val|test"
)
_OF_PROGRAMS = frozenset(
    ["PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "CUDA_VISIBLE_DEVICES", "HTTP_PROXY", "HTTPS_PROXY",
     "http_proxy", "https_proxy", "no_proxy", "NO_PROXY", "IFS", "LC_ALL", "LANG", "DISPLAY", "PYTHONHOME"]
)  # fmt: skip
"""Variables that are emptied for one program."""

_DECLARING = frozenset(["export", "declare", "typeset", "readonly", "local"])
_PRINTING = frozenset(["echo", "printf", "print", "test", "expr", "let", "log", "info", "warn", "die", "eval", "set"])


@rule(
    "VL927",
    "misplaced-blank",
    on=Script,
    severity=ERROR,
    since="0.1",
    words=(
        " = ",
        "s= ",
        "e= ",
        "n= ",
        "r= ",
        "h= ",
        "l= ",
        "t= ",
        "d= ",
        "k= ",
        "a= ",
        "p= ",
        "y= ",
        "g= ",
        "m= ",
        "[$",
        "[-",
        "[!",
        "[ $",
        "[[ ",
        "<<",
    ),
)
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    for text, program in chain(script.syntax, script.inner):
        if script.document and is_illustration(text.text):
            continue
        functions = _functions(program)
        for group in program.groups:
            for node in walk(group):
                if isinstance(node, Redirect) and (line := _indented_end(node, text)) is not None:
                    message = f"blanks keep this line from ending the text of line {line[1]}: all below is a part of it"
                    yield ctx.fail(line[0], message, help="write it at the start of its line, without a blank behind")
                elif isinstance(node, UnaryTest) and _is_joined(node):
                    message = "without blanks around its `=` this is one text, which is always true"
                    yield ctx.fail(text.span(node.word.start, node.word.end), message, help="write blanks around it")
                elif isinstance(node, Simple) and (found := _judged(node, text, functions)) is not None:
                    place, message, help_ = found
                    yield ctx.fail(text.span(place.start, place.end), message, help=help_)


def _is_joined(test: UnaryTest) -> bool:
    """`[[ $A==b ]]`, to bash a lone word"""
    parts = test.word.parts
    joined = any(isinstance(part, Lit) and part.text.startswith("=") for part in parts[1:])
    return test.op == "-n" and isinstance(parts[0], (Param, DoubleQuoted)) and joined


def _indented_end(node: Redirect, text: Source) -> tuple[Span, int] | None:
    """The line that was meant to end a here-document which goes on to the end of the launcher, and where it begins."""
    word = literal_word(node.target)
    if node.body is None or not word or node.body.end < len(text.text) or text.parent is not None:
        return None
    at = node.body.start
    for line in lines_of(text.text[node.body.start : node.body.end]):
        if line.strip() == word:
            return text.span(at, at + len(line.rstrip("\r\n"))), text.position(node.start).line
        at += len(line)
    return None


def _functions(program: Program) -> frozenset[str]:
    return frozenset(node.name for group in program.groups for node in walk(group) if isinstance(node, FunctionDef))


def _judged(node: Simple, text: Source, functions: frozenset[str]) -> tuple[Node, str, str] | None:
    """The place, what is wrong there, and what to write."""
    first = node.words[0] if node.words else None
    if not isinstance(first, Word) or not first.parts:
        return None
    name = literal_word(first)
    if name in functions:
        return None
    if name == "[":
        return _bracket(node, text)
    if name in _DECLARING:
        return _declaration(node, text)
    start = first.parts[0]
    if isinstance(start, Lit) and start.text.startswith("[") and name != "[[":
        opening = "[[" if start.text.startswith("[[") else "["
        message = f"without a blank behind `{opening}` this is a program of its own, which does not exist"
        return first, message, f"write `{opening} `, a blank, and the rest"
    return _assignment(node, first, name, text)


def _assignment(node: Simple, first: Word, name: str, text: Source) -> tuple[Node, str, str] | None:
    if isinstance(first.parts[0], Param) and len(first.parts) > 1 and first.parts[0].start == first.start:
        behind = first.parts[1]
        if isinstance(behind, Lit) and behind.text.startswith("=") and _plain(first.parts[0], text):
            target = text.text[first.start : behind.start].strip("${}")
            return first, f"bash runs the value of {target} as a program: it sets nothing", f"write {target}=…"
    if node.assigns:
        return _after_assignment(node, first, name, text)
    second = node.words[1] if len(node.words) > 1 else None
    if not isinstance(second, Word) or not _NAME.fullmatch(name) or name in _PRINTING:
        return None
    sign = text.text[second.start : second.end]
    used = f"${name}" in text.text.replace("{", "")
    if text.parent is not None and not used:
        return None  # a block of a document may be of another language
    is_set = sign == "=" or (sign[:1] == "=" and sign[1:2] not in ("", "=") and used)
    if not is_set:
        return None
    return (
        first,
        f"bash starts a program called `{name}` here: the variable is not set",
        f"write {name}={_value(node, text)}, without blanks",
    )


def _value(node: Simple, text: Source) -> str:
    """What stands behind `NAME =`, as written, when it is one word."""
    last = node.words[-1]
    return text.text[last.start : last.end] if len(node.words) == 3 and isinstance(last, Word) else "…"


def _plain(param: Param, text: Source) -> bool:
    written = text.text[param.start : param.end]
    return _NAME.fullmatch(written.strip("${}")) is not None


def _after_assignment(node: Simple, first: Word, name: str, text: Source) -> tuple[Node, str, str] | None:
    last = node.assigns[-1]
    empty = isinstance(last.value, Word) and not last.value.parts
    is_model = (
        len(node.words) == 1 and _MODEL.fullmatch(name) is not None and f"${last.name}" in text.text.replace("{", "")
    )
    if not empty or last.index is not None:
        return None
    written = text.text[first.start : first.end]
    if not (_VALUE.fullmatch(name) or is_model or _is_path(node, first, text)):
        return None
    message = f"bash sets {last.name} to nothing, and starts a program called `{name or _bare(written)}`"
    return first, message, f"write {last.name}={written}, without the blank"


def _bare(written: str) -> str:
    return written[1:-1] if written[:1] == '"' and written[-1:] == '"' else written


def _is_path(node: Simple, first: Word, text: Source) -> bool:
    """`DATA= "$HOME/data"`: whether the only word behind `NAME=` is a place of data, and the launcher takes what stands
    there from the name, which gets no other value."""
    name = node.assigns[-1].name
    written = text.text[first.start : first.end].strip("\"'")
    if len(node.words) != 1 or not _PLACE.match(written) or not _PLACE_NAME.search(name) or name in _OF_PROGRAMS:
        return False
    if _PROGRAM.search(written):
        return False
    whole = text.text.replace("{", "")
    return f"${name}" in whole and len(re.findall(rf"(?<![\w$]){name}\+?=|\bread\b[^\n]*\b{name}\b", whole)) == 1


def _declaration(node: Simple, text: Source) -> tuple[Node, str, str] | None:
    before: Word | Assign | None = None
    for word in node.words[1:]:
        if isinstance(word, Word):
            written = text.text[word.start : word.end]
            literal = literal_word(word)
            if written.startswith("=") and isinstance(before, Word):
                name = literal_word(before)
                return (
                    word,
                    f"bash takes `{written}` for one more name, and refuses it: {name} gets no value",
                    f"write {name}=…, without blanks",
                )
            if isinstance(before, Assign) and _is_empty(before) and literal and _VALUE.fullmatch(literal):
                message = f"{before.name} is set to nothing: bash takes `{literal}` for one more name, and refuses it"
                return word, message, f"write {before.name}={literal}, without the blank"
        before = word
    return None


def _is_empty(assign: Assign) -> bool:
    return isinstance(assign.value, Word) and not assign.value.parts


def _bracket(node: Simple, text: Source) -> tuple[Node, str, str] | None:
    last = node.words[-1]
    if not isinstance(last, Word):
        return None
    inside = [each for each in node.words[1:-1] if isinstance(each, Word)]
    if literal_word(last) != "]":
        written = text.text[last.start : last.end]
        if not written.endswith("]"):
            return None
        return last, "the `]` is a part of this word, so `[` misses its end and fails", f"write {written[:-1]} ]"
    for redirect in node.redirects:
        if redirect.op in (">", "<") and not redirect.fd and node.words[0].start < redirect.start < last.start:
            effect = "writes a file" if redirect.op == ">" else "reads a file"
            letter = "e" if literal_word(redirect.target) == "=" else "t"
            operator = f"-g{letter}" if redirect.op == ">" else f"-l{letter}"
            return redirect, f"between `[` and `]` a `{redirect.op}` compares nothing: it {effect}", f"write {operator}"
    parts = inside[0].parts if len(inside) == 1 else []
    joined = any(isinstance(part, Lit) and "=" in part.text for part in parts)
    if joined and any(isinstance(part, (Param, DoubleQuoted)) for part in parts):
        message = "without blanks around its `=` this is one text, which is always true"
        return inside[0], message, "write blanks around it"
    return None
