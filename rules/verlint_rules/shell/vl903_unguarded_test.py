"""A test must still be a test when its variable is unset.

An unquoted variable that is unset or empty vanishes: `[ $OMPI_COMM_WORLD_RANK -eq 0 ]` becomes `[ -eq 0 ]`, an error
of `[` with status 2. Conditions take that for false and `set -e` ignores it there, so the guarded block, often the
whole training, is skipped: one line on the error output, and the script exits with 0. It works under `mpirun` and does
nothing when it is started by hand. `[ "$X" -eq 0 ]` with an empty X is an error too, and `[ -n $X ]` and `[ -f $X ]`
are true without X.

Variables that are surely set are left alone: with a default (`${X:-0}`), assigned or asked for before (`${X:?}`),
tested before (`[ -n "$X" ]`, `[ -z "$X" ] && exit`), given by an option, or by Slurm in a script with an `#SBATCH`
header. `[[ … ]]` needs no quotes. Whether a job platform sets `RANK` or `NODE_RANK` is left to be verified. Under
`set -u` an unset variable stops the script with a clear message; then only variables of MPI and Slurm are named, as a
warning, since the script cannot be started without them. A test that is false all the same when the variable is read
as 0 or as no text (`[ $FLAG = 1 ]`) is a warning: all it does is to print an error.

Fix: give a default, `[ "${X:-0}" -eq 0 ]`, and quote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from verlint.experiment.script import Script
from verlint.experiment.variants import Variant
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.command import Command
from verlint.languages.bash.variables import SETS_UP_TOOLS
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.source import Span
from verlint.value import Hole, Literal, Text
from verlint_rules.shell.tests_of_variables import NUMERIC, Outcome, Word, consequence, is_false_anyway, judge, short

_VARIABLE = pattern(r"(?P<quote>\"?)\$(?:(?P<bare>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)\})(?P=quote)")
_BY_SLURM = ("SLURM_", "CUDA_VISIBLE_DEVICES")
_BY_JOB = ("OMPI_", "PMI_", "PMIX_", "MPI_", "MV2_", "SLURM_", "FLUX_")
_BY_PLATFORM = pattern(
    r"(?:\w+_)?(?:RANK|WORLD_SIZE|MASTER_ADDR|MASTER_PORT|NUM_NODES|NNODES|NODE_COUNT|INDEX)|(?:SLURM|VC|MLP|PET|RAY|SKYPILOT|KUBERNETES)_\w+"
)
_BY_MPI = pattern(r"(?:OMPI|PMIX?|MPI|MV2)_\w+")
_BY_TORCH = pattern(r"(?:LOCAL_|NODE_|GROUP_)?RANK|(?:LOCAL_)?WORLD_SIZE|MASTER_(?:ADDR|PORT)")
_BY_SHELL = frozenset(
    [
        "HOME",
        "USER",
        "LOGNAME",
        "PATH",
        "PWD",
        "OLDPWD",
        "SHELL",
        "SHLVL",
        "HOSTNAME",
        "HOSTTYPE",
        "OSTYPE",
        "UID",
        "EUID",
        "PPID",
        "RANDOM",
        "SECONDS",
        "LINENO",
        "LANG",
        "TERM",
        "TMPDIR",
        "OPTIND",
    ]
)


@dataclass(frozen=True)
class _Operand:
    """A variable that may be empty in a test: its name, the word as written, what it rests on (the name in the
    environment), and whether it has a value there, an empty one."""

    name: str
    span: Span
    outside: str
    empty: bool = False

    @property
    def state(self) -> str:
        """What it is: unset, or empty."""
        return "empty" if self.empty else "unset"


@rule("VL903", "unguarded-test", on=Script, severity=ERROR, since="0.1", fixable="safe")
def check(script: Script, ctx: Context) -> Iterator[Finding]:
    for variants in ctx.project.tests.get(script.source.path, {}).values():
        if variants[0].command.span.in_file().source is script.source:
            found = _check_test(variants, ctx)
            if found is not None:
                yield found


def _check_test(variants: Sequence[Variant], ctx: Context) -> Finding | None:
    """One finding for a test, however many calls reach it. Where the script gives the variable a value itself, by an
    option or on another path, all of them must leave it empty."""
    judged = [(variant, found) for variant in variants if (found := _empty_operands(variant)) is not None]
    if not judged:
        return None
    from verlint_rules.shell.names_in_text import given_names

    variant, (operands, outcome) = judged[0]
    text = variant.command.span.source.text
    if len(judged) < len(variants) and any(each.name in given_names(text) for each in operands):
        return None
    finding = _finding(variant, operands, outcome, ctx)
    stack = variant.command.around.stack
    if stack and any(each.name in given_names(text) for each in operands):
        finding = finding.with_related(stack[-1].span, "called here without it")
    return finding


# ---- which variables may be empty


def _empty_operands(variant: Variant) -> tuple[list[_Operand], Outcome] | None:
    """The variables of a test that may be empty, and what `[` then says; None when it stays a test."""
    command = variant.command
    arguments = list(command.argv[1:])
    raw = list(command.raw[1:])
    if command.argv[0].known == "[":
        arguments, raw = arguments[:-1], raw[:-1]
    operands: list[_Operand] = []
    words: list[Word] = []
    for place, span in _aligned(arguments, raw):
        operand = _operand(place, span, variant)
        if operand is None:
            words.append(Word(None if place is None else place.known))
            continue
        operands.append(operand)
        if span.text.startswith('"'):
            words.append(Word(""))
    outcome = judge(words)
    if not operands or outcome is Outcome.RIGHT:
        return None
    return operands, outcome


def _aligned(arguments: Sequence[Text], raw: Sequence[Span]) -> Iterator[tuple[Text | None, Span]]:
    """Each word as written with what became of it, None for one that vanished."""
    rest = list(arguments)
    for span in raw:
        if rest and rest[0].span is not None and rest[0].span.start < span.end and rest[0].span.start >= span.start:
            yield rest.pop(0), span
            while rest and rest[0].span is not None and span.start <= rest[0].span.start < span.end:
                rest.pop(0)
        else:
            yield None, span


def _operand(word: Text | None, span: Span, variant: Variant) -> _Operand | None:
    """The variable that a word is, when it may be empty here."""
    name = _variable(span.text)
    if not name:
        return None
    nounset = variant.command.around.nounset
    if _is_asked_for(span, name):
        return None
    if word is None or word.known == "":
        from verlint_rules.shell.names_in_text import set_names

        empty = name in set_names(span.source.text)
        return None if nounset and word is None and not empty else _Operand(name, span, name, empty)
    holes = word.holes
    if not holes or any(isinstance(part, Literal) and part.text for part in word.parts):
        return None
    if not all(_may_be_unset(hole, span, variant) for hole in holes):
        return None
    if nounset and not name.startswith(_BY_JOB):
        return None
    return _Operand(name, span, holes[0].name)


def _variable(written: str) -> str:
    """The name in `$NAME`, `${NAME}` or one of them in double quotes, "" for other words."""
    if len(written) > 1 and written[0] == '"' == written[-1]:
        written = written[1:-1]
    name = written[2:-1] if written.startswith("${") and written.endswith("}") else written[1:]
    return name if written.startswith("$") and name.isidentifier() else ""


def _may_be_unset(hole: Hole, span: Span, variant: Variant) -> bool:
    if (
        not (isinstance(hole.key, tuple) and hole.key[0] == "env")
        or hole.name in _BY_SHELL
        or hole.name.startswith("BASH")
    ):
        return False
    if _is_asked_for(span, hole.name) or _found_set(hole.name, variant):
        return False
    source = span.in_file().source
    if hole.name.startswith(_BY_SLURM) and re.search(r"^#SBATCH\b", source.text, re.MULTILINE):
        return False
    return not any(
        name in ("torchrun", "mpirun", "mpiexec") for name in _starters(variant) if _BY_TORCH.fullmatch(hole.name)
    )


def _starters(variant: Variant) -> list[str]:
    """The first words of the commands by which the script of the test was reached."""
    return [
        call.span.text.split(None, 1)[0].rsplit("/", 1)[-1]
        for call in variant.command.around.stack
        if call.span.text.strip()
    ]


def _is_asked_for(span: Span, name: str) -> bool:
    from verlint_rules.shell.names_in_text import asked_for

    return asked_for(span.source.text).get(name, span.start) < span.start


def _found_set(name: str, variant: Variant) -> bool:
    """Whether each path that leads here has found the variable set."""
    empty, here = f"{name} is not set", variant.command.span
    paths = variant.entry.resolution.paths
    return all(any(span != here for span in paths[number].denied.get(empty, ())) for number in variant.paths)


# ---- the finding


def _finding(variant: Variant, operands: Sequence[_Operand], outcome: Outcome, ctx: Context) -> Finding:
    command = variant.command
    names = list(dict.fromkeys(each.outside for each in operands))
    unset = f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} {operands[0].state}"
    stops = command.around.nounset and any(each.name.startswith(_BY_JOB) for each in operands)
    harmless = outcome is not Outcome.ALWAYS_TRUE and _is_false_anyway(command, operands)
    message = _message(command, unset, outcome, ctx)
    if stops:
        message = f"when {unset}, as outside of its scheduler, set -u stops the script here"
    numbers = any(word.known in NUMERIC for word in command.words)
    help_ = f'write "${{{operands[0].name}:-0}}"' if numbers else "quote the variable, or use [[ … ]]"
    value = "" if stops else f"{_expanded(command, operands)} when {unset}"
    severity = WARNING if variant.in_document or stops or harmless else None
    if any(_from_elsewhere(name, variant) for name in names):
        verify = "; ".join(f'echo "${{{name}-unset}}"' for name in names)
        finding = ctx.unsure(command.span, message, verify=verify, value=value, help=help_, severity=severity)
    else:
        finding = ctx.fail(command.span, message, value=value, help=help_, severity=severity)
    return _with_fix(finding, operands, numbers=numbers)


def _with_fix(finding: Finding, operands: Sequence[_Operand], *, numbers: bool) -> Finding:
    if numbers:
        edits = [Edit(each.span.in_file(), f'"${{{each.name}:-0}}"') for each in operands]
        return finding.with_fix("give a default of 0", *edits, safety=Safety.SAFE)
    bare = [each.span for each in operands if not each.span.text.startswith('"')]
    edits = [Edit(span.in_file(), f'"{span.text}"') for span in bare]
    return finding.with_fix("quote the variable", *edits, safety=Safety.SAFE) if edits else finding


def _from_elsewhere(name: str, variant: Variant) -> bool:
    """Whether something outside of the project may well set the variable: the platform of the job, or a file that the
    script sources and nobody has here."""
    if _BY_MPI.fullmatch(name):
        return False
    notes = [note for number in variant.paths for note in variant.entry.resolution.paths[number].notes]
    sourced = any(note.kind == "missing-source" and not SETS_UP_TOOLS.search(note.text) for note in notes)
    return sourced or _BY_PLATFORM.fullmatch(name) is not None


def _is_false_anyway(command: Command, operands: Sequence[_Operand]) -> bool:
    raw = [span for span in command.raw[1:] if span.text != "]"]
    known = {word.span.start: word.known for word in command.words if word.span is not None}
    starts = {each.span.start for each in operands}
    return is_false_anyway([known.get(span.start) for span in raw], [span.start in starts for span in raw])


def _message(command: Command, unset: str, outcome: Outcome, ctx: Context) -> str:
    text = command.span.source
    program = ctx.project.programs.get(id(text))
    hangs = None if program is None else consequence(text, program, command.span.start, command.span.end)
    if outcome is Outcome.ALWAYS_TRUE:
        return f"this test is true when {unset}: without quotes nothing is left to look at"
    message = f'when {unset} this is an error ("{outcome.value}") that counts as false'
    if hangs is None:
        return message
    if hangs.skipped is not None:
        message += f": `{short(text, hangs.skipped)}` is skipped"
        if hangs.instead is not None:
            message += f", `{short(text, hangs.instead)}` runs instead"
    elif hangs.instead is not None:
        message += f": `{short(text, hangs.instead)}` runs"
    return message


def _expanded(command: Command, operands: Sequence[_Operand]) -> str:
    """The test as `[` sees it with the variables empty."""
    empty = {each.span.start: '""' if each.span.text.startswith('"') else "" for each in operands}
    words = [empty.get(span.start, span.text) for span in command.raw]
    return " ".join(word for word in words if word)
