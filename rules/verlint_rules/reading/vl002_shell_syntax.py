"""A launcher must be a text that bash accepts.

Bash reads a script command by command and runs each before it reads the next. A fault in the syntax is therefore met in
the middle of a run: everything before it has been done (keys logged in, folders made, models downloaded), nothing after
it is ever started, and the exit status is 2. (For a `for ((` without its `))` bash does not even say so: it stops
reading, and the status is that of the command before.)

In documents only blocks that are meant to be copied count: a block with placeholders (`<model>`, `...`) is a picture of
a command, and a block that shows output or an excerpt is none either. Texts after an `exit` are never read, and scripts
for other shells (zsh, fish, csh) are not judged. A text that the launcher hands to another bash as it is written
(`sbatch <<'EOF'`, `bash -c '…'`) is looked at like a launcher.

A byte order mark before a first line that is a command is met at once: no command has it in its name. In a file with
Windows line ends every other fault is one of the line ends, which are VL901.

Fix: close what the message names at the place where it was opened, or remove what is left over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from verlint.experiment.script import Script
from verlint.finding import Finding
from verlint.languages.bash.syntax import Lit, Program, Simple, SyntaxProblem, Word
from verlint.lazy import pattern
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.source import Source, Span
from verlint_rules.shell.illustration import is_illustration
from verlint_rules.shell.line_ends import has_windows_lines

_OTHER_SHELL = pattern(r"#!.*\b(?:zsh|fish|t?csh|ksh\w*|python\w*|perl)\b")
_TEMPLATE = pattern(r"\{%|(?<!\$)\{\{")  # `${{ … }}` of a workflow is no template: the job's reader knows it
_TOKEN = pattern(r"[A-Za-z_]+|[;&|]+|\S")


@rule("VL002", "shell-syntax", on=Script, severity=ERROR, since="0.1")
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    if not script.document and (found := _byte_order_mark(script, ctx)) is not None:
        yield found
    for text, program in script.syntax:
        problem = None if has_windows_lines(text.text) and not script.document else program.problem
        if problem is None or _not_for_bash(text) or _ends_before(program):
            continue
        if script.document:
            if is_illustration(text.text) or not _is_copied(problem, program):
                continue
            message = f"bash rejects this block: {problem.message}"
            yield _with_opener(ctx.fail(_place(text, problem), message, severity=WARNING), text, problem)
        else:
            what = "launcher" if script.job is None else "text"
            verdict = f"stops reading this {what} without a word" if problem.silent else f"rejects this {what}"
            message = f"bash {verdict}: {problem.message}; {_what_runs(text, program)}"
            yield _with_opener(ctx.fail(_place(text, problem), message), text, problem)
    for text, program in script.inner:
        problem = program.problem
        as_written = text.whole().in_file().text == text.text
        if problem is None or not as_written or _not_for_bash(text) or _ends_before(program):
            continue
        message = f"the bash that runs this text rejects it: {problem.message}; {_what_runs(text, program)}"
        yield _with_opener(ctx.fail(_place(text, problem), message), text, problem)


def _byte_order_mark(script: Script, ctx: Context) -> Finding | None:
    """A mark before a first line that is a command: bash takes it for a part of the command's name."""
    first = next((each for each in script.source.text.split("\n", 1)[0].split()), "")
    if not first or first.startswith("#"):
        return None
    if not any(file.bom for file in ctx.project.files if file.source is script.source):
        return None
    return ctx.fail(
        script.source.span(0, len(first)),
        f"a byte order mark stands before this line, and bash takes it for a part of `{first}`",
        help="save the file as UTF-8 without a byte order mark",
    )


def _not_for_bash(text: Source) -> bool:
    return bool(_OTHER_SHELL.match(text.text) or _TEMPLATE.search(text.text))


def _ends_before(program: Program) -> bool:
    """Whether the script surely ends before bash reads the fault: an `exit` or `exec` of its own."""
    for group in program.groups:
        for item, background in group.items:
            if len(item.items) != 1 or background:
                continue
            (command, *others) = item.items[0][1].commands
            if not others and isinstance(command, Simple) and _first_word(command) in ("exit", "exec"):
                return _first_word(command) == "exit" or len(command.words) > 1
    return False


def _first_word(command: Simple) -> str:
    first = command.words[0] if command.words else None
    if not isinstance(first, Word):
        return ""
    return "".join(part.text for part in first.parts if isinstance(part, Lit))


def _is_copied(problem: SyntaxProblem, program: Program) -> bool:
    """Whether a block is commands from its first line on. An excerpt that closes what it never opened is not, nor is
    one that shows what a program prints."""
    return problem.opened is not None or (
        bool(program.groups) and "nothing is open" not in problem.message and "(" not in problem.message
    )


def _at_end(text: Source, offset: int) -> bool:
    return not text.text[offset:].strip()


def _place(text: Source, problem: SyntaxProblem) -> Span:
    """Where bash gives up; at the end of the text the place that was left open says more."""
    offset = problem.offset
    if _at_end(text, offset):
        if problem.opened is not None:
            return _token(text, problem.opened)
        offset = len(text.text.rstrip()) - 1
    return _token(text, max(offset, 0))


def _token(text: Source, offset: int) -> Span:
    if text.text[offset : offset + 1] == "\n":  # an end of line is nothing to look at: the word before it
        line = text.text[:offset].rsplit("\n", 1)[-1].rstrip()
        word = re.search(r"\S+\Z", line)
        if word is not None:
            start = offset - len(text.text[:offset].rsplit("\n", 1)[-1]) + word.start()
            return text.span(start, start + len(word.group()))
    found = _TOKEN.match(text.text, offset)
    return text.span(offset, found.end() if found else min(offset + 1, len(text.text)))


def _with_opener(finding: Finding, text: Source, problem: SyntaxProblem) -> Finding:
    if problem.opened is None:
        return finding.with_related(None, "")
    if _at_end(text, problem.offset):
        last = text.span(len(text.text.rstrip()), len(text.text.rstrip()))
        return finding.with_related(last, "the text ends here")
    return finding.with_related(_token(text, problem.opened), "opened here")


def _what_runs(text: Source, program: Program) -> str:
    if not program.groups:
        return "nothing of it runs"
    end = max((item.end for group in program.groups for item, _ in group.items), default=0)
    last = text.span(max(end - 1, 0), max(end, 1)).begin.line
    return f"what stands before runs (up to line {last}), nothing after it"
